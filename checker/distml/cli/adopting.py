"""What `distml init` adds to a project's files: text in, text out; nothing is read or written here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOOKS = ("distml-shapes", "distml-choreography", "distml-ranks")
"""The hooks that only report."""

WORKFLOW = """\
name: shapes
on:
  pull_request:
  push:
    branches: [main]
permissions: {}
concurrency:
  group: shapes-${{ github.ref }}
  cancel-in-progress: true
jobs:
  shapes:
    name: shapes
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    permissions:
      contents: read # checkout
      security-events: write # code scanning
    steps:
      - name: check out
        uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 2
          persist-credentials: false
      - name: shapes
        id: distml
        uses: OWNER/distml@COMMIT
      - name: code scanning
        if: always() && steps.distml.outputs.sarif-file != ''
        uses: github/codeql-action/upload-sarif@8aad20d150bbac5944a9f9d289da16a4b0d87c1e # v4.36.2
        with:
          sarif_file: ${{ steps.distml.outputs.sarif-file }}
          category: distml
"""


class CannotAddError(Exception):
    """A file is written in a way that cannot be added to; the message says why and what to add by hand."""


def workflow(action: str, revision: str, branch: str) -> str:
    """The workflow that runs the Action of `action` (OWNER/NAME on GitHub) at a revision, for pushes to `branch` too."""
    return WORKFLOW.replace("OWNER/distml@COMMIT", f"{action}@{revision}").replace("[main]", f"[{scalar(branch)}]")


def with_hooks(text: str, address: str, revision: str) -> str:
    """A pre-commit configuration with distml's hooks at the end of its list of repositories; the same text if they are there.

    Raises `CannotAddError` where that is more than new lines behind a list in block style.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    names = [f"    - id: {hook}" for hook in HOOKS]
    block = [f"- repo: {scalar(address)}", f"  rev: {scalar(revision)}", "  hooks:", *names]
    if all(line == "---" or not line.strip() or line.startswith("#") for line in text.split("\n")):
        return end.join([*text.splitlines(), "repos:", *("  " + line for line in block), ""])
    before, place = _list_of_repositories(text)
    if place is None:
        return text
    head, tail = text[: place.start], text[place.end :]
    if head and not head.endswith("\n"):
        rest, _, tail = tail.partition("\n")
        head = (head + rest).rstrip(" \r" if place.start != place.end else "\r") + end
    added = head + "".join(place.indent + line + end for line in block) + tail
    if not _only_longer(before, _events(added)):
        raise CannotAddError(f"its list `repos:` cannot be made longer; add by hand: {', '.join(HOOKS)}")
    return added


def scalar(value: str) -> str:
    """A name as YAML reads it back: in quotes where it would be a number, a date or a truth value."""
    words = "y yes n no on off true false null".split()
    return value if value[:1].isalpha() and value.lower() not in words else f'"{value}"'


class _Place(NamedTuple):
    """Where the last item of a list ends, what stands there that is no item (`[]`, `null`), and how items are indented."""

    start: int
    end: int
    indent: str


def _yaml() -> Any:
    """PyYAML, which LibCST brings: on some versions of Python as a fork with another name."""
    from importlib import import_module

    for name in ("yaml", "yaml_ft"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise CannotAddError(f"PyYAML is needed to read it; add by hand: {', '.join(HOOKS)}")


def _events(text: str) -> list[Any]:
    """What YAML reads, as flat as it is written, so that no alias is followed. Raises `CannotAddError`."""
    yaml = _yaml()
    try:
        return list(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise CannotAddError(f"it is no YAML: {str(error).splitlines()[0]}") from None


def _list_of_repositories(text: str) -> tuple[list[Any], _Place | None]:
    """All that is read, and where the list `repos` of the first document ends; None if a hook of ours is in it."""
    events = _events(text)
    at = _value_of(events, "repos")
    inside = [] if at is None else events[at : _end_of(events, at) + 1]
    if any(getattr(each, "value", None) in HOOKS for each in inside):
        return events, None
    if not inside or not _can_grow(inside):
        raise CannotAddError(f"it has no `repos:` with a list in block style; add by hand: {', '.join(HOOKS)}")
    first = inside[0]
    if len(inside) <= 2:
        return events, _Place(first.start_mark.index, inside[-1].end_mark.index, "  ")
    flow = {id(each) for each in _flow_ends(inside)}
    written = [each for each in inside if type(each).__name__ in ("ScalarEvent", "AliasEvent") or id(each) in flow]
    last = max(each.end_mark.index for each in written)
    while last < len(text) and not text.endswith("\n", 0, last):
        last += 1  # a comment may stand behind the last item
    return events, _Place(last, last, " " * first.start_mark.column)


def _can_grow(inside: Sequence[Any]) -> bool:
    """Whether a value is a list in block style or empty, with no name by which it stands elsewhere too."""
    first = inside[0]
    if getattr(first, "anchor", None) or getattr(first, "tag", None):
        return False
    if type(first).__name__ == "ScalarEvent":
        return not first.style and first.value.lower() in ("", "~", "null")
    return type(first).__name__ == "SequenceStartEvent" and bool(first.flow_style) == (len(inside) == 2)


def _flow_ends(events: Sequence[Any]) -> Iterator[Any]:
    """The ends of lists and mappings in brackets: those of others stand wherever the next thing begins."""
    opened: list[Any] = []
    for each in events:
        if hasattr(each, "flow_style"):
            opened.append(each)
        elif type(each).__name__.endswith("EndEvent") and opened and opened.pop().flow_style:
            yield each


def _end_of(events: Sequence[Any], start: int) -> int:
    """Where what begins at an event ends."""
    depth = 0
    for at in range(start, len(events)):
        kind = type(events[at]).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth <= 0:
            return at
    return len(events) - 1


def _value_of(events: Sequence[Any], name: str) -> int | None:
    """Where the value of a key of the first document begins; None without exactly one."""
    at, found = 2, []  # behind the starts of stream and document
    if len(events) < 4 or type(events[at]).__name__ != "MappingStartEvent" or events[at].flow_style:
        return None
    at += 1
    while type(events[at]).__name__ != "MappingEndEvent":
        value = _end_of(events, at) + 1
        if getattr(events[at], "value", None) == name:
            found.append(value)
        at = _end_of(events, value) + 1
    return found[0] if len(found) == 1 else None


def _only_longer(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether all that was read is read again, with our entry at one place between; an empty list becomes one of ours."""
    old, new = ([_meaning(each) for each in events] for events in (before, after))
    same = 0
    while same < len(old) and old[same] == new[same]:
        same += 1
    begun = type(after[same]).__name__ == "SequenceStartEvent" and _end_of(after, same) == same + len(new) - len(old)
    if old[same][0] == "ScalarEvent" and begun:  # an empty value
        return old[same + 1 :] == new[_end_of(after, same) + 1 :]
    return len(new) > len(old) and old[same:] == new[len(new) - len(old) + same :]


def _meaning(event: Any) -> tuple[Any, ...]:
    return (type(event).__name__, *(getattr(event, name, None) for name in ("anchor", "tag", "implicit", "value")))


def with_table(text: str) -> str:
    """A pyproject.toml with a table for distml at its end; the same text if it has one.

    Raises `CannotAddError` for text that is no TOML, and where `tool` is written in a way that no table can follow.
    """
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool", {})
        if isinstance(tool, dict) and "distml" in tool:
            return text
        end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else end if text.endswith("\n") else end * 2
        added = f"{text}{gap}[tool.distml]{end}exclude = []{end}"
        tomllib.loads(added)["tool"]["distml"]
    except TypeError:
        raise CannotAddError("no table can be added to it: `tool` is a list of tables") from None
    except (ValueError, RecursionError) as error:
        raise CannotAddError(f"no table can be added to it: {error}") from None
    return added
