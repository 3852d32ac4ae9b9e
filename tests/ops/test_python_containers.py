"""Lists, dicts and sets: whatever a program does to them, the abstract ones cover the real ones."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from distml.ops import ShapeError
from distml.shapes import Dim, Facts, Middle, Shape, Symbol
from distml.values import (
    NONE,
    SHAPE,
    Const,
    DictRecord,
    Lib,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Range,
    Ref,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Union,
    Value,
)

from ops.containment import covers
from ops.world import ScratchWorld, lift


class Setting:
    """A world, and symbols with the values they stand for."""

    def __init__(self) -> None:
        self.world = ScratchWorld()
        self.env: dict[Symbol, int] = {}

    def make(self, real: Any, how: str) -> Value:
        if how == "symbol" and type(real) is int:
            symbol = Symbol("n", self.world.serial(), None)
            self.env[symbol] = real
            return Num(Dim.symbol(symbol))
        if how == "opaque":
            return Opaque("x", self.world.serial())
        return lift(self.world, real)

    def covers(self, value: Value, real: Any) -> bool:
        return covers(self.world, value, real, self.env)


hows = st.sampled_from(["const", "const", "const", "symbol", "opaque"])
values = st.tuples(st.integers(0, 4), hows)
indices = st.tuples(st.integers(-4, 4), hows)
maybe = st.one_of(st.none(), st.integers(-4, 4))
LIST_METHODS = ["append", "insert", "pop", "remove", "reverse", "sort", "extend", "clear", "__setitem__", "__delitem__"]
LIST_METHODS += ["__getitem__", "copy", "index", "count", "__contains__", "slice", "__imul__", "__iadd__", "__len__"]


def list_step(setting: Setting, name: str, index: Any, value: Any, part: tuple[Any, Any, Any]) -> tuple[list[Any], ...]:
    """The real and the abstract arguments of one call."""
    i, v = setting.make(*index), setting.make(*value)
    table: dict[str, tuple[list[Any], list[Value]]] = {
        "append": ([value[0]], [v]),
        "insert": ([index[0], value[0]], [i, v]),
        "pop": ([index[0]], [i]),
        "remove": ([value[0]], [v]),
        "extend": ([[value[0]] * 2], [Tup((v, v))]),
        "__iadd__": ([[value[0]] * 2], [Tup((v, v))]),
        "__imul__": ([abs(index[0]) % 3], [setting.make(abs(index[0]) % 3, index[1])]),
        "__setitem__": ([index[0], value[0]], [i, v]),
        "__delitem__": ([index[0]], [i]),
        "__getitem__": ([index[0]], [i]),
        "slice": ([slice(*part)], [lift(setting.world, slice(*part))]),
        "index": ([value[0]], [v]),
        "count": ([value[0]], [v]),
        "__contains__": ([value[0]], [v]),
    }
    return table.get(name, ([], []))


@settings(max_examples=500)
@given(
    st.lists(values, max_size=4),
    st.lists(
        st.tuples(
            st.sampled_from(LIST_METHODS), indices, values, st.tuples(maybe, maybe, st.sampled_from([None, 1, -1, 2]))
        ),
        max_size=6,
    ),
)
def test_lists_cover_the_real_ones(first: list[Any], program: list[Any]) -> None:
    setting = Setting()
    real = [value for value, _ in first]
    ref = setting.world.allocate(ListRecord(tuple(setting.make(*value) for value in first)))
    for name, index, value, part in program:
        reals, abstracts = list_step(setting, name, index, value, part)
        method = "__getitem__" if name == "slice" else name
        found = setting.world.call(f"builtins.list.{method}", ref, *abstracts)
        try:
            result = getattr(real, method)(*reals)
        except (IndexError, ValueError):
            return
        assert setting.covers(ref, real), f"{name}{reals}: {setting.world.record(ref)} for {real}"
        if method not in ("__imul__", "__iadd__"):
            assert setting.covers(found, result), f"{name}{reals}: {found} for {result}"


DICT_METHODS = ["__setitem__", "__getitem__", "get", "pop", "setdefault", "update", "copy", "values", "keys", "items"]
DICT_METHODS += ["__contains__", "__len__", "clear", "popitem", "__delitem__"]


@settings(max_examples=500)
@given(
    st.dictionaries(st.sampled_from("abc"), values, max_size=3),
    st.lists(st.tuples(st.sampled_from(DICT_METHODS), st.sampled_from("abcd"), hows, values), max_size=6),
)
def test_dicts_cover_the_real_ones(first: dict[str, Any], program: list[Any]) -> None:
    setting = Setting()
    real = {key: value for key, (value, _) in first.items()}
    ref = setting.world.allocate(DictRecord({Const(key): setting.make(*value) for key, value in first.items()}))
    for name, key, how, value in program:
        k, v = setting.make(key, how), setting.make(*value)
        reals, abstracts = {
            "__setitem__": ([key, value[0]], [k, v]),
            "setdefault": ([key, value[0]], [k, v]),
            "update": ([{key: value[0]}], [setting.world.allocate(_one_key(k, v))]),
            **{n: ([], []) for n in ("copy", "values", "keys", "items", "__len__", "clear", "popitem")},
        }.get(name, ([key], [k]))
        found = setting.world.call(f"builtins.dict.{name}", ref, *abstracts)
        try:
            result = getattr(real, name)(*reals)
        except KeyError:
            return
        assert setting.covers(ref, real), f"{name}{reals}: {setting.world.record(ref)} for {real}"
        assert setting.covers(found, result), f"{name}{reals}: {found} for {result}"


def _one_key(key: Value, value: Value) -> DictRecord:
    return DictRecord({key: value}) if isinstance(key, Const) else DictRecord({}, False, value)


SET_METHODS = ["add", "discard", "union", "intersection", "difference", "update", "__ior__", "copy", "__len__", "pop"]
SET_METHODS += ["issubset", "isdisjoint", "symmetric_difference", "__contains__"]


@settings(max_examples=300)
@given(
    st.lists(values, max_size=3, unique_by=lambda value: value[0]),
    st.lists(st.tuples(st.sampled_from(SET_METHODS), values), max_size=5),
)
def test_sets_cover_the_real_ones(first: list[Any], program: list[Any]) -> None:
    setting = Setting()
    real = {value for value, _ in first}
    ref = setting.world.call("builtins.set", Tup(tuple(setting.make(*value) for value in first)))
    for name, value in program:
        plain = name in ("add", "discard", "__contains__")
        given_: list[Any] = [] if name in ("copy", "__len__", "pop") else [value[0] if plain else {value[0]}]
        made = [setting.make(*value)] if plain else [setting.world.call("builtins.set", Tup((setting.make(*value),)))]
        found = setting.world.call(f"builtins.set.{name}", ref, *(made if given_ else []))
        if name == "pop":
            if not real:
                return
            # Which one goes is not fixed: only the result is compared.
            assert any(setting.covers(found, item) for item in real)
            return
        result = getattr(real, name)(*given_)
        assert setting.covers(ref, real)
        assert name == "__ior__" or setting.covers(found, result), f"{name}{given_}: {found} for {result}"


def test_a_list_of_unknown_length_keeps_what_its_elements_are_like() -> None:
    world = ScratchWorld()
    layer = Tensor("torch", Shape.of(4, 8))
    items = world.allocate(ListRecord(None, layer, Facts(world).symbol("n")))
    world.call("builtins.list.append", items, layer)
    record = world.record(items)
    assert isinstance(record, ListRecord)
    assert record.item == layer
    assert repr(record.length) == "n + 1"
    assert world.call("builtins.list.__getitem__", items, Const(-1)) == layer


def test_two_elements_of_one_pattern_are_two_unknowns() -> None:
    world = ScratchWorld()
    items = world.allocate(ListRecord(None, Opaque("x", world.serial())))
    first = world.call("builtins.list.__getitem__", items, Const(0))
    second = world.call("builtins.list.__getitem__", items, Const(1))
    assert first != second
    width = Num(Facts(world).symbol("width"))
    same = world.call("operator.mul", lift(world, [None]), Num(Facts(world).symbol("n")))
    assert isinstance(same, Ref)
    repeated = world.allocate(ListRecord(None, width, None, True))
    assert world.call("builtins.list.__getitem__", repeated, Const(0)) == width


def test_a_key_read_twice_is_one_value() -> None:
    world = ScratchWorld()
    config = world.allocate(DictRecord({}, exact=False))
    first = world.call("builtins.dict.__getitem__", config, Const("hidden"))
    assert first == world.call("builtins.dict.__getitem__", config, Const("hidden"))
    assert first != world.call("builtins.dict.__getitem__", config, Const("out"))


def test_defaultdict_makes_what_is_missing() -> None:
    world = ScratchWorld()
    groups = world.call("collections.defaultdict", Lib("builtins.list"))
    found = world.call("builtins.dict.__getitem__", groups, Const("a"))
    assert world.record(found) == ListRecord(())
    assert world.call("builtins.dict.__getitem__", groups, Const("a")) == found
    world.call("builtins.dict.__getitem__", groups, Opaque("key", world.serial()))
    record = world.record(groups)
    assert isinstance(record, DictRecord)
    assert not record.exact


def shape_of_unknown_rank(world: ScratchWorld, *tail: int) -> ShapeSeq:
    middle = Middle("x", world.serial())
    return ShapeSeq(Shape((), middle, tuple(Dim.of(n) for n in tail)))


def test_an_axis_that_is_read_is_an_axis_that_is_there() -> None:
    world = ScratchWorld()
    shape = shape_of_unknown_rank(world)
    second = world.call("builtins.tuple.__getitem__", shape, Const(1))
    assert second == world.call("builtins.tuple.__getitem__", shape, Const(1))
    known = Facts(world).shape(shape.shape)
    assert known.least == 2
    assert second == Num(known.head[1])


def test_an_axis_past_the_end_of_a_shape_is_found() -> None:
    world = ScratchWorld()
    size = Tup((Const(2), Const(3)), "size")
    try:
        world.call("builtins.tuple.__getitem__", size, Const(2))
    except ShapeError as error:
        assert error.code == "SHP302"
        assert error.message == "the shape [2, 3] has no axis 2: it has 2 axes"
    else:
        raise AssertionError("not found")
    # Of a plain tuple it is no finding about shapes.
    assert isinstance(world.call("builtins.tuple.__getitem__", Tup((Const(2),)), Const(2)), Opaque)


def test_slices_of_shapes_keep_their_ends() -> None:
    world = ScratchWorld()
    shape = shape_of_unknown_rank(world, 4, 5)
    last = world.call("builtins.tuple.__getitem__", shape, Slice(Const(-2), NONE, NONE))
    assert last == Tup((Const(4), Const(5)), SHAPE)
    front = world.call("builtins.tuple.__getitem__", shape, Slice(NONE, Const(-1), NONE))
    assert isinstance(front, ShapeSeq)
    assert front.shape.tail == (Dim.of(4),)
    assert front == world.call("builtins.tuple.__getitem__", shape, Slice(NONE, Const(-1), NONE))
    assert isinstance(world.call("builtins.tuple.__getitem__", shape, Slice(Const(-3), NONE, NONE)), ShapeSeq)
    known = Tup((Const(2), Const(3), Const(4)), "size")
    assert world.call("builtins.tuple.__getitem__", known, Slice(Const(1))) == Tup((Const(3), Const(4)), "size")


def test_items_of_unknown_place_are_one_of_them() -> None:
    world = ScratchWorld()
    found = world.call("builtins.list.__getitem__", lift(world, [1, "a"]), Prim("int"))
    assert isinstance(found, Union)
    assert set(found.options) == {Const(1), Const("a")}
    many = lift(world, list(range(100)))
    assert isinstance(world.call("builtins.list.__getitem__", many, Prim("int")), Num)


def test_ranges_are_indexed_by_arithmetic() -> None:
    world = ScratchWorld()
    n = Num(Facts(world).symbol("n"))
    found = world.call("builtins.range.__getitem__", Range(n, Opaque("stop", 1), Const(2)), Const(3))
    assert found == Num(n.dim + 6)
    assert world.call("builtins.len", Range(Const(0), n, Const(1))) == n


def test_named_tuples() -> None:
    world = ScratchWorld()
    made = world.call("collections.namedtuple", Const("Point"), Const("x y"))
    point = world.call(made.function.name, *made.args, Const(1), y=Const(2))
    assert point == Tup((Const(1), Const(2)), "Point", ("x", "y"))
    assert world.call("builtins.tuple._replace", point, x=Const(5)).items[0] == Const(5)


def test_deep_copies_share_what_the_originals_share() -> None:
    world = ScratchWorld()
    inner = lift(world, [1])
    outer = world.allocate(ListRecord((inner, inner, Many(inner))))
    copied = world.record(world.call("copy.deepcopy", outer))
    assert isinstance(copied, ListRecord)
    assert copied.items is not None
    assert copied.items[0] == copied.items[1] != inner
    assert copied.items[2] == Many(copied.items[0])
    shallow = world.record(world.call("copy.copy", outer))
    assert shallow == world.record(outer)


def test_deep_copies_of_cycles_end() -> None:
    world = ScratchWorld()
    ref = world.allocate(ListRecord(()))
    world.replace(ref, ListRecord((ref,)))
    copied = world.call("copy.deepcopy", ref)
    assert world.record(copied) == ListRecord((copied,))
