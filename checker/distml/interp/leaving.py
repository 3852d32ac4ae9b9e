"""The ways out of a block, each of which something is still to be run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.machine import Handler
from distml.interp.state import State, join_states

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


class Leaving:
    """The ways out of a block other than its end: returns, breaks, continues, exceptions."""

    def __init__(self, vm: Machine) -> None:
        self.returns = vm.frame.returns
        loop = vm.loops[-1:]
        lists = [states for each in loop for states in (each.breaks, each.continues)]
        self.normal = [(states, len(states)) for states in lists]
        self.raised = [(handler, len(handler.states)) for handler in vm.handlers]
        self.returned = len(self.returns)

    def run(self, vm: Machine, last: Callable[[], None]) -> bool:
        """Run `last` on each way out that was taken; whether there was one."""
        taken, self.returns[self.returned :] = self.returns[self.returned :], []
        for value, state in taken:
            after = vm.follow(last, state.fork())
            if after is not None:
                self.returns.append((value, after))
        again = [self._again(vm, states, count, last) for states, count in self.normal]
        for handler, count in self.raised:
            vm.handlers.append(Handler(catches_shapes=True, speculative=True))
            try:
                again.append(self._again(vm, handler.states, count, last))
            finally:
                vm.handlers.pop()
        return bool(taken) or any(again)

    @staticmethod
    def _again(vm: Machine, states: list[State], count: int, last: Callable[[], None]) -> bool:
        tail, states[count:] = states[count:], []
        after = vm.follow(last, join_states(vm, tail).fork()) if tail else None
        if after is not None:
            states.append(after)
        return bool(tail)
