"""Notebooks as programs: IPython's own transformer says what a cell means, nbformat what a notebook is."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.diagnostics.model import Span
from distml.source.notebook import Notebook
from distml.source.reading import UnreadableError, split_lines

Raw = dict[str, Any]


def code(source: str | list[str], **more: Any) -> Raw:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None, **more}


def notebook(*cells: Raw, **more: Any) -> Raw:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 4, **more}


def opened(*sources: str | list[str]) -> Notebook:
    return Notebook(json.dumps(notebook(*map(code, sources)), indent=1), "a.ipynb")


PLAIN = [
    "x = 1",
    "y = x % 2",
    "print('%d of %d'\n      %(1, 2))",
    "z = '''\n%not a magic\n!nor this\n'''",
    "w = (1\n%3)",
    "s = 'a?'  # why?",
    "if x:\n    y = 2\nelse:\n    y = 3",
    "def f(a=1, *, b=2):\n    '''Why?'''\n    return a != b",
    "v = 1 + \\\n  2",
    "t = f'{x!r} {y:%H}'",
    "# a comment?",
    "",
    "a /= 2; b //= 3",
    "q = \"it\\\"s\" '''b'''",
    "x: int = 3",
    "d = {\n'k': [1,\n!=2]}",
]
MAGIC = [
    "%matplotlib inline",
    "!pip install torch",
    "!wget --quiet \\\n  https://example.org \\\n  -O it's",
    "x?",
    "torch.nn.Linear??",
    "?x",
    "%time y = x",
    "%time y = (x",
    "%timeit x + 1",
    "files = !ls it's",
    "where = %pwd",
    "table[0], b = !cat 'x",
    "o: list = !ls \\\n -l",
    "if x:\n    !ls\n    %cd ..\n    y = !pwd\n    x?",
    "/f 1 2",
    ",f a b",
    ";f a b",
    "%lsmagic # what?",
    "f(1,\n  2)?",
    "x == !ls",
    "f(a=!ls)",
]
WHOLE = [
    "%%time",
    "%%capture",
    "%%capture out --no-stderr",
    "%%prun -q",
    "%%bash",
    "%%html",
    "%%timeit",
    "%%writefile a.py",
    "%%",
]


def transformed(source: str) -> ast.Module | None:
    """What IPython would run, with `get_ipython()` for whatever it asks of itself; None where that is no Python."""
    from IPython.core.inputtransformer2 import TransformerManager

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.fix_missing_locations(_Asked().visit(ast.parse(TransformerManager().transform_cell(source))))
        except (SyntaxError, ValueError):
            return None


class _Asked(ast.NodeTransformer):
    """Calls of IPython, as distml writes them."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call).startswith("get_ipython().run_line_magic('time', "):
            return _timed(ast.literal_eval(call.args[1]))
        if isinstance(call, ast.Call) and (ast.unparse(call).startswith("get_ipython()") or self._auto(call)):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        asks = ast.unparse(node).startswith("get_ipython().")
        return ast.parse("get_ipython()", mode="eval").body if asks else self.generic_visit(node)

    def _auto(self, call: ast.Call) -> bool:
        """A call that `/f`, `,f` or `;f` stands for: not followed."""
        return isinstance(call.func, ast.Name) and call.func.id == "f"


def _timed(statement: str) -> ast.AST:
    try:
        return ast.parse(f"if 1: {statement}").body[0]
    except SyntaxError:
        return ast.Pass()


def shape(body: list[ast.stmt]) -> str:
    """Statements without places and without `pass`, of which there is one for each line of a command."""
    return re.sub(r"Pass\(\)(, )?", "", ast.dump(ast.Module(body, []))).replace(", ]", "]")


@pytest.mark.requires("IPython")
@settings(max_examples=200)
@given(st.lists(st.sampled_from([*PLAIN, *MAGIC]), max_size=6), st.sampled_from(["", "  ", "\t"]), st.booleans())
def test_a_cell_means_what_ipython_makes_of_it(parts: list[str], indent: str, blank: bool) -> None:
    source = "\n" * blank + "\n".join(parts)
    source = "".join(indent + line if "'''" not in source else line for line in source.splitlines(keepends=True))
    read, wanted = opened(source), transformed(source)
    if wanted is None:
        assert read.broken is not None
        return
    assert read.broken is None
    tree = ast.parse(read.program)
    marker = tree.body.pop(0)
    body = marker.body if isinstance(marker, ast.If) else tree.body
    assert shape(body) == shape(wanted.body)
    assert len(split_lines(read.program)) == len(split_lines(source.removesuffix("\n"))) + 2 or not source


@pytest.mark.requires("IPython")
@pytest.mark.parametrize("magic", WHOLE)
@pytest.mark.parametrize("body", ["x = 1\n%cd ..\ny = 2", "  x = 1\n  y = 2", ""])
def test_cells_of_which_ipython_runs_the_text_are_code(magic: str, body: str) -> None:
    read = opened(f"\n{magic}\n{body}")
    runs = magic.split(maxsplit=1)[0] in ("%%time", "%%capture", "%%prun")
    assert ("x = 1" in read.program) is (runs and bool(body))
    if runs:
        ast.parse(read.program)
        assert ("out = get_ipython()" in read.program) is ("out" in magic and not body.startswith(" "))


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.lists(
                st.sampled_from([*PLAIN, *MAGIC, '"distml cell 1"', "pass  # distml line 0", "é = '\u2028'"]),
                max_size=4,
            ),
            st.booleans(),
            st.sampled_from(["\n", "\r\n"]),
        ),
        max_size=4,
    ),
    st.sampled_from(
        [{}, {"indent": 1}, {"indent": 4}, {"separators": (",", ":")}, {"indent": "\t", "ensure_ascii": False}]
    ),
    st.sampled_from(["", "\n"]),
    st.sampled_from(["", "\ufeff"]),
)
def test_what_is_not_changed_stays_to_the_byte(
    cells: list[tuple[list[str], bool, str]], form: Raw, end: str, mark: str
) -> None:
    sources = [(sep.join(parts), pieces) for parts, pieces, sep in cells]
    raw = notebook(*(code(text.splitlines(keepends=True) if pieces else text) for text, pieces in sources))
    text = mark + json.dumps(raw, **form) + end
    read = Notebook(text, "a.ipynb")
    assert read.written(read.program) == text
    if read.broken is not None or not read.program:
        return
    lines = read.program.split("\n")
    new = read.written("\n".join([*lines[:1], "added = 'é'", *lines[1:]]))
    after = json.loads(new.removeprefix("\ufeff"))
    number = read.place_of_line(1).cell - 1  # type: ignore[union-attr]
    assert "".join(after["cells"][number]["source"]) == "\n".join(["added = 'é'", *filter(None, [sources[number][0]])])
    raw["cells"][number]["source"] = after["cells"][number]["source"] = ""
    assert after == raw
    kept = text.split("\n")
    assert (
        [line for line in kept if line not in new.split("\n")] == []
        or form.get("indent") is None
        or len(kept) < 9
        or (len([line for line in kept if line not in new.split("\n")]) <= 1)
    )


@pytest.mark.parametrize("pieces", [True, False])
def test_a_place_is_a_cell_a_line_of_it_and_a_line_of_the_file(pieces: bool) -> None:
    sources = ["%cd ..\nx = 1", "%%bash\nls", "y = 2\n\nz = 3\n"]
    raw = notebook(*(code(text.splitlines(keepends=True) if pieces else text) for text in sources))
    raw["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]})
    text = json.dumps(raw, indent=1)
    read = Notebook(text, "a.ipynb")
    lines = read.program.split("\n")
    for name, cell, line in (("x", 2, 2), ("y", 4, 1), ("z", 4, 3)):
        at = lines.index(next(each for each in lines if each.startswith(f"{name} ="))) + 1
        place = read.place(Span("a.ipynb", at, 1, at, 6))
        assert place is not None
        assert (place.cell, place.line, place.column, place.end_line, place.end_column) == (cell, line, 1, line, 6)
        assert f"{name} = " in text.split("\n")[place.file_line - 1]
        assert read.lines[at - 1].startswith(f"{name} =")


@pytest.mark.requires("nbformat")
@pytest.mark.parametrize("change", [
    {}, {"nbformat": 3}, {"cells": 3}, {"cells": None}, {"cells": [3]}, {"cells": [{"cell_type": "code"}]},
    {"cells": [{"cell_type": 3, "source": ""}]}, {"cells": [code(3)]}, {"cells": [code(["a", 3])]}, {"cells": []},
])  # fmt: skip
def test_what_nbformat_refuses_is_no_notebook(change: Raw) -> None:
    import nbformat

    raw = notebook(code("x = 1"), **change)
    try:
        nbformat.validate(json.loads(json.dumps(raw)))
        valid = True
    except (nbformat.ValidationError, AttributeError, TypeError, KeyError):
        valid = False
    if valid:
        assert opened("x = 1").program or raw
        Notebook(json.dumps(raw), "a.ipynb")
    else:
        with pytest.raises(UnreadableError) as caught:
            Notebook(json.dumps(raw), "a.ipynb")
        assert caught.value.diagnostic.code == "SRC108"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "nul", '{"cells": []} x', "[" * 100_000, '"' + "a" * 99, "{'a': 1}"]
)
def test_what_is_not_json_is_said_with_its_place(text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        Notebook(f"\n{text}", "a.ipynb")
    found = caught.value.diagnostic
    assert found.code == "SRC108"
    assert 1 <= found.span.line <= 2


def test_numbers_of_any_length_are_read() -> None:
    text = json.dumps(notebook(code("x = 1"))).replace('"metadata": {}', f'"metadata": {{"n": {"9" * 9999}}}', 1)
    assert "x = 1" in Notebook(text, "a.ipynb").program


@pytest.mark.parametrize("metadata", [{"kernelspec": {"language": "R"}}, {"language_info": {"name": "julia"}}])
def test_notebooks_in_other_languages_have_no_program(metadata: Raw) -> None:
    assert Notebook(json.dumps(notebook(code("x <- 1"), metadata=metadata)), "a.ipynb").program == ""
    known = {"kernelspec": {"language": "python"}, "language_info": {"name": "python"}}
    assert Notebook(json.dumps(notebook(code("x = 1"), metadata=known)), "a.ipynb").program


def test_the_code_is_held_to_the_limit_of_any_file_and_the_rest_is_not() -> None:
    text = json.dumps(notebook(code("x = 1", outputs=["y" * 9999])))
    assert Notebook(text, "a.ipynb", 9).program
    with pytest.raises(UnreadableError) as caught:
        Notebook(text, "a.ipynb", 4)
    assert caught.value.diagnostic.code == "SRC103"
