"""Ops: what library functions do to shapes, one folder a library, one file a family.

An op reads abstract arguments through its `Call`, states what must hold between
dimensions, and returns the abstract result. It never decides what to report:
the call does, so that the interpreter, the gradual solver and the documentation
can read the same functions. May import `shapes` and `values`.
"""

from distml.ops.call import FALSE, MINUS_ONE, NONE, ONE, TRUE, UNKNOWN, ZERO, Call, Note, ShapeError, World
from distml.ops.registry import attribute, find_attribute, find_layer, find_op, layer, names, op

__all__ = [
    "FALSE",
    "MINUS_ONE",
    "NONE",
    "ONE",
    "TRUE",
    "UNKNOWN",
    "ZERO",
    "Call",
    "Note",
    "ShapeError",
    "World",
    "attribute",
    "find_attribute",
    "find_layer",
    "find_op",
    "layer",
    "names",
    "op",
]
