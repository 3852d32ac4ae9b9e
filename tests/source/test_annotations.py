"""Annotations as written: what each notation says, and jaxtyping itself as the judge of its strings."""

from __future__ import annotations

import ast
import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.shapes import Dim, Symbol
from distml.source.annotations import (
    AnyAxes,
    AnyAxis,
    AnyHint,
    Axis,
    BadAxis,
    ExpressionAxis,
    Hint,
    LiteralHint,
    NameAxis,
    Operation,
    OptionalHint,
    ShapeHint,
    SizeAxis,
    TupleHint,
    TypeHint,
    UnionHint,
    ValueAxis,
    evaluate,
    parse_annotation,
)
from distml.source.annotations_jaxtyping import DTYPES, AxisError, parse_axes, parse_expression
from distml.source.annotations_model import Expression, expression_text


def hint(text: str) -> Hint:
    return parse_annotation(ast.parse(text, mode="eval").body)


def axes(text: str) -> tuple[Axis, ...]:
    found = hint(text)
    assert isinstance(found, ShapeHint), found
    return found.axes


ANY, MANY = AnyAxis(), AnyAxes()
INT = TypeHint("int")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TensorType([Dyn, 3, 224, 224])", (ANY, SizeAxis(3), SizeAxis(224), SizeAxis(224))),
        ("TensorType((1, 2, 3, Dyn))", (SizeAxis(1), SizeAxis(2), SizeAxis(3), ANY)),
        ("tt.TensorType([])", ()),
        ("TensorType((N, 2 * N))", (ValueAxis("N"), ValueAxis("2 * N"))),
        ("TensorType(sizes)", (MANY,)),
        ("TensorType([2.5])", (BadAxis("2.5"),)),
        ("TensorType['b', 3]", (NameAxis("b"), SizeAxis(3))),
        ("TensorType['b':..., 'c':3, torch.float32]", (NameAxis("b", variadic=True), SizeAxis(3))),
        ("TensorType[..., -1]", (MANY, ANY)),
        ("NdArray[2, int, 5]", (SizeAxis(2), ANY, SizeAxis(5))),
        ("NdArray[()]", ()),
        ("NdArray[int, 2]", (ANY, SizeAxis(2))),
        ("NdArray[10]", (SizeAxis(10),)),
        ("hints.NdArray[3, float]", (SizeAxis(3), BadAxis("float"))),
        ("NdArray[3, 1.5]", (SizeAxis(3), BadAxis("1.5"))),
        ("NdArray[-3]", (BadAxis("-3"),)),
        ("NdArray[rows, cols // 2]", (ValueAxis("rows"), ValueAxis("cols // 2"))),
        ("np.ndarray[tuple[int, Literal[3]], np.dtype[np.float32]]", (ANY, SizeAxis(3))),
        ("np.ndarray[tuple[int, ...], np.dtype[Any]]", (MANY,)),
        ("np.ndarray[tuple[()], np.dtype[Any]]", ()),
        ("np.ndarray[Any, np.dtype[np.int64]]", (MANY,)),
        ("npt.NDArray[np.float64]", (MANY,)),
    ],
)
def test_shapes_in_the_notations_of_several_libraries(text: str, expected: tuple[Axis, ...]) -> None:
    assert axes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("b c h w", (NameAxis("b"), NameAxis("c"), NameAxis("h"), NameAxis("w"))),
        ("*batch 3", (NameAxis("batch", variadic=True), SizeAxis(3))),
        ("#b #3", (NameAxis("b", True), SizeAxis(3, True))),
        ("*#batch c", (NameAxis("batch", True, True), NameAxis("c"))),
        ("... c", (MANY, NameAxis("c"))),
        ("_ _name", (ANY, ANY)),
        ("*_ c", (MANY, NameAxis("c"))),
        ("name=4", (SizeAxis(4),)),
        ("b*2", (ExpressionAxis(Operation("*", "b", 2)),)),
        ("h//2", (ExpressionAxis(Operation("//", "h", 2)),)),
        ("dim+1", (ExpressionAxis(Operation("+", "dim", 1)),)),
        ("{self.x} 3", (ANY, SizeAxis(3))),
        ("min(a,b)", (ANY,)),
        ("h/2", (ANY,)),
        ("?foo", (ANY,)),
    ],
)
def test_axis_strings_of_jaxtyping(text: str, expected: tuple[Axis, ...]) -> None:
    assert axes(f'Float[Tensor, "{text}"]') == expected


@pytest.mark.parametrize("text", ["a,b", "##a", "*a *b", "... ...", "a...", "*4", "_4", "#_", "a#", "__a", "_a+1"])
def test_what_jaxtyping_rejects_says_nothing(text: str) -> None:
    assert hint(f'Float[Tensor, "{text}"]') == AnyHint()


def test_the_parts_of_a_shape_annotation() -> None:
    assert hint('jt.Float32[torch.Tensor, "b"]') == ShapeHint("jt.Float32", (NameAxis("b"),), "torch.Tensor", "float")
    assert hint('Int[np.ndarray, ""]') == ShapeHint("Int", (), "np.ndarray", "int")
    assert hint('Shaped[Any, "b"]') == ShapeHint("Shaped", (NameAxis("b"),), None, None)
    assert hint('Float["Tensor", "b"]') == ShapeHint("Float", (NameAxis("b"),), "Tensor", "float")
    assert hint('Float[Tensor, f"{N} 3"]') == ShapeHint("Float", (MANY,), "Tensor", "float")
    assert hint('Float[Float[Tensor, "c"], "b"]') == AnyHint()
    assert hint('Float[float, ""]') == TypeHint("float")
    found = hint("np.ndarray[tuple[int, Literal[3]], np.dtype[np.complex64]]")
    assert found == ShapeHint("np.ndarray", (ANY, SizeAxis(3)), "np.ndarray", "complex")
    assert hint("npt.NDArray[np.longdouble]") == ShapeHint("npt.NDArray", (MANY,), "numpy.ndarray", "float")
    assert hint("npt.NDArray[np.uint8]") == ShapeHint("npt.NDArray", (MANY,), "numpy.ndarray", "int")
    shown = hint('Float[Tensor, "*b #c h//2 3 _"]')
    assert isinstance(shown, ShapeHint)
    assert shown.text == "[*b, #c, h//2, 3, _]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int", INT),
        ("nn.Module", TypeHint("nn.Module")),
        ("torch.Size", TypeHint("torch.Size")),
        ("MyModel", TypeHint("MyModel")),
        ("list[int]", TypeHint("list", (INT,))),
        ("dict[str, list[int]]", TypeHint("dict", (TypeHint("str"), TypeHint("list", (INT,))))),
        ("tuple[int, int]", TupleHint((INT, INT))),
        ("Tuple[int, ...]", TupleHint((INT,), variadic=True)),
        ("tuple[()]", TupleHint(())),
        ("tuple[int, *tuple[str, ...]]", TypeHint("tuple")),
        ("Optional[Tensor]", OptionalHint(TypeHint("Tensor"))),
        ("Tensor | None", OptionalHint(TypeHint("Tensor"))),
        ("None | int | str", OptionalHint(UnionHint((INT, TypeHint("str"))))),
        ("Union[int, float]", UnionHint((INT, TypeHint("float")))),
        ("Union[int, None]", OptionalHint(INT)),
        ("int | Any", AnyHint()),
        ("None", TypeHint("None")),
        ("'int'", INT),
        ("'Float[Tensor, \"b\"]'", ShapeHint("Float", (NameAxis("b"),), "Tensor", "float")),
        ("Optional['Tensor']", OptionalHint(TypeHint("Tensor"))),
        ("Annotated[int, 'doc']", INT),
        ("Final[int]", INT),
        ("ClassVar[Tensor]", TypeHint("Tensor")),
        ("Literal['a', 1, None]", LiteralHint(("a", 1, None))),
        ("Literal[-1]", LiteralHint((-1,))),
        ("Callable[[int], int]", TypeHint("Callable")),
        ("Any", AnyHint()),
        ("f(x)", AnyHint()),
        ("'not an annotation!'", AnyHint()),
        ("1 + 2", AnyHint()),
        ("...", AnyHint()),
    ],
)
def test_types(text: str, expected: Hint) -> None:
    assert hint(text) == expected


def test_hostile_annotations_say_nothing() -> None:
    assert hint("Optional[" * 40 + "int" + "]" * 40) == AnyHint()
    nested = "int"
    for _ in range(6):
        nested = repr(nested)
    assert hint(nested) == INT
    assert hint(repr("x" * 10_000)) == AnyHint()
    assert hint(f'Float[Tensor, "{"a+" * 500}1"]') == ShapeHint("Float", (ANY,), "Tensor", "float")
    assert hint(repr("(" * 500 + ")" * 500)) == AnyHint()


names = st.from_regex(r"[a-z][a-z0-9]{0,3}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
plain = st.one_of(
    st.builds(SizeAxis, st.integers(0, 999), st.booleans()),
    st.builds(NameAxis, names, st.booleans()),
    st.just(ANY),
)
expressions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(st.integers(0, 99), names),
    lambda inner: st.builds(Operation, st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner),
    max_leaves=4,
)
symbolic = st.builds(ExpressionAxis, expressions.filter(lambda e: isinstance(e, Operation)), st.booleans())
variadic = st.one_of(st.just(MANY), st.builds(NameAxis, names, st.booleans(), st.just(True)))


@st.composite
def shapes(draw: st.DrawFn) -> tuple[Axis, ...]:
    found = draw(st.lists(st.one_of(plain, symbolic), max_size=4))
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(variadic))
    return tuple(found)


@settings(max_examples=200)
@given(shapes())
def test_what_is_shown_of_axes_reads_back(expected: tuple[Axis, ...]) -> None:
    text = ShapeHint("Float", expected).text.strip("[]").replace(", ", " ")
    assert parse_axes(text) == expected


@settings(max_examples=200)
@given(st.lists(st.one_of(st.integers(0, 999), st.none(), st.from_regex(r"[A-Z]{2}", fullmatch=True)), max_size=4))
def test_tensor_types_read_back(sizes: list[int | str | None]) -> None:
    written = ", ".join("Dyn" if size is None else str(size) for size in sizes)
    expected = tuple(ANY if s is None else SizeAxis(s) if isinstance(s, int) else ValueAxis(s) for s in sizes)
    assert axes(f"TensorType([{written}])") == expected


@settings(max_examples=200)
@given(expressions, st.dictionaries(names, st.integers(1, 9)))
def test_expressions_calculate_as_python_does(expression: Expression, sizes: dict[str, int]) -> None:
    text = expression_text(expression)
    assert parse_expression(text) == expression
    try:
        real = eval(text, {}, dict(sizes))
    except (NameError, ZeroDivisionError):
        real = None
    assert evaluate(expression, sizes) == real


def test_expressions_calculate_with_dimensions() -> None:
    h = Dim.symbol(Symbol("h", 1))
    expression = parse_expression("2*h + 1")
    assert expression is not None
    assert evaluate(expression, {"h": h}) == h * 2 + 1


@pytest.mark.requires("jaxtyping", "numpy")
@settings(max_examples=400)
@given(st.lists(st.text(alphabet="ab_#*?.=+ 23/,", max_size=5), max_size=3).map(" ".join))
def test_jaxtyping_reads_the_same_axes(text: str) -> None:
    import jaxtyping
    import numpy as np

    try:
        dims = jaxtyping.Float[np.ndarray, text].dims
    except ValueError:
        with pytest.raises(AxisError):
            parse_axes(text)
        return
    found = parse_axes(text)
    assert len(found) == len(dims)
    for mine, real in zip(found, dims, strict=True):
        kind = type(real).__name__
        if isinstance(mine, SizeAxis):
            assert (kind, real.size, real.broadcastable) == ("_FixedDim", mine.size, mine.broadcastable)
        elif isinstance(mine, NameAxis):
            assert kind == ("_NamedVariadicDim" if mine.variadic else "_NamedDim")
            assert (real.name, real.broadcastable) == (mine.name, mine.broadcastable)
        elif isinstance(mine, ExpressionAxis):
            assert kind == "_SymbolicDim"
        elif isinstance(mine, AnyAxes):
            assert kind == "_AnonymousVariadicDim" or getattr(real, "treepath", False) or real.name == ""


@pytest.mark.requires("jaxtyping")
def test_the_dtype_names_are_jaxtypings() -> None:
    import jaxtyping

    known = {name for name in dir(jaxtyping) if isinstance(getattr(jaxtyping, name), type)}
    known = {name for name in known if issubclass(getattr(jaxtyping, name), jaxtyping.AbstractDtype)}
    assert known - {"AbstractDtype"} <= set(DTYPES)
