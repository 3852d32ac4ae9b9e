"""Fixes of findings, made in texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from distml.diagnostics.model import Diagnostic, Edit, Fix, Span
from distml.engine.fixes import fitting, mended


def finding(*edits: tuple[str, int, int, int, int, str]) -> Diagnostic:
    made = tuple(Edit(Span(*place), text) for *place, text in edits)
    return Diagnostic("SHP101", "no", Span("a.py", 1, 1, 1, 2), fix=Fix("mend it", made))


def test_edits_are_made_where_they_say() -> None:
    text = "a = 1\r\nb = 2\rc = 3\n"
    findings = [finding(("a.py", 3, 5, 3, 6, "33")), finding(("a.py", 1, 5, 2, 2, "one; B"))]
    assert mended(findings, {"a.py": text}) == {"a.py": "a = one; B = 2\rc = 33\n"}


def test_an_empty_span_inserts_at_the_end_too() -> None:
    assert mended([finding(("a.py", 2, 1, 2, 1, "b\n"))], {"a.py": "a\n"}) == {"a.py": "a\nb\n"}
    assert mended([finding(("a.py", 1, 2, 1, 2, "b"))], {"a.py": "a"}) == {"a.py": "ab"}


def test_what_overlaps_an_earlier_fix_is_left_out_whole() -> None:
    first = finding(("a.py", 1, 1, 1, 3, "X"))
    second = finding(("a.py", 1, 2, 1, 4, "Y"), ("b.py", 1, 1, 1, 2, "Z"))
    assert mended([first, second], {"a.py": "abcd", "b.py": "b"}) == {"a.py": "Xcd"}


def test_one_fix_of_several_findings_is_made_once() -> None:
    shared = finding(("a.py", 1, 1, 1, 2, ""))
    assert fitting([shared, shared], {"a.py": "ab"}) == [shared, shared]
    assert mended([shared, shared], {"a.py": "ab"}) == {"a.py": "b"}
    insertion = finding(("a.py", 1, 1, 1, 1, "x"))
    assert mended([insertion, insertion], {"a.py": "ab"}) == {"a.py": "xab"}


def test_neighbors_are_both_replaced() -> None:
    lines = [finding(("a.py", 2, 1, 3, 1, "")), finding(("a.py", 1, 1, 2, 1, ""))]
    assert mended(lines, {"a.py": "a\nb\nc\n"}) == {"a.py": "c\n"}


def test_a_file_that_may_not_be_changed_keeps_the_others_as_they_are() -> None:
    assert mended([finding(("a.py", 1, 1, 1, 2, "X"), ("b.py", 1, 1, 1, 2, "Y"))], {"a.py": "a"}) == {}


def test_findings_without_fixes() -> None:
    assert mended([Diagnostic("SHP101", "no", Span("a.py", 1, 1, 1, 2))], {"a.py": "a"}) == {}


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.text("xy\n", max_size=3)), max_size=5))
def test_as_replacing_one_after_the_other(wanted: list[tuple[int, int, str]]) -> None:
    text = "ab\ncd\r\nef\rgh\n" * 2
    taken: list[tuple[int, int, str]] = []
    findings = []
    for start, length, replacement in wanted:
        end = min(start + length, len(text))
        if any("\r\n" in text[at - 1 : at + 1] for at in (start, end) if at):
            continue  # no place stands between CR and LF
        findings.append(finding(("a.py", *place(text, start), *place(text, end), replacement)))
        if all(apart((start, end), each[:2]) for each in taken):
            taken.append((start, end, replacement))
    expected = text
    for start, end, replacement in sorted(taken, reverse=True):
        expected = expected[:start] + replacement + expected[end:]
    assert mended(findings, {"a.py": text}).get("a.py", text) == expected


def apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Two stretches without a common place, of which an empty one does not touch the other."""
    first, second = sorted((one, other))
    return first[1] < second[0] or (first[1] == second[0] and first[0] < first[1] and second[0] < second[1])


def place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
