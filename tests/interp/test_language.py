"""Python as the interpreter understands it, against Python itself.

Each `py` block of `language/*.md` is run for real and checked. What `reveal_shape` saw must be the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interp.differential import compare_runs

FOLDER = Path(__file__).parent / "language"
BLOCK = re.compile(
    r"^#+ (?P<title>[^\n]+)\n(?:(?!^#|```)[^\n]*\n)*```py\n(?P<program>.*?)^```", re.MULTILINE | re.DOTALL
)
PROGRAMS = [
    pytest.param(block["program"], id=f"{path.stem}-{block['title'].strip()}")
    for path in sorted(FOLDER.glob("*.md"))
    for block in BLOCK.finditer(path.read_text("utf-8"))
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_interpreter_sees_what_python_does(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared, problems = compare_runs(program, tmp_path, monkeypatch)
    assert not problems, "\n".join(problems)
    assert compared.exact()[1], "nothing is revealed"


def test_nearly_everything_is_known_exactly() -> None:
    lines = [line for each in PROGRAMS for line in each.values[0].splitlines() if "reveal_shape(" in line]
    assert len(lines) > 500
    assert sum("# vague" in line for line in lines) < 0.13 * len(lines)


def test_every_block_is_a_test() -> None:
    blocks = sum(path.read_text("utf-8").count("```py\n") for path in FOLDER.glob("*.md"))
    assert blocks == len(PROGRAMS)
