"""What checks of several files of one project share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.exports import Exports
    from distml.interp.frames import Frame, ModuleInfo
    from distml.source.file import SourceFile
    from distml.values import Tensor


class Session:
    """The imported modules, run once. `exports` are what modules of installed packages give out, `bound` whether one binds
    a name. `tensors` are the entries of `base` that hold any, None until it matters."""

    def __init__(self) -> None:
        self.last_serial = 0
        self.base: dict[Hashable, Any] = {}
        self.frames: dict[int, Frame] = {}
        self.modules: dict[str, ModuleInfo] = {}
        self.sources: dict[str, SourceFile] = {}
        self.exports: dict[str, Exports] = {}
        self.bound: dict[tuple[str, str], bool] = {}
        self.holding: dict[int, tuple[Any, tuple[Tensor, ...]]] = {}
        self.tensors: dict[Hashable, Any] | None = None

    def leave(self, entries: dict[Hashable, Any]) -> None:
        """Add what a module left when its run was finished."""
        self.base.update(entries)
        self.tensors = None
