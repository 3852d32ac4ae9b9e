"""torch: random tensors, and tensors filled at random in place.

https://docs.pytorch.org/docs/stable/torch.html#random-sampling
"""

from __future__ import annotations

from dataclasses import replace

from distml.ops.call import FALSE, NONE, ONE, ZERO, Call
from distml.ops.python.likeness import low_of
from distml.ops.registry import op
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.pointwise import elementwise, fits_into
from distml.ops.rules.sizes import nonnegative, shape_from
from distml.ops.torch.create import size_given
from distml.ops.torch.dtypes import asked_kind, into, like
from distml.ops.torch.pointwise import written
from distml.shapes import Shape
from distml.values import Const, Num, Tensor, Value


@op("torch.rand", "torch.randn")
def rand(call: Call, *size: Value, out: Value = NONE, dtype: Value = NONE, **named: Value) -> Value:
    """torch.rand(*size), torch.randn(*size)"""
    return into(call, call.tensor(size_given(call, size, named), asked_kind(call, dtype, "float")), out)


@op("torch.rand_like", "torch.randn_like")
def rand_like(call: Call, input: Value, *, dtype: Value = NONE, **options: Value) -> Value:
    """torch.rand_like(input)"""
    return like(call, input, dtype=dtype)


@op("torch.randint")
def randint(
    call: Call,
    low: Value = NONE,
    high: Value = NONE,
    size: Value = NONE,
    *,
    out: Value = NONE,
    dtype: Value = NONE,
    **options: Value,
) -> Value:
    """torch.randint(low=0, high, size)"""
    given, first, end = (size, low, high) if size != NONE else (high, ZERO, low)
    if isinstance(given, Const) and type(given.value) is int:
        call.fail(
            "SHP603", f"{call.text}: the size is a tuple, {given.value} is a number", hint=f"write ({given.value},)"
        )
    made = call.tensor(shape_from(call, given), asked_kind(call, dtype, "int"))
    if made.dtype == "int" and made.shape.dims is not None and all(dim == 1 for dim in made.shape.dims):
        last = call.dim(end)
        number = Num(
            call.symbol("drawn", low_of(call, ZERO if first == NONE else first), None if last is None else last - 1)
        )
        made = replace(made, content=(number,))
    return into(call, made, out)


@op("torch.randint_like")
def randint_like(call: Call, input: Value, *bounds: Value, dtype: Value = NONE, **options: Value) -> Value:
    """torch.randint_like(input, low=0, high)"""
    return like(call, input, dtype=dtype)


@op("torch.randperm")
def randperm(call: Call, n: Value, *, out: Value = NONE, dtype: Value = NONE, **options: Value) -> Value:
    """torch.randperm(n)"""
    count = nonnegative(call, call.dim(n))
    return into(call, replace(call.tensor([count], asked_kind(call, dtype, "int")), places=count), out)


@op("torch.normal")
def normal(
    call: Call, mean: Value = NONE, std: Value = ONE, size: Value = NONE, *, out: Value = NONE, **options: Value
) -> Value:
    """torch.normal(mean, std), torch.normal(mean, std, size)"""
    if size != NONE:
        return into(call, call.tensor(shape_from(call, size), "float"), out)
    return into(call, call.tensor(elementwise(call, mean, std), "float"), out)


@op("torch.bernoulli", "torch.Tensor.bernoulli")
def bernoulli(call: Call, input: Value, p: Value = NONE, *, generator: Value = NONE, out: Value = NONE) -> Value:
    """torch.bernoulli(input)"""
    return into(call, call.tensor(call.shape(input), kind_of(input)), out)


@op("torch.poisson")
def poisson(call: Call, input: Value, generator: Value = NONE) -> Value:
    """torch.poisson(input)"""
    return call.tensor(call.shape(input), kind_of(input))


@op("torch.binomial")
def binomial(call: Call, count: Value, prob: Value, generator: Value = NONE) -> Value:
    """torch.binomial(count, prob)"""
    return call.tensor(elementwise(call, count, prob), kind_of(count))


@op("torch.multinomial", "torch.Tensor.multinomial")
def multinomial(
    call: Call,
    input: Value,
    num_samples: Value,
    replacement: Value = FALSE,
    *,
    generator: Value = NONE,
    out: Value = NONE,
) -> Value:
    """torch.multinomial(input, num_samples): [n, categories] gives [n, num_samples]"""
    shape = call.of_rank(call.shape(input), 1, 2)
    count = call.dim(num_samples)
    count = call.symbol("samples") if count is None else count
    if shape.dims is None:
        return call.unranked("int")
    over = (count - shape.dims[-1]).low
    if call.flag(replacement) is False and over is not None and over > 0:
        call.fail(
            "SHP302",
            f"{call.text}: {count} samples without replacement from the {shape.dims[-1]} of {shape!r}",
            *call.notes(count, shape.dims[-1]),
            hint="replacement=True",
        )
    return into(call, call.tensor(Shape((*shape.dims[:-1], count)), "int"), out)


@op(
    *(f"torch.Tensor.{name}_" for name in ("normal", "uniform", "random", "exponential", "geometric", "cauchy")),
    *("torch.Tensor.log_normal_", "torch.Tensor.zero_", "torch.Tensor.fill_", "torch.zero_", "torch.fill_"),
)
def filled_in_place(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """torch.Tensor.normal_(mean=0, std=1), torch.Tensor.fill_(value) and their like"""
    return written(call, self)


@op("torch.fill")
def fill(call: Call, input: Value, value: Value) -> Value:
    """torch.fill(input, value)"""
    return call.tensor(call.shape(input), kind_of(input))


@op("torch.Tensor.bernoulli_")
def bernoulli_in_place(call: Call, self: Value, p: Value = NONE, *, generator: Value = NONE) -> Value:
    """torch.Tensor.bernoulli_(p=0.5)"""
    if isinstance(p, Tensor):
        fits_into(call, call.shape(p), call.shape(self))
    return written(call, self)


@op("torch.Tensor.copy_")
def copy(call: Call, self: Value, src: Value, non_blocking: Value = FALSE) -> Value:
    """torch.Tensor.copy_(src): the source broadcasts into the tensor"""
    given, target = call.shape(src), call.shape(self)
    message = f"{call.text}: {given!r} does not broadcast into {target!r}"
    fits_into(call, given, target, message=message)
    return written(call, self)


@op("torch.manual_seed", "torch.seed", "torch.initial_seed", "torch.random.manual_seed", "torch.cuda.manual_seed")
@op(
    "torch.cuda.manual_seed_all",
    "torch.set_rng_state",
    "torch.get_rng_state",
    "torch.Generator",
    "torch.mps.manual_seed",
)
def generator(call: Call, *args: Value, **options: Value) -> Value:
    """torch.manual_seed(seed), torch.Generator(device)"""
    return call.unknown()
