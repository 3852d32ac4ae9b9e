"""Random calls of view, cat, matmul and their like, valid and invalid, for real and abstract."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from ops.replay import Tally, replay_failing, replay_valid

Args = tuple[Any, ...]
SIZES = (0, 1, 1, 2, 2, 3, 4, 6)


class Maker:
    """Random arguments; the same seed makes the same ones."""

    def __init__(self, seed: int, make: Callable[[tuple[int, ...]], Any]) -> None:
        self.pick = random.Random(seed)
        self.make = make

    def shape(self, low: int = 0, high: int = 4) -> tuple[int, ...]:
        return tuple(self.pick.choice(SIZES) for _ in range(self.pick.randint(low, high)))

    def axis(self, rank: int) -> int:
        return self.pick.randint(-rank - 1, rank)

    def axes(self, rank: int) -> tuple[int, ...]:
        """Mostly a permutation, now and then none."""
        found = list(range(rank))
        self.pick.shuffle(found)
        if self.pick.random() < 0.2 and found:
            found[0] = self.pick.randint(-rank - 1, rank)
        if self.pick.random() < 0.1:
            found = found[1:]
        return tuple(a - rank if self.pick.random() < 0.2 else a for a in found)

    def sizes_for(self, count: int) -> tuple[int, ...]:
        """Factors whose product is often `count`, one of them often -1."""
        sizes: list[int] = []
        while count > 1 and len(sizes) < 3:
            factor = self.pick.choice([d for d in range(1, count + 1) if count % d == 0])
            sizes.append(factor)
            count //= factor
        sizes.append(count)
        if self.pick.random() < 0.3:
            sizes[self.pick.randrange(len(sizes))] = self.pick.choice(SIZES)
        if self.pick.random() < 0.5:
            sizes[self.pick.randrange(len(sizes))] = -1
        return tuple(sizes)

    def like(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape with a change now and then."""
        dims = list(shape)
        if dims and self.pick.random() < 0.5:
            dims[self.pick.randrange(len(dims))] = self.pick.choice(SIZES)
        if self.pick.random() < 0.15:
            dims = dims[1:]
        return tuple(dims)


def _reshape(m: Maker) -> Args:
    shape = m.shape()
    return (m.make(shape), m.sizes_for(math.prod(shape)))


def _expand(m: Maker) -> Args:
    shape = m.shape(0, 3)
    target = [m.pick.choice((-1, d, d, m.pick.choice(SIZES))) for d in shape]
    return (m.make(shape), (*m.shape(0, 2), *target))


def _two_axes(m: Maker) -> Args:
    shape = m.shape()
    return (m.make(shape), m.axis(len(shape)), m.axis(len(shape)))


def _one_axis(m: Maker) -> Args:
    shape = m.shape()
    return (m.make(shape), m.axis(len(shape)))


def _permuted(m: Maker) -> Args:
    shape = m.shape()
    return (m.make(shape), m.axes(len(shape)))


def _moved(m: Maker) -> Args:
    shape = m.shape(1)
    count = m.pick.randint(1, len(shape))
    return (m.make(shape), m.axes(len(shape))[:count], m.axes(len(shape))[:count])


def _joined(m: Maker) -> Args:
    shape = m.shape()
    parts = [shape, *(m.like(shape) for _ in range(m.pick.randint(0, 2)))]
    return ([m.make(p) for p in parts], m.axis(len(shape)))


def _stacked(m: Maker) -> Args:
    return (_joined(m)[0],)


def _split(m: Maker) -> Args:
    shape = m.shape()
    how: Any = m.pick.choice(SIZES)
    if m.pick.random() < 0.5:
        how = [m.pick.choice(SIZES) for _ in range(m.pick.randint(1, 3))]
    return (m.make(shape), how, m.axis(len(shape)))


def _product(m: Maker) -> Args:
    inner = m.pick.choice(SIZES)
    left = (*m.shape(0, 3), inner)
    right = (*m.shape(0, 2), inner if m.pick.random() < 0.7 else m.pick.choice(SIZES), m.pick.choice(SIZES))
    if m.pick.random() < 0.2:
        right = (inner,)
    return (m.make(left), m.make(right))


def _batched(m: Maker) -> Args:
    left = m.shape(3, 3)
    right = (left[0], left[2], m.pick.choice(SIZES))
    return (m.make(left), m.make(m.like(right)))


def _einsum(m: Maker) -> Args:
    sizes = {letter: m.pick.choice(SIZES) for letter in "abcd"}
    terms = ["".join(m.pick.choices("abcd", k=m.pick.randint(0, 3))) for _ in range(m.pick.randint(1, 3))]
    used = sorted({c for term in terms for c in term})
    shapes = [tuple(sizes[c] for c in term) for term in terms]
    operands = [m.make(m.like(shape) if m.pick.random() < 0.3 else shape) for shape in shapes]
    if m.pick.random() < 0.3:
        terms = [f"...{term}" for term in terms]
        operands = [m.make((*m.shape(0, 2), *o.shape)) for o in operands]
    equation = ",".join(terms)
    if m.pick.random() < 0.7:
        kept = m.pick.sample(used, m.pick.randint(0, len(used)))
        equation += "->" + ("..." if "..." in equation and m.pick.random() < 0.8 else "") + "".join(kept)
    return (equation, *operands)


def _tensordot(m: Maker) -> Args:
    shape = m.shape(1, 3)
    if m.pick.random() < 0.5:
        count = m.pick.randint(0, len(shape))
        return (m.make(shape), m.make(m.like((*shape[len(shape) - count :], 2))), count)
    axes = m.axes(len(shape))[:2]
    other = tuple(shape[a] if -len(shape) <= a < len(shape) else 2 for a in axes)
    return (m.make(shape), m.make((*m.like(other), 3)), (axes, tuple(range(len(axes)))))


def _unflatten(m: Maker) -> Args:
    shape = m.shape(1)
    axis = m.axis(len(shape))
    size = shape[axis] if -len(shape) <= axis < len(shape) else 6
    return (m.make(shape), axis, m.sizes_for(size))


TORCH: dict[str, Callable[[Maker], Args]] = {
    "reshape": _reshape,
    "broadcast_to": _expand,
    "flatten": _two_axes,
    "transpose": _two_axes,
    "squeeze": _one_axis,
    "unsqueeze": _one_axis,
    "unbind": _one_axis,
    "permute": _permuted,
    "movedim": _moved,
    "cat": _joined,
    "stack": _joined,
    "hstack": _stacked,
    "vstack": _stacked,
    "dstack": _stacked,
    "column_stack": _stacked,
    "split": _split,
    "chunk": _split,
    "tensor_split": _split,
    "tile": _reshape,
    "matmul": _product,
    "bmm": _batched,
    "inner": _product,
    "einsum": _einsum,
    "tensordot": _tensordot,
    "unflatten": _unflatten,
}

NUMPY: dict[str, Callable[[Maker], Args]] = {
    "reshape": _reshape,
    "broadcast_to": _expand,
    "swapaxes": _two_axes,
    "squeeze": _one_axis,
    "expand_dims": _one_axis,
    "transpose": _permuted,
    "moveaxis": _moved,
    "concatenate": _joined,
    "stack": _joined,
    "hstack": _stacked,
    "vstack": _stacked,
    "dstack": _stacked,
    "column_stack": _stacked,
    "split": _split,
    "array_split": _split,
    "tile": _reshape,
    "matmul": _product,
    "dot": _product,
    "inner": _product,
    "einsum": _einsum,
    "tensordot": _tensordot,
}


def run(library: Any, name: str, arguments: Callable[[Maker], Args], make: Any, mode: str, calls: int) -> Tally:
    """`calls` random calls of one function."""
    maker, tally = Maker(sum(map(ord, name)), make), Tally()
    function = getattr(library, name)
    for _ in range(calls):
        args = arguments(maker)
        if library.__name__ == "numpy" and isinstance(args[0], str) and args[0] == "dd->d":
            # NumPy makes [1] of the diagonal of [0, 1].
            continue
        try:
            real = function(*args)
        except Exception as error:
            if mode == "exact" and isinstance(error, RuntimeError | ValueError | IndexError):
                replay_failing(tally, f"{library.__name__}.{name}", args, {}, str(error))
            continue
        replay_valid(tally, f"{library.__name__}.{name}", mode, args, {}, real)
    return tally


def torch_tally(names: tuple[str, ...], mode: str, calls: int = 150) -> Tally:
    """Random calls of several torch functions together."""
    import torch

    return _together(torch, TORCH, names, torch.zeros, mode, calls)


def numpy_tally(names: tuple[str, ...], mode: str, calls: int = 150) -> Tally:
    """Random calls of several NumPy functions together."""
    import numpy as np

    return _together(np, NUMPY, names, np.zeros, mode, calls)


def _together(
    library: Any, table: dict[str, Callable[[Maker], Args]], names: tuple[str, ...], make: Any, mode: str, calls: int
) -> Tally:
    total = Tally()
    for name in names:
        if name in table:
            total.add(run(library, name, table[name], make, mode, calls))
    return total
