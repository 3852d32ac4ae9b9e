"""torch: Einstein summation.

https://docs.pytorch.org/docs/stable/generated/torch.einsum.html
"""

from __future__ import annotations

from distml.ops.call import UNKNOWN, Call
from distml.ops.registry import op
from distml.ops.rules import einsum as rules
from distml.values import Opaque, Ref, Tup, Union, Value


@op("torch.einsum", "torch.functional.einsum")
def einsum(call: Call, *args: Value) -> Value:
    """torch.einsum(equation, *operands), torch.einsum(op1, [0, 1], op2, [1, 2], [0, 2])"""
    if not args or isinstance(args[0], Opaque):
        return call.unranked()
    equation = call.const(args[0], str)
    if equation is UNKNOWN:
        return _of_sublists(call, args)
    listed: tuple[Value, ...] | None = args[1:]
    if len(args) == 2 and isinstance(args[1], Tup | Ref):
        listed = call.items(args[1])
    if listed is None or (len(listed) == 1 and isinstance(listed[0], Opaque | Union)):
        # What is not known may be a list of operands.
        return call.unranked()
    kinds = {call.dtype(value) for value in listed}
    shape = rules.einsum(call, equation, [call.shape(value) for value in listed])
    return call.tensor(shape, kinds.pop() if len(kinds) == 1 else None)


def _of_sublists(call: Call, args: tuple[Value, ...]) -> Value:
    taken = rules.sublists(call, args)
    if taken is None:
        return call.unranked()
    operands, labels, result = taken
    shapes = [call.shape(value) for value in operands]
    return call.tensor(rules.contract(call, "sublists", labels, shapes, result))
