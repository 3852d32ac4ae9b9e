"""torch.distributions: what is drawn, and how likely values are.

https://docs.pytorch.org/docs/stable/distributions.html. A distribution is a batch of distributions of events: the sizes of its
parameters broadcast to those of the batch, after the axes of one event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import attribute, layer, op
from distml.ops.rules.pointwise import elementwise
from distml.ops.rules.sizes import shape_from
from distml.ops.torch.attributes import size_of
from distml.shapes import Dim, Shape
from distml.values import Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = "torch.distributions"
_BATCH, _EVENT = "__batch__", "__event__"
_EACH = {
    "Bernoulli": "probs logits",
    "Beta": "concentration1 concentration0",
    "Binomial": "total_count probs logits",
    "Cauchy": "loc scale",
    "Chi2": "df",
    "ContinuousBernoulli": "probs logits",
    "Exponential": "rate",
    "FisherSnedecor": "df1 df2",
    "Gamma": "concentration rate",
    "Geometric": "probs logits",
    "Gumbel": "loc scale",
    "HalfCauchy": "scale",
    "HalfNormal": "scale",
    "InverseGamma": "concentration rate",
    "Kumaraswamy": "concentration1 concentration0",
    "Laplace": "loc scale",
    "LogNormal": "loc scale",
    "NegativeBinomial": "total_count probs logits",
    "Normal": "loc scale",
    "Pareto": "scale alpha",
    "Poisson": "rate",
    "RelaxedBernoulli": "temperature probs logits",
    "StudentT": "df loc scale",
    "Uniform": "low high",
    "VonMises": "loc concentration",
    "Weibull": "scale concentration",
}
"""Of single numbers, each with its parameters in order."""
_CATEGORIES = {
    "Categorical": "probs logits",
    "Dirichlet": "concentration",
    "Multinomial": "total_count probs logits",
    "OneHotCategorical": "probs logits",
    "OneHotCategoricalStraightThrough": "probs logits",
    "RelaxedOneHotCategorical": "temperature probs logits",
}
"""Of vectors, or of places in them: the last axis of a parameter is one of a vector."""
_SCALARS = frozenset({"total_count", "temperature"})


def _given(names: str, args: Sequence[Value], named: dict[str, Value]) -> dict[str, Value]:
    """The parameters by name, without those that are left out."""
    found = dict(zip(names.split(), args, strict=False)) | named
    return {name: value for name, value in found.items() if name in names.split() and value != NONE}


def _made(batch: Shape, event: Shape, parameters: dict[str, Value]) -> dict[str, Value]:
    return {_BATCH: Tensor("torch", batch), _EVENT: Tensor("torch", event), **parameters}


def _each(name: str, names: str) -> None:
    class Distribution:
        """Of single numbers."""

        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
            """The sizes of the parameters broadcast."""
            given = _given(names, args, kwargs)
            batch = elementwise(call, *given.values())
            return _made(batch, Shape(()), {key: call.tensor(batch, "float") for key in given})

    layer(f"{ROOT}.{name}")(Distribution)


def _category(name: str, names: str) -> None:
    class Distribution:
        """Of vectors, or of places in them."""

        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
            """The last axis is the vector's."""
            given = _given(names, args, kwargs)
            tables = [value for key, value in given.items() if key not in _SCALARS]
            batch, last = _cut(call, call.shape(tables[0])) if len(tables) == 1 else (call.facts.unknown_shape(), None)
            event = (
                Shape(()) if name == "Categorical" else call.facts.unknown_shape() if last is None else Shape((last,))
            )
            return _made(batch, event, {key: value for key, value in given.items() if key not in _SCALARS})

    layer(f"{ROOT}.{name}")(Distribution)


def _cut(call: Call, shape: Shape) -> tuple[Shape, Dim | None]:
    """A shape without its last axis, and that axis."""
    shape = call.facts.shape(shape)
    if shape.dims is None:
        return call.facts.unknown_shape(), None
    if not shape.dims:
        call.fail("SHP301", f"{call.text} needs a parameter with at least 1 axis, gets []")
    return Shape(shape.dims[:-1]), shape.dims[-1]


for _name, _names in _EACH.items():
    _each(_name, _names)
for _name, _names in _CATEGORIES.items():
    _category(_name, _names)


@layer(f"{ROOT}.MultivariateNormal")
class MultivariateNormal:
    """https://docs.pytorch.org/docs/stable/distributions.html#multivariatenormal"""

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """A mean, and one matrix that says how it varies."""
        given = _given("loc covariance_matrix precision_matrix scale_tril", args, kwargs)
        loc = given.pop("loc", None)
        matrices = [call.facts.shape(call.shape(value)) for value in given.values()]
        mean = None if loc is None else call.facts.shape(call.shape(loc))
        known = mean is not None and bool(mean.dims) and len(matrices) == 1 and len(matrices[0].dims or ()) > 1
        if not known or mean is None or mean.dims is None or matrices[0].dims is None:
            return _made(call.facts.unknown_shape(), call.facts.unknown_shape(), {})
        batch = call.broadcast(Shape(matrices[0].dims[:-2]), Shape(mean.dims[:-1]))
        event = Shape(mean.dims[-1:])
        return _made(batch, event, {"loc": call.tensor(Shape((*(batch.dims or ()), *event.head)), "float")})


@layer(f"{ROOT}.Independent")
class Independent:
    """https://docs.pytorch.org/docs/stable/distributions.html#independent"""

    @staticmethod
    def init(
        call: Call, base_distribution: Value, reinterpreted_batch_ndims: Value, validate_args: Value = NONE
    ) -> dict[str, Value]:
        """Some of the last axes of the batch become axes of an event."""
        batch, event = parts(call, base_distribution)
        moved = call.const(reinterpreted_batch_ndims, int)
        known = isinstance(moved, int) and batch.dims is not None and event.dims is not None and moved >= 0
        if not known or batch.dims is None or event.dims is None or moved > len(batch.dims):
            return _made(call.facts.unknown_shape(), call.facts.unknown_shape(), {})
        place = len(batch.dims) - int(moved)
        return _made(
            Shape(batch.dims[:place]), Shape((*batch.dims[place:], *event.dims)), {"base_dist": base_distribution}
        )


def parts(call: Call, distribution: Value) -> tuple[Shape, Shape]:
    """The sizes of the batch and of one event."""
    attrs = call.attrs(distribution) or {}
    found = [attrs.get(name) for name in (_BATCH, _EVENT)]
    shapes = [each.shape if isinstance(each, Tensor) else call.facts.unknown_shape() for each in found]
    return call.facts.shape(shapes[0]), call.facts.shape(shapes[1])


def _joined(call: Call, *shapes: Shape) -> Shape:
    """Axes one after another."""
    known = [call.facts.shape(shape).dims for shape in shapes]
    if None in known:
        return call.facts.unknown_shape()
    return Shape(tuple(dim for dims in known for dim in dims or ()))


NAMES = (*_EACH, *_CATEGORIES, "MultivariateNormal", "Independent")


def _methods(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    return op(*(f"{ROOT}.{name}.{method}" for name in NAMES for method in names))


def _attributes(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    return attribute(*(f"{ROOT}.{name}.{each}" for name in NAMES for each in names))


@_methods("sample", "rsample")
def sample(call: Call, self: Value, sample_shape: Value = Tup(())) -> Value:
    """distribution.sample(sample_shape): so many batches of events"""
    kind = "int" if ".Categorical." in call.name else "float"
    return call.tensor(_joined(call, shape_from(call, sample_shape), *parts(call, self)), kind)


@_methods("log_prob", "cdf", "icdf")
def log_prob(call: Call, self: Value, value: Value) -> Value:
    """distribution.log_prob(value): one number for each event; the sizes of the value broadcast with those of a draw"""
    batch, event = parts(call, self)
    given = call.facts.shape(call.shape(value))
    if event.dims is None:
        return call.unranked("float")
    together = call.broadcast(_joined(call, batch, event), given)
    if together.dims is None or (event.dims and (given.dims is None or len(given.dims) < len(event.dims))):
        return call.unranked("float")
    return call.tensor(Shape(together.dims[: len(together.dims) - len(event.dims)]), "float")


@_methods("entropy")
def entropy(call: Call, self: Value) -> Value:
    """distribution.entropy(): one number for each of the batch"""
    return call.tensor(parts(call, self)[0], "float")


@_attributes("mean", "variance", "stddev", "mode")
def mean(call: Call, self: Value) -> Value:
    """distribution.mean: as large as a draw"""
    return call.tensor(_joined(call, *parts(call, self)), "float")


@_attributes("batch_shape")
def batch_shape(call: Call, self: Value) -> Value:
    """distribution.batch_shape"""
    return size_of(call, call.tensor(parts(call, self)[0]))


@_attributes("event_shape")
def event_shape(call: Call, self: Value) -> Value:
    """distribution.event_shape"""
    return size_of(call, call.tensor(parts(call, self)[1]))


@op(f"{ROOT}.kl_divergence", f"{ROOT}.kl.kl_divergence")
def kl_divergence(call: Call, p: Value, q: Value) -> Value:
    """torch.distributions.kl_divergence(p, q): one number for each of the batch"""
    if not all(_BATCH in (call.attrs(each) or {}) for each in (p, q)):
        return call.unknown()
    return call.tensor(call.broadcast(parts(call, p)[0], parts(call, q)[0]), "float")
