"""What changes the essence of a file, and what does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.source.essence import essence
from distml.source.file import SourceFile

PROGRAM = '''\
"""A net."""
import torch.nn as nn


class Net(nn.Module):
    """Does it."""

    def __init__(self, n, m=10):
        super().__init__()
        self.fc = nn.Linear(n, m)  # the head

    def forward(self, x):
        """Scores."""
        y = (x
             .flatten(1))
        return self.fc(y)
'''


def of(text: str, data: bytes | None = None) -> str:
    return essence(SourceFile("net.py", "/net.py", data or text.encode(), module="net", is_package=False))


SAME = {
    "another comment": ("# the head", "# the last layer"),
    "no comment": ("  # the head", ""),
    "a line of comment": ("class Net", "# Why it is here.\nclass Net"),
    "another docstring": ("Does it.", "Does it\n    well."),
    "layout": ("(x\n             .flatten(1))", "x.flatten( 1 )"),
    "quotes": ('"""Scores."""', "'Scores.'"),
    "blank lines": ("class Net", "\n\n\nclass Net"),
}
OTHER = {
    "a number": ("m=10", "m=11"),
    "a parameter": ("n, m=10", "n, m=10, k=1"),
    "a body": ("flatten(1)", "flatten(2)"),
    "a name": ("self.fc(y)", "self.fc(x)"),
    "a suppression": ("# the head", "# distml: ignore[SHP401]"),
    "a suppressed file": ("# the head", "# distml: ignore-file"),
    "an annotation in a comment": ('        """Scores."""', "        # distml: x: float[b, 3]"),
    "an import that only a pattern finds": ("Does it.", "Does it.\n    import torch"),
    "a docstring that is read": ("nn.Linear(n, m)", "nn.Linear(len(__doc__), m)"),
    "no docstring": ('        """Scores."""\n', ""),
}


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_same(edit: tuple[str, str]) -> None:
    changed = PROGRAM.replace(*edit)
    assert changed != PROGRAM
    assert of(changed) == of(PROGRAM)


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER)
def test_other(edit: tuple[str, str]) -> None:
    changed = PROGRAM.replace(*edit)
    assert changed != PROGRAM
    assert of(changed) != of(PROGRAM)


def test_a_docstring_counts_where_the_program_may_read_it() -> None:
    reads = PROGRAM + "print(__doc__)\n"
    assert of(reads) != of(reads.replace("A net.", "Another net."))


def test_a_suppression_counts_with_its_code_and_its_line() -> None:
    here = PROGRAM.replace("# the head", "# distml: ignore[SHP401]")
    there = PROGRAM.replace("return self.fc(y)", "return self.fc(y)  # distml: ignore[SHP401]")
    other = here.replace("SHP401", "SHP101")
    assert len({of(PROGRAM), of(here), of(there), of(other)}) == 4
    assert of(here) == of(re.sub("^class", "# more\nclass", here, flags=re.MULTILINE))


def test_a_suppression_within_a_chain_of_calls_counts_with_its_link() -> None:
    """The finding points at one link, which may be on another line than the rest."""
    first = "y = (x  # distml: ignore\n     .view(2)\n     .mm(3))\n"
    last = "y = (x\n     .view(2)\n     .mm(3))  # distml: ignore\n"
    assert of(first) != of(last)


def test_what_does_not_parse_counts_as_it_is() -> None:
    assert of("def f(:\n") != of("def f(:  # no\n")


def test_the_tree_is_parsed_anew_afterwards() -> None:
    source = SourceFile("net.py", "/net.py", PROGRAM.encode(), module="net", is_package=False)
    essence(source)
    docstring = source.tree.body[0].value.value  # type: ignore[attr-defined]
    assert docstring == "A net."


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 16), st.text("ab #é\"'(", max_size=12)), max_size=4))
def test_comments_anywhere(comments: list[tuple[int, str]]) -> None:
    lines = PROGRAM.split("\n")
    for line, text in comments:
        if line not in (0, 12, 13, 14):  # not into a string or before a continued line
            lines[line:line] = [f"    # {text}"]
    assert of("\n".join(lines)) == of(PROGRAM) or '"""' in "".join(text for _, text in comments)
