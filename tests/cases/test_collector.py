"""The collector reads and writes expectations faithfully."""

from __future__ import annotations

from cases.expectations import Said, annotate, compare, expectations

PROGRAM = """\
import torch
x @ y  # error: [SHP101] "inner \\"k\\" 3"  # warning: [SHP504]
reveal_shape(x)  # revealed: Tensor[b, 128]
# error: is no expectation without a code
"""


def test_expectations_are_read() -> None:
    assert expectations(PROGRAM) == [
        Said(2, "error", "SHP101", 'inner "k" 3'),
        Said(2, "warning", "SHP504", ""),
        Said(3, "revealed", "", "Tensor[b, 128]"),
    ]


def test_part_of_a_message_is_enough_but_a_revealed_shape_is_whole() -> None:
    expected = [Said(1, "error", "SHP101", "3"), Said(2, "revealed", "", "Tensor[b]")]
    said = [Said(1, "error", "SHP101", "needs 3"), Said(2, "revealed", "", "Tensor[b]")]
    assert compare(expected, said) == []
    assert len(compare(expected, [said[0], Said(2, "revealed", "", "Tensor[b, 2]")])) == 2


def test_every_difference_is_a_problem() -> None:
    expected, said = Said(1, "error", "SHP101", ""), Said(2, "error", "SHP101", "")
    assert len(compare([expected], [said])) == 2
    assert len(compare([], [said, said])) == 2


def test_writing_gives_what_is_read() -> None:
    said = expectations(PROGRAM)
    assert annotate(PROGRAM, said) == PROGRAM
    assert "#" not in annotate(PROGRAM, []).splitlines()[1]
