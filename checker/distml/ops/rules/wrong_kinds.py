"""Elements of a kind that an operation does not take: integers where floats are needed, floats beside integers (SHP310).

"expected scalar type Long but found Float", "mean(): could not infer output dtype", "result type Float can't be cast to the
desired output type Long": the tables of the libraries (`distml.ops.torch.kinds`, `distml.ops.numpy.kinds`) name the functions
of each law. What an annotation alone tells is no kind. How wide the numbers are is told by `distml.ops.rules.widths`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from distml.ops.call import UNKNOWN
from distml.ops.rules.einsum import labels_of
from distml.ops.rules.index_parts import parse
from distml.ops.rules.kinds import ORDER, floating, kind_of, promote
from distml.ops.rules.laws import given, own
from distml.ops.rules.pointwise import title
from distml.ops.rules.strides import laid_out
from distml.ops.rules.widths import of_64_bits, of_one_width, widened, width_of
from distml.values import NONE, Claimed, Const, Lib, Opaque, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from distml.ops.call import Call
    from distml.ops.rules.einsum import Labels
    from distml.values import Value

    Law = Callable[[Call, Sequence[Value], Mapping[str, Value], Any], None]
    """Fails where the arguments are of a kind that a function does not take; it is given the result too."""

CODE = "SHP310"
LAWS: dict[str, tuple[Law, ...]] = {}
"""The qualified names of functions, methods, operators and layers, and what they ask of kinds."""
WORDS = {"bool": "bools", "int": "integers", "float": "floats", "complex": "complex numbers"}
WHOLE = frozenset({"bool", "int"})
BITS = "__and__ __or__ __xor__ __rand__ __ror__ __rxor__ __iand__ __ior__ __ixor__ __lshift__ __rshift__ __invert__"
"""The operators of Python on bits."""
AUGMENTED = "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__"
"""Those that keep their left operand."""
CONVERT = "convert it before: .float()"


def add(law: Law, *names: str) -> None:
    """Ask this of the functions of these names too."""
    for name in names:
        LAWS[name] = (*LAWS.get(name, ()), law)


def followed(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> Any:
    """What a rule gave, with where its elements lie and how wide they are, where the function takes what it was given."""
    result = widened(call, args, kwargs, laid_out(call, args, kwargs, result))
    require_kinds(call, args, kwargs, result)
    return result


def require_kinds(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """Fail where a function was given elements of a kind that it does not take."""
    for law in LAWS.get(call.name, ()):
        law(call, args, kwargs, result)


def _kind(value: Value | None) -> str | None:
    """The kind of a tensor or a number that something else than an annotation tells. Bytes are integers but for an index."""
    if value is None or isinstance(value, Claimed):
        return None
    return "int" if width_of(value) == "uint8" else kind_of(value)


def _told(call: Call, value: Value) -> str:
    """`integers [3, 4]`"""
    kind = _kind(value) or "float"
    if isinstance(value, Tensor):
        return f"{WORDS[kind]} {call.show(value)}"
    return f"the {kind} {value.value}" if isinstance(value, Const) else f"one {kind}"


def _fail(call: Call, message: str, hint: str) -> NoReturn:
    call.fail(CODE, f"{title(call)}: {message}", hint=hint)


# --- functions ---------------------------------------------------------------------------


def floats(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """The first argument has floats, or complex numbers; a dtype may convert it."""
    input = given(args, kwargs, 0, "input", "self")
    converted = kwargs.get("dtype", NONE) != NONE or any(isinstance(each, Lib | Opaque) for each in args[1:])
    # Of a tensor without axes some functions have nothing to compute.
    if isinstance(input, Tensor) and _kind(input) in WHOLE and not converted and input.shape.rank != 0:
        _fail(call, f"floats are needed, these are {_told(call, input)}", CONVERT)


def no_bools(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """No argument has bools."""
    wrong = next((each for each in args if _kind(each) == "bool"), None)
    if wrong is not None:
        _fail(
            call,
            f"there is no such operation for {_told(call, wrong)}",
            "use ~ for the opposite of a mask, ^ for what differs",
        )


def no_two_bools(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """Not all arguments have bools."""
    if all(_kind(each) == "bool" for each in args):
        no_bools(call, args, kwargs, result)


def no_floats(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """No argument has floats or complex numbers."""
    wrong = next((each for each in args if _kind(each) in ("float", "complex")), None)
    if wrong is not None:
        _fail(
            call,
            f"integers or bools are needed, these are {_told(call, wrong)}",
            "compare it with something to get a mask, or convert it",
        )


def _tensors(
    call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], places: Sequence[tuple[int, str]]
) -> list[Tensor]:
    """The library's own tensors at these places, or all of them."""
    return own(call, [given(args, kwargs, place, name) for place, name in places] or [*args, *kwargs.values()])


def of_one_kind(*places: tuple[int, str]) -> Law:
    """The law that the tensors at these places, or all of them, are of one kind."""

    def law(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
        tensors = [each for each in _tensors(call, args, kwargs, places) if _kind(each) in ORDER]
        other = next((each for each in tensors if _kind(each) != _kind(tensors[0])), None)
        if other is not None:
            told = f"{_told(call, tensors[0])} and {_told(call, other)}"
            _fail(call, f"tensors of one kind are needed, these are {told}", "convert one of them: .float() or .long()")
        of_one_width(call, tensors)

    return law


def of_one_width_at(*places: tuple[int, str]) -> Law:
    """The law that the tensors at these places, or all of them, are equally wide where they are of one kind."""

    def law(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
        of_one_width(call, _tensors(call, args, kwargs, places))

    return law


def contracted(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """`einsum("ij,jk->ik", x, y)`: x and y are of one kind where it sums over an axis that both have; else they are converted."""
    equation = call.const(args[0], str) if len(args) == 3 else UNKNOWN
    operands, result_labels = ([], None) if equation is UNKNOWN or "->" not in equation else labels_of(call, equation)
    if result_labels is None or len(operands) != 2:
        return
    left, right = operands
    summed = [name for name in left.names if name in right.names and name not in result_labels.names]
    if any(_is_long(call, args[1], left, name) for name in summed):
        of_one_kind()(call, args[1:], {}, result)


def _is_long(call: Call, tensor: Value, labels: Labels, name: str) -> bool:
    """Whether an axis certainly has more than one element: over a single one nothing is summed."""
    dims = call.shape(tensor).dims
    return dims is not None and len(dims) == len(labels.names) and dims[labels.names.index(name)].differs(1)


def gradients(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """Only floats can require gradients."""
    asked = kwargs.get("requires_grad", NONE)
    if asked == Const(True) and isinstance(result, Tensor) and _kind(result) in WHOLE:
        _fail(
            call, f"only floats can require gradients, these are {_told(call, result)}", "write floats (1.0), or dtype="
        )


def own_gradients(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """`x.requires_grad_()`, `Parameter(x)`: the first argument, unless the second is given and not True."""
    gradients(
        call,
        args,
        {"requires_grad": given(args, kwargs, 1, "requires_grad") or Const(True)},
        args[0] if args else None,
    )


def places(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """The places to take are integers of 64 bits."""
    taken = args[0] if "one_hot" in call.name and args else given(args, kwargs, 1, "index", "indices")
    if isinstance(taken, Tensor):
        of_64_bits(call, taken, "the places")


# --- losses ------------------------------------------------------------------------------


def classes(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """The target of a classification has integers; of as many axes as the input, it may be probabilities."""
    input, target = given(args, kwargs, 0, "input"), given(args, kwargs, 1, "target")
    if not isinstance(target, Tensor) or not isinstance(input, Tensor):
        return
    ranks = call.shape(input).rank, call.shape(target).rank
    may_be_shares = "nll" not in call.name.lower() and (None in ranks or ranks[0] == ranks[1])
    if _kind(target) == "bool" or (_kind(target) == "float" and not may_be_shares):
        _fail(
            call,
            f"the target has to be the numbers of classes, integers; these are {_told(call, target)}",
            "convert: .long()",
        )
    of_64_bits(call, target, "the numbers of classes")


def shares(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """The target has floats."""
    target = given(args, kwargs, 1, "target")
    if isinstance(target, Tensor) and _kind(target) in WHOLE:
        _fail(call, f"the target has to be floats, these are {_told(call, target)}", CONVERT)


# --- in place ------------------------------------------------------------------------------


def kept(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """`x /= 2`: the array keeps its kind, so that the result must not be of a higher one. A scalar of NumPy is made anew."""
    left, right = (*args, NONE, NONE)[:2]
    if not isinstance(left, Tensor) or (call.lib != "torch" and (call.shape(left).rank or 0) == 0):
        return
    mine, made = _kind(left), promote((_kind(left), _kind(right)))
    whole = "floor" in call.name or kwargs.get("rounding_mode", NONE) != NONE
    made = floating(made) if "div" in call.name and not whole else made
    if mine in ORDER and made in ORDER and ORDER[made] > ORDER[mine]:
        message = f"the result would be {WORDS[made]}, and in place {_told(call, left)} stay {WORDS[mine]}"
        _fail(call, message, "assign the result anew (x = x / 2), or convert before")


def put(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """`x[index] = tensor`, where the index has arrays: both are of one kind; a mask takes a single number of any."""
    if len(args) != 3 or not isinstance(args[2], Tensor):
        return
    kinds = {part.kind for part in parse(call, args[1], "torch") or ()}
    size = call.shape(args[2]).size
    if "array" in kinds or ("mask" in kinds and size is not None and size.differs(1)):
        of_one_kind()(call, (args[0], args[2]), {}, result)
