"""The inputs of the Action, as action.yml hands them over."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

from distml.action import toolkit

FailOn = Literal["error", "warning", "never"]
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


class Settings(NamedTuple):
    """What a run of the Action is to do."""

    paths: tuple[str, ...]
    changed_only: bool
    baseline: str
    since: str
    families: tuple[str, ...]
    fail_on: FailOn
    sarif_file: str
    fix: bool
    comment: bool
    working_directory: str


def read() -> Settings:
    """The inputs. Raises `InputError` for a value that is none of those described in action.yml."""
    families = tuple(part for part in re.split(r"[\s,]+", toolkit.given("families")) if part)
    for family in families:
        if not _CODE.fullmatch(family):
            raise toolkit.InputError(f"families holds {family!r}, which is not a family, code or name of a rule")
    sarif = toolkit.given("sarif-file")
    if "\n" in sarif:
        raise toolkit.InputError("sarif-file must be one path")
    return Settings(
        tuple(toolkit.lines("paths")) or (".",),
        toolkit.flag("changed-only"),
        toolkit.given("baseline"),
        toolkit.given("since"),
        families,
        cast(FailOn, toolkit.choice("fail-on", ("error", "warning", "never"))),
        sarif,
        toolkit.flag("fix"),
        toolkit.flag("comment"),
        toolkit.given("working-directory", "."),
    )
