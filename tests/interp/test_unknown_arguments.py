"""A call that is given `*x` of unknown content may be given anything, by whatever way it comes to a function of the program."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """\
import functools
import threading

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Applied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *inputs):
        a, b = inputs[:2]
        ctx.save_for_backward(a, b)
        return a

    @staticmethod
    def backward(ctx, slope):
        a, b = ctx.saved_tensors
        return slope, b


class SetUp(torch.autograd.Function):
    @staticmethod
    def forward(*inputs):
        a, b = inputs[:2]
        return a

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx, slope):
        a, b = ctx.saved_tensors
        return slope, b


def two(*inputs):
    a, b = inputs[:2]
    return a


class Two:
    def __init__(self, *inputs):
        self.a, self.b = inputs[:2]

    def __call__(self, *inputs):
        a, b = inputs[:2]
        return a

    @classmethod
    def of_class(cls, *inputs):
        return two(*inputs)

    @functools.lru_cache
    def kept(self, *inputs):
        return two(*inputs)


class Derived(Two):
    def __init__(self, *inputs):
        super().__init__(*inputs)


class New:
    def __new__(cls, *inputs):
        a, b = inputs[:2]
        return super().__new__(cls)


class Meta(type):
    def __call__(cls, *inputs):
        a, b = inputs[:2]
        return super().__call__(*inputs)


class Made(metaclass=Meta):
    def __init__(self, *inputs):
        a, b = inputs


class Model(nn.Module):
    def forward(self, *inputs):
        return two(*inputs)


def wrap(function):
    @functools.wraps(function)
    def inner(*args, **options):
        return function(*args, **options)

    return inner


wrapped = wrap(two)


@functools.singledispatch
def single(first, *rest):
    a, b = rest
    return a


model, hooked = Model(), nn.Identity()
hooked.register_forward_pre_hook(lambda module, inputs: two(*inputs))


def go(x, y):
"""
CALLS = """\
Applied.apply(*x)
Applied.apply(torch.ones(2), *x)
SetUp.apply(*x)
SetUp.apply(torch.ones(2), *x)
functools.partial(two)(*x)
functools.partial(two, *x)()
functools.reduce(two, x)
checkpoint(two, *x)
checkpoint(two, *x, use_reentrant=False)
torch.func.vmap(two)(*x)
torch.func.grad(two)(*x)
torch.compile(two)(*x)
torch.jit.script(two)(*x)
torch.cond(y, two, two, x)
threading.Thread(target=two, args=x)
Two(*x)(*x)
Two.of_class(*x)
Two(1, 2).kept(*x)
Two.__call__(*x)
Derived(*x)
New(*x)
Made(*x)
model(*x)
model.forward(*x)
nn.DataParallel(model)(*x)
hooked(*x)
wrapped(*x)
single(*x)
single(1, *x)
list(map(two, *x))
(two if y else model)(*x)
getattr(Two, "of_class")(*x)
(lambda *given: two(*given))(*x)
two(1, *x)
two(*map(float, x))
two(*(each for each in x))
two(*x[1:])
two(*zip(*x))
two(*y.values())
two(**y)
""".splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_arguments_of_which_nothing_is_known(call: str) -> None:
    assert errors_of(f"{HEAD}    return {call}\n") == []


@pytest.mark.parametrize("call", ["Applied.apply({0})", "SetUp.apply({0})", "two({0})", "Two({0})", "model({0})"])
def test_arguments_that_are_known(call: str) -> None:
    """The same functions are followed with what they are certainly given."""
    one = call.format("torch.ones(2)")
    assert {error.code for error in errors_of(f"{HEAD}    return {one}\n")} == {"SHP306"}
    assert errors_of(f"{HEAD}    return {call.format('torch.ones(2), torch.ones(2)')}\n") == []
