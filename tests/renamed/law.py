"""The renaming law: what a user calls things, the order of independent statements and the names of imports decide no edit."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.bindings import bound_names
from distml.source.project import Project
from distml.training.program import Program, followed

from renamed.names import Renamer
from renamed.order import reordered
from renamed.split import NAME, split

_STARTS = re.compile(
    r"\bimport\b|\binit\(\)|set_device|destroy_process_group|init_process_group|visible_device|memory_growth|is_initialized|cuda.is_available|\bgpus?\b"
)
"""Lines of the start-up, which each file has for itself."""


@dataclass(frozen=True)
class Answer:
    """What a program becomes, file by file, and the codes and lines of what is remarked."""

    files: Mapping[str, str]
    remarks: tuple[tuple[str, str, int], ...]
    messages: tuple[str, ...] = ()
    loops: int = 0


@dataclass(frozen=True)
class Broken:
    """A program whose edits depend on what the law says they do not depend on."""

    how: str
    expected: str
    found: str


def program_of(texts: Mapping[str, str], root: str, folder: str) -> Program:
    """The program that `root` is the script of; `texts` stand for the files of these locations."""
    project = Project(folder, unmarked=[folder], overlay={key: value.encode() for key, value in texts.items()})
    return followed([project.open(root)], project)


def answer(texts: Mapping[str, str], root: str, folder: str, options: Options) -> Answer:
    """Rewrite a program of which all files in `texts` may be changed."""
    program = program_of(texts, root, folder)
    outcome = rewrite(program, options, [each for each in program.units if each in texts], texts)
    files, plan = {location: made.source for location, made in outcome.files.items()}, outcome.plan
    remarks = [
        (each.code, program.unit(each.node).source.location, plan.span(each.node).line)
        for each in (*plan.refusals, *plan.warnings)
    ]
    messages = tuple(f"{each.code} {each.message}" for each in (*plan.refusals, *plan.warnings))
    return Answer(files, tuple(sorted(remarks)), messages, len(plan.loops))


def broken_by_names(
    texts: Mapping[str, str],
    root: str,
    folder: str,
    options: Options,
    *,
    imports: bool = False,
    plain: bool = True,
    misleading: int | None = None,
    before: Answer | None = None,
) -> Broken | None:
    """How renaming breaks the law, if it does; `before` is what the program becomes as it is, where that is known."""
    program = program_of(texts, root, folder)
    before = before or answer(texts, root, folder, options)
    inside = [each for each in program.units if each in texts]
    renamer = Renamer(program, inside, imports=imports, plain=plain, misleading=misleading)
    renamed = renamer.renamed()
    after = answer({**texts, **renamed}, root, folder, options)
    return compared(before, after, renamer, texts, renamed)


def broken_by_order(texts: Mapping[str, str], root: str, folder: str, options: Options) -> Broken | None:
    """How another order of independent statements breaks the law, if it does."""
    changed = {location: reordered(text) for location, text in texts.items()}
    if changed == dict(texts):
        return None
    before, after = answer(texts, root, folder, options), answer(changed, root, folder, options)
    if (found := _coded(before)) != (others := _coded(after)):
        return Broken("remarks", found, others)
    for location in {**before.files, **after.files}:
        expected, found = before.files.get(location, ""), after.files.get(location, "")
        if lines(expected) != lines(found):
            return Broken("edits", expected, found)
    return None


def broken_by_split(texts: Mapping[str, str], root: str, folder: str, options: Options) -> Broken | None:
    """How moving definitions to another module breaks the law, if it does: imports and start-up aside."""
    made = split(texts[root])
    if made is None:
        return None
    script, module = made
    place = os.path.join(os.path.dirname(root), f"{NAME}.py")
    apart = {**texts, root: script, place: module}
    before, after = answer(texts, root, folder, options), answer(apart, root, folder, options)
    if (found := _coded(before)) != (others := _coded(after)):
        return Broken("remarks", found, others)
    expected = changes(texts, before.files)
    result = changes(apart, after.files)
    if expected != result:
        return Broken("edits", _listed(expected - result), _listed(result - expected))
    return None


def changes(texts: Mapping[str, str], files: Mapping[str, str]) -> Counter[str]:
    """The lines that a rewrite adds, imports and start-up aside."""
    found: Counter[str] = Counter()
    for location, text in files.items():
        found += lines(text) - lines(texts[location])
    return Counter({line: count for line, count in found.items() if not _STARTS.search(line)})


def _listed(found: Counter[str]) -> str:
    return "\n".join(sorted(found.elements()))


def _coded(found: Answer) -> str:
    return "\n".join(sorted(code for code, _, _ in found.remarks))


def compared(
    before: Answer, after: Answer, renamer: Renamer, texts: Mapping[str, str], renamed: Mapping[str, str]
) -> Broken | None:
    """What differs between the rewrite of a program and that of the renamed one, once the names are changed back."""
    if before.remarks != after.remarks:
        return Broken(
            "remarks",
            "\n".join(f"{line}: {code}" for code, _, line in before.remarks) + "\n" + "\n".join(before.messages),
            "\n".join(f"{line}: {code}" for code, _, line in after.remarks)
            + "\n"
            + renamer.back("\n".join(after.messages)),
        )
    for location in {**before.files, **after.files}:
        expected = before.files.get(location, "")
        if not alike(expected, after.files.get(location, ""), texts[location], renamed[location], renamer):
            return Broken("edits", expected, renamer.back(after.files.get(location, "")))
    return None


def alike(one: str, other: str, original: str, renamed: str, renamer: Renamer) -> bool:
    """Whether two rewritten texts are the same but for the user's names, blanks, and names of variables that were added.

    `one` is made of `original`, `other` of `renamed`.
    """
    ours, theirs = (tokens(_plain(each, renamer)) for each in (one, other))
    if len(ours) != len(theirs):
        return False
    added, also = (
        bound_names(ast.parse(new)) - bound_names(ast.parse(old)) for new, old in ((one, original), (other, renamed))
    )
    seen: dict[str, str] = {}
    for mine, its in zip(ours, theirs):
        if mine == renamer.back(its):
            continue
        if not (mine in added and its in also and seen.setdefault(mine, its) == its):
            return False
    return True


def _plain(text: str, renamer: Renamer) -> str:
    """A text without aliases that say what is imported once more, such as those that renaming adds."""
    return re.sub(r"\b(\w+) as (\w+)", lambda found: found[2] if renamer.back(found[2]) == found[1] else found[0], text)


def tokens(text: str) -> list[str]:
    """The words of a program, line ends and indents aside."""
    left_out = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE)
    return [each.string for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in left_out]


def lines(text: str) -> Counter[str]:
    """The lines of a program, whatever their order."""
    return Counter(re.sub(r"(?<=\w)_\d+\b", "", line.strip()) for line in text.splitlines() if line.strip())
