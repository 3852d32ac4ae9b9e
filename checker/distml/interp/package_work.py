"""The work that installed packages cost a file, kept apart from its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distml.interp.frames import ModuleInfo
    from distml.source.file import SourceFile

SHARE = 1 / 3
"""The part of a file's time after which installed packages are followed no more: the rest is for the program itself."""
MODULE_STEPS = 4_000
"""With so many steps taken by modules of installed packages, no other one is run for a file."""
REGISTERING = 8
"""So much less counts what modules take that fill a registry."""


class PackageWork:
    """`calls` are the steps of calls into installed packages, `nested` those of modules that the module being run loaded,
    `unfollowed` the files whose code could not be followed, which may change what it gets."""

    def __init__(self, deadline: float | None) -> None:
        begun = time.process_time()
        self._deadline = None if deadline is None else begun + (deadline - begun) * SHARE
        self._charged: set[str] = set()
        self._counted: set[str] = set()
        self.ran: set[str] = set()
        self._modules = 0
        self.calls = 0
        self.nested = 0
        self.unfollowed: dict[str, SourceFile] = {}

    @property
    def late(self) -> bool:
        """Whether the time for installed packages is over."""
        return self._deadline is not None and time.process_time() > self._deadline

    @property
    def enough(self) -> bool:
        """Whether no more of their modules are run."""
        return self._modules > MODULE_STEPS or self.late

    def give_up(self, source: SourceFile) -> None:
        """Note a file whose code is not followed."""
        self.unfollowed[source.location] = source

    def charge(self, info: ModuleInfo) -> None:
        """Count what running a module took, with those that it loaded, as if this file had been the first to need it: what is
        followed must not depend on the files that were checked before."""
        waiting = [info]
        while waiting:
            each = waiting.pop()
            if each.source.installed and each.name not in self._charged:
                self._charged.add(each.name)
                self._modules += each.cost // (REGISTERING if each.facts.registers else 1)
                waiting += each.loaded

    def charge_entry(self, info: ModuleInfo, name: str) -> None:
        """Count what running one entry of a registry took."""
        key = f"{info.name}:{name}"
        if key not in self._charged:
            self._charged.add(key)
            self._modules += info.costs[name] // REGISTERING

    def owed(self, info: ModuleInfo) -> int:
        """The steps of a module, with those that it loaded, that an earlier check took and not this one (`ran`)."""
        waiting, steps = [info], 0
        while waiting:
            each = waiting.pop()
            if each.name not in self._counted:
                self._counted.add(each.name)
                steps += 0 if each.name in self.ran else each.cost
                waiting += each.loaded
        return steps
