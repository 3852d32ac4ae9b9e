"""What `certify` sees in a rewritten program: edits that are missing or spoiled.

The literate cases are certified where they are made. Here are seeded mutants of them: an edit is taken back, a collective is
left to one rank, gradients are averaged twice. Of each kind most are noticed; what is not is known to be out of sight (the
order of epochs, waiting, means).
"""

from __future__ import annotations

import ast
import difflib
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from horovod.conftest import BLOCK, SECTION, options_of

from distml.rewrites.horovod.certify import uncertified
from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import plan_of
from distml.source.project import Project
from distml.training.program import Program

HERE = Path(__file__).parent
MUTANTS = 10
"""Of each kind."""
KINDS = {
    "averaged": r"DistributedOptimizer|DistributedGradientTape|allreduce_\(|average_gradients\(|DistributedDataParallel",
    "broadcast": r"broadcast_(parameters|variables|global_variables|all)|BroadcastGlobal",
    "data": r"Sampler|shard\(|rank\(\)::|part\[|slice\(|rank\(\)\] for",
    "rate": r"\* (hvd\.size|dist\.get_world_size)\(\)",
    "start-up": r"\.init\(\)|init_process_group",
}
LEAST = {"averaged": 8, "broadcast": 8, "data": 7, "rate": 7, "start-up": 8, "under one rank": 9, "averaged twice": 8}
"""How many of ten are noticed."""
_ALONE = re.compile(
    r"(hvd\.(broadcast_parameters|grouped_allreduce_|broadcast_variables)|broadcast_all|average_gradients)\(.*\)$"
)


class Case(NamedTuple):
    """A program, what it becomes, and how."""

    path: Path
    program: str
    rewritten: str
    options: Options

    def failures(self, rewritten: str) -> list[str]:
        """What is missing in a text that the program becomes."""
        path = str(self.path.with_suffix(".py"))
        project = Project(str(self.path.parent), overlay={path: self.program.encode()})
        source = project.open(path)
        plan = plan_of(Program([source], project), self.options, [source.location])
        return uncertified(plan, {source.location: rewritten})


@cache
def cases() -> list[Case]:
    """The literate cases that are rewritten."""
    found = []
    for path in sorted(HERE.rglob("*.md")):
        for section in SECTION.finditer(path.read_text(encoding="utf-8")):
            blocks = {each["kind"]: each for each in BLOCK.finditer(section["body"])}
            if "py rewritten" in blocks:
                program, rewritten = blocks["py"]["text"], blocks["py rewritten"]["text"]
                found.append(Case(path, program, rewritten, options_of(blocks["py"]["options"])))
    return found


def mutants(case: Case) -> Iterator[tuple[str, str]]:
    """Texts in which one thing is wrong, with the kind of it."""
    old, new = (text.splitlines(keepends=True) for text in (case.program, case.rewritten))
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        kind = next((kind for kind, words in KINDS.items() if re.search(words, "".join(new[k:m]))), None)
        if tag != "equal" and kind is not None:
            yield kind, "".join([*new[:k], *old[i:j], *new[m:]])
    for n, line in enumerate(new):
        space = line[: len(line) - len(line.lstrip())]
        if _ALONE.match(line.strip()):
            first = "hvd.rank() == 0" if "hvd" in line else "dist.get_rank() == 0"
            yield "under one rank", "".join([*new[:n], f"{space}if {first}:\n", f"    {line}", *new[n + 1 :]])
            if "average" in line or "allreduce" in line:
                yield "averaged twice", "".join([*new[:n], line, *new[n:]])
        for each in re.finditer(r"hvd\.DistributedOptimizer\(", line):
            end = _closes(line, each.end())
            twice = f"{line[: each.start()]}hvd.DistributedOptimizer({line[each.start() : end]}){line[end:]}"
            yield "averaged twice", "".join([*new[:n], twice, *new[n + 1 :]])


def _closes(line: str, at: int) -> int:
    depth = 1
    while depth and at < len(line):
        depth += (line[at] == "(") - (line[at] == ")")
        at += 1
    return at


@pytest.mark.parametrize("kind", LEAST)
def test_what_is_missing_or_spoiled_is_noticed(kind: str) -> None:
    chosen = [(case, text) for case in cases() for each, text in mutants(case) if each == kind and _parses(text)]
    random.Random(17).shuffle(chosen)
    noticed = Counter(bool(case.failures(text)) for case, text in chosen[:MUTANTS])
    assert noticed[True] >= LEAST[kind], noticed


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
