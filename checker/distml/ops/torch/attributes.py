"""torch: what a tensor says of itself, and conversions that keep its shape.

https://docs.pytorch.org/docs/stable/tensor_attributes.html, https://docs.pytorch.org/docs/stable/tensors.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, UNKNOWN, Call
from distml.ops.registry import attribute, op
from distml.ops.rules.axes import axis_in
from distml.ops.rules.elements import as_double, as_whole, plain, written
from distml.ops.rules.kinds import counted, kind_of, real
from distml.ops.rules.nested import nested
from distml.ops.rules.one_value import require_number, require_truth
from distml.ops.rules.ranks import rank_of
from distml.ops.rules.widths import is_elsewhere
from distml.ops.torch.dtypes import asked_kind, cast_names, is_dtype, kept, like
from distml.shapes import Shape
from distml.values import Const, Lib, Prim, ShapeSeq, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def size_of(call: Call, tensor: Value) -> Value:
    """`x.shape`: a tuple of sizes, or the shape itself where its rank is not known."""
    shape = call.shape(tensor)
    if shape.dims is None:
        return ShapeSeq(shape, "torch")
    return Tup(tuple(call.number(dim) for dim in shape.dims), "size")


@attribute("torch.Tensor.shape")
def shape_attribute(call: Call, self: Value) -> Value:
    """torch.Tensor.shape"""
    return size_of(call, self)


@op("torch.Tensor.size")
def size(call: Call, self: Value, dim: Value = NONE) -> Value:
    """torch.Tensor.size(dim=None)"""
    if dim == NONE:
        return size_of(call, self)
    shape = call.shape(self)
    at = axis_in(call, dim, shape)
    found = None if at is None else call.facts.axis(shape, at)
    if found is not None:
        return call.number(found)
    if at is not None:
        call.fail("SHP202", f"{call.text}: axis {at} of a scalar")
    return Prim("int") if call.is_none(dim) is False else call.unknown()


@op("torch.Tensor.dim", "torch.Tensor.ndimension")
def rank(call: Call, self: Value) -> Value:
    """torch.Tensor.dim()"""
    return call.number(rank_of(call, call.shape(self)))


@attribute("torch.Tensor.ndim")
def ndim(call: Call, self: Value) -> Value:
    """torch.Tensor.ndim"""
    return rank(call, self)


@op("torch.numel", "torch.Tensor.numel", "torch.Tensor.nelement")
def numel(call: Call, input: Value) -> Value:
    """torch.numel(input)"""
    count = call.shape(input).size
    return Prim("int") if count is None else call.number(call.small(count))


def _same(call: Call, self: Value) -> Value:
    """An attribute that is a tensor of the same shape."""
    return like(call, self)


def _real(call: Call, self: Value) -> Value:
    """torch.Tensor.real, torch.Tensor.imag"""
    return call.tensor(call.shape(self), real(kind_of(self)))


attribute("torch.Tensor.data")(_same)
attribute("torch.Tensor.real", "torch.Tensor.imag")(_real)
op("torch.real", "torch.imag")(_real)


@attribute("torch.Tensor.grad")
def grad(call: Call, self: Value) -> Value:
    """torch.Tensor.grad: None, or of the shape of the tensor"""
    return call.any_of(like(call, self), NONE)


@attribute(*(f"torch.Tensor.is_{n}" for n in ("cuda", "cpu", "leaf", "sparse", "meta", "mps", "nested", "xla")))
@attribute("torch.Tensor.requires_grad", "torch.Tensor.retains_grad")
def flag(call: Call, self: Value) -> Value:
    """torch.Tensor.is_cuda, torch.Tensor.requires_grad and their like"""
    return Prim("bool")


@attribute("torch.Tensor.is_quantized")
def is_quantized(call: Call, self: Value) -> Value:
    """torch.Tensor.is_quantized: what functions of quantized tensors give has no kind of elements"""
    return FALSE if call.dtype(self) == "float" else Prim("bool")


@attribute("torch.Tensor.itemsize", "torch.Tensor.nbytes", "torch.Tensor.output_nr")
def number(call: Call, self: Value) -> Value:
    """torch.Tensor.itemsize, torch.Tensor.nbytes"""
    return Prim("int")


@attribute(*(f"torch.Tensor.{n}" for n in ("device", "layout", "grad_fn", "name", "names", "is_sparse_csr")))
def opaque(call: Call, self: Value) -> Value:
    """torch.Tensor.device, torch.Tensor.layout and what else shapes do not depend on"""
    return call.unknown()


@op(
    *(
        f"torch.Tensor.{n}"
        for n in ("get_device", "element_size", "storage_offset", "data_ptr", "dense_dim", "sparse_dim")
    )
)
@op("torch.Tensor.__hash__", "torch.get_device")
def integer(call: Call, self: Value, *args: Value) -> Value:
    """torch.Tensor.element_size() and other integers"""
    return Prim("int")


@op(
    *(
        f"torch.Tensor.is_{n}"
        for n in ("contiguous", "pinned", "shared", "signed", "conj", "neg", "coalesced", "inference")
    )
)
@op("torch.Tensor.is_set_to", "torch.Tensor.is_same_size", "torch.is_same_size", "torch.is_conj", "torch.is_inference")
def predicate(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """torch.Tensor.is_contiguous() and other questions"""
    return Prim("bool")


@op("torch.is_floating_point", "torch.Tensor.is_floating_point")
def is_floating_point(call: Call, input: Value) -> Value:
    """torch.is_floating_point(input)"""
    kind = kind_of(input)
    return Prim("bool") if kind is None else Const(kind == "float")


@op("torch.is_complex", "torch.Tensor.is_complex")
def is_complex(call: Call, input: Value) -> Value:
    """torch.is_complex(input)"""
    kind = kind_of(input)
    return Prim("bool") if kind is None else Const(kind == "complex")


@op("torch.is_tensor", "torch.overrides.is_tensor_like")
def is_tensor(call: Call, obj: Value) -> Value:
    """torch.is_tensor(obj)"""
    if isinstance(obj, Tensor):
        return Const(obj.lib == "torch") if obj.lib != "array" else Prim("bool")
    return FALSE if isinstance(obj, Const | Tup) else Prim("bool")


@op("torch.is_nonzero", "torch.Tensor.is_nonzero", "torch.Tensor.__bool__")
def truth(call: Call, input: Value) -> Value:
    """torch.is_nonzero(input), `bool(x)`: only of one element"""
    require_truth(call, input)
    return Prim("bool")


@op(
    "torch.Tensor.item",
    "torch.Tensor.__int__",
    "torch.Tensor.__float__",
    "torch.Tensor.__index__",
    "torch.Tensor.__complex__",
)
def item(call: Call, self: Value) -> Value:
    """torch.Tensor.item(): the one element as a number"""
    require_number(call, self)
    found = self.number if isinstance(self, Tensor) else None
    target = {"__int__": "int", "__index__": "int", "__float__": "float", "__complex__": "complex"}
    kind = target.get(call.name.rpartition(".")[2], kind_of(self))
    if found is not None and kind == "int":
        return as_whole(call, found) or Prim("int")
    if found is not None and kind == "float":
        return plain(as_double(call, found) or found)
    return call.unknown() if kind is None else Prim(kind)


@op("torch.Tensor.tolist")
def tolist(call: Call, self: Value) -> Value:
    """torch.Tensor.tolist()"""
    shape = call.shape(self)
    if isinstance(self, Tensor) and self.content is not None:
        if shape.rank == 0:
            return plain(self.content[0])
        if shape.rank == 1:
            return call.list_of(tuple(map(plain, self.content)))
    return item(call, self) if shape.rank == 0 else nested(call, shape, kind_of(self))


@op("torch.Tensor.numpy", "torch.Tensor.__array__")
def numpy(call: Call, self: Value, *args: Value, force: Value = FALSE) -> Value:
    """torch.Tensor.numpy()"""
    kind = kind_of(self)
    return Tensor("numpy", call.shape(self), kind, content=kept(call, self, kind))


_KEEPING = """cpu cuda xpu contiguous detach pin_memory coalesce to_dense dequantize int_repr to_sparse
to_mkldnn to_sparse_csr"""


@op(*(f"torch.Tensor.{name}" for name in _KEEPING.split()))
@op("torch.detach", "torch.detach_copy", "torch.alias_copy", "torch.lift_fresh")
def keeping(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """torch.Tensor.contiguous(), torch.Tensor.cuda() and others that give the same elements"""
    return _copy(call, self, kind_of(self))


def _copy(call: Call, tensor: Value, kind: str | None, dtype: Value = NONE) -> Tensor:
    return Tensor(call.lib, call.shape(tensor), kind, content=kept(call, tensor, kind, dtype))


@op(*(f"torch.Tensor.{n}" for n in ("detach_", "requires_grad_", "share_memory_", "retain_grad", "rename_", "rename")))
@op("torch.Tensor.refine_names", "torch.Tensor.align_to", "torch.detach_")
def itself(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """torch.Tensor.requires_grad_() and others that give the tensor itself, which others may change then"""
    return written(call, self) if call.name.endswith("_") else self


def _cast(name: str, kind: str | None) -> Callable[..., Value]:
    def cast(call: Call, self: Value, memory_format: Value = NONE) -> Value:
        """torch.Tensor.float() and its like"""
        return _copy(call, self, kind, Const(name))

    return cast


for _name, _kind in cast_names().items():
    op(f"torch.Tensor.{_name}")(_cast(_name, _kind))


@op("torch.Tensor.to", "torch.Tensor.type")
def to(call: Call, self: Value, *args: Value, dtype: Value = NONE, **options: Value) -> Value:
    """torch.Tensor.to(dtype), .to(device), .to(other); torch.Tensor.type(dtype)"""
    if call.name.endswith(".type") and not args and dtype == NONE:
        return Prim("str")
    if call.name.endswith(".type") and args and isinstance(args[0], Const | Prim):
        return _copy(call, self, asked_kind(call, args[0], None), args[0])  # "torch.LongTensor"
    asked = next((each for each in (*args, dtype) if is_dtype(call, each) or isinstance(each, Tensor)), NONE)
    return _copy(call, self, _asked(call, self, (*args, dtype)), asked)


def _asked(call: Call, self: Value, args: tuple[Value, ...]) -> str | None:
    kind = kind_of(self)
    for arg in args:
        if isinstance(arg, Tensor):
            return arg.dtype
        if is_dtype(call, arg):
            return asked_kind(call, arg, None)
        if arg == NONE or is_elsewhere(call, arg) or (isinstance(arg, Lib) and not arg.name.endswith("Tensor")):
            continue
        # A device, or a dtype: what the kind is now cannot be told.
        kind = None
    return kind


@op("torch.Tensor.type_as")
def type_as(call: Call, self: Value, other: Value) -> Value:
    """torch.Tensor.type_as(tensor)"""
    return _copy(call, self, kind_of(other), other)


@op("torch.Tensor.backward", "torch.Tensor.register_hook", "torch.Tensor.register_post_accumulate_grad_hook")
def backward(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """torch.Tensor.backward(): of a scalar, where no gradient is given"""
    if call.name.endswith("backward") and (args[0] if args else options.get("gradient", NONE)) == NONE:
        require_single(call, self)
    return call.unknown() if "hook" in call.name else NONE


def require_single(call: Call, output: Value) -> None:
    """What is differentiated without a gradient of its own has a single element (SHP308)."""
    shape = call.shape(output)
    if shape.size is not None and shape.size.differs(1):
        call.fail(
            "SHP308",
            f"{call.text} needs a single element, or a gradient; {shape!r} has {shape.size}",
            *call.notes(*shape.head),
            hint="reduce it first: .mean() or .sum()",
        )


@op("torch.Size")
def size_type(call: Call, sizes: Value = Tup(())) -> Value:
    """torch.Size(sizes)"""
    items = call.items(sizes)
    if items is not None:
        return Tup(items, "size")
    return sizes if isinstance(sizes, ShapeSeq) else call.unknown()


@op("torch.Tensor.stride")
def stride(call: Call, self: Value, dim: Value = NONE) -> Value:
    """torch.Tensor.stride(dim=None)"""
    if dim != NONE:
        return Prim("int") if call.const(dim, int) is not UNKNOWN else call.unknown()
    known = call.shape(self).rank
    return call.unknown() if known is None else Tup((Prim("int"),) * known)


@op("torch.Tensor.sum_to_size")
def sum_to_size(call: Call, self: Value, *size: Value) -> Value:
    """torch.Tensor.sum_to_size(*size)"""
    sizes = call.var_sizes(size)
    if sizes is None:
        return call.unranked(counted(kind_of(self)))
    return call.tensor(Shape(tuple(call.symbol("size") if d is None else d for d in sizes)), counted(kind_of(self)))
