"""Running a model once for every way through its branches, and what all of that says together."""

from __future__ import annotations

import ast
import dis
from typing import TYPE_CHECKING, NamedTuple

from distml.gradual.tracing.tracer import Abandoned, RefusedError
from distml.gradual.tracing.watching import ASSERTION
from distml.interp.state import State, join_states
from distml.interp.trace import Demand, Log, demands
from distml.solver.formula import FALSE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from distml.gradual.tracing.tracer import Tracer
    from distml.gradual.tracing.watching import Answers, PathWatcher
    from distml.interp.frames import ModuleInfo

MAX_RUNS = 64
"""How many ways through its branches a model is run for one question."""
MAX_OPEN_RUNS = 4
"""How many where the rank of an input is open: that only narrows down which ranks are worth a run of their own."""


class _Raised(NamedTuple):
    """The statement at which an exception left user code, and the instruction that raised it."""

    module: ModuleInfo
    node: ast.AST
    line: int
    instruction: str


class Runs:
    """The runs of one trial. `failure` is what no input gets beyond; `complete` whether every run came to its end."""

    def __init__(self, tracer: Tracer, watcher: PathWatcher, limit: int = MAX_RUNS) -> None:
        self.tracer = tracer
        self.watcher = watcher
        self.limit = limit
        self.failure: Demand | None = None
        self.complete = True
        self.reason = ""
        self._said: dict[Demand, None] = {}

    def follow(self, forward: Callable[[], object]) -> None:
        """Run `forward` for every combination of answers to the conditions that nothing decides."""
        vm, start = self.tracer.vm, self.tracer.vm.state
        waiting: list[Answers] = [()]
        ends: list[State] = []
        count = 0
        while waiting and self.failure is None:
            if count == self.limit:
                self._give_up(f"it has more than {self.limit} ways through its branches")
                ends = []  # what the others learn is not known
                break
            count += 1
            vm.state = start.fork()
            self.watcher.begin(waiting.pop())
            if self._run(forward):
                ends.append(vm.state)
            self._said.update(dict.fromkeys(demands(vm.state.log)))
            waiting.extend(self.watcher.left)
        vm.state = join_states(vm, ends) if ends else start.fork()
        vm.state.guard, vm.state.log = start.guard, None
        for demand in self._said:
            vm.state.log = Log(demand, vm.state.log)

    def _run(self, forward: Callable[[], object]) -> bool:
        """One run; whether the model gives something."""
        try:
            forward()
        except RefusedError as error:
            self._impossible(error.demand)
            return False
        except Abandoned as error:
            self._give_up(str(error))
        except RecursionError:
            self._give_up("it nests too deeply")
        except Exception as error:
            refusal = _refusal_behind(error)
            raised = self._raised(error) if refusal is None else refusal
            if raised is not None:
                self._impossible(raised)
                return False
            self._give_up(self._told(error))
        return True

    def _impossible(self, demand: Demand) -> None:
        guard = self.tracer.vm.state.guard
        if not guard:
            self.failure = demand
        elif demand.code == ASSERTION:
            # The assertion itself is judged by what holds before it.
            self._said[demand._replace(guard=guard)] = None
        else:
            self.watcher.ruled_out.append(demand._replace(guard=guard))

    def _give_up(self, reason: str) -> None:
        self.complete = False
        self.reason = self.reason or reason

    def _raised(self, error: BaseException) -> Demand | None:
        """The demand that the program states itself by raising; None where Python or a library raised."""
        place = self._last_place(error.__traceback__)
        if place is None or place.instruction != "RAISE_VARARGS":
            return None
        vm, node = self.tracer.vm, place.node
        vm.frame = place.module.frame
        if isinstance(node, ast.Assert):
            return Demand(FALSE, (), vm.origin(node), ASSERTION, f"the assertion {vm.snippet(node.test)}")
        return Demand(FALSE, (), vm.origin(node), "", f"the program itself raises: {vm.snippet(node)}")

    def _told(self, error: BaseException) -> str:
        text = (str(error).strip().splitlines() or [""])[0][:160]
        place = self._last_place(error.__traceback__)
        where = "" if place is None else f"{place.module.source.path}:{place.line}: "
        return f"{where}{type(error).__name__}: {text}"

    def _last_place(self, traceback: TracebackType | None) -> _Raised | None:
        """The innermost place of user code in a traceback."""
        places, found = self.tracer.places, None
        while traceback is not None:
            code, line = traceback.tb_frame.f_code, traceback.tb_lineno
            module = places.module_at(code.co_filename)
            if module is not None:
                node = places.statement_at(code.co_filename, line) or ast.Pass(lineno=line, col_offset=0)
                found = _Raised(module, node, line, dis.opname[code.co_code[traceback.tb_lasti]])
            traceback = traceback.tb_next
        return found


def _refusal_behind(error: BaseException) -> Demand | None:
    """What a rule refused, where the program raised something else because of it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, RefusedError):
            return cause.demand
        cause = cause.__cause__ or cause.__context__
    return None
