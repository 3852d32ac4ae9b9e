"""What is known of a PyTorch program's training: its optimizers, their steps, and the code that leads to them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from distml.training.ahead import Ahead
from distml.training.around import Looping, loops_around
from distml.training.callers import Reach, callers, leading_to, run_by, upwards
from distml.training.program import Program
from distml.training.syntax import closure, method_name, place_of, values_given
from distml.training.values import Class, Foreign, Instance, Value

LIBRARY = re.compile(r"torch\.optim\.(?!lr_scheduler|swa_utils)(\w+\.)*(\w+|\?)\(\)")
_BASES = frozenset({"torch.optim.Optimizer", "torch.optim.optimizer.Optimizer"})
_SCALERS = re.compile(r"torch\.(cuda\.)?amp\.(grad_scaler\.)?GradScaler\(\)")

_UNGRADED = frozenset({"torch.no_grad", "torch.inference_mode", "torch.no_grad()", "torch.inference_mode()"})


@dataclass(frozen=True, eq=False)
class Step:
    """A call that changes weights: `optimizer.step()`, or `scaler.step(optimizer)`."""

    call: ast.Call
    optimizer: ast.expr
    makers: frozenset[ast.Call]
    """The calls that can have made the optimizer."""
    scaled: bool


ENVIRONMENTS = ("gym", "gymnasium", "pettingzoo", "dm_control", "stable_baselines3", "retro")


class Study:
    """The training of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        steps, backwards = [*self._steps()], [*self._backwards()]
        idle = {program.function(each.call) for each in steps} - {None, *self.callers}
        idle = set() if idle and all(program.function(each.call) in idle for each in steps) else idle
        self.steps = [each for each in steps if program.function(each.call) not in idle]
        """Those in functions that nothing calls only where there are no others."""
        self.backwards = [each for each in backwards if program.function(each) not in idle]
        self.dealt: set[ast.AST] = set()
        """What loops count with, where each rank has been given numbers of its own."""
        self.uneven: set[ast.AST] = set()
        """Loops whose batches are dealt out, where the last may be shorter: one rank alone has that."""
        self.agreed: set[ast.AST] = set()
        """Statements behind which what they set is made the same on all ranks."""
        self.shortened: set[ast.AST] = set()
        """Loops that run fewer iterations on a rank, since the data they go through is divided."""
        self.undivided: set[ast.AST] = set()
        """Loops that run as many iterations on a rank as in one process, on samples that each rank draws for itself."""
        self.phases: dict[ast.AST, str] = {}
        """Loops of which only some passes train, with the condition that tells these."""
        self.parted: set[ast.Call] = set()
        """Loaders of such loops, of which those of training have only the batches of a rank."""

    def leave(self, maker: ast.Call) -> bool:
        """Forget what an optimizer does, if the program has others and these train elsewhere; whether that was so."""
        own = [each for each in self.steps if maker in each.makers]
        functions = {self.program.function(each.call) for each in own} - {None}
        rest = [each for each in self.steps if each not in own]
        if not functions or not rest or any(self.program.function(each.call) in functions for each in rest):
            return False
        leading = self.reach(each.call for each in own)
        loops = [loop for each in rest if (loop := self.loop(each.call)) is not None]
        if leading.holds_any(loops) or any(self.reach([each.call]).functions & functions for each in rest):
            return False
        self.steps = rest
        self.backwards = [each for each in self.backwards if self.program.function(each) not in functions]
        for name in ("stepping", "training"):
            self.__dict__.pop(name, None)
        return True

    @cached_property
    def environment(self) -> bool:
        """Whether the program learns from an environment: every rank then collects samples of its own."""
        names = (name for call in self.program.calls for name in self.program.names(call.func))
        return any(name.partition(".")[0] in ENVIRONMENTS for name in names)

    @cached_property
    def callers(self) -> dict[ast.AST, list[ast.Call]]:
        """The calls that can run a function, constructors among them."""
        return callers(self.program)

    def run_by(self, call: ast.Call) -> list[ast.AST]:
        """The functions of the program that a call can run."""
        return run_by(call, self.program)

    def reach(self, seeds: Iterable[ast.AST]) -> Reach:
        """The code that leads to `seeds`."""
        return Reach(self.program, seeds)

    @cached_property
    def stepping(self) -> Reach:
        """The code that leads to a step."""
        return self.reach(step.call for step in self.steps)

    @cached_property
    def training(self) -> Reach:
        """The code that leads to a step or to gradients."""
        return self.reach([*(step.call for step in self.steps), *self.backwards])

    def makers(self, optimizer: ast.AST) -> frozenset[ast.Call]:
        """The calls that can have made what an expression stands for, as far as it is an optimizer."""
        found: set[ast.Call] = set()
        for value in self.program.of(optimizer):
            if isinstance(value, Foreign) and isinstance(value.node, ast.Call) and self._is_optimizer(value):
                found.add(value.node)
            elif isinstance(value, Instance) and self._derived(value.type):
                found |= {call for call in self.program.calls if value.type in self.program.of(call.func)}
        return frozenset(found)

    def _is_optimizer(self, value: Foreign, asked: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a library may have made an optimizer of parameters; `asked` are the calls that this is a question about."""
        assert isinstance(value.node, ast.Call)
        if LIBRARY.fullmatch(value.name):
            return True
        if not value.name.endswith("()") or value.name.startswith("torch."):
            return False
        if value.name == "?()" and self.program.of(value.node.func):
            return False
        given = [*value.node.args[:1], *(k.value for k in value.node.keywords if k.arg in ("params", "parameters"))]
        asked |= {value.node}
        return any(self.parameters_in(each) and not self._holds_optimizer(each, asked) for each in given)

    def _holds_optimizer(self, node: ast.expr, asked: frozenset[ast.AST]) -> bool:
        if self.program.matches(node, LIBRARY):
            return True
        made = (v for v in self.program.of(node) if isinstance(v, Foreign) and isinstance(v.node, ast.Call))
        return any(v.node is not node and v.node not in asked and self._is_optimizer(v, asked) for v in made)

    def _derived(self, owner: Class) -> bool:
        bases = self.program.library_bases(owner)
        return any(base in _BASES or LIBRARY.fullmatch(f"{base}()") for base in bases)

    def parameters_in(self, node: ast.AST) -> list[ast.Attribute]:
        """The `model.parameters` and `model.named_parameters` that an expression is made from."""
        calls = (each for each in self.program.sources(node) if isinstance(each, ast.Call))
        found = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
        found = [each for each in found if each.attr in ("parameters", "named_parameters")]
        return sorted(found, key=place_of)

    def _steps(self) -> Iterator[Step]:
        for call in self.program.calls:
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
                continue
            scaled = self.program.matches(call.func.value, _SCALERS)
            optimizer = call.args[0] if scaled and call.args else call.func.value
            makers = frozenset(each for each in self.makers(optimizer) if not self._takes_itself(each, optimizer))
            if makers and not self.inside_optimizer(call):
                yield Step(call, optimizer, makers, scaled)

    def _takes_itself(self, maker: ast.Call, stepped: ast.expr) -> bool:
        """Whether one call of the program makes optimizers and what they are given to, such as schedules: then only what sets
        gradients to zero is an optimizer.
        """
        given = (value for each in values_given(maker) for value in self._inside(each))
        if not any(isinstance(value, Foreign) and value.node is maker for value in given):
            return False
        zeroed = (each.func for each in self.program.calls if isinstance(each.func, ast.Attribute))
        return not any(each.attr == "zero_grad" and ast.unparse(each.value) == ast.unparse(stepped) for each in zeroed)

    def _inside(self, node: ast.expr) -> Iterator[Value]:
        """What an expression stands for, and what is in it, as in `*args`."""
        values = self.program.of(node.value if isinstance(node, ast.Starred) else node)
        yield from (*values, *self.program.held(values))

    def unknown_steps(self) -> Iterator[ast.Call]:
        """Calls of `step` on something whose gradients are set to zero beside it, and that nobody sees being made."""
        torch = any("torch" in unit.source.text for unit in self.program.units.values())
        for call in self.program.calls if torch else ():
            if isinstance(call.func, ast.Attribute) and call.func.attr == "step" and not call.args:
                own = bool(self.program.functions(call.func))
                if not own and not self.makers(call.func.value) and self._zeroed(call.func.value):
                    yield call

    def _zeroed(self, node: ast.expr) -> bool:
        """Whether the same expression is told `zero_grad` in its function: optimizers are."""
        text, function = ast.unparse(node), self.program.function(node)
        return any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "zero_grad"
            and ast.unparse(call.func.value) == text
            and self.program.function(call) is function
            for call in self.program.calls
        )

    def inside_optimizer(self, node: ast.AST) -> bool:
        """Whether a node stands in an optimizer that the program defines."""
        classes = [each for each in self.program.ancestors(node) if isinstance(each, ast.ClassDef)]
        return any(self._derived(Class(each)) for each in classes)

    def _backwards(self) -> Iterator[ast.Call]:
        for call in self.program.calls:
            own = bool(self.program.functions(call.func))
            if method_name(call) == "backward" and not own:
                yield call

    def loop(self, node: ast.AST) -> Looping | None:
        """The innermost loop around a node in its function."""
        return next(loops_around(node, self.program), None)

    @cached_property
    def before(self) -> Ahead:
        """What runs before training."""
        return Ahead(self.program, self.stepping, self.training, self.of_model)

    def of_model(self, function: ast.AST) -> bool:
        """Whether a function is a method of a model."""
        owner = self.program.parent(function)
        return isinstance(owner, ast.ClassDef) and self.is_model(Class(owner))

    def is_model(self, owner: Class) -> bool:
        """Whether a class is one of models."""
        return any(isinstance(b, Foreign) and b.name.startswith("torch.nn.") for b in self.program.lineage(owner))

    def repeated(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a node may run more than once."""
        kinds = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
        statement = self.program.statement(node)
        if any(
            isinstance(above, kinds) and statement in self.program.ancestors(above)
            for above in self.program.ancestors(node)
        ):
            return True
        if self.loop(node) is not None:
            return True
        function, calls = self.program.function(node), self.leading(node)
        if function is None:
            return False
        if function in seen or len(calls) > 1:
            return True
        return any(self.repeated(call, seen | {function}) for call in calls)

    def leading(self, node: ast.AST) -> list[ast.Call]:
        """The calls that can run the function around a node; none in the code of a module."""
        return leading_to(self.program.function(node), self.program)

    def loops_of(self, node: ast.AST, innermost: bool = False) -> set[Looping]:
        """The loops that a node runs in, also those that its function is called in; of each way only the `innermost`."""
        if not innermost:
            return {loop for each in upwards([node], self.program) for loop in loops_around(each, self.program)}
        ways = closure([node], lambda each: self.leading(each) if self.loop(each) is None else ())
        return {loop for each in ways if (loop := self.loop(each)) is not None}


def branches(program: Program, node: ast.AST, until: ast.AST | None) -> list[ast.AST]:
    """The conditions and handlers around a node, innermost first, up to `until` or the end of its function."""
    found: list[ast.AST] = []
    for above in program.ancestors(node):
        if above is until or isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        if isinstance(above, ast.If | ast.Try | ast.ExceptHandler | ast.IfExp | ast.Match):
            found.append(above)
    return found


def graded(program: Program, node: ast.AST) -> bool:
    """Whether what a node computes can have gradients: it stands under no `torch.no_grad`."""
    for above in program.ancestors(node):
        marks: list[ast.expr] = []
        if isinstance(above, ast.With):
            marks = [item.context_expr for item in above.items]
        elif isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = above.decorator_list
        if any(program.names(mark) & _UNGRADED for mark in marks):
            return False
    return True
