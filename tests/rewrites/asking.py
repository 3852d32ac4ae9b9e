"""Reads what a case asks for.

A case is a `py` block, an `ask` block and a `py rewritten` block, then a `refused` block if something is refused. Lines of
`ask` are one of

    if line 3 always
    boolean line 3 "x.dim() == 4" never
    jaxtyping Net.forward: x = float[b, 3, h, w]; mask = bool[...]

A branch is the first of its kind on the line, or the one that begins with the text in quotes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from distml.rewrites.annotate import annotate
from distml.rewrites.branches import remove_branches
from distml.rewrites.model import Annotation, Decision, Rewritten, Target

from rewrites.expected import branches_of

BLOCK = re.compile(r"^```(?P<kind>py rewritten|py|ask|refused)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
BRANCH = re.compile(r'(?P<kind>\w+) line (?P<line>\d+)(?: "(?P<text>[^"]*)")? (?P<verdict>always|never)')
PARAMETER = re.compile(r"(?P<name>\w+) = (?P<dtype>\w*)\[(?P<dims>[^\]]*)\]")


class Case(NamedTuple):
    name: str
    program: str
    ask: str
    rewritten: str
    refused: str


def cases(path: Path) -> list[Case]:
    """The cases of a Markdown file."""
    found: list[dict[str, str]] = []
    for block in BLOCK.finditer(path.read_text("utf-8")):
        if block["kind"] == "py":
            found.append({})
        found[-1][block["kind"]] = block["text"]
    return [
        Case(f"{path.stem}-{n}", each["py"], each["ask"], each.get("py rewritten", ""), each.get("refused", ""))
        for n, each in enumerate(found, 1)
    ]


def answer(case: Case, program: str) -> Rewritten:
    """What the rewriters make of `program` when asked what the case asks."""
    lines = case.ask.splitlines()
    if not BRANCH.fullmatch(lines[0]):
        style, targets = lines[0].split()[0], [_target(line) for line in lines]
        return annotate(program, targets, style)  # type: ignore[arg-type]
    return remove_branches(program, [_decision(line, program) for line in lines])


def refusals(rewritten: Rewritten) -> str:
    return "".join(f"{each.line}: {each.what} [{each.code}] {each.reason}\n" for each in rewritten.refusals)


def _decision(line: str, program: str) -> Decision:
    found = BRANCH.fullmatch(line)
    assert found, line
    number, kind = int(found["line"]), found["kind"]
    places = [column for place, column, k in branches_of(program) if place == number and k == kind]
    column = program.splitlines()[number - 1].index(found["text"]) if found["text"] else min(places)
    return Decision(number, column, kind, found["verdict"])  # type: ignore[arg-type]


def _target(line: str) -> Target:
    head, _, rest = line.partition(": ")
    return Target(head.split()[1], 0, {each["name"]: _annotation(each) for each in PARAMETER.finditer(rest)})


def _annotation(found: re.Match[str]) -> Annotation:
    dims = [each.strip() for each in found["dims"].split(",") if each.strip()]
    sizes = tuple(int(d) if d.isdecimal() else None if d == "_" else d for d in dims)
    return Annotation(None if dims == ["..."] else sizes, found["dtype"] or None)  # type: ignore[arg-type]
