"""Fixes of choreographies: made where there is one answer, and nothing is left to fix behind them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from distml.choreo.check import check_source
from distml.engine.fixes import mended
from distml.source.file import SourceFile

HEAD = """\
from enum import Enum

from distml.choreo import At, Channel, Role


class Ann(Role): ...


class Bob(Role): ...


class Eve(Role): ...


class Way(Enum):
    LEFT = "left"
    RIGHT = "right"


def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann], m: At[int, Ann, Bob]) -> None:
"""
THIRD = HEAD.replace("m: At", "be: Channel[object, Bob, Eve], m: At")
LEFT, RIGHT = "ch.select(Way.LEFT @ Ann())", "ch.select(Way.RIGHT @ Ann())"


def fixed(text: str) -> str:
    source = SourceFile("a.py", "/a.py", text.encode(), module="a", is_package=False)
    return mended(check_source(source), {"a.py": text}).get("a.py", text)


def body(text: str, head: str = HEAD) -> str:
    return head + textwrap.indent(textwrap.dedent(text), "    ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"if n:\n    {LEFT}\n    {LEFT}\nelse:\n    {RIGHT}\n",
            f"if n:\n    {LEFT}\nelse:\n    {RIGHT}\n",
        ),
        (f"if m:\n    {LEFT}\nelse:\n    {RIGHT}\n", "if m:\n    pass\nelse:\n    pass\n"),
        (f"if m:\n    {LEFT}\n    {LEFT}\n    {LEFT}\n", "if m:\n    pass\n"),
        (f"if m:\n    {LEFT}\n    print(n)\n", "if m:\n    print(n)\n"),
        (
            "if m:\n    ch.select(\n        Way.LEFT @ Ann(),\n    )  # tell\n    print(n)\n",
            "if m:\n    ch.select(\n        Way.LEFT @ Ann(),\n    )  # tell\n    print(n)\n",
        ),
        (f"if m:\n    {LEFT}; print(n)\n", f"if m:\n    {LEFT}; print(n)\n"),
        (f"if m: {LEFT}\n", f"if m: {LEFT}\n"),
        ("k: At[int, Bob] = ch.com(m)\n", "k: At[int, Bob] = m\n"),
        ("k: At[int, Bob] = -ch.com(m + 1) * 2\n", "k: At[int, Bob] = -(m + 1) * 2\n"),
        ("k: At[int, Bob] = ch.com((m))\n", "k: At[int, Bob] = m\n"),
        ("é: At[int, Bob] = ch.com(m)\n", "é: At[int, Bob] = m\n"),
        ("k: At[int, Bob] = ch.com(\n    m\n)\n", "k: At[int, Bob] = ch.com(\n    m\n)\n"),
    ],
)
def test_what_is_superfluous_goes(before: str, after: str) -> None:
    assert fixed(body(before)) == body(after)


@pytest.mark.parametrize(
    "text",
    [
        f"if n:\n    {LEFT}\n    {RIGHT}\nelse:\n    {RIGHT}\n",
        f"if n:\n    {LEFT}\n    {LEFT}\n    print(n)\nelse:\n    {RIGHT}\n",
        "k: At[int, Bob] = ch.com(m)\n",
    ],
)
def test_another_label_or_a_third_party_may_have_been_meant(text: str) -> None:
    head = HEAD if f"{LEFT}\n    {RIGHT}" in text else THIRD
    before = body(text, head)
    assert check_source(SourceFile("a.py", "/a.py", before.encode(), module="a", is_package=False))
    assert fixed(before) == before


def test_what_is_fixed_is_right(folder: Path) -> None:
    from distml.cli.main import main

    text = body(f"if m:\n    {LEFT}\nk: At[int, Bob] = ch.com(m)\nprint(k)\n")
    (folder / "a.py").write_text(text)
    assert main(["check", "--select", "CHO", "a.py"]) == 1
    assert main(["check", "--select", "CHO", "--fix", "a.py"]) == 0
