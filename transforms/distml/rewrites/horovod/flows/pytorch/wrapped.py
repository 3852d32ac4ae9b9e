"""Which expressions stand for a model that is wrapped under its own name, in front of the statement that begins training.

The variable holds the wrapped model from there on, and so do the parameters of functions that it is handed to. What holds
the model under other names, or ran before, still has the one inside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.source.nodes import walk
from distml.training.around import LOOPS, block_of, leaves
from distml.training.callsites import given_by
from distml.training.syntax import place_of, runs_as_script, values_given

Function = ast.FunctionDef | ast.AsyncFunctionDef
BEFORE, AFTER = frozenset({"before"}), frozenset({"after"})


class Wrapped:
    """Follows one wrapped model. `reads`: the expressions that stand for it, and whether that is so whenever they run."""

    def __init__(self, study: Study, begins: ast.stmt) -> None:
        self.study, self.program, self.begins = study, study.program, begins
        self.reads: dict[ast.expr, bool] = {}
        self.lost = False
        """Whether it gets to where it cannot be followed."""
        self._here = self.program.function(begins)
        self._leading = study.reach([begins])
        self._given: dict[Function, set[str]] = {}
        self._through: dict[ast.expr, tuple[Function, str]] = {}

    def follow(self, model: ast.expr) -> None:
        """Find the reads of the variable or attribute of which `model` is one."""
        mentions = [each for each in self._mentions(model) if each not in self.program.idle]
        anew = self._given_anew(model, mentions)
        if anew is not None:
            last = anew.end_lineno or anew.lineno
            mentions = [n for n in mentions if n.lineno <= last and n not in getattr(anew, "targets", ())]
        ends = any(isinstance(node.ctx, ast.Store) and self._is_target(node) for node in mentions)
        for node in mentions:
            when = self.when(node)
            if when == BEFORE or (ends and (self._is_target(node) or self._behind(node))):
                continue
            if isinstance(node.ctx, ast.Load):
                self._read(node, when == AFTER)
            else:
                self.lost = True

    def _given_anew(self, model: ast.expr, mentions: list[ast.Name | ast.Attribute]) -> ast.stmt | None:
        """The statement behind training that gives the variable another model, if no function reads the variable."""
        if not isinstance(model, ast.Name) or any(self.program.function(n) is not self._here for n in mentions):
            return None
        block = block_of(self.begins, self.program)
        for later in block[block.index(self.begins) + 1 :]:
            if isinstance(later, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == model.id for t in later.targets
            ):
                return later
        return None

    def _is_target(self, node: ast.expr) -> bool:
        """Whether training gives the variable anew, as in `model = train(model)`: it stands for the model inside then."""
        return isinstance(self.begins, ast.Assign) and node in self.begins.targets

    def _behind(self, node: ast.expr) -> bool:
        """Whether a node stands behind the statement that begins training, in the same function."""
        here = self.program.function(node) is self._here and self.program.unit(node) is self.program.unit(self.begins)
        return here and node.lineno > (self.begins.end_lineno or 0)

    def _mentions(self, model: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
        if isinstance(model, ast.Name):
            yield from self._same(model.id, self.program.owner(model))
            return
        assert isinstance(model, ast.Attribute)
        values = self.program.of(model)
        for node in self.program.nodes(ast.Attribute):
            if node.attr == model.attr:
                if not isinstance(node.ctx, ast.Load) or values & self.program.of(node):
                    yield node

    def _same(self, name: str, owner: ast.AST | None) -> Iterator[ast.Name]:
        """The uses of one variable."""
        for node in walk(owner) if owner is not None else ():
            if isinstance(node, ast.Name) and node.id == name and self.program.owner(node) is owner:
                yield node

    def _read(self, node: ast.expr, sure: bool) -> None:
        self.reads[node] = sure
        above = self.program.parent(node)
        call = self.program.parent(above) if isinstance(above, ast.keyword) else above
        if not isinstance(call, ast.Call) or call.func is node:
            return
        for function in self.study.run_by(call):
            parameter = self._parameter(function, call, node)
            if parameter is None:
                self.lost = True
            elif isinstance(function, Function) and parameter not in self._given.setdefault(function, set()):
                self._given[function].add(parameter)
                self._inside(function, parameter)

    def _parameter(self, function: ast.AST, call: ast.Call, node: ast.expr) -> str | None:
        """The parameter that an argument is given for."""
        keyword = next((each.arg for each in call.keywords if each.value is node), None)
        if keyword is not None or not isinstance(function, Function):
            return keyword
        if any(isinstance(each, ast.Starred) for each in call.args) or node not in call.args:
            return None
        given = given_by(call, function, self.program)
        return next((name for name, value in given.items() if value is node), None)

    def _inside(self, function: Function, parameter: str) -> None:
        for node in self._same(parameter, function):
            if isinstance(node.ctx, ast.Load):
                self._through[node] = (function, parameter)
                self._read(node, True)
            else:
                self.lost = True

    def always(self, node: ast.expr, seen: frozenset[tuple[ast.AST, str]] = frozenset()) -> bool:
        """Whether a read stands for the wrapped model whenever it runs: every call of its function gives that one."""
        if node not in self._through:
            return self.reads.get(node, False)
        function, parameter = through = self._through[node]
        return through in seen or all(
            any(
                self.always(each, seen | {through})
                for each in values_given(call)
                if self._parameter(function, call, each) == parameter
            )
            for call in self.study.callers.get(function, ())
        )

    def when(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> frozenset[str]:
        """Whether a node runs before training begins, after it, or both."""
        function = self.program.function(node)
        if function is self._here and self.program.unit(node) is self.program.unit(self.begins):
            behind = AFTER if self._surely_begun(node) else BEFORE | AFTER
            return behind if place_of(node) >= place_of(self.begins) else BEFORE
        leading = [call for call in self.program.calls if self._leading.holds(call)]
        same = [call for call in leading if self.program.function(call) is function]
        leading = [call for call in same if self.program.unit(call) is self.program.unit(node)]
        if leading:
            return self._beside(node, leading)
        if function is None or function in seen:
            return BEFORE if function is None else frozenset()
        calls = self.study.callers.get(function, ())
        found = frozenset[str]().union(*(self.when(call, seen | {function}) for call in calls))
        return found if calls else BEFORE | AFTER

    def _surely_begun(self, node: ast.AST) -> bool:
        """Whether who comes to a node behind the statement that begins training has come to that: no condition left it out."""
        around = {node, *self.program.ancestors(node)}
        for above in self.program.ancestors(self.begins):
            if above in around:
                return True
            if isinstance(above, ast.If) and not runs_as_script(above):
                branches = (above.body, above.orelse)
                others = next(each for each in branches if not any(self._holds(part) for part in each))
                if not leaves(others):
                    return False
        return True

    def _holds(self, statement: ast.stmt) -> bool:
        return statement is self.begins or statement in self.program.ancestors(self.begins)

    def _beside(self, node: ast.AST, calls: list[ast.Call]) -> frozenset[str]:
        if any(isinstance(above, LOOPS) for call in calls for above in self.program.ancestors(call)):
            return BEFORE | AFTER
        first, last = (
            min(place_of(call) for call in calls),
            max((c.end_lineno or 0, c.end_col_offset or 0) for c in calls),
        )
        return BEFORE if place_of(node) < first or place_of(node) <= last else AFTER
