"""Whatever is said of a value is so: programs are run for real and checked, and nothing that is decided may differ.

Each `py` block of `sound/*.md` is a program that ends. It is checked as it stands, as the body of a function that nobody calls,
and as the body of a method that nobody calls. What follows `# given` at its head is a parameter there, of which nothing is
known. What `reveal_shape` sees may be vague, not wrong, and there is no finding.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from interp.differential import Comparison, compare
from interp.real import Match
from interp.test_language import BLOCK

PROGRAMS = [
    pytest.param(block["program"], id=f"{path.stem}-{block['title'].strip()}")
    for path in sorted((Path(__file__).parent / "sound").glob("*.md"))
    for block in BLOCK.finditer(path.read_text("utf-8"))
]
FRAMES = {
    "module": ("", ""),
    "function": ("def program({names}):\n", "program({values})\n"),
    "method": ("class Program:\n    def program(self, {names}):\n", "Program().program({values})\n"),
}
GIVEN = re.compile(r"^(\w+) = (.*)  # given\n", re.MULTILINE)
IMPORTS = re.compile(r"^(?:import|from) .*\n", re.MULTILINE)
OF_MODULES = re.compile(r"\bglobal |\bglobals\(|\bexec\(")
"""Programs that change the names of their module are no bodies of functions."""


def framed(program: str, frame: str) -> tuple[str, str]:
    """What is checked, and what is run."""
    head, call = FRAMES[frame]
    depth, above = "    " * head.count("\n"), ""
    if depth:
        given = dict(GIVEN.findall(program))
        head, call = head.format(names=", ".join(given)), call.format(values=", ".join(given.values()))
        above = "".join(IMPORTS.findall(program)) if given else ""
        program = GIVEN.sub("", program)
    text = above + head + "".join(f"{depth}{line}\n" for line in program.splitlines())
    text = ast.unparse(ast.parse(text)) + "\n"
    return text, text + call


@pytest.mark.requires("numpy", "torch")
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_decided_is_so(program: str, frame: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if frame != "module" and OF_MODULES.search(program):
        frame = "module"
    checked, run = framed(program, frame)
    compared = Comparison(run)
    compared.run(run)
    findings = compare(compared, checked, tmp_path, monkeypatch)
    wrong = [
        f"line {line}, {compared.lines[line - 1].strip()}: really {real!r}, but {compared.seen[line][:4]}"
        for line, matches in compared.best.items()
        for real, match in zip(compared.real[line], matches, strict=True)
        if compared.seen[line] and (match is Match.NO or compared.stray[line])
    ]
    assert not findings + wrong, "\n".join(findings + wrong)
    if frame == "module":
        assert all(compared.seen[line] for line in compared.best), "a line that is run was not reached"


@pytest.mark.requires("numpy", "torch")
def test_much_is_known_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = every = 0
    for number, each in enumerate(PROGRAMS):
        program = each.values[0]
        compared = Comparison(program)
        compared.run(program)
        (tmp_path / str(number)).mkdir()
        compare(compared, program, tmp_path / str(number), monkeypatch)
        exact, every = exact + compared.exact()[0], every + compared.exact()[1]
    assert every > 800
    assert exact > 0.5 * every
