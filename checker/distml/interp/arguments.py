"""The arguments of a call, as the interpreter hands them on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distml.values import Many, Value


class Arguments:
    """The arguments of one call. `open` when `*x` or `**x` of unknown content was among them;
    `rest` is that `x` where its length alone is unknown."""

    __slots__ = ("args", "kwargs", "open", "rest")

    def __init__(
        self,
        args: list[Value],
        kwargs: dict[str, Value] | None = None,
        is_open: bool = False,
        rest: Many | None = None,
    ) -> None:
        self.args = args
        self.kwargs = kwargs or {}
        self.open = is_open
        self.rest = rest

    def after(self, *first: Value) -> Arguments:
        """The same arguments behind some others."""
        return Arguments([*first, *self.args], self.kwargs, self.open)

    def without_first(self) -> Arguments:
        """The same arguments but for the first that is given by its place."""
        return Arguments(self.args[1:], self.kwargs, self.open, self.rest)

    def values(self) -> list[Value]:
        """Every argument value."""
        return [*self.args, *self.kwargs.values()]
