"""What a call of an op needs of the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from distml.shapes import Origin, Shape
    from distml.solver.formula import Formula
    from distml.values import InstanceRecord, Many, Record, Ref, Tensor, Value


class Note(NamedTuple):
    """A place to show beside a finding, and what to say of it."""

    text: str
    origin: Origin


class World(Protocol):
    """What a call needs of the interpreter; tests bring a small one of their own."""

    def get(self, key: Hashable) -> Any:
        """A fact, None when there is none."""

    def put(self, key: Hashable, value: Any) -> None:
        """Set a fact."""

    def serial(self) -> int:
        """A number that was not given before."""

    def record(self, ref: Ref) -> Record | None:
        """The heap record of a reference."""

    def allocate(self, record: Record) -> Ref:
        """A new heap record."""

    def replace(self, ref: Ref, record: Record) -> None:
        """Change a heap record."""

    def library_classes(self, record: InstanceRecord) -> tuple[str, ...] | None:
        """The library classes that an object is of; None where not all are known."""

    def any_of_alike(self, objects: Sequence[Ref]) -> Ref | None:
        """An object that may be any of several; None where they are not alike, or nothing can stand for them."""

    def apply(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value] | None = None) -> Value:
        """Call a value (a layer inside a container, a function given to a library)."""

    def apply_perhaps(self, function: Value, args: Sequence[Value]) -> Value:
        """Call a value that may as well not be called: for items of which there may be none."""

    def iterate(self, value: Value) -> tuple[Value, ...] | Many:
        """What iterating over a value gives, one by one where that is known."""

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true; None when unknown."""

    def attribute(self, value: Value, name: str) -> Value | None:
        """The attribute of a value; None when it is known to have none of that name."""

    def warn(self, code: str, message: str, notes: Sequence[Note], hint: str | None) -> None:
        """Report something that does not fail but goes wrong silently."""

    def reshaped(self, tensor: Tensor, shape: Shape, moved: bool = False) -> Tensor:
        """Change the shape of a tensor object in place, for all its aliases; `moved` if its elements lie elsewhere then."""

    @property
    def watched(self) -> bool:
        """Whether someone wants to know what calls demand of their arguments."""

    def demand(self, formula: Formula, code: str, text: str) -> None:
        """Tell what must hold for the call to succeed."""

    def excused(self, code: str) -> bool:
        """Whether a requirement of this call is left out, to see what follows without it."""
