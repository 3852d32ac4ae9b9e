"""Source for a newer Python than the running one is told apart from what is no Python."""

from __future__ import annotations

import ast
from sys import version_info

import pytest

from distml.source.file import SourceFile
from distml.source.newer import needed
from distml.source.reading import UnreadableError

SOURCES = {
    "def f[T](x: T) -> T: ...": 12,
    "class A[*Ts, **P]: ...": 12,
    "type X[T] = list[T]": 12,
    "type X = int": 12,
    "x = f'{a['b']}'": 12,
    "x = f'{'\\n'.join(a)}'": 12,
    "x = f'{f'{f'{1}'}'}'": 12,
    "class A[T = int]: ...": 13,
    "x = t'{a}'": 14,
    "try: ...\nexcept A, B: ...": 14,
    "try: ...\nexcept* A, B: ...": 14,
    "type X = int\nx = t'{a}'": 14,
}
NEVER = ["def f(:", "print 'x'", "x = 0777", "except = 3", "f'{a!x}'", "try: ...\nexcept A, B", "x = " + "-" * 200_000]


@pytest.mark.parametrize(("text", "minor"), SOURCES.items())
def test_the_version_that_a_file_needs_is_told(text: str, minor: int) -> None:
    source = SourceFile("a.py", "/a.py", f"{text}\n".encode(), module="a", is_package=False)
    if version_info >= (3, minor):
        assert isinstance(source.tree, ast.Module)
        return
    with pytest.raises(UnreadableError) as error:
        _ = source.tree
    assert error.value.diagnostic.code == "SRC101"
    assert f" need Python 3.{minor} or newer, and distml runs on Python 3.{version_info.minor}" in str(error.value)


@pytest.mark.parametrize("text", NEVER)
def test_what_no_python_reads_needs_none(text: str) -> None:
    assert needed(text + "\n") is None
