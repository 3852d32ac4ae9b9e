"""Types and programs that Hypothesis makes, and their translation to the plain form of `figures`."""

from __future__ import annotations

from hypothesis import strategies as st
from oracles.calculus.check import IllTyped
from oracles.calculus.programs import Add, Conv2D, Declaration, Program, Reshape, Variable
from oracles.calculus.types import Dyn, TensorType

NAMES = ("x", "y")


def plain(type_):
    """A type as `figures` writes it."""
    return None if type_ is Dyn else tuple(None if d is Dyn else d for d in type_.dims)


def typed(type_):
    """A type as the package writes it."""
    return Dyn if type_ is None else TensorType(tuple(Dyn if d is None else d for d in type_))


def plain_expression(e):
    match e:
        case Variable(name=name):
            return ("var", name)
        case Reshape(argument=argument, shape=shape):
            return ("reshape", plain_expression(argument), plain(shape))
        case Conv2D(c_in=c_in, c_out=c_out, kernel=kernel, argument=argument):
            return ("conv", c_in, c_out, kernel, plain_expression(argument))
        case Add(left=left, right=right):
            return ("add", plain_expression(left), plain_expression(right))


def plain_context(program):
    return {d.name: plain(d.type) for d in program.declarations}


def sizes(largest=4):
    return st.integers(0, largest)


def dims(largest=4):
    return st.one_of(st.just(Dyn), sizes(largest))


def tensors(largest=4, least_rank=1, most_rank=4, size=None):
    lists = st.lists(dims(largest) if size is None else size, min_size=least_rank, max_size=most_rank)
    return lists.map(lambda d: TensorType(tuple(d)))


def types(largest=4, most_rank=4):
    return st.one_of(st.just(Dyn), tensors(largest, most_rank=most_rank))


def static_types(largest=4, most_rank=4):
    return tensors(most_rank=most_rank, size=sizes(largest))


@st.composite
def blurred(draw, type_):
    """A type that is less precise: some of it replaced by `Dyn`."""
    if type_ is Dyn or draw(st.integers(0, 5)) == 0:
        return Dyn
    return TensorType(tuple(Dyn if draw(st.booleans()) else d for d in type_.dims))


@st.composite
def targets(draw, largest=4, most_rank=4, least=0):
    """What a reshape may ask for: at most one `Dyn`."""
    shape = draw(st.lists(st.integers(least, largest), min_size=1, max_size=most_rank))
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = Dyn
    return TensorType(tuple(shape))


@st.composite
def expressions(draw, depth=3, largest=4, names=NAMES, most_rank=4, least=0):
    kind = draw(st.sampled_from(["var", "reshape", "conv", "add", "add"])) if depth else "var"
    below = expressions(depth - 1, largest, names, most_rank, least)
    if kind == "var":
        return Variable(draw(st.sampled_from(names)))
    if kind == "reshape":
        return Reshape(draw(below), draw(targets(largest, most_rank, least)))
    if kind == "conv":
        side = st.integers(1, 3)
        return Conv2D(draw(st.integers(least, 2)), draw(st.integers(least, 3)), (draw(side), draw(side)), draw(below))
    return Add(draw(below), draw(below))


@st.composite
def programs(draw, annotation=None, depth=3, largest=4, names=NAMES, most_rank=4):
    annotation = types(largest, most_rank) if annotation is None else annotation
    declarations = tuple(Declaration(name, draw(annotation)) for name in names)
    return Program(declarations, draw(expressions(depth, largest, names, most_rank)))


def accepted_by(check):
    """Whether a checker of expressions gives a type in a context."""

    def accepts(context, expression):
        try:
            check(expression, context)
        except IllTyped:
            return False
        return True

    return accepts


@st.composite
def well_typed_steps(draw, context, accepts, depth=3, largest=4, least=0):
    """An expression that `accepts` admits in a context: each step is drawn until one is well typed."""
    expression = Variable(draw(st.sampled_from(sorted(context))))
    for _ in range(depth):
        kind = draw(st.sampled_from(["reshape", "conv", "add", "add"]))
        for _ in range(4):
            candidate = draw(steps(kind, expression, context, largest, least))
            if accepts(context, candidate):
                expression = candidate
                break
    return expression


@st.composite
def steps(draw, kind, expression, context, largest, least):
    """An expression that uses another one; numbers are often those of a declared type, so that they often fit."""
    declared = [t for t in context.values() if t is not Dyn]
    if kind == "reshape":
        shuffled = [st.permutations(t.known).map(lambda d: TensorType(tuple(d))) for t in declared if t.is_static]
        return Reshape(expression, draw(st.one_of(*shuffled, targets(largest, least=least))))
    if kind == "conv":
        side, channels = st.integers(1, 2), st.integers(least, largest)
        fitting = [st.just(t.dims[1]) for t in declared if t.rank == 4 and t.dims[1] is not Dyn]
        return Conv2D(draw(st.one_of(*fitting, channels)), draw(channels), (draw(side), draw(side)), expression)
    return Add(expression, Variable(draw(st.sampled_from(sorted(context)))))
