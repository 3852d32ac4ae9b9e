"""numpy: what has no shape: settings, printing, files, tests; and what gives arrays nothing is known of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, Call
from distml.ops.numpy.results import array, vector
from distml.ops.python.streams import read_from, written_to
from distml.ops.registry import op
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.limits import limits_of
from distml.ops.rules.sizes import shape_from
from distml.ops.semantics.window import Window, places
from distml.shapes import Dim, Shape
from distml.values import Const, Prim, Tensor

if TYPE_CHECKING:
    from distml.values import Value

_SETTINGS = "seterr seterrcall setbufsize set_printoptions info show_config".split(" ")
_STRINGS = (
    "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific"
    " typename mintypecode datetime_as_string get_include"
)
_BOOLEANS = "can_cast issubdtype isdtype isfortran iterable".split(" ")
_OPAQUE = "errstate printoptions geterr geterrcall get_printoptions getbufsize nditer nested_iters ndenumerate"


@op("numpy.iscomplexobj", "numpy.isrealobj")
def iscomplexobj(call: Call, x: Value) -> Value:
    """numpy.iscomplexobj(x): https://numpy.org/doc/stable/reference/generated/numpy.iscomplexobj.html"""
    kind = element_kind(call, x)
    return Prim("bool") if kind is None else Const((kind == "complex") == call.name.endswith("iscomplexobj"))


@op(*(f"numpy.{name}" for name in _SETTINGS), "numpy.ndarray.tofile", "numpy.ndarray.dump")
def nothing(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.seterr, numpy.info and others: https://numpy.org/doc/stable/reference/routines.io.html"""
    return NONE if not call.name.startswith("numpy.set") else call.unknown()


@op("numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt")
def save(call: Call, file: Value, *arrays: Value, **named: Value) -> Value:
    """numpy.save(file, arr): https://numpy.org/doc/stable/reference/generated/numpy.save.html"""
    one = call.name == "numpy.save" and len(arrays) == 1 and isinstance(arrays[0], Tensor)
    written_to(call, file, arrays[0] if one else call.unknown("saved"))
    return NONE


@op("numpy.load")
def load(call: Call, file: Value, *args: Value, **options: Value) -> Value:
    """numpy.load(file): https://numpy.org/doc/stable/reference/generated/numpy.load.html"""
    return read_from(call, file)


@op(*(f"numpy.{name}" for name in _STRINGS.split(" ")))
def text(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.array2string: https://numpy.org/doc/stable/reference/generated/numpy.array2string.html"""
    return Prim("str") if call.name != "numpy.datetime_as_string" else call.unknown()


@op(*(f"numpy.{name}" for name in _BOOLEANS))
def truth(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.can_cast, numpy.issubdtype: https://numpy.org/doc/stable/reference/routines.dtype.html"""
    return Prim("bool")


@op(*(f"numpy.{name}" for name in _OPAQUE.split(" ")), "numpy.frompyfunc", "numpy.vectorize")
def unknown(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.errstate, numpy.vectorize and others: https://numpy.org/doc/stable/reference/routines.html"""
    return call.unknown()


@op("numpy.finfo", "numpy.iinfo")
def limits(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.finfo(dtype): https://numpy.org/doc/stable/reference/generated/numpy.finfo.html"""
    return limits_of(call)


@op("numpy.loadtxt", "numpy.genfromtxt", "numpy.fromregex", "numpy.from_dlpack")
def read(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.loadtxt(fname): https://numpy.org/doc/stable/reference/generated/numpy.loadtxt.html"""
    if call.name in ("numpy.loadtxt", "numpy.genfromtxt") and call.flag(options.get("unpack", FALSE)) is not False:
        return call.unknown()
    return call.unranked()


@op("numpy.lib.stride_tricks.as_strided")
def as_strided(call: Call, x: Value, shape: Value = NONE, *_: Value, **options: Value) -> Value:
    """numpy.lib.stride_tricks.as_strided: numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.as_strided.html"""
    absent = call.is_none(shape)
    if absent is None:
        return call.unranked(element_kind(call, x))
    return array(call, call.shape(x) if absent else shape_from(call, shape), element_kind(call, x))


@op("numpy.lib.stride_tricks.sliding_window_view")
def sliding_window_view(call: Call, x: Value, window_shape: Value, axis: Value = NONE, **options: Value) -> Value:
    """sliding_window_view: numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html"""
    shape, kind = call.shape(x), element_kind(call, x)
    windows = call.sizes(window_shape)
    if shape.dims is None or windows is None or call.is_none(axis) is None:
        return call.unranked(kind)
    axes = tuple(range(len(shape.dims))) if call.is_none(axis) else call.axes(axis, len(shape.dims))
    if axes is None:
        return array(call, [None] * (len(shape.dims) + len(windows)), kind)
    if len(axes) != len(windows):
        call.fail("SHP301", f"{call.text}: {len(windows)} window sizes for {len(axes)} axes of {shape!r}")
    dims: list[Dim | None] = [*shape.dims]
    for place, window in zip(axes, windows, strict=True):
        dims[place] = _positions(call, dims[place], window, shape)
    return array(call, [*dims, *windows], kind)


def _positions(call: Call, size: Dim | None, window: Dim | None, shape: Shape) -> Dim | None:
    if size is None or window is None:
        return None
    return places(call, size, Window(window), repr(shape))


@op("numpy.packbits", "numpy.unpackbits")
def packbits(call: Call, a: Value, axis: Value = NONE, *_: Value, **options: Value) -> Value:
    """numpy.packbits(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.packbits.html"""
    shape = call.shape(a)
    if call.is_none(axis):
        return vector(call, "int")
    return call.unranked("int") if shape.rank is None else array(call, [None] * shape.rank, "int")


@op("numpy.random.get_state", "numpy.random.RandomState.get_state", "numpy.random.SeedSequence", "numpy.random.PCG64")
def generator_state(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.random.get_state: https://numpy.org/doc/stable/reference/random/legacy.html"""
    return call.unknown()


_ASSERTIONS = "assert_allclose assert_array_equal assert_array_almost_equal assert_almost_equal assert_equal".split(" ")
_ASSERTIONS += ["assert_array_less", "assert_approx_equal", "assert_array_almost_equal_nulp", "assert_array_max_ulp"]


@op(*(f"numpy.testing.{name}" for name in _ASSERTIONS))
def assertion(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.testing.assert_allclose: https://numpy.org/doc/stable/reference/routines.testing.html"""
    return NONE


@op("numpy.busday_count", "numpy.busday_offset", "numpy.is_busday")
def dates(call: Call, *args: Value, **options: Value) -> Value:
    """numpy.busday_count: https://numpy.org/doc/stable/reference/routines.datetime.html"""
    shapes = [call.shape(arg) for arg in args[:2]]
    return array(call, call.broadcast(*shapes, message=call.text))
