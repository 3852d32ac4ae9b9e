"""Gradients become their means over all ranks before an optimizer steps.

Where one optimizer steps once for each `backward`, Horovod's `DistributedOptimizer` does it while gradients are still being
computed. It counts calls of `backward`, and every loss that reaches a parameter counts: it would be wrong for two
networks trained against each other, for several backward passes, or parameters that are thawed later. There the
gradients are averaged in one go in front of the step, which is right whatever came before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable as Function
from collections.abc import Iterator
from textwrap import indent

from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.flows.pytorch import passes
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import LIBRARY, Step, Study, branches
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import block_of
from distml.training.callsites import called
from distml.training.syntax import holds_grad, is_literal, nodes_in
from distml.training.values import Foreign, Module

_WRAPPED = Note(
    "optimizer that averages gradients over all ranks",
    "ranks see different data; their average gradient is that of the global batch",
    "distributed-optimizer",
)
_AVERAGED = Note(
    "gradients averaged over all ranks before the step",
    "ranks see different data; their average gradient is that of the global batch",
    "average-gradients",
)
_FILLED = Note(
    _AVERAGED.what,
    f"{_AVERAGED.reason}; a rank may leave a layer out of its forward pass, and then adds a gradient of zero",
    "average-gradients",
)
_EARLY = Note(
    "gradients averaged before they are clipped or unscaled",
    "norms and overflow checks must use the averaged gradient, the same on every rank",
    "synchronize-first",
)
_ZEROED = Note(
    "zero_grad without arguments",
    "the distributed optimizer does not take this argument; gradients are set to None either way",
    "zero-grad",
)
_LOADED = ("torch.load()", "pickle.load()")
_SAVES = frozenset({"torch.save", "pickle.dump", "pickle.dumps"})
_CLIPS = re.compile(r"clip_?(\w+_)?grad|grad\w*_?clip")
_READS = frozenset({"clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "unscale_"})


class Gradients:
    """Plans how the gradients of each step are averaged."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling) -> None:
        self.study, self.plan, self.spelling = study, plan, spelling
        self.program = study.program
        self.reading = study.reach([*self.readers()])

    def readers(self) -> Iterator[ast.AST]:
        """What reads gradients: functions that clip, of the library or of the program."""
        yield from (
            call
            for call in self.program.calls
            if (name := called(call, self.program)) in _READS or _CLIPS.search(name.lower())
        )
        for node in self.program.nodes(ast.Attribute):
            if node.attr == "grad" and self.program.function(node):
                above = self.program.parent(node)
                if not (isinstance(above, ast.Call) and above.func is node):
                    yield node

    def average(self, wrapped: bool, own: Function[[ast.If | ast.IfExp], bool]) -> None:
        """Ask for the averaging of all steps; `own` conditions are those that each rank decides for itself."""
        if wrapped:
            self._wrap()
        else:
            for step in self.study.steps:
                self._in_front(step, passes.apart(self.study, step, own))

    # Whether the simple form serves

    def simple(self) -> bool:
        """Whether one optimizer steps once for each backward pass, in one place."""
        steps, backwards = self.study.steps, self.study.backwards
        if len({step.makers for step in steps}) != 1 or len(backwards) != 1 or len(steps) != 1:
            return False
        (step,), (backward,) = steps, backwards
        return (
            all(self._of_library(maker) for maker in step.makers)
            and not any(self.study.repeated(maker) for maker in step.makers)
            and len({self._target(maker) for maker in step.makers}) == 1
            and self._together(step, backward)
            and not self._thawed()
            and not self._chosen_by_name()
            and not self._kept_whole(step)
            and not any(call.args or {k.arg for k in call.keywords} - {"set_to_none"} for call in self._zeroed(step))
        )

    def _target(self, maker: ast.Call) -> str:
        """What a maker's optimizer is called: several names are several optimizers."""
        statement = self.program.statement(maker)
        if isinstance(statement, ast.Assign):
            return " ".join(ast.unparse(each) for each in statement.targets)
        return "" if isinstance(statement, ast.Return) else ast.unparse(statement)

    def _of_library(self, maker: ast.Call) -> bool:
        names = {v.name for v in self.program.of(maker) if isinstance(v, Foreign) and v.node is maker}
        return bool(names) and all(LIBRARY.fullmatch(name) for name in names)

    def _together(self, step: Step, backward: ast.Call) -> bool:
        """Whether a step follows each backward pass, with nothing between that clears gradients."""
        program = self.program
        first, last = program.statement(backward), program.statement(step.call)
        if backward.keywords and any(k.arg == "create_graph" for k in backward.keywords):
            return False
        if program.function(backward) is not program.function(step.call):
            return False
        if self.study.loop(backward) is not self.study.loop(step.call):
            return False
        loop = self.study.loop(step.call)
        if branches(program, first, loop) != branches(program, last, loop) or not isinstance(last, ast.Expr):
            return False
        block = block_of(first, program)
        if last not in block:
            block, first = block_of(last, program), self._above(first, last)
        if first not in block or block.index(first) > block.index(last):
            return False
        between = block[block.index(first) + 1 : block.index(last)]
        leaves = ast.Break | ast.Continue | ast.Return
        if any(isinstance(inner, leaves) for each in between for inner in walk(each)):
            return False
        clears = {program.statement(call) for call in self._zeroed(step)}
        return not any(inner in clears for each in between for inner in nodes_in(each, ast.stmt))

    def _above(self, statement: ast.stmt, other: ast.stmt) -> ast.stmt:
        """The statement around `statement` that stands in the block of `other`."""
        block = block_of(other, self.program)
        above = [each for each in self.program.ancestors(statement) if each in block]
        return above[0] if above and isinstance(above[0], ast.stmt) else statement

    def _thawed(self) -> bool:
        """Whether parameters join later, which the distributed optimizer would not notice."""
        for node in self.program.nodes(ast.AST):
            if isinstance(node, ast.Assign) and not is_literal(node.value, False):
                if any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
                    return True
            if isinstance(node, ast.Attribute) and node.attr in ("add_param_group", "requires_grad_"):
                return True
        return False

    def _chosen_by_name(self) -> bool:
        """Whether classes are looked up by name in modules of the program: then others may make the optimizer too."""
        looked = (c for c in self.program.calls if "builtins.getattr" in self.program.names(c.func) and c.args)
        return any(isinstance(value, Module) for call in looked for value in self.program.of(call.args[0]))

    def _kept_whole(self, step: Step) -> bool:
        """Whether the optimizer itself is saved or was loaded: a wrapped one cannot be pickled, a loaded one is not wrapped."""
        if any(isinstance(v, Foreign) and v.name.startswith(_LOADED) for v in self.program.of(step.optimizer)):
            return True
        saved = [call for call in self.program.calls if self.program.names(call.func) & _SAVES and call.args]
        values = {value for call in saved for value in self.program.of(call.args[0])}
        values |= self.program.held(values)
        return any(isinstance(value, Foreign) and value.node in step.makers for value in values)

    def _zeroed(self, step: Step) -> list[ast.Call]:
        return [
            call
            for call in self.program.calls
            if isinstance(call.func, ast.Attribute)
            and call.func.attr == "zero_grad"
            and self.study.makers(call.func.value) & step.makers
        ]

    # The two forms

    def _wrap(self) -> None:
        (step,) = self.study.steps
        for maker in step.makers:
            world = self.plan.world(maker)
            names = self._named(maker)
            code = f"{world.module}.DistributedOptimizer({{}}{f', named_parameters={names}' if names else ''})"
            self.plan.patch(maker).wrap(maker, code, _WRAPPED)
        for call in self._zeroed(step):
            for keyword in call.keywords:
                assert keyword.arg is not None
                self.plan.patch(call).drop(call, keyword.arg, _ZEROED)
        place = self._place(step)
        if place is not self.program.statement(step.call) or step.scaled:
            self._early(step, place)

    def _named(self, maker: ast.Call) -> str:
        """The names of exactly the parameters that an optimizer is given, where that is one whole model."""
        given = maker.args[0] if maker.args else next((k.value for k in maker.keywords if k.arg == "params"), None)
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and not given.args:
            if given.func.attr == "parameters" and not given.keywords:
                return f"{ast.unparse(given.func.value)}.named_parameters()"
        return ""

    def _early(self, step: Step, place: ast.stmt) -> None:
        optimizer = ast.unparse(step.optimizer)
        statement = self.program.statement(step.call)
        patch = self.plan.patch(statement)
        patch.before(place, f"{optimizer}.synchronize()", _EARLY)
        patch.before(statement, f"with {optimizer}.skip_synchronize():\n    {ast.unparse(statement)}", _EARLY)
        patch.remove(statement, _EARLY)

    def _in_front(self, step: Step, apart: bool) -> None:
        place = self._place(step)
        code = self.spelling.averaged(place, ast.unparse(step.optimizer), apart)
        branch = self.program.parent(self.program.statement(step.call))
        if isinstance(branch, ast.If) and not branch.orelse and reads_only(branch.test, self.program):
            earlier = self._in_block(branch, step)
            if earlier is not branch:
                place, code = earlier, f"if {ast.unparse(branch.test)}:\n{indent(code, '    ')}"
        self.plan.patch(place).before(place, code, _FILLED if apart else _AVERAGED)

    def _place(self, step: Step) -> ast.stmt:
        """The statement in front of which gradients must be averaged: the step, or what reads gradients for it."""
        return self._in_block(self.program.statement(step.call), step)

    def _in_block(self, statement: ast.stmt, step: Step) -> ast.stmt:
        block = block_of(statement, self.program)
        place = statement
        same = [each.call for each in self.study.steps if each.makers & step.makers]
        producing = self.study.reach([*self.study.backwards, *same])
        for earlier in reversed(block[: block.index(statement)]):
            if producing.holds(earlier):
                break
            if self.reading.holds(earlier) or holds_grad(earlier):
                place = earlier
        return place
