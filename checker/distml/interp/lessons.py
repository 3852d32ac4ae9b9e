"""Sizes that were not written where they are used: promised by an annotation, or settled by an earlier line.

Where such a size meets another one, two places contradict each other, and neither is wrong
alone. The origin of the size remembers which place that is, so that a finding can say so
(GRD101, GRD201).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops import Note, ShapeError
from distml.shapes import Dim, Origin, Symbol

if TYPE_CHECKING:
    import ast

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine


class Declared(Origin):
    """The origin of a size that an annotation promises."""


class Settled(Origin):
    """The origin of a size of an unknown input that a line settled; `by` is that line."""

    by: Origin


def settled(vm: Machine, symbol: Symbol, value: Dim) -> Dim:
    """The value that a symbol is learned to have, remembering where it was learned."""
    origin = value.origin
    if isinstance(origin, Declared | Settled) or value.constant is None or not _of_input(vm, symbol):
        return value
    here = vm.origin(vm.node)
    marked = Settled(*(origin or here))
    marked.by = here
    return value.at(marked)


def settled_again(vm: Machine, symbol: Symbol, value: Dim) -> Dim:
    """The value that a call like one before makes known: whose input it is may be otherwise here."""
    if isinstance(value.origin, Settled) and not _of_input(vm, symbol):
        return value.at(Origin(*value.origin))
    return settled(vm, symbol, value)


def _of_input(vm: Machine, symbol: Symbol) -> bool:
    """Whether a size is one of an argument of the function that is being analyzed."""
    return len(vm.stack) > 1 and symbol.name.rstrip("_0123456789") in vm.stack[1].arguments


def retold(error: ShapeError, frame: Frame) -> ShapeError:
    """The failure as what it is about: an annotation, or two lines of which neither is wrong alone."""
    if error.code.startswith(("SHP6", "SHP7")):
        return error  # it speaks of the annotation, assertion or check itself
    for note in error.notes:
        if isinstance(note.origin, Declared):
            return ShapeError(
                "GRD101", f"the annotation contradicts the code: {error.message}", error.notes, error.hint
            )
    for note in error.notes:
        if isinstance(note.origin, Settled):
            by = note.origin.by
            notes = [Note(f"{by.text} settles it", by), *error.notes]
            return ShapeError("GRD201", f"no input fits {_name(frame)}: {error.message}", notes, error.hint)
    return error


def _name(frame: Frame) -> str:
    return "this function" if frame.function is None else frame.function.name


def at_node(vm: Machine, node: ast.AST) -> Declared:
    """The origin of a size that the annotation at `node` promises."""
    return Declared(*vm.origin(node))
