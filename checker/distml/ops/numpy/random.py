"""numpy.random: the module's functions, `RandomState` and `Generator`.

A distribution draws `size` numbers; without `size`, one for each element of its
parameters, which broadcast. (https://numpy.org/doc/stable/reference/random/generator.html)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, UNKNOWN, ZERO, Call
from distml.ops.numpy.dtypes import kind_of
from distml.ops.numpy.results import array, into
from distml.ops.python.likeness import low_of
from distml.ops.registry import op
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.sizes import of_items, shape_from
from distml.shapes import Dim, Shape
from distml.values import Const, InstanceRecord, Lib, Num, Prim, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from distml.values import Value

_FLOATS = {
    "beta": "a b",
    "chisquare": "df",
    "exponential": "scale",
    "f": "dfnum dfden",
    "gamma": "shape scale",
    "gumbel": "loc scale",
    "laplace": "loc scale",
    "logistic": "loc scale",
    "lognormal": "mean sigma",
    "noncentral_chisquare": "df nonc",
    "noncentral_f": "dfnum dfden nonc",
    "normal": "loc scale",
    "pareto": "a",
    "power": "a",
    "rayleigh": "scale",
    "random": "",
    "random_sample": "",
    "ranf": "",
    "sample": "",
    "standard_cauchy": "",
    "standard_exponential": "",
    "standard_gamma": "shape",
    "standard_normal": "",
    "standard_t": "df",
    "triangular": "left mode right",
    "uniform": "low high",
    "vonmises": "mu kappa",
    "wald": "mean scale",
    "weibull": "a",
}
_INTS = {
    "binomial": "n p",
    "geometric": "p",
    "hypergeometric": "ngood nbad nsample",
    "integers": "low high",
    "logseries": "p",
    "negative_binomial": "n p",
    "poisson": "lam",
    "randint": "low high",
    "random_integers": "low high",
    "zipf": "a",
}
_DISTRIBUTIONS = {**_FLOATS, **_INTS}

_LEGACY = ("numpy.random", "numpy.random.RandomState")
_OWNERS = (*_LEGACY, "numpy.random.Generator")


def _named(*names: str, owners: tuple[str, ...] = _OWNERS) -> list[str]:
    return [f"{owner}.{name}" for owner in owners for name in names]


def _own(call: Call, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The arguments without the generator that a method is called on."""
    return args if call.name.count(".") == 2 else args[1:]


@op(*_named(*_DISTRIBUTIONS))
def distribution(call: Call, *args: Value, **options: Value) -> Value:
    """Draws from a distribution: https://numpy.org/doc/stable/reference/random/generator.html#distributions"""
    name = call.name.rpartition(".")[2]
    names = [*_DISTRIBUTIONS[name].split(), "size", "dtype"]
    given = dict(zip(names, _own(call, args), strict=False)) | options
    parameters = [call.shape(given[key]) for key in names[:-2] if given.get(key, NONE) != NONE]
    kind = kind_of(call, options.get("dtype", NONE), "int" if name in _INTS else "float")
    shape = sized(call, given.get("size", NONE), call.broadcast(*parameters))
    drawn = _drawn_between(call, given) if name in ("integers", "randint") and shape.rank == 0 else None
    result = replace(array(call, shape, kind), content=drawn)
    if "out" not in options or options["out"] == NONE:
        return result
    return options["out"] if given.get("size", NONE) == NONE else into(call, result, options["out"])


def _drawn_between(call: Call, given: Mapping[str, Value]) -> tuple[Value, ...]:
    """The integer that is drawn, which lies below the end."""
    low, high = given.get("low", ZERO), given.get("high", NONE)
    low, end = (ZERO, call.dim(low)) if high == NONE else (low, call.dim(high))
    last = end if end is None or call.flag(given.get("endpoint", FALSE)) is not False else end - 1
    return (Num(call.symbol("drawn", low_of(call, low), last)),)


def sized(call: Call, size: Value, parameters: Shape, item: Shape | None = None) -> Shape:
    """The shape of a draw: `size` where it is given, else that of the parameters; `item` behind it."""
    behind = Shape.of() if item is None else item
    absent = call.is_none(size)
    if absent is None or behind.dims is None:
        return call.facts.unknown_shape()
    if absent:
        front = parameters
    else:
        front = shape_from(call, size)
        _require_fit(call, parameters, front)
    return call.facts.framed((), front, behind.dims)


def _require_fit(call: Call, parameters: Shape, size: Shape) -> None:
    parameters = call.facts.shape(parameters)
    if not parameters.dims or size.dims is None:
        return
    pairs = zip(reversed(parameters.dims), reversed(size.dims), strict=False)
    too_many = len(parameters.dims) > len(size.dims)
    if too_many or any(a.differs(b) and a.differs(1) for a, b in pairs):
        call.fail(
            "SHP102",
            f"{call.text}: parameters of shape {parameters!r} do not broadcast to size {size!r}",
            *call.notes(*parameters.dims, *size.dims),
        )


@op(*_named("rand", "randn", owners=_LEGACY))
def rand(call: Call, *args: Value) -> Value:
    """numpy.random.rand(d0, d1, ...): https://numpy.org/doc/stable/reference/random/generated/numpy.random.rand.html"""
    return array(call, of_items(call, _own(call, args)), "float")


@op(*_named("choice"))
def choice(call: Call, *args: Value, **options: Value) -> Value:
    """Generator.choice(a, size): numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.choice.html"""
    given = dict(zip(("a", "size", "replace", "p", "axis"), _own(call, args), strict=False)) | options
    pool, size = given["a"], given.get("size", NONE)
    shape = call.shape(pool)
    legacy = "Generator" not in call.name
    if legacy and shape.rank != 0 and isinstance(pool, Tensor):
        shape = call.of_rank(shape, 1, what="a pool")
    _require_probabilities(call, pool, shape, given.get("p", NONE))
    # A pool of one number n is range(n).
    if shape.rank == 0 or legacy:
        kind = "int" if shape.rank == 0 else element_kind(call, pool)
        drawn = array(call, sized(call, size, Shape.of()), kind)
    else:
        drawn = _along(call, pool, shape, size, given.get("axis", ZERO))
    once = call.flag(given.get("replace", TRUE)) is False
    if once:
        _require_enough(call, pool, shape, drawn.shape)
    return replace(drawn, places=_row(call, pool)) if once and drawn.shape.rank == 1 else drawn


def _row(call: Call, pool: Value) -> Dim | None:
    """How long the row is whose places a pool holds, a number or an array."""
    return pool.places if isinstance(pool, Tensor) and pool.shape.rank else call.dim(pool)


def _along(call: Call, pool: Value, shape: Shape, size: Value, axis: Value) -> Tensor:
    kind = element_kind(call, pool)
    drawn = sized(call, size, Shape.of())
    if shape.dims is None or drawn.dims is None:
        return call.unranked(kind)
    place = call.axis(axis, len(shape.dims))
    if place is None:
        return array(call, [None] * (len(shape.dims) - 1 + len(drawn.dims)), kind)
    return array(call, [*shape.dims[:place], *drawn.dims, *shape.dims[place + 1 :]], kind)


def _require_probabilities(call: Call, pool: Value, shape: Shape, probabilities: Value) -> None:
    """One probability for each item of a pool."""
    if not isinstance(probabilities, Tensor) and not call.items(probabilities):
        return
    given = call.of_rank(call.shape(probabilities), 1, what="probabilities")
    message = f"{call.text}: {{left}} items to choose from have {{right}} probabilities"
    call.require_equal(_choices(call, pool, shape), given.head[0], "SHP502", message)


def _choices(call: Call, pool: Value, shape: Shape) -> Dim | None:
    """How many items there are to choose from."""
    known = shape.rank == 1 and shape.dims is not None
    return shape.head[0] if known else call.dim(pool) if isinstance(pool, Const | Num) else None


def _require_enough(call: Call, pool: Value, shape: Shape, drawn: Shape) -> None:
    """As many items as are drawn, where none is drawn twice (SHP502)."""
    there, wanted = _choices(call, pool, shape), drawn.size
    if there is not None and wanted is not None and (missing := (wanted - there).low) is not None and missing > 0:
        text = f"{call.text}: {wanted} items cannot be drawn of {there} without drawing one twice"
        call.fail("SHP502", text, *call.notes(wanted, there), hint="draw fewer, or with replace=True")


@op(*_named("permutation", "permuted"))
def permutation(call: Call, *args: Value, **options: Value) -> Value:
    """Generator.permutation(x): numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.permutation.html"""
    given = dict(zip(("x", "axis"), _own(call, args), strict=False)) | options
    items = given["x"]
    if isinstance(items, Const | Num) and call.name.endswith("permutation"):
        return replace(array(call, of_items(call, [items]), "int"), places=call.dim(items))
    if isinstance(items, Prim):
        return array(call, [None], "int")
    shape = call.shape(items)
    if isinstance(items, Tensor) and shape.rank:
        call.axis(given.get("axis", ZERO), shape.rank)
        return replace(array(call, shape, items.dtype), places=items.places)
    return array(call, shape, element_kind(call, items)) if shape.rank else call.unranked()


@op(*_named("shuffle", "seed", "set_state", owners=_OWNERS))
def nothing(call: Call, *args: Value, **options: Value) -> Value:
    """Generator.shuffle(x): in place. numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.shuffle.html"""
    return NONE


@op(*_named("multivariate_normal"))
def multivariate_normal(call: Call, *args: Value, **options: Value) -> Value:
    """multivariate_normal(mean, cov, size): one more axis than `size`, as long as the mean.

    https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.multivariate_normal.html
    """
    given = dict(zip(("mean", "cov", "size"), _own(call, args), strict=False)) | options
    mean = call.of_rank(call.shape(given["mean"]), 1, what="a mean")
    cov = call.of_rank(call.shape(given["cov"]), 2, what="a covariance")
    square = f"{call.text}: the covariance {call.show(cov)} is not square: {{left}} rows, {{right}} columns"
    call.require_equal(cov.head[0], cov.head[1], "SHP105", square)
    lengths = f"{call.text}: a mean of length {{left}} meets a covariance with {{right}} rows"
    call.require_equal(mean.head[0], cov.head[0], "SHP102", lengths)
    return array(call, sized(call, given.get("size", NONE), Shape.of(), mean), "float")


@op(*_named("dirichlet"))
def dirichlet(call: Call, *args: Value, **options: Value) -> Value:
    """dirichlet(alpha, size): numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.dirichlet.html"""
    given = dict(zip(("alpha", "size"), _own(call, args), strict=False)) | options
    alpha = call.of_rank(call.shape(given["alpha"]), 1, what="alpha")
    return array(call, sized(call, given.get("size", NONE), Shape.of(), alpha), "float")


@op(*_named("multinomial"))
def multinomial(call: Call, *args: Value, **options: Value) -> Value:
    """multinomial(n, pvals, size): numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.multinomial.html"""
    given = dict(zip(("n", "pvals", "size"), _own(call, args), strict=False)) | options
    count, chances = call.shape(given["n"]), call.shape(given["pvals"])
    last = call.facts.axis(chances, -1)
    chances = call.facts.shape(chances)
    if last is None or chances.dims is None:
        return call.unranked("int")
    parameters = call.broadcast(count, Shape(chances.dims[:-1]))
    return array(call, sized(call, given.get("size", NONE), parameters, Shape((last,))), "int")


@op(*_named("multivariate_hypergeometric", owners=("numpy.random.Generator",)))
def multivariate_hypergeometric(
    call: Call, self: Value, colors: Value, nsample: Value, size: Value = NONE, method: Value = NONE
) -> Value:
    """Generator.multivariate_hypergeometric: https://numpy.org/doc/stable/reference/random/generator.html"""
    shape = call.of_rank(call.shape(colors), 1, what="colors")
    return array(call, sized(call, size, call.shape(nsample), shape), "int")


@op("numpy.random.default_rng", "numpy.random.Generator")
def default_rng(call: Call, seed: Value = NONE, **options: Value) -> Value:
    """numpy.random.default_rng(seed): https://numpy.org/doc/stable/reference/random/generator.html"""
    return call.world.allocate(InstanceRecord(Lib("numpy.random.Generator"), exact=False))


@op("numpy.random.RandomState")
def random_state(call: Call, seed: Value = NONE) -> Value:
    """numpy.random.RandomState(seed): https://numpy.org/doc/stable/reference/random/legacy.html"""
    return call.world.allocate(InstanceRecord(Lib("numpy.random.RandomState"), exact=False))


@op("numpy.random.Generator.spawn")
def spawn(call: Call, self: Value, n_children: Value) -> Value:
    """Generator.spawn(n): https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.spawn.html"""
    count = call.const(n_children, int)
    if count is UNKNOWN or not 0 <= count <= 64:
        return call.unknown()
    return call.list_of([default_rng(call) for _ in range(count)])


@op(*_named("bytes"))
def random_bytes(call: Call, *args: Value, **options: Value) -> Value:
    """Generator.bytes(length): https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.bytes.html"""
    return Prim("bytes")
