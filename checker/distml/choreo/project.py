"""Projects the choreographies of a file: one program a party."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from distml.choreo.bindings import Origin
from distml.choreo.check import NOWHERE, Checked, check_tree, diagnostics
from distml.choreo.emit import program, roles_of
from distml.choreo.infer import with_selects
from distml.diagnostics.model import Diagnostic
from distml.source.file import SourceFile


class Projection(NamedTuple):
    """`files` are the programs by role; empty where there are findings. `source` is the choreography they come from."""

    files: dict[str, str]
    findings: tuple[Diagnostic, ...]
    source: str
    checked: Checked


class UnknownRoleError(LookupError):
    """No choreography of the file has this role."""


def project_source(
    text: str,
    path: str,
    *,
    role: str | None = None,
    infer_selects: bool = False,
    origins: Mapping[str, Origin] = NOWHERE,
) -> Projection:
    """Check and project the choreographies in `text`; `origins` are its names from other files.

    Raises `UnreadableError` where it cannot be parsed, `UnknownRoleError` for a role that it does not have.
    """
    source = SourceFile(path, path, text.encode(), module="", is_package=False)
    tree = source.tree
    if infer_selects:
        text = with_selects(text, origins)
        source = SourceFile(path, path, text.encode(), module="", is_package=False)
        tree = source.tree
    checked = check_tree(tree, origins)
    known = roles_of(checked)
    if role is not None and role not in known:
        raise UnknownRoleError(role)
    if checked.facts.problems:
        return Projection({}, diagnostics(source, checked), text, checked)
    return Projection({each: program(checked, each) for each in known if role in (None, each)}, (), text, checked)
