"""Edits and positions in units of the client, against the encodings themselves."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distml.server.buffers import Range, column, edited, width

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
PIECES = st.sampled_from(["a", "é", "漢", "😀", "\t", "\n", "\r", "\r\n", "\f", "\u2028", "\x85", "\x1c", "e\u0301"])
TEXTS = st.lists(PIECES, max_size=12).map("".join)


def units(text: str, encoding: str) -> int:
    codec, size = CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def position(text: str, offset: int, encoding: str) -> tuple[int, int]:
    """The line and the units before an offset that is not inside a line end."""
    ends = [end.end() for end in re.finditer(r"\r\n|\r|\n", text[:offset])]
    return len(ends), units(text[max(ends, default=0) : offset], encoding)


@pytest.mark.parametrize("encoding", list(CODECS))
@given(text=TEXTS, replacement=TEXTS, data=st.data())
def test_an_edit_is_what_it_is_in_the_text(encoding: str, text: str, replacement: str, data: st.DataObject) -> None:
    places = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n"]
    start, end = sorted([data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))])
    where = Range(*position(text, start, encoding), *position(text, end, encoding))
    assert edited(text, where, replacement, encoding) == text[:start] + replacement + text[end:]


@pytest.mark.parametrize("encoding", list(CODECS))
@given(text=TEXTS)
def test_a_column_is_found_again(encoding: str, text: str) -> None:
    line = re.sub(r"[\r\n]", "", text)
    for at in range(len(line) + 1):
        assert width(line[:at], encoding) == units(line[:at], encoding)
        assert column(line, width(line[:at], encoding), encoding) == at


@pytest.mark.parametrize(
    ("where", "after"),
    [
        (None, "!"),
        (Range(0, 99, 0, 99), "ab!\n😀c"),
        (Range(9, 0, 9, 9), "ab\n😀c!"),
        (Range(1, 1, 1, 2), "ab\n!c"),  # from within a character on
        (Range(1, 3, 0, 0), "ab\n😀c!"),  # the end before the beginning
        (Range(-1, -1, -1, -1), "!ab\n😀c"),
    ],
)
def test_what_no_editor_should_send_is_taken_nevertheless(where: Range | None, after: str) -> None:
    assert edited("ab\n😀c", where, "!", "utf-16") == after


def test_a_lone_surrogate_is_one_unit_of_utf_16() -> None:
    assert width("\ud800x", "utf-16") == 2
    assert column("\ud800x", 1, "utf-16") == 1
