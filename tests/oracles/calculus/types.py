"""Gradual tensor types: `Dyn`, `TensorType`, and the relations between them.

The paper is "Generalizing Shape Analysis with Gradual Types" (ECOOP 2024), called *the paper* throughout this folder.
Here are its Figure 2 (consistency, precision, matching), its Appendix B (the two least upper bounds,
apply-broadcasting, calc-conv) and the question that its three rules for reshape ask. Every operation is partial: where
the paper says "undefined", the answer is None. Sizes are natural numbers, 0 among them, and any rank is allowed,
0 among them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias


class Unknown(enum.Enum):
    """The type of `Dyn`, which stands for a size, or for a whole type, that is not known."""

    DYN = "Dyn"

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__


Dyn: Final = Unknown.DYN
Size: TypeAlias = int | Unknown


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor of known rank; each dimension is a natural number or `Dyn`."""

    dims: tuple[Size, ...]

    def __str__(self) -> str:
        return f"TensorType({', '.join(map(str, self.dims))})"

    @property
    def rank(self) -> int:
        """The number of dimensions (the paper's Definition 6)."""
        return len(self.dims)

    @property
    def known(self) -> tuple[int, ...]:
        """The sizes that are numbers."""
        return tuple(size for size in self.dims if isinstance(size, int))

    @property
    def is_static(self) -> bool:
        """Whether no dimension is `Dyn`."""
        return Dyn not in self.dims


Type: TypeAlias = TensorType | Unknown


def tensor(*dims: Size) -> TensorType:
    """`TensorType(dims)`, written shortly."""
    return TensorType(dims)


def size_precision(less: Size, more: Size) -> bool:
    """Precision of dimensions, `less ⊑ more` (Figure 2)."""
    return less is Dyn or less == more


def precision(less: Type, more: Type) -> bool:
    """Precision of types, `less ⊑ more`: `more` is `less` with some `Dyn` filled in (Figure 2)."""
    if isinstance(less, Unknown):
        return True
    if isinstance(more, Unknown) or less.rank != more.rank:
        return False
    return all(map(size_precision, less.dims, more.dims))


def size_consistent(one: Size, other: Size) -> bool:
    """Consistency of dimensions, `one ~ other` (Figure 2)."""
    return one is Dyn or other is Dyn or one == other


def consistent(one: Type, other: Type) -> bool:
    """Consistency of types, `one ~ other`: equal as far as both are known. Symmetric, not transitive (Figure 2)."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return True
    return one.rank == other.rank and all(map(size_consistent, one.dims, other.dims))


def match(type_: Type, rank: int) -> TensorType | None:
    """Matching, `type_ ▷ⁿ TensorType(...)`: the type seen as one of `rank` dimensions, if it can be (Figure 2)."""
    if isinstance(type_, Unknown):
        return TensorType((Dyn,) * rank)
    return type_ if type_.rank == rank else None


def size_lub(one: Size, other: Size) -> Size | None:
    """The least upper bound of two dimensions, `one ⊔ other` (Appendix B)."""
    if not size_consistent(one, other):
        return None
    return other if one is Dyn else one


def lub(one: Type, other: Type) -> Type | None:
    """The least upper bound in the order of precision, `one ⊔ other`; None unless they are consistent (Appendix B)."""
    if not consistent(one, other):
        return None
    if isinstance(one, Unknown):
        return other
    if isinstance(other, Unknown):
        return one
    return TensorType(tuple(b if a is Dyn else a for a, b in zip(one.dims, other.dims)))


def lub_star(one: Type, other: Type) -> Type | None:
    """`one ⊔* other`: as `lub`, but `Dyn` where either is `Dyn`, for the result of a sum is then open (Appendix B)."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return Dyn
    return lub(one, other)


def apply_broadcasting(one: Type, other: Type) -> tuple[Type, Type]:
    """What the types of two operands would be if broadcasting changed them (Appendix B).

    Where either is `Dyn` both stay as they are, as printed. Lemma 8 (more precise operands give more precise results)
    then fails from `Dyn` to a tensor type: `Dyn` leaves `TensorType(1)` as it is, `TensorType(5)` makes it
    `TensorType(5)`. It holds among tensor types; monotonicity (Theorem 3.1) does not need more, because the
    type of a sum is `Dyn` where either operand's is.
    """
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return one, other
    rank = max(one.rank, other.rank)
    left = (1,) * (rank - one.rank) + one.dims
    right = (1,) * (rank - other.rank) + other.dims
    return (
        TensorType(tuple(b if a == 1 else a for a, b in zip(left, right))),
        TensorType(tuple(a if b == 1 else b for a, b in zip(left, right))),
    )


def calc_conv(type_: TensorType, c_out: int, kernel: tuple[int, int], least: int = 0) -> TensorType | None:
    """The type of a convolution's result, from an argument of rank 4 (Appendix B).

    None where an image is too small for the kernel: the paper's formula would give a negative number, which is no
    dimension. `least` is the smallest number that is one: 0 in the paper, 1 in torch, which refuses an empty image.
    The constraints of Appendix E print the formula with a dilation and with the first side of the kernel twice;
    Appendix B and Algorithm 5 agree on `size - (side - 1)` of each side's own.
    """
    batch, _, height, width = type_.dims
    sides = tuple(Dyn if isinstance(s, Unknown) else s - (side - 1) for s, side in zip((height, width), kernel))
    if any(isinstance(side, int) and side < least for side in sides):
        return None
    return TensorType((batch, c_out, *sides))


def divides(divisor: int, number: int) -> bool:
    """Whether `number` is a multiple of `divisor`; of 0, only 0 is."""
    return number == 0 if divisor == 0 else number % divisor == 0


def can_reshape(type_: Type, target: TensorType) -> bool:
    """Whether *t-reshape-s*, *t-reshape-g* or *t-reshape* admits a reshape (Figure 3, Appendix D).

    The three rules ask one question: can each `Dyn` be filled with a natural number so that both products are equal?
    *t-reshape-s* (no `Dyn`): the products are equal. *t-reshape-g* (`Dyn` on one side): the product of the side
    without is a multiple of the numbers on the other. *t-reshape* (`Dyn` on both sides, or the whole type): always.

    As printed, *t-reshape-g* takes a multiple in either direction. Monotonicity (Theorem 3.1) fails then:
    (Dyn, 4, 3) would reshape to (6), because 6 divides 12, and the less precise (Dyn, 4, Dyn) would not. The
    constraints of Appendix E print the direction taken here for a `Dyn` in the argument, and both for a `Dyn` in the
    target; Algorithm 3 divides the argument's product, so that (2) to (4, Dyn) fails on every tensor.
    """
    if isinstance(type_, Unknown):
        return True
    given, wanted = prod(type_.known), prod(target.known)
    if type_.is_static and target.is_static:
        return given == wanted
    if target.is_static:
        return divides(given, wanted)
    return divides(wanted, given) if type_.is_static else True
