"""numpy: what keeps its kind in place, and the operators that a kind has not; `tests/ops/test_wrong_kinds.py` asks NumPy.

https://numpy.org/doc/stable/reference/ufuncs.html#casting-rules
"""

from __future__ import annotations

from distml.ops.rules import wrong_kinds as rules

IN_PLACE = "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__"
BITS = "__and__ __or__ __xor__ __rand__ __ror__ __rxor__ __iand__ __ior__ __ixor__ __lshift__ __rshift__ __invert__"


def _register() -> None:
    def methods(names: str) -> list[str]:
        return [f"numpy.ndarray.{name}" for name in names.split()]

    rules.add(rules.no_floats, *methods(BITS))
    rules.add(rules.no_bools, *methods("__neg__ __pos__"))
    rules.add(rules.no_two_bools, *methods("__sub__ __rsub__ __isub__"))
    rules.add(rules.kept, *methods(IN_PLACE))


_register()
