"""What decides whether ranks go on together: conditions on losses, scores and times come out alike on every rank.

A rank that stops, skips a step or loads other weights on its own leaves the others waiting, or with other weights. What one
of them must leave, all leave: none goes past the end of its own game, or makes a step of a loss that is not finite. What is
no end is decided by rank 0.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.batches import Batches
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.asked import ask, questions
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.around import LOOPS, ends_process, is_exit, loops_around
from distml.training.callers import upwards
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.syntax import is_literal, mentions, nodes_in

_AGREED = Note(
    "decided on rank 0 for all ranks",
    "ranks see different data: a rank that stops or skips alone deadlocks the others",
    "agree-on-decisions",
)
_TOGETHER = Note(
    "left by all ranks when one leaves",
    "ranks see different data: one that leaves alone deadlocks the others, and none may go past its own end",
    "leave-together",
)
_MEAN = Note(
    "metric averaged over all ranks",
    "a schedule that follows a metric must see the same one on every rank",
    "average-metric",
)
_PLATEAU = re.compile(r"torch\.optim\.lr_scheduler\.ReduceLROnPlateau\(\)")
_OTHERWISE = frozenset(
    {"StopIteration", "KeyboardInterrupt", "ImportError", "ModuleNotFoundError", "NameError", "AttributeError"}
)
"""What is caught of the end of the data, of who stops the program, and of what all ranks lack."""
_SKIPS = (ast.Break, ast.Continue, ast.Return, ast.Raise)


class Decisions:
    """Plans the conditions that all ranks must decide alike."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling) -> None:
        self.study, self.plan, self.spelling = study, plan, spelling
        self.program = study.program
        alike = study.agreed | plan.averaged
        self.uniform = Uniform(study.program, study.dealt | study.uneven, study.environment, alike)
        makers = {maker for step in study.steps for maker in step.makers if study.repeated(maker)}
        self.changing = study.reach([*(s.call for s in study.steps), *study.backwards, *makers, *self._changes()])

    def _changes(self) -> list[ast.AST]:
        """What changes weights, or what they will be set to, or the rate, and what all ranks are told."""
        found: list[ast.AST] = [*questions(self.program)]
        for call in self.program.calls:
            name = called(call, self.program)
            scheduled = name == "step" and any("lr_scheduler" in n for n in self.program.names(call.func))
            if (
                name == "load_state_dict"
                or scheduled
                or (
                    name == "deepcopy"
                    and any(isinstance(a, ast.Call) or _is_model(self.program.names(a)) for a in call.args)
                )
            ):
                found.append(call)
        for node in self.program.nodes(ast.Subscript):
            if isinstance(node.ctx, ast.Store):
                if is_literal(node.slice, "lr"):
                    found.append(node)
        return found

    def agree(self) -> None:
        """Ask for all that must be decided alike."""
        for node in self.program.nodes(ast.AST):
            if isinstance(node, ast.If | ast.While) and self._matters(node) and not self.uniform.holds(node.test):
                self._agree(node)
        for call in self.program.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr == "step" and call.args:
                if self.program.matches(call.func.value, _PLATEAU):
                    if not self.uniform.holds(call.args[0]):
                        self.plan.patch(call).wrap(call.args[0], self.spelling.mean(call.args[0]), _MEAN)

    def own(self, node: ast.If | ast.IfExp) -> bool:
        """Whether each rank decides a condition for itself."""
        return not self.uniform.holds(node.test) and not (isinstance(node, ast.If) and self._matters(node))

    def ask(self) -> None:
        """Have rank 0 ask a person, and tell all ranks the answer."""
        for call in questions(self.program):
            ask(self.plan, call, self.spelling.first)

    def name_caught(self) -> None:
        """Name the exceptions that are caught around steps: a rank that goes on without them leaves the others waiting."""
        training = self.study.training
        for node in (each for unit in self.plan.units() for each in nodes_in(unit.tree, ast.Try)):
            loops = (above for above in self.program.ancestors(node) if isinstance(above, LOOPS))
            missed = "leaves out a step" if any(training.holds(loop) for loop in loops) else "leaves training"
            handler = next((each for each in node.handlers if _goes_on(each, self.program)), None)
            if training.holds_any(node.body) and handler is not None:
                what = f"a rank that catches an exception here {missed}: the other ranks block"
                self.plan.warn("HVD303", handler.body[0], what, "let the exception end the program")

    def name_parts(self) -> None:
        """Name the loops that take a step for each part of a batch: a rank whose batch has fewer leaves the others waiting."""
        passes = self.study.shortened
        for loop in dict.fromkeys(loop for step in self.study.steps for loop in loops_around(step.call, self.program)):
            around = [each for each in loops_around(loop, self.program) if each in passes] if loop not in passes else []
            if isinstance(loop, ast.For) and not self.uniform.holds(loop.iter):
                held = (Batches(self.program, self.uniform, each).frames[0].names for each in around)
                if any(mentions(loop.iter, names) for names in held):
                    what = (
                        "this loop takes a step for each part of a rank's batch: the other ranks may take more or fewer"
                    )
                    instead = "see that all batches have as many parts, or take one step for all of them"
                    self.plan.warn("HVD303", loop, what, instead)

    def _agree(self, node: ast.If | ast.While) -> None:
        """Ask for one decision of all ranks, by what is left where it holds, or where it does not."""
        patch, test = self.plan.patch(node), node.test
        ends = [self._ends(block) for block in (node.body, node.orelse)]
        if isinstance(node, ast.If) and ends[0] != ends[1] and self._goes_on_from(node):
            what = "each rank goes on from here in its own way: by one decision of all, some would leave that out"
            raise Refuse("HVD214", node, what, "collect samples in several processes and let one of them train")
        if isinstance(node, ast.If) and ends == [True, False]:
            patch.wrap(test, self.spelling.any_rank(test), _TOGETHER)
        elif isinstance(node, ast.If) and ends[0] == ends[1]:
            patch.wrap(test, self.spelling.agreed(test), _AGREED)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            patch.wrap(test.operand, self.spelling.any_rank(test.operand), _TOGETHER)
        else:
            patch.wrap(test, self.spelling.all_ranks(test), _TOGETHER)

    def _goes_on_from(self, node: ast.If) -> bool:
        """Whether both branches say with what the next iteration begins: `state = reset()`, else `state = following`."""
        loop = self.study.loop(node)
        names = (each for each in nodes_in(loop, ast.Name) if each.lineno < node.lineno) if loop is not None else ()
        before = {each.id for each in names if isinstance(each.ctx, ast.Load)}
        set_in = [
            {
                target.id
                for part in block
                for each in nodes_in(part, ast.Assign)
                for target in each.targets
                if isinstance(target, ast.Name)
            }
            for block in (node.body, node.orelse)
        ]
        return bool(before & set_in[0] & set_in[1])

    def _ends(self, block: list[ast.stmt]) -> bool:
        """Whether a block leaves a turn or a training loop, whatever else it decides."""
        nodes = [each.value if isinstance(each, ast.Expr) else each for each in block]
        return any(self._leaves(each) for each in nodes)

    def _matters(self, node: ast.If | ast.While) -> bool:
        """Whether ranks would part if they decided differently."""
        if isinstance(node, ast.While):
            return self.study.stepping.holds(node)
        if self.changing.holds_any(node.body) or self.changing.holds_any(node.orelse):
            return self._while_training(node)
        return any(self._leaves(each) for each in walk(node))

    def _while_training(self, node: ast.AST) -> bool:
        """Whether a statement runs inside a training loop, here or where its function is called."""
        stepping, ways = self.study.stepping, [*upwards([node], self.program)]
        loops = (above for each in ways for above in self.program.ancestors(each) if isinstance(above, LOOPS))
        return any(self.program.function(each) in stepping.functions for each in ways) or any(
            map(stepping.holds, loops)
        )

    def _leaves(self, node: ast.AST) -> bool:
        """Whether a statement leaves a turn or the whole of a training loop."""
        if not isinstance(node, _SKIPS):
            return is_exit(node, self.program) and self._while_training(node)
        for above in self.program.ancestors(node):
            if isinstance(above, LOOPS):
                if self.study.training.holds(above):
                    return True
                if isinstance(node, ast.Break | ast.Continue):
                    return False
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return above in self.study.training.functions
        return False


def _goes_on(handler: ast.ExceptHandler, program: Program) -> bool:
    """Whether a program may go on where one rank has caught an exception."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if all(each is not None and ast.unparse(each).rpartition(".")[2] in _OTHERWISE for each in caught):
        return False
    last = handler.body[-1]
    return not isinstance(last, ast.Raise) and not ends_process(last, program)


def _is_model(names: frozenset[str]) -> bool:
    return any(name.startswith("torch.nn.") for name in names)
