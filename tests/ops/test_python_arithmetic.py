"""Operators on Python's own values: whatever Python computes is covered by what is computed abstractly."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.ops.python.arithmetic import binary, compare, operate, unary
from distml.ops.python.folding import OPERATORS, fold
from distml.shapes import Dim, Facts, Middle, Shape, Symbol
from distml.values import (
    Const,
    Expr,
    ListRecord,
    Num,
    Opaque,
    Prim,
    Range,
    Ratio,
    Ref,
    ShapeSeq,
    Tensor,
    Tup,
    Value,
    union,
)

from ops.containment import covers
from ops.world import ScratchWorld, lift

COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Setting:
    """A world, and symbols with the values they stand for."""

    def __init__(self) -> None:
        self.world = ScratchWorld()
        self.env: dict[Symbol, int] = {}

    def call(self) -> Any:
        return self.world.begin("builtins.op")

    def make(self, real: Any, how: str) -> Value:
        """The value of a real object, more or less known."""
        if how == "symbol" and type(real) is int:
            low = 0 if real >= 0 else None
            symbol = Symbol("n", self.world.serial(), low)
            self.env[symbol] = real
            return Num(Dim.symbol(symbol))
        if how == "kind" and type(real) in (int, float, bool, str):
            return Prim(type(real).__name__)
        if how == "opaque":
            return Opaque("x", self.world.serial())
        return lift(self.world, real)


numbers = st.one_of(
    st.integers(-9, 40),
    st.booleans(),
    st.sampled_from([0.5, 0.25, 2.0, -1.5, 3.0, 0.1, 1e300, float("inf"), float("nan")]),
)
hows = st.sampled_from(["const", "symbol", "symbol", "kind", "opaque"])
operands = st.tuples(numbers, hows)
steps = st.lists(st.tuples(st.sampled_from(sorted(OPERATORS)), operands, st.booleans()), min_size=1, max_size=4)


@settings(max_examples=400)
@given(operands, steps)
def test_arithmetic_covers_what_python_computes(first: tuple[Any, str], rest: list[Any]) -> None:
    setting = Setting()
    real, value = first[0], setting.make(*first)
    for op, (other, how), swapped in rest:
        made = setting.make(other, how)
        pair, reals = ((made, value), (other, real)) if swapped else ((value, made), (real, other))
        found = binary(setting.call(), op, *pair)
        try:
            if op in ("**", "<<") and (abs(reals[1]) > 60 or abs(reals[0]) > 10**6):
                return
            real = OPERATORS[op](*reals)
        except (ArithmeticError, TypeError, ValueError):
            return
        assert found is not None
        value = found
        assert covers(setting.world, value, real, setting.env), f"{pair} {op}: {value!r} for {real!r}"


@settings(max_examples=400)
@given(operands, operands, st.sampled_from(sorted(COMPARISONS)))
def test_comparisons_are_right_when_they_are_certain(left: Any, right: Any, op: str) -> None:
    setting = Setting()
    answer = compare(setting.call(), op, setting.make(*left), setting.make(*right))
    assert answer is None or answer == COMPARISONS[op](left[0], right[0])


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, 3), hows), max_size=3),
    st.lists(st.tuples(st.integers(0, 3), hows), max_size=3),
    st.sampled_from(sorted(COMPARISONS)),
)
def test_comparisons_of_tuples_are_right_when_they_are_certain(left: Any, right: Any, op: str) -> None:
    setting = Setting()
    sides = [Tup(tuple(setting.make(*item) for item in side)) for side in (left, right)]
    reals = [tuple(item[0] for item in side) for side in (left, right)]
    answer = compare(setting.call(), op, *sides)
    assert answer is None or answer == COMPARISONS[op](*reals)
    inside = compare(setting.call(), "in", setting.make(2, "const"), sides[0])
    assert inside is None or inside == (2 in reals[0])


@settings(max_examples=100)
@given(operands, st.sampled_from(["-", "+", "~"]))
def test_unary_operators(operand: Any, op: str) -> None:
    setting = Setting()
    found = unary(setting.call(), op, setting.make(*operand))
    real = operand[0]
    try:
        real = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[op](real)
    except TypeError:
        return
    assert found is None or covers(setting.world, found, real, setting.env)


def num(world: ScratchWorld, name: str, low: int | None = 0) -> Num:
    return Num(Facts(world).symbol(name, low))


def test_constants_are_computed_exactly_and_never_raise() -> None:
    assert fold("+", 28, 28) == Const(56)
    assert fold("/", 7, 2) == Const(3.5)
    assert fold("%", "%d items", 3) == Const("3 items")
    assert fold("*", "ab", 3) == Const("ababab")
    for op, left, right in [("/", 1, 0), ("%", 5, 0), ("+", 1, "a"), ("**", 0, -1), ("**", 1e300, 2), ("<<", 1, -1)]:
        assert fold(op, left, right) is None


@pytest.mark.parametrize(
    ("op", "left", "right"),
    [("**", 10, 10**9), ("<<", 1, 10**9), ("*", "a", 10**9), ("%", "%999999999d", 1), ("*", b"x", 10**8)],
)
def test_what_would_be_huge_is_not_computed(op: str, left: Any, right: Any) -> None:
    assert fold(op, left, right) is None
    world = ScratchWorld()
    assert not isinstance(binary(world.begin("op"), op, Const(left), Const(right)), Const)


def test_polynomials_stay_exact() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    h = num(world, "h")
    doubled = binary(call, "*", h, Const(2))
    assert doubled is not None
    assert binary(call, "//", doubled, Const(2)) == h
    assert repr(binary(call, "//", h, Const(2))) == "Num(dim=(h//2))"
    assert binary(call, "-", h, h) == Const(0)
    assert binary(call, "**", h, Const(2)) == Num(h.dim * h.dim)
    assert binary(call, "<<", h, Const(3)) == Num(h.dim * 8)


def test_quotients_of_integers_are_remembered() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    h = num(world, "h")
    half = binary(call, "/", h, Const(2))
    assert half == Ratio("float", h.dim, Dim.of(2))
    assert world.call("builtins.int", half) == Num(h.dim // 2)
    assert world.call("builtins.int", binary(call, "*", h, Const(4.0))) == Num(h.dim * 4)
    assert world.call("builtins.int", binary(call, "*", h, Const(0.75))) == Num(h.dim * 3 // 4)
    assert world.call("math.ceil", half) == Num(-(-h.dim // 2))
    # 0.1 is no quotient of small integers.
    assert binary(call, "*", h, Const(0.1)) == Prim("float")


def test_unknown_values_become_expressions_of_bounded_depth() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    x: Value = Opaque("x", world.serial())
    assert binary(call, "*", x, Const(2)) == Expr("*", x, Const(2))
    for _ in range(20):
        found = binary(call, "+", x, Const(1))
        assert found is not None
        x = found
    depth = 0
    while isinstance(x, Expr):
        x, depth = x.left, depth + 1
    assert depth <= 8


def test_unions_are_taken_apart() -> None:
    world = ScratchWorld()
    either = union([Const(2), Const(3)])
    assert binary(world.begin("op"), "*", either, Const(2)) == union([Const(4), Const(6)])
    assert compare(world.begin("op"), "<", either, Const(5)) is True
    assert compare(world.begin("op"), "<", either, Const(3)) is None


def test_what_others_decide_is_left_to_them() -> None:
    world = ScratchWorld()
    tensor = Tensor("torch", Shape.of(2, 3))
    assert binary(world.begin("op"), "+", tensor, Const(1)) is None
    assert binary(world.begin("op"), "@", Opaque("x", 1), tensor) is None
    result = operate(world.begin("op"), "@", tensor, Tensor("torch", Shape.of(3, 4)))
    assert isinstance(result, Tensor)
    assert result.shape == Shape.of(2, 4)


def test_shapes_compare_with_tuples() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    b = num(world, "b")
    size = Tup((b, Const(3)), "size")
    assert compare(call, "==", size, Tup((Const(8), Const(3)))) is None
    assert compare(call, "==", size, Tup((Const(8), Const(4)))) is False
    assert compare(call, "==", size, Tup((b, Const(3)))) is True
    assert compare(call, "==", size, Tup((b,))) is False
    shape = ShapeSeq(Shape((), Middle("x", 99), (Dim.of(3), Dim.of(4))))
    assert compare(call, "==", shape, Tup((Const(2), Const(3), Const(5)))) is False
    assert compare(call, "!=", shape, Tup((Const(2), Const(3), Const(5)))) is True
    assert compare(call, "==", shape, Tup((Const(3), Const(4)))) is None
    assert compare(call, "==", shape, Tup((Const(4),))) is False


def test_symbols_that_may_be_negative_are_not_assumed_positive() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    n, free = num(world, "n"), num(world, "f", None)
    assert compare(call, ">=", n, Const(0)) is True
    assert compare(call, ">=", free, Const(0)) is None
    assert compare(call, "==", n, Const(-1)) is False
    assert compare(call, "==", free, Const(-1)) is None
    assert compare(call, "<", n, binary(call, "+", n, Const(1)) or n) is True


def test_identity() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    items = world.allocate(ListRecord(()))
    x = Opaque("x", world.serial())
    assert compare(call, "is", Const(None), Const(None)) is True
    assert compare(call, "is not", items, Const(None)) is True
    assert compare(call, "is", x, Const(None)) is None
    assert compare(call, "is", x, x) is True
    assert compare(call, "is", Prim("bool"), Const(True)) is None
    assert compare(call, "is", Prim("int"), Const(True)) is False
    assert compare(call, "is", items, world.allocate(ListRecord(()))) is False


def test_membership() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    n = num(world, "n")
    known = lift(world, ["a", 2])
    assert compare(call, "in", Const("a"), known) is True
    assert compare(call, "not in", Const("b"), known) is True
    assert compare(call, "in", n, known) is None
    assert compare(call, "in", Const("b"), Const("abc")) is True
    assert compare(call, "in", Const("k"), lift(world, {"k": 1})) is True
    assert compare(call, "in", Const(3), Range(Const(0), n, Const(1))) is None
    assert compare(call, "in", n, Range(Const(0), binary(call, "+", n, Const(1)) or n, Const(1))) is True


def test_sequences_are_joined_and_repeated() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    n = num(world, "n")
    size = Tup((n, Const(3)), "size")
    assert binary(call, "+", size, Tup((Const(1),))) == Tup((n, Const(3), Const(1)), "size")
    assert binary(call, "*", Tup((Const(0),)), Const(3)) == Tup((Const(0),) * 3)
    many = binary(call, "*", lift(world, [7]), n)
    record = world.heap[many.address]  # type: ignore[union-attr]
    assert record == ListRecord(None, Const(7), n.dim, True)
    tail = ShapeSeq(Shape((), Middle("x", 99), (Dim.of(5),)))
    joined = binary(call, "+", Tup((Const(2),)), tail)
    assert isinstance(joined, ShapeSeq)
    assert joined.shape.head == (Dim.of(2),)
    assert joined.shape.tail == (Dim.of(5),)


def test_one_item_repeated_an_unknown_number_of_times() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    depth, width = Opaque("depth", world.serial()), num(world, "width")
    dims = binary(call, "*", world.allocate(ListRecord((width,))), depth)
    assert isinstance(dims, Ref)
    assert world.record(dims) == ListRecord(None, width, None, True)
    # Of several items it may as well be an array that multiplies each.
    assert isinstance(binary(call, "*", lift(world, [1, 2]), depth), Opaque)


def test_text_is_formatted_with_what_is_known() -> None:
    world = ScratchWorld()
    call = world.begin("op")
    assert binary(call, "%", Const("%dx%d"), Tup((Const(3), Const(4)))) == Const("3x4")
    assert binary(call, "%", Const("%dx%d"), Tup((Const(3), num(world, "n")))) == Prim("str")
    assert binary(call, "%", Const("%s"), Opaque("x", world.serial())) == Prim("str")
