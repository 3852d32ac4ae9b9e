"""torch: assertions that are calls, so that tracers see them."""

from __future__ import annotations

from distml.ops.call import FALSE, NONE, Call
from distml.ops.registry import op
from distml.values import Condition, Value


@op("torch._assert", "torch._check", "torch._check_value")
def assert_(call: Call, condition: Value, message: Value = NONE) -> Value:
    """torch._assert(condition, message): https://docs.pytorch.org/docs/stable/torch.html

    A check does not report what the program refuses by itself; a watched run asks when it does not.
    """
    if call.world.watched:
        if condition == FALSE:
            call.fail("SHP602", f"{call.text}: the condition is always false")
        if isinstance(condition, Condition):
            call.world.demand(condition.formula, "SHP602", f"{call.text}: the condition that the program asserts")
    return NONE
