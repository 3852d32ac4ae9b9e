"""Bytes become text, or a finding that says why not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distml.source.file import SourceFile
from distml.source.reading import UnreadableError, decode, read_bytes, split_lines


def code_of(error: pytest.ExceptionInfo[UnreadableError]) -> tuple[str, int, int]:
    finding = error.value.diagnostic
    return finding.code, finding.span.line, finding.span.column


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\n", "x = 1\n"),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'€'",
        ),
        (b"\xef\xbb\xbf# coding: utf8\n", "# coding: utf8\n"),
        (b"x = 1\n\n# coding: nonsense\n", "x = 1\n\n# coding: nonsense\n"),
        (b"x = '# coding: nonsense'\n# coding: nonsense\n", "x = '# coding: nonsense'\n# coding: nonsense\n"),
    ],
)
def test_encodings(data: bytes, text: str) -> None:
    assert decode(data, "a.py") == text


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"x = '\xff'\n", 1, 6),
        (b"x = 1\n\ny = '\xc3'\n", 3, 6),
        (b"x = 1\ny\0 = 2\n", 2, 2),
        (b"# coding: no-such-encoding\n", 1, 1),
        (b"# coding: hex\n", 1, 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, 1),
        ("x = 1\n".encode("utf-16"), 1, 4),
        (b"# coding: undefined\n", 1, 1),
    ],
)
def test_what_is_no_text_is_located(data: bytes, line: int, column: int) -> None:
    with pytest.raises(UnreadableError) as error:
        decode(data, "a.py")
    assert code_of(error) == ("SRC102", line, column)


def test_lines_end_where_the_parser_ends_them() -> None:
    assert split_lines("a\r\nb\rc\nd\x0ce\u2028f\n") == ["a", "b", "c", "d\x0ce\u2028f", ""]


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    path.write_bytes(b"x = 1\n" * 100)
    with pytest.raises(UnreadableError) as error:
        read_bytes(str(path), "large.py", limit=100)
    assert code_of(error)[0] == "SRC103"
    assert read_bytes(str(path), "large.py", limit=600)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "broken.py").symlink_to("nowhere")
    (tmp_path / "self.py").symlink_to("self.py")
    for name in ("pipe.py", "broken.py", "self.py", "absent.py", ".", "nul\0.py"):
        with pytest.raises(UnreadableError) as error:
            read_bytes(f"{tmp_path}/{name}", name)
        assert code_of(error)[0] == "SRC107"


def source(text: str) -> SourceFile:
    return SourceFile("a.py", "/a.py", text.encode(), module="a", is_package=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(:\n", ("SRC101", 1, 7)),
        ("x = 1\n  y = 2\n", ("SRC101", 2, 1)),
        ("x = (\n", ("SRC101", 1, 5)),
        ("(" * 300 + ")" * 300, ("SRC104", 1, 201)),
        ("-" * 50_000 + "1", ("SRC104", 1, 1)),
        ("x = " + "[" * 100 + "0" + "]" * 100, None),
        ("a" + ".b" * 500_000, ("SRC104", 1, 1)),
        ("".join(f"{' ' * depth}if x:\n" for depth in range(150)), ("SRC104", 101, 1)),
    ],
)
def test_hostile_syntax(text: str, expected: tuple[str, int, int] | None) -> None:
    if expected is None:
        assert source(text).tree.body
        return
    with pytest.raises(UnreadableError) as error:
        _ = source(text).tree
    code, line, _ = code_of(error)
    assert (code, line) == expected[:2]


def test_warnings_of_the_parser_are_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    assert source(r"x = '\d'; 1 is 1").tree
    assert not recwarn.list


def test_columns_count_characters() -> None:
    file = source("x = 1\nname = 'é' + 'ü𝄞' + call(\n  2)\n")
    statement = file.tree.body[1]
    span = file.span(statement.value.right)  # type: ignore[attr-defined]
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 21, 3, 5)
    assert file.lines[1][span.column - 1 :] == "call("
