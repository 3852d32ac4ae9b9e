"""Changes asked for by syntax node are made there, and nowhere else."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.rewrites.patch import Note, Patch
from distml.source.file import SourceFile

NOTE = Note("what", "why", "rule")


def patch_of(program: str) -> Patch:
    return Patch(SourceFile("a.py", "/a.py", program.encode(), module="a", is_package=False))


def statement(patch: Patch, text: str) -> ast.stmt:
    """The first statement whose text begins so."""
    nodes = (node for node in ast.walk(patch.source.tree) if isinstance(node, ast.stmt))
    return next(node for node in nodes if ast.unparse(node).startswith(text))


def expression(patch: Patch, text: str) -> ast.expr:
    nodes = (node for node in ast.walk(patch.source.tree) if isinstance(node, ast.expr))
    return next(node for node in nodes if ast.unparse(node) == text)


def call(patch: Patch, text: str) -> ast.Call:
    found = expression(patch, text)
    assert isinstance(found, ast.Call)
    return found


@pytest.mark.parametrize(
    ("program", "node", "template", "expected"),
    [
        ("x = a + b\n", "a + b", "{} * 2", "x = (a + b) * 2\n"),
        ("x = f(a + b)\n", "a + b", "g({})", "x = f(g(a + b))\n"),
        ("x = (  a + b )  # c\n", "a + b", "{} * 2", "x = (  a + b ) * 2  # c\n"),
        ("x = a, b\n", "(a, b)", "g({})", "x = g((a, b))\n"),
        ("x = (a, b)\n", "(a, b)", "g({})", "x = g((a, b))\n"),
        ("f(i for i in x)\n", "f((i for i in x))", "g({})", "g(f(i for i in x))\n"),
        ("é = 'é', a.b\n", "a.b", "c({})", "é = 'é', c(a.b)\n"),
        ("x = a if b else c\n", "a if b else c", "{} * {}", "x = (a if b else c) * (a if b else c)\n"),
        ("x = lambda: 0\n", "lambda: 0", "{}()", "x = (lambda: 0)()\n"),
        ("x = a[\n    1\n]\n", "a[1]", "f({})", "x = f(a[\n    1\n])\n"),
        ("x = -1\n", "-1", "{} ** 2", "x = (-1) ** 2\n"),
    ],
)
def test_an_expression_is_wrapped(program: str, node: str, template: str, expected: str) -> None:
    patch = patch_of(program)
    patch.wrap(expression(patch, node), template, NOTE)
    assert patch.rewritten(program).source == expected


def test_changes_inside_changes() -> None:
    program = "y = f(g(x))\n"
    patch = patch_of(program)
    patch.wrap(expression(patch, "x"), "{} + 1", NOTE)
    patch.wrap(expression(patch, "g(x)"), "{} * 2", NOTE)
    patch.keyword(call(patch, "f(g(x))"), "k", "3", NOTE)
    assert patch.rewritten(program).source == "y = f(g(x + 1) * 2, k=3)\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("f(a)\n", "f(a, k=1)\n"),
        ("f()\n", "f(k=1)\n"),
        ("f(k=0)\n", "f(k=1)\n"),
        ("f(a, **b)\n", "f(a, k=1, **b)\n"),
        ("f(\n    a,  # first\n    b,  # second\n)\n", "f(\n    a,  # first\n    b,  # second\n    k=1,\n)\n"),
        ("f(\n    a,\n    b  # second\n)\n", "f(\n    a,\n    b,  # second\n    k=1\n)\n"),
        ("f(\n    a,\n    b  # second\n    # end\n)\n", "f(\n    a,\n    b,  # second\n    k=1\n    # end\n)\n"),
        ("f(a,  # first\n  b=2)  # second\n", "f(a,  # first\n  b=2,\n  k=1)  # second\n"),
        ("f(\n    a\n)\n", "f(\n    a, k=1\n)\n"),
    ],
)
def test_a_keyword_is_given_or_replaced(program: str, expected: str) -> None:
    patch = patch_of(program)
    patch.keyword(call(patch, ast.unparse(ast.parse(program).body[0])), "k", "1", NOTE)
    assert patch.rewritten(program).source == expected


def test_a_keyword_keeps_what_it_was() -> None:
    program = "f(k=a + b, *c)\n"
    patch = patch_of(program)
    patch.keyword(call(patch, "f(*c, k=a + b)"), "k", "{} // 2", NOTE)
    assert patch.rewritten(program).source == "f(k=(a + b) // 2, *c)\n"


def test_arguments_are_added_and_dropped() -> None:
    program = "f(1, c=2)\nf(k=3)\n"
    patch = patch_of(program)
    patch.argument(call(patch, "f(1, c=2)"), "first=True", NOTE)
    patch.drop(call(patch, "f(k=3)"), "k", NOTE)
    assert patch.rewritten(program).source == "f(1, c=2, first=True)\nf()\n"


def test_an_argument_gets_another_name() -> None:
    program = "f(a, lr = 1 + b,  c=2)\n"
    patch = patch_of(program)
    whole = call(patch, "f(a, lr=1 + b, c=2)")
    patch.rename(whole, "lr", "rate", NOTE)
    patch.wrap(whole.keywords[0].value, "{} * 2", NOTE)
    assert patch.rewritten(program).source == "f(a, rate = (1 + b) * 2,  c=2)\n"


def test_statements_before_behind_under_and_without() -> None:
    program = dedent(
        '''
        import os

        # which one
        os.environ["A"] = "0"  # this


        def f(x):
            """Text."""
            # say it
            print(x); y = 3

            print(y,
                  """a
          b""")
            for i in x: g(i)
            return y
        '''
    )
    patch = patch_of(program)
    patch.after(statement(patch, "import os"), "import hvd\n\nhvd.init()", NOTE)
    patch.remove(statement(patch, "os.environ"), NOTE)
    patch.guard(statement(patch, "print(x)"), "first", NOTE)
    patch.guard(statement(patch, "print(y"), "first", NOTE)
    patch.begin(statement(patch, "for i"), "h(i)", NOTE)
    patch.before(statement(patch, "return"), "z = 1", NOTE)
    patch.begin(statement(patch, "def f"), "w = 0", NOTE)
    assert patch.rewritten(program).source == dedent(
        '''
        import os
        import hvd

        hvd.init()


        def f(x):
            """Text."""
            w = 0
            # say it
            if first:
                print(x)
            y = 3

            if first:
                print(y,
                      """a
          b""")
            for i in x:
                h(i)
                g(i)
            z = 1
            return y
        '''
    )


def test_neighbors_under_one_condition_share_it() -> None:
    program = "a()\n# b\nb()\n\nc()\nd()\n"
    patch = patch_of(program)
    for name in "abc":
        patch.guard(statement(patch, name), "first", NOTE)
    assert patch.rewritten(program).source == "if first:\n    a()\n    # b\n    b()\n\n    c()\nd()\n"


def test_a_block_that_loses_everything_passes() -> None:
    program = "if x:\n    a()\n"
    patch = patch_of(program)
    patch.remove(statement(patch, "a()"), NOTE)
    assert patch.rewritten(program).source == "if x:\n    pass\n"


def test_line_ends_tabs_and_marks_stay() -> None:
    program = "\ufeffif x:\r\n\tprint(1)\r\n\ty = 2"
    patch = patch_of(program)
    patch.guard(statement(patch, "print"), "first", NOTE)
    assert patch.rewritten(program).source == "\ufeffif x:\r\n\tif first:\r\n\t\tprint(1)\r\n\ty = 2"


def test_blanks_at_the_end_stay() -> None:
    program = "print(1)\n\n  \n   "
    patch = patch_of(program)
    patch.guard(statement(patch, "print"), "first", NOTE)
    assert patch.rewritten(program).source == "if first:\n    print(1)\n\n  \n   "


def test_names_that_are_free() -> None:
    patch = patch_of("import hvd\nhvd_2 = 1\n")
    assert [patch.free("hvd"), patch.free("hvd"), patch.free("x")] == ["hvd_3", "hvd_4", "x"]


def test_nothing_asked_nothing_changed() -> None:
    program = "x  =  ( 1 )\n"
    assert patch_of(program).rewritten(program).source == program


LINES = st.sampled_from(
    [
        "print(a)",
        "b = f(a, 1)  # c",
        "# only a comment",
        "",
        "if a: print(b); c = 2",
        "for i in a:\n    print(i)\n    # end",
        '"""text\n  more"""',
        "with a as b:\n    pass\nprint(\n    1,\n)",
        "def f(x):\n    print(x)\n\n    return x",
    ]
)


@settings(max_examples=60)
@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_guards_change_nothing_but_what_they_guard(lines: list[str], end: str) -> None:
    program = "".join(f"{line}\n" for line in lines).replace("\n", end)
    patch = patch_of(program)
    for node in ast.walk(patch.source.tree):
        if isinstance(node, ast.Expr) and ast.unparse(node).startswith("print"):
            patch.guard(node, "rank() == 0", NOTE)
    new = patch.rewritten(program).source
    ast.parse(new)
    kept = [line.strip() for line in new.splitlines() if line.strip() != "if rank() == 0:"]
    before = program.replace("if a: print(b); c = 2", f"if a:{end}print(b){end}c = 2")
    assert kept == [line.strip() for line in before.splitlines()]
