import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distml.shapes import Dim, Symbol
from distml.solver.formula import evaluate, show, symbols
from distml.solver.where import WhereError, inputs_of, parse_where

from solver.worlds import quick

SHAPES = {"x": (2, 3, 8, 9), "y": (4, 3), "unranked": None}
SIZES = {(name, axis): Symbol(f"{name}{axis}", n, 0) for n, name in enumerate(SHAPES) for axis in range(-2, 4)}


def dims(name, axis):
    return Dim.symbol(SIZES[name, axis])


def rank(name):
    shape = SHAPES[name]
    return None if shape is None else len(shape)


def parse(text):
    return parse_where(text, dims, rank)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x.shape[0] > 5 and x.shape[2] == 224", "x0 >= 6 and x2 == 224"),
        ("1 <= x.shape[-1] < y.size(1) + 2", "x3 >= 1 and y1 + 1 >= x3"),
        ("x.shape == (5, 3, 224, 224)", "x0 == 5 and x1 == 3 and x2 == 224 and x3 == 224"),
        ("(5, 3) != y.size()", "y0 != 5 or y1 != 3"),
        ("y.shape == x.shape", "False"),
        ("unranked.shape == (1, 2)", "unranked0 == 1 and unranked1 == 2"),
        ("len(x.shape) == 4 and x.ndim == x.dim()", "True"),
        ("not (x.size(0) % 8 == 0 or y.numel() // 2 >= 3)", "x0 % 8 != 0 and (y0*y1)//2 <= 2"),
        ("-x.size(0) + 3 >= +2\nand True", "x0 <= 1"),
        ("unranked.shape[-1] == 3", "unranked-1 == 3"),
        ("len(unranked.shape) == 3", "True"),
        ("not len(unranked.shape) == 3", "True"),
        ("not (unranked.ndim == 3 or unranked.numel() > 4 or unranked.shape == unranked.size())", "True"),
        ("1 == x.shape[7]", "False"),
        ("not 1 == x.shape[7]", "False"),
        ("unranked.shape[3] == unranked.shape[9] or x.ndim == 4", "True"),
        ("not 1 < x.shape[0] < 4", "x0 <= 1 or x0 >= 4"),
    ],
)
def test_what_can_be_said(text, shown):
    assert show(parse(text)) == shown


@pytest.mark.parametrize(
    ("text", "column", "part"),
    [
        ("x.shape[0] / 2 == 1", 1, "write `//`"),
        ("  x > 3", 3, "a size is `x.shape[0]`"),
        ("x.shape[0] == 1 and z.shape[0] > 1", 21, "no input is called `z`"),
        ("x.shape[0]", 1, "expected a comparison"),
        ("x.shape[0] >", 13, "not an expression"),
        ("x.shape[0] = 3", 12, "not an expression"),
        ("x.shape[0] == " + "9" * 40, 15, "larger than any size"),
        ("9" * 5000, 4001, "longer than"),
        ("not " * 100 + "x.shape[0] == 1", 161, "nested too deeply"),
        ("x.shape[0] == 10**9", 15, "only + - * // and %"),
        ("x.shape > (1, 2)", 11, "== and != only"),
        ("x.shape == 4", 12, "compared with a shape or a tuple"),
        ("x.shape == x.ndim", 12, "compared with a shape or a tuple"),
        ("__import__('os').getcwd() == 1", 1, "can be called"),
        ("x.shape[0] in (1, 2)", 15, "compare sizes"),
        ("x.shape[y.shape[0]] == 1", 9, "an axis is a small integer"),
        ("x.shape[0] % 0 == 1", 14, "division by zero"),
        ("x.shape[0] is 3", 15, "compare sizes"),
        ("x.shape[0] == 1.5", 15, "expected an integer"),
        ("x.shape[0] == 'a'", 15, "expected an integer"),
        ("x.shape + 1 == 2", 1, "no number"),
        ("[a for a in x.shape] == 1", 1, "expected an integer"),
        ("x.shape[0] == \0", 16, "not an expression"),
        (" ", 1, "nothing is said"),
        (
            "*".join(f"({'+'.join(f'x.shape[{i}]' for i in range(4))})" for _ in range(9)) + " == 1",
            1,
            "grows too large",
        ),
    ],
)
def test_what_is_refused_says_where_and_why(text, column, part):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(WhereError) as caught:
            parse(text)
    message = str(caught.value)
    assert part in message
    assert message.startswith(f"column {column}: ")
    assert caught.value.column == column
    assert "\n" not in message


def test_inputs_of():
    assert inputs_of("len(x.shape) == 2 and (y.size(0) > 1 or not z.ndim == 1)") == {"x", "y", "z"}
    with pytest.raises(WhereError):
        inputs_of("x.shape[")


numbers = st.sampled_from(["x.shape[0]", "x.size(-1)", "y.numel()", "len(y.shape)", "x.dim()", "2", "7"])
sums = st.recursive(
    numbers,
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner),
    max_leaves=4,
)
conditions = st.recursive(
    st.builds("{} {} {}".format, sums, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), sums),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner) | inner.map("not ({})".format)
    ),
    max_leaves=3,
)


class Array:
    """What an expression of the user would see at run time."""

    def __init__(self, shape):
        self.shape = shape
        self.ndim = len(shape)

    def size(self, axis):
        return self.shape[axis]

    def dim(self):
        return self.ndim

    def numel(self):
        total = 1
        for size in self.shape:
            total *= size
        return total


@quick
@given(conditions)
def test_means_what_python_means(text):
    try:
        formula = parse(text)
    except WhereError:
        return
    arrays = {name: Array(shape) for name, shape in SHAPES.items() if shape is not None}
    sizes = {SIZES[name, axis]: size for name, a in arrays.items() for axis, size in enumerate(a.shape)}
    try:
        expected = eval(text, {}, arrays)
    except ZeroDivisionError:
        return
    assert evaluate(formula, sizes) == expected
    assert symbols(formula) <= set(sizes)


@quick
@given(st.text(st.characters(codec="utf-8"), max_size=30) | conditions.map(lambda t: t[: len(t) * 2 // 3]))
def test_any_text_is_read_or_refused(text):
    for read in (parse, inputs_of):
        try:
            read(text)
        except WhereError as error:
            assert len(str(error).splitlines()) == 1
            assert 1 <= error.column <= len(text.encode()) + 1


def test_deep_expressions_are_no_trouble_for_the_parser():
    with pytest.raises(WhereError):
        parse("(" * 1500 + "x.shape[0]" + ")" * 1400)
