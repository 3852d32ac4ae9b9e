"""One run of a target on inputs of given ranks: does it go through, and under which constraints.

Every question of `migrate` and `branches` is a run, or a few. Dimensions of an input are
symbols, so one run stands for all inputs of its ranks; a dimension that is to be dynamic is a
symbol that nothing is learned of (Dyn: consistent with every size, each time anew).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from distml.gradual.elements import element_type
from distml.gradual.naming import usual_names
from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.check import deep_recursion
from distml.interp.machine import OutOfSteps, OutOfTime
from distml.interp.trace import RunOver
from distml.interp.watch import Visit, Watcher, demands_in
from distml.ops import Call
from distml.ops.rules.ranks import rank_of
from distml.shapes import Dim, Middle, Origin, Shape, Symbol
from distml.solver.decide import Constraint, Contradiction, Satisfied, satisfy
from distml.solver.formula import FALSE, TRUE
from distml.values import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distml.gradual.inputs import Input
    from distml.gradual.targets import Program, Target
    from distml.interp.trace import Demand
    from distml.solver.formula import Formula

MIN_SECONDS = 0.05
MAX_RANK = 6
"""Ranks up to this one are tried; a function that takes them all takes any."""
MORE = MAX_RANK + 1
"""As a rank: this many axes or more."""
Ranks = tuple[tuple[str, int], ...]
"""Inputs and their numbers of axes."""
Axis = tuple[str, int]
"""An input and one of its axes."""


class Plan(NamedTuple):
    """What to assume of the inputs.

    `ranks` holds the ranks that are fixed (`MORE` is open upwards); others are unknown, or dynamic for `dynamic_ranks`.
    `dynamic` are dimensions that stay Dyn. `excused` are demands that are left out.
    """

    ranks: Ranks = ()
    dynamic: frozenset[Axis] = frozenset()
    dynamic_ranks: frozenset[str] = frozenset()
    excused: frozenset[tuple[str, int, int, str]] = frozenset()


@dataclass(frozen=True)
class Trial:
    """How one run went.

    `failure` is the demand that cannot be met; where several contradict each other, `core` holds
    them all. `shapes` are what was learned of the inputs. `complete` is False where the limits on
    work ended the run. `refused` says that it cannot succeed: a demand cannot be met, or the user's
    assumption leaves no input. `counts` has the symbols for how many axes the inputs of open rank have.
    """

    plan: Plan
    failure: Demand | None
    core: tuple[Demand, ...]
    constraints: tuple[Constraint, ...]
    shapes: dict[str, Shape]
    model: dict[Symbol, int]
    visits: tuple[Visit, ...] = ()
    dtypes: dict[str, Literal["float", "int"]] = field(default_factory=dict)
    watcher: Watcher | None = field(default=None, repr=False)
    complete: bool = True
    reason: str = ""
    refused: bool = False
    counts: Mapping[Symbol, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether some input goes through, as far as can be told."""
        return not self.refused

    @property
    def reaches(self) -> bool:
        """Whether some input may come to a branch: the user's assumption leaves one, and the run met one or was cut off."""
        possible = self.watcher is None or self.watcher.assumed != FALSE
        return possible and (bool(self.visits) or not self.complete)


class Bench:
    """Runs trials of one target. `where` makes the user's constraint from the inputs' shapes; `given` inputs are as they are."""

    def __init__(
        self,
        program: Program,
        target: Target,
        inputs: tuple[Input, ...],
        where: Callable[[Mapping[str, Shape]], Formula] | None = None,
        least: int = 1,
        seconds: float = 5.0,
    ) -> None:
        self.program = program
        self.target = target
        self.inputs = inputs
        self.given: Mapping[str, Tensor] = {}
        self.where = where
        self.least = least
        self._seconds = seconds
        self._trusting = True
        self._followed: dict[Plan, Trial] = {}
        self._done: dict[Plan, Trial] = {}

    def in_general(self) -> Bench | None:
        """The same with unknown values for all that a caller may give, whatever annotations say, to the constructor too.

        None where that cannot be had.
        """
        target = self.program.in_general(self.target)
        if target is None:
            return None
        inputs = tuple(given._replace(passed=True) for given in self.inputs)
        general = Bench(self.program, target, inputs, self.where, self.least, self._seconds)
        general._trusting = False
        return general

    @property
    def seconds(self) -> float:
        """How long the solver may take for one question: less when the time for everything is nearly over."""
        deadline = self.program.vm.deadline
        left = self._seconds if deadline is None else deadline - time.process_time()
        return max(MIN_SECONDS, min(self._seconds, left))

    @property
    def late(self) -> bool:
        """Whether the time for the target is over."""
        deadline = self.program.vm.deadline
        return deadline is not None and time.process_time() > deadline

    @property
    def tried(self) -> Sequence[Trial]:
        """The trials that were run so far."""
        return tuple(self._followed.values())

    def run(self, plan: Plan) -> Trial:
        """The trial of a plan, with whether some input goes through; each plan is run once."""
        if plan not in self._done:
            self._done[plan] = self._judged(self.follow(plan))
        return self._done[plan]

    def follow(self, plan: Plan) -> Trial:
        """The trial of a plan as far as it says what is reached: whether all demands can be met together is not asked."""
        if plan not in self._followed:
            self._followed[plan] = self._run(plan)
        return self._followed[plan]

    def assumed(self, shapes: Mapping[str, Shape]) -> Formula:
        """The user's constraint on inputs of these shapes; what it says of `MORE` axes goes by the fewest of them."""
        if self.where is None:
            return TRUE
        fewest = {name: Shape(shape.head) if shape.head else shape for name, shape in shapes.items()}
        impossible = isinstance(satisfy([Constraint(self.where(fewest))], self.seconds, 0), Contradiction)
        return FALSE if impossible else self.where(shapes)

    def _run(self, plan: Plan) -> Trial:
        program, vm = self.program, self.program.vm
        program.begin(self.target.state)
        symbols = {given.name: self._shape(given, plan) for given in self.inputs if given.is_tensor}
        assumed, seconds = self.assumed(symbols), min(1.0, self.seconds)
        watcher = vm.watcher = Watcher(vm, assumed, plan.excused, seconds, trusting=self._trusting)
        watcher.assume()
        counts = self._counts(symbols)
        failure, complete, reason = None, True, ""
        try:
            with deep_recursion():
                vm.follow(lambda: self._call(symbols))
        except RunOver as over:
            failure = over.demand
        except OutOfSteps:
            complete, reason = False, "following it takes too much work"
        except OutOfTime:
            complete, reason = False, "the time limit was reached"
        except RecursionError:
            complete, reason = False, "it nests too deeply"
        finally:
            vm.watcher = None
        return replace(self._ended(plan, watcher, failure, symbols, complete, reason), counts=counts)

    def _ended(
        self,
        plan: Plan,
        watcher: Watcher,
        failure: Demand | None,
        symbols: dict[str, Shape],
        complete: bool,
        reason: str,
    ) -> Trial:
        vm = self.program.vm
        constraints = tuple(watcher.constraints_of((), vm.state.log))
        shapes = {name: vm.facts.shape(shape) for name, shape in symbols.items()}
        uses = [(name, vm.facts.shape(shape)) for name, shape in watcher.uses]
        return Trial(
            plan,
            failure,
            (),
            constraints,
            shapes,
            {},
            tuple(watcher.visits),
            {name: kind for name, shape in shapes.items() if (kind := element_type(shape, uses))},
            watcher,
            complete,
            reason,
            failure is not None,
        )

    def _judged(self, trial: Trial) -> Trial:
        """A trial with values for which it goes through, or the demands that contradict each other."""
        if trial.failure is not None:
            return trial
        answer = satisfy(trial.constraints, self.seconds, 0)
        if isinstance(answer, Contradiction):
            core = demands_in(answer.core)
            return replace(trial, failure=core[-1] if core else None, core=core, refused=True)
        if isinstance(answer, Satisfied):
            return replace(trial, model=answer.model)
        return replace(trial, complete=False, reason=answer.reason)

    def _shape(self, given: Input, plan: Plan) -> Shape:
        if given.name in self.given:
            return self.given[given.name].shape
        vm = self.program.vm
        rank = dict(plan.ranks).get(given.name)
        if rank is None:
            return Shape((), Middle(given.name, vm.serial(), dynamic=given.name in plan.dynamic_ranks))
        names = usual_names(rank)
        dims = tuple(
            Dim.symbol(Symbol(names[axis], vm.serial(), self.least, (given.name, axis) in plan.dynamic))
            for axis in range(rank)
        )
        return Shape(dims, Middle(given.name, vm.serial())) if rank == MORE else Shape(dims)

    def _counts(self, shapes: Mapping[str, Shape]) -> dict[Symbol, str]:
        """The number of axes of each input whose rank is open: the symbol that conditions say it with, and its text."""
        call = Call(self.program.vm, "len", "array")
        open_ = {name: shape for name, shape in shapes.items() if shape.rank is None}
        found = {name: rank_of(call, shape).lone for name, shape in open_.items()}
        return {symbol: f"len({name}.shape)" for name, symbol in found.items() if symbol is not None}

    def _call(self, symbols: Mapping[str, Shape]) -> None:
        vm, arguments = self.program.vm, self._arguments(symbols)
        node = self.target.function.node
        if vm.flow is None:
            call_value(vm, self.target.callee, arguments, node)
            return
        source = vm.frame_of(self.target.function.frame).module.source
        names = [given.name for given in self.inputs if given.passed and not given.keyword]
        for name, value in [*zip(names, arguments.args, strict=True), *arguments.kwargs.items()]:
            vm.flow.begins(name, value, Origin(name, source.path, node.lineno, node.col_offset + 1))
        vm.flow.finish(call_value(vm, self.target.callee, arguments, node))

    def _arguments(self, symbols: Mapping[str, Shape]) -> Arguments:
        positional, keywords = [], {}
        for given in self.inputs:
            if not given.passed:
                continue
            shape = symbols.get(given.name)
            known = self.given.get(given.name)
            dtype = None if known is None else known.dtype
            value = given.value(self.program.vm) if shape is None else Tensor(given.lib, shape, dtype)
            if given.keyword:
                keywords[given.name] = value
            else:
                positional.append(value)
        return Arguments(positional, keywords)
