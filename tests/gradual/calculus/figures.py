"""The figures of the paper, written down once more: a slow checker that shares nothing with the package.

Types are plain Python: None is `Dyn`, a tuple is a tensor type, None in it a `Dyn` dimension. Expressions are tuples,
`("var", name)`, `("reshape", e, shape)`, `("conv", c_in, c_out, kernel, e)`, `("add", e1, e2)`; a program is a
dictionary from names to types and an expression. Reshape is defined by what its rules mean: some way of filling in
`Dyn` makes both products equal. `ILL` stands for no type.
"""

from __future__ import annotations

from itertools import product
from math import prod

ILL = "ill-typed"


def ranked_box(sizes, ranks):
    """`Dyn`, and all tensor types over these sizes (and `Dyn`) of these ranks."""
    return [None, *(dims for rank in ranks for dims in product((None, *sizes), repeat=rank))]


def dim_precise(less, more):
    return less is None or less == more


def precise(less, more):
    if less is None:
        return True
    return more is not None and len(less) == len(more) and all(dim_precise(a, b) for a, b in zip(less, more))


def fillings(type_, sizes, ranks):
    """The static types that a type can become."""
    return [t for t in ranked_box(sizes, ranks) if t is not None and None not in t and precise(type_, t)]


def consistent(one, other):
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other))


def star(one, other):
    """`⊔*`, `ILL` where undefined."""
    if one is None or other is None:
        return None
    if not consistent(one, other):
        return ILL
    return tuple(a if a is not None else b for a, b in zip(one, other))


def broadcast(one, other):
    if one is None or other is None:
        return one, other
    while len(one) < len(other):
        one = (1, *one)
    while len(other) < len(one):
        other = (1, *other)
    left = tuple(other[i] if one[i] == 1 else one[i] for i in range(len(one)))
    right = tuple(one[i] if other[i] == 1 else other[i] for i in range(len(one)))
    return left, right


def reshapes(given, wanted):
    """Whether some numbers in place of `Dyn` make both products equal.

    Whatever numbers do, one that is no greater than the other product does as well: it divides it, or is 0.
    """
    if given is None or (None in given and None in wanted):
        return True  # every Dyn may be 0; without zeros, each side may be given what the other lacks
    known = [prod(d for d in side if d is not None) for side in (given, wanted)]
    if None not in given and None not in wanted:
        return known[0] == known[1]
    part, whole = known if None in given else reversed(known)
    return any(part * filled == whole for filled in range(whole + 1))


def type_of(expression, context, least=0):
    kind, *parts = expression
    if kind == "var":
        return context.get(parts[0], ILL)
    if kind == "add":
        left, right = (type_of(e, context, least) for e in parts)
        return ILL if ILL in (left, right) else star(*broadcast(left, right))
    given = type_of(parts[-1] if kind == "conv" else parts[0], context, least)
    if given == ILL:
        return ILL
    if kind == "reshape":
        wanted = parts[1]
        sound = all(d is None or d >= least for d in wanted)
        return wanted if sound and reshapes(given, wanted) else ILL
    return convolved(*parts[:3], given, least)


def convolved(c_in, c_out, kernel, given, least):
    if given is None:
        given = (None,) * 4
    if len(given) != 4 or given[1] not in (None, c_in):
        return ILL
    sides = tuple(None if d is None else d - (k - 1) for d, k in zip(given[2:], kernel))
    if c_out < least or any(d is not None and d < least for d in sides):
        return ILL
    return (given[0], c_out, *sides)


def well_typed(context, expression, least=0):
    sizes = [d for t in context.values() if t is not None for d in t if d is not None]
    return all(d >= least for d in sizes) and type_of(expression, context, least) != ILL


def static_type(expression, context):
    """Figure 12: equality where the gradual rules have consistency, products where they have fillings."""
    kind, *parts = expression
    if kind == "var":
        return context[parts[0]]
    given = [static_type(e, context) for e in (parts if kind == "add" else [parts[-1 if kind == "conv" else 0]])]
    if ILL in given:
        return ILL
    if kind == "add":
        left, right = broadcast(*given)
        return left if left == right else ILL
    if kind == "reshape":
        return parts[1] if prod(given[0]) == prod(parts[1]) else ILL
    c_in, c_out, kernel = parts[:3]
    if len(given[0]) != 4 or given[0][1] != c_in:
        return ILL
    batch, _, height, width = given[0]
    result = (batch, c_out, height - (kernel[0] - 1), width - (kernel[1] - 1))
    return result if min(result) >= 0 else ILL


def migrations(context, expression, sizes, ranks, least=0):
    """All well-typed versions with declared types in a box, each a tuple of types in the order of the context."""
    box = ranked_box([s for s in sizes if s >= least], ranks)
    options = [[t for t in box if precise(declared, t)] for declared in context.values()]
    return {version for version in product(*options) if well_typed(dict(zip(context, version)), expression, least)}
