"""Comments hide findings; those that hide nothing are findings themselves."""

from __future__ import annotations

import ast
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.diagnostics.model import Diagnostic, Span
from distml.engine.fixes import mended
from distml.source.file import SourceFile
from distml.source.suppressions import apply, ignores_file


def left(text: str, *found: tuple[str, int, int]) -> list[tuple[str, int]]:
    source = SourceFile("a.py", "/a.py", text.encode(), module="a", is_package=False)
    findings = [Diagnostic(code, "", Span("a.py", line, 1, end, 2)) for code, line, end in found]
    applied = apply(source, findings)
    return [(finding.code, finding.span.line) for finding in (*applied.kept, *applied.unused)]


@pytest.mark.parametrize(
    "comment",
    [
        "# distml: ignore",
        "# distml: ignore[SHP101]",
        "#distml:ignore[SHP102, SHP101]",
        "# why # distml: ignore[SHP101]  # more",
    ],
)
def test_a_comment_hides_what_it_names(comment: str) -> None:
    assert ("SHP101", 1) not in left(f"x @ y  {comment}\n", ("SHP101", 1, 1), ("SHP102", 1, 1))


def test_other_codes_and_lines_stay() -> None:
    text = "x @ y  # distml: ignore[SHP101]\nx @ y\n"
    assert left(text, ("SHP101", 1, 1), ("SHP102", 1, 1), ("SHP101", 2, 2)) == [("SHP102", 1), ("SHP101", 2)]


def test_any_line_of_a_finding_may_carry_the_comment() -> None:
    assert left("f(\n  x,\n)  # distml: ignore[SHP101]\n", ("SHP101", 1, 3)) == []


def test_alone_on_its_line_it_speaks_for_the_next_code() -> None:
    assert left("# distml: ignore[SHP101]\n# more\n\nx @ y\n", ("SHP101", 4, 4)) == []


def test_a_comment_that_hides_nothing_is_reported() -> None:
    assert left("x  # distml: ignore\n") == [("SRC301", 1)]
    assert left("x  # distml: ignore[SHP101, SHP102]\n", ("SHP101", 1, 1)) == [("SRC301", 1)]
    assert left("x  # distml: ignore[nonsense]\n", ("SHP101", 1, 1)) == [("SHP101", 1), ("SRC302", 1)]


@pytest.mark.parametrize(
    "text", ["x = '# distml: ignore'\n", '"""\n# distml: ignore\n"""\n', "# distml: ignored\n", "# distml ignore\n"]
)
def test_only_comments_that_say_so_count(text: str) -> None:
    assert left(text, ("SHP101", 1, 1)) == [("SHP101", 1)]


def test_columns_of_the_comment() -> None:
    source = SourceFile("a.py", "/a.py", "é  # distml: ignore[SHP101]  # x\n".encode(), module="a", is_package=False)
    (unused,) = apply(source, ()).unused
    assert (unused.span.column, unused.span.end_column) == (4, 28)


def test_a_whole_file() -> None:
    def ignored(text: str) -> bool:
        return ignores_file(SourceFile("a.py", "/a.py", text.encode(), module="a", is_package=False))

    assert ignored("import os\n# distml: ignore-file\n")
    assert not ignored("x = '# distml: ignore-file'\n")
    assert not ignored("# distml: ignore-files\n")
    assert ignored("# distml: ignore-file\nx = (\n"), "also where the file does not parse"


def fixed(text: str, *found: tuple[str, int, int]) -> str | None:
    """The text with the fixes of the comments that hid nothing; None where there are none."""
    source = SourceFile("a.py", "/a.py", text.encode(), module="a", is_package=False)
    findings = [Diagnostic(code, "", Span("a.py", line, 1, end, 2)) for code, line, end in found]
    return mended(apply(source, findings).unused, {"a.py": text}).get("a.py")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x  # distml: ignore[SHP102]\ny\n", "x\ny\n"),
        ("x\t # distml: ignore", "x"),
        ("é  #distml:ignore[SHP102,SHP103]\r\ny", "é\r\ny"),
        ("x\n    # distml: ignore[SHP102]\ny\n", "x\ny\n"),
        ("x\n# distml: ignore[SHP102]", "x\n"),
        ("# distml: ignore[SHP102]\n# distml: ignore[SHP103]\ny\n", "y\n"),
        ("x  # noqa: E501  # distml: ignore[SHP102]\n", "x  # noqa: E501\n"),
        ("x  # why # distml: ignore[SHP102]  # pylint: disable=x\n", "x  # why # pylint: disable=x\n"),
        ("x  # distml: ignore[SHP102] - see issue 3\n", "x  # see issue 3\n"),
        ("x  # distml: ignore[SHP102, HVD106]\n", "x  # distml: ignore[HVD106]\n"),
        ("x  # distml: ignore[HVD106,  SHP102 , CHO501]  # y\n", "x  # distml: ignore[HVD106, CHO501]  # y\n"),
        ("f(  # distml: ignore[SHP102]\n)\n", "f(\n)\n"),
    ],
)
def test_what_hides_nothing_is_taken_out(text: str, wanted: str) -> None:
    assert fixed(text) == wanted


def test_codes_that_hide_something_stay() -> None:
    text = "x @ y  # distml: ignore[SHP102, SHP101, nonsense]\n"
    assert fixed(text, ("SHP101", 1, 1)) == "x @ y  # distml: ignore[SHP101]\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x @ y  # distml: ignore[SHP110]\n", [("SHP101", 1, 1)]),
        ("import torch\nx  # distml: ignore\n", []),
        ("from distml.choreo import At\nx  # distml: ignore[]\n", []),
    ],
)
def test_comments_that_may_be_meant_otherwise_are_left_to_people(text: str, found: list[tuple[str, int, int]]) -> None:
    assert ("SRC301", text.count("\n")) in left(text, *found)
    assert fixed(text, *found) is None


PIECES = st.lists(
    st.sampled_from(
        ["x = 1", "  # distml: ignore[SHP101]", "# distml: ignore[SHP102, SHP103]", "  # noqa", "'#'", "\n"]
    ),
    max_size=14,
)


@settings(max_examples=60)
@given(PIECES)
def test_fixing_leaves_the_code_and_nothing_to_fix(pieces: list[str]) -> None:
    text = "".join(pieces)
    with suppress(SyntaxError):
        tree = ast.dump(ast.parse(text))
        for _ in range(4):
            text = text if (after := fixed(text)) is None else after
        assert ast.dump(ast.parse(text)) == tree
        assert left(text) == []


def test_at_the_end_of_joined_lines_it_speaks_for_all_of_them() -> None:
    text = "x = '''\n''' + a @ b + \\\n  c  # distml: ignore[SHP101]\nx @ y\n"
    places = [("SHP101", line, line) for line in (1, 2, 3, 4)]
    assert left(text, *places) == [("SHP101", 4)]
    assert left("f(\n  x,  # distml: ignore[SHP101]\n)", ("SHP101", 1, 1)) == [("SHP101", 1), ("SRC301", 2)]
