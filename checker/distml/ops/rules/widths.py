"""How wide the elements of arrays are: "float64" beside "float32" (SHP312).

"mat1 and mat2 must have the same dtype, but got Double and Float": NumPy makes float64 and PyTorch float32 unless asked, and
many functions of PyTorch take one dtype only. Which functions keep, convert or choose a width is in the tables of the
libraries (`distml.ops.torch.widths`, `distml.ops.numpy.widths`); of what is not in them nothing is known.
https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc, https://numpy.org/neps/nep-0050-scalar-promotion.html

A program may choose what floats are by default, convert the weights of a module, or let `autocast` do so. After either in
what is followed nothing is told (`CHOSEN`); float64 is what `autocast` leaves alone, so that only meetings with it are told.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from distml.ops.rules.kinds import ORDER, kind_of
from distml.ops.rules.laws import given, of_tensors
from distml.ops.rules.pointwise import title
from distml.values import NONE, Claimed, Const, Lib, ListRecord, Num, Opaque, Prim, Ref, Tensor, Tup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distml.ops.call import Call
    from distml.values import Value

    Law = Callable[[Call, Sequence[Value], Mapping[str, Value], Tensor], str | None]
    """The width of a result, from the arguments and what else is known of it."""

CODE = "SHP312"
LAWS: dict[str, Law] = {}
"""The qualified names of functions, methods, operators and layers, and how wide the elements are that they give."""
CHOSEN = ("floats chosen", None)
"""The fact that the program chose what floats are by default, or what the weights of a module are."""
DEFAULTS = {
    "torch": {"float": "float32", "int": "int64"},
    "numpy": {"float": "float64", "int": "int64"},
    "tensorflow": {"float": "float32", "int": "int32", "bool": "bool"},
}
"""What a library makes of Python's numbers."""
TYPED = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "ByteTensor": "uint8",
}
"""The classes of PyTorch's tensors of one dtype, and their names in `x.type(...)`."""
_ALIASES = {
    **TYPED,
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "float_": "float64",
    "short": "int16",
    "longlong": "int64",
    "int_": "int64",
    "intp": "int64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "i2": "int16",
    "i4": "int32",
    "i8": "int64",
}
_OF_A_LIBRARY = {
    "torch": {"float": "float32", "int": "int32", "long": "int64"},
    "numpy": {"float": "float64", "int": "int64", "long": "int64"},
    "tensorflow": {"float": "float32", "int": "int32"},
}
"""What one name means in each: `torch.int` has 32 bits. The types of Python, and texts, are what NumPy makes of them, or
TensorFlow."""
BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
BITS |= {"uint8": 8, "bool": 8}  # bools are for TensorFlow a dtype like the others
WEIGHTED: set[str] = set()
"""Layers whose input is as wide as their weights are."""


def widened(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> Any:
    """What a rule gave, with what is known of the width of its elements. A dtype among the arguments says it."""
    # JAX has functions of NumPy under their names, and floats of its own.
    law, builds = LAWS.get(call.name) if call.lib in DEFAULTS else None, isinstance(result, dict)
    if law is None and not builds:
        return result
    dtype = kwargs.get("dtype", NONE)
    if dtype == NONE:
        dtype = next((each for each in args[1:] if isinstance(each, Lib | Opaque | Const) and asked(call, each)), NONE)
    if builds:
        width = "float32" if dtype == NONE else asked(call, dtype)
        if width != "float32" and call.name.startswith("keras."):
            call.world.put(CHOSEN, True)
        weights = result if call.name in WEIGHTED else {}
        return {**result, **{name: replace(v, width=width) for name, v in weights.items() if _is_weight(v)}}
    return result if law is None else _widened(call, law if dtype == NONE else _chosen_by(dtype), args, kwargs, result)


def _widened(call: Call, law: Law, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> Any:
    def wide(tensor: Tensor) -> Tensor:
        followed = tensor.dtype in _FOLLOWED.get(call.lib, ("float", "int"))
        if tensor.width is not None or not followed or any(tensor is arg for arg in args):
            return tensor
        width = law(call, args, kwargs, tensor)
        if width == "uint8" and call.lib == "torch":
            return replace(tensor, width=width, dtype=None)
        return tensor if width is None or kind_of_width(width) != tensor.dtype else replace(tensor, width=width)

    return of_tensors(wide, result)


_FOLLOWED = {"torch": ("float", "int", None), "tensorflow": ("float", "int", "bool")}
"""The kinds of which widths are followed. Bytes have none in PyTorch, where they are a mask in an index."""


def _chosen_by(dtype: Value) -> Law:
    return lambda call, args, kwargs, result: asked(call, dtype)


def _is_weight(value: Value) -> bool:
    return isinstance(value, Tensor) and value.parameter and value.dtype == "float"


def weighed(call: Call, attrs: Mapping[str, Value], args: Sequence[Value], result: Any) -> Any:
    """What a layer gave, which is as wide as its weights. So must its input be."""
    input = width_of(args[0]) if args else None
    if call.name.startswith("keras.") and input is not None:
        return _widened(call, always("float32"), args, {}, result)  # it converts its input
    weights = (each for name, each in attrs.items() if name == "weight" or _is_weight(each))
    width = next((width_of(each) for each in weights), None) if call.name in WEIGHTED else None
    if width is None:
        return result
    if input is not None and clash(call, [input, width]):
        _fail(call, f"the weights are {width}, the input is {input} {call.show(args[0])}", _hint(call, input, width))
    return _widened(call, always(width), args, {}, result)


def of_one_width(call: Call, tensors: Sequence[Tensor]) -> None:
    """Fail where tensors that have to be of one dtype are not."""
    first = next((each for each in tensors if width_of(each) is not None), None)
    other = next((each for each in tensors if first and clash(call, [width_of(first), width_of(each)])), None)
    if first is not None and other is not None:
        told = " and ".join(f"{each.width} {call.show(each)}" for each in (first, other))
        _fail(call, f"one dtype is needed, these are {told}", _hint(call, first.width or "", other.width or ""))


def of_64_bits(call: Call, numbers: Tensor, what: str) -> None:
    """Fail where integers are narrower than `torch.int64`."""
    width = width_of(numbers)
    if width is not None and "int" in width and width not in ("int64", "uint8"):
        _fail(call, f"{what} have to be int64, these are {width} {call.show(numbers)}", "convert: .long()")


def clash(call: Call, widths: Sequence[str | None]) -> bool:
    """Whether two widths of one kind differ, whatever `autocast` makes of them, where the program chooses no width."""
    found = set(widths)
    if len(found) < 2 or None in found or call.world.get(CHOSEN):
        return False
    if call.lib == "tensorflow":
        return True
    if len({kind_of_width(each or "") for each in found}) > 1:
        return False
    return "float64" in found or not any("float" in (each or "") for each in found)


def with_float(call: Call, tensor: Tensor, number: Value) -> None:
    """Fail: TensorFlow takes no float beside integers."""
    if isinstance(number, Claimed) or call.world.get(CHOSEN):
        return
    told = f"the float {number.value}" if isinstance(number, Const) else "a float"
    message = f"one dtype is needed, these are {tensor.width} {call.show(tensor)} and {told}"
    _fail(call, message, "convert the tensor: tf.cast(..., tf.float32)")


def _hint(call: Call, *widths: str) -> str:
    if call.lib == "tensorflow":
        return "convert one of them: tf.cast(...)"
    if "int64" in widths:
        return "convert the other: .long()"
    narrow = min(widths, key=lambda width: BITS[width])
    method = {"float32": ".float()", "float16": ".half()"}.get(narrow, f".to(torch.{narrow})")
    return f"convert one of them: {method}; NumPy makes float64 unless dtype= says another"


def _fail(call: Call, message: str, hint: str) -> NoReturn:
    call.fail(CODE, f"{title(call)}: {message}", hint=hint)


def kind_of_width(width: str) -> str:
    """ "float", "int" or "bool"."""
    return "float" if "float" in width else "bool" if width == "bool" else "int"


def width_of(value: Value | None) -> str | None:
    """The width of a tensor that something else than an annotation tells."""
    return value.width if isinstance(value, Tensor) and not isinstance(value, Claimed) else None


def as_wide(made: Tensor, source: Tensor) -> Tensor:
    """A tensor with elements of another one."""
    return made if source.width is None else replace(made, width=source.width)


def asked(call: Call, dtype: Value) -> str | None:
    """The width that a dtype stands for."""
    if isinstance(dtype, Opaque):
        known: str | None = call.world.get(("dtype width", dtype))
        return known
    general = _OF_A_LIBRARY["tensorflow" if call.lib == "tensorflow" else "numpy"]
    if isinstance(dtype, Lib):
        library, _, name = dtype.name.rpartition(".")
        own = _OF_A_LIBRARY.get(library.partition(".")[0]) or general
    elif isinstance(dtype, Const) and isinstance(dtype.value, str):
        name, own = dtype.value.lstrip("<=").rpartition(".")[2], general
    else:
        return None
    found = own.get(name) or _ALIASES.get(name, name)
    return found if found in BITS else None


# --- laws ------------------------------------------------------------------------------------


def made(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """What the library makes of Python's numbers."""
    return DEFAULTS[call.lib].get(result.dtype or "")


def made_or_asked(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """The same, where no bound is an array, and what follows the first argument is not unknown, which may be a dtype."""
    unlike = any(isinstance(each, Tensor) for each in args) or any(isinstance(each, Opaque | Lib) for each in args[1:])
    return None if unlike else made(call, args, kwargs, result)


def moved(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of the first argument, whose elements the result has."""
    first = _first(args, kwargs)
    return width_of(first) if result.dtype == kind_of(first) else None


def same(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of the first argument, of whose elements others are computed: of bytes it may be another."""
    width = moved(call, args, kwargs, result)
    return None if width == "uint8" else width


def _first(args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    return given(args, kwargs, 0, *_FIRST) or NONE


_FIRST = "input self a x data object tensor input_tensor value initial_value features logits t params".split()
"""What functions call their first parameter."""


def counted(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """Places and sums of integers, which have 64 bits where their input does; else that of the first argument, or of two."""
    first, other = _first(args, kwargs), given(args, kwargs, 1, "other")
    if isinstance(other, Tensor):
        return promoted(call, args, kwargs, result)
    if result.dtype == "int":
        return "int64" if kind_of(first) in ("float", "bool") or width_of(first) == "int64" else None
    return same(call, args, kwargs, result)


def placed(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """Places: they have 64 bits whatever the input is."""
    return "int64" if result.dtype == "int" and "out_int32" not in kwargs else None


def floated(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """Floats are as wide as those of the first argument; of integers they are what the library makes."""
    first = _first(args, kwargs)
    if kind_of(first) != "int":
        return same(call, args, kwargs, result)
    wide = call.lib == "torch" or width_of(first) in ("int32", "int64")
    return DEFAULTS[call.lib]["float"] if wide and isinstance(first, Tensor) else None


def promoted(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of arithmetic on all arguments."""
    return None if "out" in kwargs else of_all(call, [*args, *kwargs.values()], result.dtype)


def multiplied(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of arithmetic on arrays: a number of Python is as wide as an array of it."""
    return promoted(call, args, kwargs, result) if all(isinstance(each, Tensor) for each in args) else None


def joined(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of all that are joined, where it is one."""
    first = given(args, kwargs, 0, "tensors", "arrays", "tup", "seq")
    widths = {width_of(part) for part in (None if first is None else parts(call, first)) or ()}
    return widths.pop() if len(widths) == 1 else None


def of_data(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """Of an array its own, of Python's numbers what the library makes."""
    return _of_elements(call, _first(args, kwargs), result.dtype or "")


def converted(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """`x.to(...)`: that of a tensor among the arguments; a device changes nothing."""
    others = (*args[1:], *kwargs.values())
    like = next((each for each in others if isinstance(each, Tensor)), None)
    if like is not None:
        return width_of(like)
    return moved(call, args, kwargs, result) if all(is_elsewhere(call, each) for each in others) else None


def is_elsewhere(call: Call, value: Value) -> bool:
    """Whether an argument of `to` is a device or a switch, and no dtype."""
    if isinstance(value, Const | Prim):
        return value != NONE
    return isinstance(value, Opaque) and call.world.get(("is device", value)) is True


def nothing(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """What only a dtype among the arguments tells."""
    return None


def always(width: str) -> Law:
    """Every result is as wide."""
    return lambda call, args, kwargs, result: width


# --- of several ------------------------------------------------------------------------------


def of_all(call: Call, values: Sequence[Value], kind: str | None) -> str | None:
    """The width of arithmetic. Numbers of Python take part by their kind only; for PyTorch, tensors without axes too."""
    tensors = [each for each in values if isinstance(each, Tensor)]
    if kind is None or not all(isinstance(each, Tensor | Const | Num | Prim) for each in values):
        return None
    narrow = any(BITS.get(each.width or "", 32) < 32 and each.dtype == "int" for each in tensors)
    if narrow and call.lib != "torch" and len(tensors) < len(values):
        return _with_numbers(call, values, kind)
    return _of_torch(call, tensors, kind) if call.lib == "torch" else _of_numpy(call, tensors, kind)


def _with_numbers(call: Call, values: Sequence[Value], kind: str) -> str | None:
    """Integers of less than 32 bits beside numbers of Python: the numbers decide before NEP 50, but where floats come of it."""
    divided = call.name.rpartition(".")[2].strip("_") in ("divide", "true_divide", "truediv", "rtruediv")
    made = divided or any(kind_of(each) == "float" for each in values if not isinstance(each, Tensor))
    whole = all(each.dtype == "int" for each in values if isinstance(each, Tensor))
    return "float64" if kind == "float" and made and whole and call.lib == "numpy" else None


def _of_torch(call: Call, tensors: list[Tensor], kind: str) -> str | None:
    if any(each.dtype not in ORDER for each in tensors):
        return None
    ranks = [call.facts.shape(each.shape).rank for each in tensors]
    same_kind = [(each, rank) for each, rank in zip(tensors, ranks, strict=True) if each.dtype == kind]
    if not same_kind:
        return DEFAULTS["torch"].get(kind)
    counting = [each for each, rank in same_kind if rank] or [each for each, _ in same_kind]
    if None in ranks and len({each.width for each, _ in same_kind}) > 1:
        return None
    return _widest([each.width for each in counting])


def _of_numpy(call: Call, tensors: list[Tensor], kind: str) -> str | None:
    """By NEP 50 and before it: what both agree on, which is not so for arrays without axes."""
    counting = [each for each in tensors if each.dtype != "bool"]  # bools are narrower than anything
    widths = [each.width for each in counting if each.width is not None]
    unlike = len(set(widths)) > 1 and not all(call.facts.shape(each.shape).rank for each in tensors)
    if unlike or len(widths) != len(counting):
        return None
    of_kind = [width for width in widths if kind_of_width(width) == kind]
    if kind == "float" and any(width in ("int32", "int64") for width in widths):
        return "float64"
    return _widest(of_kind)


def _widest(widths: Sequence[str | None]) -> str | None:
    """The widest of one kind: two of the same number of bits and different names have no answer here."""
    known = [width for width in widths if width in BITS]
    if not known or len(known) != len(widths):
        return None
    found = max(known, key=lambda width: BITS[width])
    return found if all(width == found or BITS[width] < BITS[found] for width in known) else None


def parts(call: Call, value: Value) -> list[Tensor] | None:
    """The tensors that a tuple or list is made of."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord) and record.items is None:
        items: tuple[Value, ...] | None = None if record.item is None else (record.item,)
    else:
        items = call.items(value) if isinstance(value, Tup | Ref) else None
    tensors = [item for item in items or () if isinstance(item, Tensor)]
    return tensors if items and len(tensors) == len(items) else None


def _of_elements(call: Call, data: Value, kind: str) -> str | None:
    """The width of what is made of arrays, numbers, or sequences of them."""
    if isinstance(data, Tensor):
        return width_of(data)
    if isinstance(data, Claimed):
        return None
    if isinstance(data, Const | Num | Prim):
        return DEFAULTS[call.lib].get(kind)
    arrays = parts(call, data)
    if arrays is not None:
        widths = {width_of(each) for each in arrays}
        return widths.pop() if len(widths) == 1 else None
    items = call.items(data) if isinstance(data, Tup | Ref) else None
    found = {_of_elements(call, item, kind) for item in items or ()}
    return found.pop() if len(found) == 1 else None
