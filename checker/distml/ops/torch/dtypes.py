"""torch: dtypes, as far as shapes need them, and the kinds that results have.

A dtype read from a tensor is an unknown value whose kind is a fact, so that
comparing it with `torch.float32` stays undecided. `torch.uint8` has no kind here:
torch takes a tensor of bytes as a mask when it stands in an index.
https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, UNKNOWN, Call
from distml.ops.registry import attribute, op
from distml.ops.rules.elements import held
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.widths import width_of
from distml.values import Lib, Opaque, Tensor, Value

if TYPE_CHECKING:
    from distml.shapes import Shape

_FLOATS = (
    *("float", "float16", "float32", "float64", "half", "double", "bfloat16"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
_INTS = ("int", "int8", "int16", "int32", "int64", "short", "long", "uint16", "uint32", "uint64")
_COMPLEX = ("complex", "complex32", "complex64", "complex128", "chalf", "cfloat", "cdouble")

KINDS = {
    **dict.fromkeys(_FLOATS, "float"),
    **dict.fromkeys(_INTS, "int"),
    **dict.fromkeys(_COMPLEX, "complex"),
    "bool": "bool",
}
"""The name of a dtype -> its kind."""

TENSOR_TYPES: dict[str, str | None] = {"Float": "float", "Double": "float", "Half": "float", "BFloat16": "float"}
TENSOR_TYPES |= {"Long": "int", "Int": "int", "Short": "int", "Char": "int", "Bool": "bool", "Byte": None}
"""The names of typed tensors, as in `torch.FloatTensor` -> their kind."""


def asked_kind(call: Call, dtype: Value, default: str | None) -> str | None:
    """The kind a `dtype=` argument asks for; `default` when it is None, None when not known."""
    if call.is_none(dtype):
        return default
    if isinstance(dtype, Lib):
        return KINDS.get(dtype.name.rpartition(".")[2])
    if isinstance(dtype, Opaque):
        known: str | None = call.world.get(("dtype kind", dtype))
        return known
    name = call.const(dtype, str)
    return None if name is UNKNOWN else tensor_type(name)


def tensor_type(name: str) -> str | None:
    """The kind of `torch.cuda.FloatTensor` and its like."""
    return TENSOR_TYPES.get(name.rpartition(".")[2].removesuffix("Tensor"))


def is_dtype(call: Call, value: Value) -> bool:
    """Whether a value is certainly a dtype."""
    if isinstance(value, Lib):
        return value.name.rpartition(".")[2] in (*KINDS, "uint8")
    return isinstance(value, Opaque) and call.world.get(("is dtype", value)) is True


def like(call: Call, source: Value, shape: Shape | None = None, dtype: Value | None = None) -> Tensor:
    """A new tensor of the shape and kind of `source`, where they are not given."""
    kind = kind_of(source)
    kind = kind if dtype is None else asked_kind(call, dtype, kind)
    return call.tensor(call.shape(source) if shape is None else shape, kind)


def into(call: Call, result: Tensor, out: Value) -> Value:
    """`out=`: torch gives the tensor there the shape of the result."""
    if not isinstance(out, Tensor):
        return result
    same = call.shape(out) == result.shape and not out.may_hold_numbers
    return out if same else call.world.reshaped(out, result.shape)


def kept(call: Call, source: Value, kind: str | None, dtype: Value = NONE) -> tuple[Value, ...] | None:
    """The known elements of a tensor once it is of a kind and, where it changes, of what `dtype=` asks for."""
    same = dtype != NONE or kind == "int" or kind_of(source) == kind
    return held(call, source.content, kind, dtype) if isinstance(source, Tensor) and same else None


@attribute("torch.Tensor.dtype")
def dtype_of(call: Call, self: Value) -> Value:
    """torch.Tensor.dtype"""
    kind = kind_of(self)
    if kind == "bool":
        return Lib("torch.bool")
    found = call.unknown("dtype")
    call.world.put(("dtype kind", found), kind)
    call.world.put(("dtype width", found), width_of(self))
    call.world.put(("is dtype", found), True)
    return found


@op("torch.get_default_dtype")
def get_default_dtype(call: Call) -> Value:
    """torch.get_default_dtype()"""
    found = call.unknown("dtype")
    call.world.put(("dtype kind", found), "float")
    call.world.put(("is dtype", found), True)
    return found


@op("torch.promote_types", "torch.result_type")
def result_type(call: Call, first: Value, second: Value) -> Value:
    """torch.result_type(tensor1, tensor2)"""
    found = call.unknown("dtype")
    call.world.put(("is dtype", found), True)
    return found


def cast_names() -> dict[str, str | None]:
    """The methods that change the kind: `x.long()`."""
    floats = ("float", "double", "half", "bfloat16")
    return {
        **dict.fromkeys(floats, "float"),
        **dict.fromkeys(("long", "int", "short", "char"), "int"),
        **dict.fromkeys(("cdouble", "cfloat", "chalf"), "complex"),
        "bool": "bool",
        "byte": None,
    }
