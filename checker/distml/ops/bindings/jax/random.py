"""jax: jax.random: keys and what is drawn with them.

https://docs.jax.dev/en/latest/jax.random.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.numpy.dtypes import kind_of as asked_kind
from distml.ops.rules import axes as axis_rules
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.sizes import shape_from
from distml.shapes import Dim, Shape
from distml.values import Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

_RANDOM = "jax.random."
_TWO = Dim.of(2)


def old_key(call: Call) -> Value:
    """jax.random.PRNGKey: two integers."""
    return call.tensor([_TWO], "int")


def new_key(call: Call) -> Value:
    """jax.random.key: a scalar of a kind of its own."""
    return call.tensor([])


def _key_shape(call: Call, key: Value) -> Shape:
    return call.shape(key) if isinstance(key, Tensor) else call.facts.unknown_shape()


def split(call: Call, key: Value, count: Value) -> Value:
    """jax.random.split: so many keys, on a new first axis."""
    own, sizes = _key_shape(call, key), call.sizes(count)
    if sizes is None:
        return call.unranked()
    ahead = tuple(call.symbol("keys") if size is None else size for size in sizes)
    if own.dims is None:
        return call.tensor(Shape(ahead, call.facts.unknown_shape().middle, (), len(ahead)))
    return call.tensor(Shape((*ahead, *own.dims)), kind_of(key))


def folded(call: Call, key: Value) -> Value:
    """jax.random.fold_in: another key."""
    return call.tensor(_key_shape(call, key), kind_of(key))


bind(old_key, "-seed * -impl=None", f"{_RANDOM}PRNGKey")
bind(new_key, "-seed * -impl=None", f"{_RANDOM}key")
bind(split, "key num=2", f"{_RANDOM}split")
bind(folded, "key -data", f"{_RANDOM}fold_in")


def drawn(kind: str) -> Callable[..., Value]:
    """Numbers of a shape that is asked for."""

    def rule(call: Call, shape: Value, dtype: Value) -> Value:
        return call.tensor(shape_from(call, shape), asked_kind(call, dtype, kind))

    return rule


_FLOAT = "shape=() dtype=None"
_PLAIN = "normal exponential gumbel laplace logistic cauchy rademacher"
bind(
    drawn("float"),
    f"-key {_FLOAT} -out_sharding=None -mode=None",
    *(f"{_RANDOM}{name}" for name in _PLAIN.split()[:-1]),
)
bind(drawn("int"), f"-key {_FLOAT}", f"{_RANDOM}rademacher")
bind(drawn("float"), f"-key {_FLOAT} -minval=0.0 -maxval=1.0 -out_sharding=None", f"{_RANDOM}uniform")
bind(drawn("float"), f"-key -lower -upper {_FLOAT} -out_sharding=None", f"{_RANDOM}truncated_normal")
bind(drawn("int"), "-key shape -minval -maxval dtype=None -out_sharding=None", f"{_RANDOM}randint")
bind(drawn("int"), f"-key {_FLOAT} -out_sharding=None", f"{_RANDOM}bits")


def by_parameters(kind: str, count: int) -> Callable[..., Value]:
    """Numbers of a shape that is asked for, or of that of the parameters, which broadcast into it."""

    def rule(call: Call, *given: Value) -> Value:
        own = call.broadcast(*(call.shape(value) for value in given[:count]), message=call.text)
        wanted = given[count]
        if call.is_none(wanted):
            return call.tensor(own, kind)
        if call.is_none(wanted) is None:
            return call.unranked(kind)
        shape = shape_from(call, wanted)
        if shape.dims is not None and own.dims is not None and len(own.dims) > len(shape.dims):
            return call.unranked(kind)
        return call.tensor(shape, kind)

    return rule


bind(by_parameters("bool", 1), "-key p=0.5 shape=None -mode=None -out_sharding=None", f"{_RANDOM}bernoulli")
bind(
    by_parameters("float", 1),
    "-key a shape=None -dtype=None",
    *(f"{_RANDOM}{n}" for n in "gamma loggamma pareto".split()),
)
bind(by_parameters("float", 1), "-key df shape=None -dtype=None", f"{_RANDOM}t", f"{_RANDOM}chisquare")
bind(by_parameters("float", 2), "-key a b shape=None -dtype=None", f"{_RANDOM}beta")
bind(by_parameters("int", 1), "-key lam shape=None -dtype=None", f"{_RANDOM}poisson")
bind(by_parameters("int", 1), "-key p shape=None -dtype=None", f"{_RANDOM}geometric")


def categorical(call: Call, logits: Value, axis: Value, shape: Value) -> Value:
    """jax.random.categorical: one class number where the logits have classes."""
    own = call.shape(logits)
    at = axis_rules.axis_in(call, axis, own)
    rest = axis_rules.drop_axis(call, own, at)
    if call.is_none(shape) is not True:
        return call.unranked("int") if call.is_none(shape) is None else call.tensor(shape_from(call, shape), "int")
    return call.tensor(rest, "int")


def choice(call: Call, x: Value, shape: Value, axis: Value) -> Value:
    """jax.random.choice: some of the items of an axis, or of the numbers below one."""
    own, wanted = call.shape(x), shape_from(call, shape)
    if own.rank == 0:
        return call.tensor(wanted, "int")
    at = axis_rules.axis_in(call, axis, own)
    if at is None or wanted.dims is None:
        return call.unranked(kind_of(x))
    return call.tensor(axis_rules.replace_axes(call, own, at, 1, wanted.dims), kind_of(x))


def permutation(call: Call, x: Value, axis: Value) -> Value:
    """jax.random.permutation: the items of an axis in another order, or the numbers below one."""
    own = call.shape(x)
    if own.rank == 0:
        return call.tensor([call.dim(x)], "int")
    axis_rules.axis_in(call, axis, own)
    return call.tensor(own, kind_of(x)) if own.rank is not None else call.unranked(kind_of(x))


bind(categorical, "-key logits axis=-1 shape=None -replace=True -mode=None -out_sharding=None", f"{_RANDOM}categorical")
bind(choice, "-key a shape=() -replace=True -p=None axis=0 -mode=None", f"{_RANDOM}choice")
bind(permutation, "-key x axis=0 -independent=False * -out_sharding=None", f"{_RANDOM}permutation")


def shuffled_like(call: Call, x: Value) -> Value:
    """jax.random.shuffle: the same shape."""
    return call.tensor(call.shape(x), kind_of(x))


def with_last(call: Call, alpha: Value, shape: Value) -> Value:
    """jax.random.dirichlet: vectors as long as the parameters."""
    own = call.shape(alpha)
    if call.is_none(shape):
        return call.tensor(own, "float")
    wanted = shape_from(call, shape)
    if call.is_none(shape) is None or wanted.dims is None or not own.least:
        return call.unranked("float")
    return call.tensor([*wanted.dims, call.facts.axis(own, -1)], "float")


def gaussian(call: Call, mean: Value, covariance: Value, shape: Value) -> Value:
    """jax.random.multivariate_normal: vectors as long as the mean."""
    own, matrix = call.shape(mean), call.shape(covariance)
    if own.least and matrix.least > 1:
        text = f"{call.text}: the mean {own!r} has {{left}} numbers, the covariance {matrix!r} {{right}} columns"
        call.require_equal(call.facts.axis(own, -1), call.facts.axis(matrix, -1), "SHP104", text)
    if call.is_none(shape) and own.rank == 1 and matrix.rank == 2:
        return call.tensor(own, "float")
    return with_last(call, mean, shape) if call.is_none(shape) is False else call.unranked("float")


def orthogonal(call: Call, size: Value, shape: Value) -> Value:
    """jax.random.orthogonal: square matrices."""
    wanted, number = shape_from(call, shape), call.dim(size)
    return call.unranked("float") if wanted.dims is None else call.tensor([*wanted.dims, number, number], "float")


bind(shuffled_like, "-key x -axis=0", f"{_RANDOM}shuffle")
bind(with_last, "-key alpha shape=None -dtype=None", f"{_RANDOM}dirichlet")
bind(gaussian, "-key mean cov shape=None -dtype=None -method=None", f"{_RANDOM}multivariate_normal")
bind(orthogonal, "-key n shape=() -dtype=None -m=None", f"{_RANDOM}orthogonal")
