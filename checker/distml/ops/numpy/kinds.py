"""numpy: what keeps its kind in place, and the operators that a kind has not; `tests/ops/test_wrong_kinds.py` asks NumPy.

https://numpy.org/doc/stable/reference/ufuncs.html#casting-rules
"""

from __future__ import annotations

from distml.ops.rules import wrong_kinds as rules
from distml.ops.rules.laws import spelled


def _register() -> None:
    def methods(names: str) -> list[str]:
        return spelled(["numpy.ndarray"], names)

    rules.add(rules.no_floats, *methods(rules.BITS))
    rules.add(rules.no_bools, *methods("__neg__ __pos__"))
    rules.add(rules.no_two_bools, *methods("__sub__ __rsub__ __isub__"))
    rules.add(rules.kept, *methods(rules.AUGMENTED))


_register()
