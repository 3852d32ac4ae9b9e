"""What data is used for: followed forward from where it is made to the steps and evaluations it goes into.

A function is left by the call it was entered by, and branches that its constant arguments rule out are not gone into:
`data(True)` and `data(False)` may serve training and evaluation by one function.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from distml.training.around import arms
from distml.training.callers import Reach, leading_to, run_by
from distml.training.callsites import argument_for, called, default_of
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, stores, targets_of
from distml.training.values import Callable

Function = ast.FunctionDef | ast.AsyncFunctionDef
TRAINING, EVALUATION = "training", "evaluation"
_TRAINS = frozenset(
    "fit fit_generator train train_on_batch TrainSpec minimize apply_gradients compute_gradients gradient backward".split()
)
_JUDGES = frozenset(
    "evaluate evaluate_generator predict predict_generator predict_on_batch test_on_batch EvalSpec run eval".split()
)
_HELD_OUT = frozenset({"validation_data", "eval_dataset", "eval_set"})
_STEPS = frozenset({"apply_gradients", "minimize", "backward"})
_THROUGH = (
    ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.IfExp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.Compare,
    ast.Slice, ast.Subscript, ast.Attribute, ast.Await, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.withitem,
)  # fmt: skip
_ALIKE = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
_MOST = 4000


def purposes(node: ast.expr, program: Program, stack: tuple[ast.Call, ...] = ()) -> frozenset[str]:
    """What the value of an expression is used for: training, evaluation, both, or nothing that can be seen.

    `stack` are the calls by which the function around the expression is run, innermost last.
    """
    return _purposes(node, stack, program)


@remembered
def _purposes(node: ast.expr, stack: tuple[ast.Call, ...], program: Program) -> frozenset[str]:
    search = Walk(program)
    search.follow(node, stack)
    return frozenset(search.found)


@remembered
def steps_of(program: Program) -> Reach:
    """The code that leads to a step of training, of whatever framework."""
    return Reach(program, [call for call in program.calls if called(call, program) in _STEPS])


class Walk:
    """Goes wherever a value goes, and notes what it is used for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: set[str] = set()
        self.waiting: list[tuple[ast.AST, tuple[ast.Call, ...]]] = []
        self.seen: set[tuple[ast.AST, tuple[ast.Call, ...]]] = set()

    def follow(self, node: ast.AST, stack: tuple[ast.Call, ...]) -> None:
        """Go wherever a value goes."""
        self.waiting.append((node, stack))
        while self.waiting and len(self.seen) < _MOST:
            here = self.waiting.pop()
            if here not in self.seen:
                self.seen.add(here)
                if self._runs(*here):
                    self._on(*here)

    def _to(self, nodes: Iterator[ast.AST] | list[ast.AST], stack: tuple[ast.Call, ...]) -> None:
        self.waiting += [(each, stack) for each in nodes]

    def _on(self, node: ast.AST, stack: tuple[ast.Call, ...]) -> None:
        above = self.program.parent(node)
        if isinstance(above, ast.keyword):
            node, above = above, self.program.parent(above)
        if isinstance(above, ast.Call):
            self._called(above, stack) if node is above.func else self._given(node, above, stack)
        elif isinstance(above, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for target in targets_of(above):
                self._bound(target, stack)
        elif isinstance(above, ast.withitem) and above.optional_vars is not None:
            self._bound(above.optional_vars, stack)
        elif isinstance(above, ast.For | ast.AsyncFor | ast.comprehension):
            self._looped(node, above, stack)
        elif isinstance(above, ast.Return | ast.Yield | ast.YieldFrom):
            self._returned(above, stack)
        elif isinstance(above, _THROUGH):
            self._to([above], stack)

    def _given(self, node: ast.AST, call: ast.Call, stack: tuple[ast.Call, ...]) -> None:
        """An argument: of a function of the program it is a parameter, of a library's it goes into what that gives."""
        functions = [each for each in run_by(call, self.program) if isinstance(each, Function)]
        value = node.value if isinstance(node, ast.keyword) else node
        for function in functions:
            for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
                given = argument_for(call, function, each.arg, self.program)
                if given is value or (given is None and isinstance(node, ast.Starred)):
                    self._to(_reads(function, each.arg, self.program), (*stack, call)[-3:])
        if functions:
            return
        if isinstance(node, ast.keyword) and node.arg in _HELD_OUT:
            self.found.add(EVALUATION)
        else:
            self._called(call, stack)

    def _called(self, call: ast.Call, stack: tuple[ast.Call, ...]) -> None:
        name = called(call, self.program)
        if name in _TRAINS:
            self.found.add(TRAINING)
        elif name in _JUDGES:
            self.found.add(EVALUATION)
        else:
            self._to([call], stack)

    def _bound(self, target: ast.expr, stack: tuple[ast.Call, ...]) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bound(each, stack)
        elif isinstance(target, ast.Name):
            owner = self.program.owner(target, writing=True)
            if owner is not None:
                self._to(_reads(owner, target.id, self.program), stack)
        elif isinstance(target, ast.Attribute):
            objects = self.program.of(target.value)
            read = _attributes(self.program)[target.attr]
            self._to([each for each in read if objects & self.program.of(each.value)], ())
        elif isinstance(target, ast.Subscript):
            self._bound(target.value, stack)

    def _looped(
        self, node: ast.AST, loop: ast.For | ast.AsyncFor | ast.comprehension, stack: tuple[ast.Call, ...]
    ) -> None:
        if node is not loop.iter:
            return
        if isinstance(loop, ast.comprehension):
            self.found.add(EVALUATION)
            whole = self.program.parent(loop)
            self._to([whole] if whole is not None else [], stack)
            self._bound(loop.target, stack)
            return
        reach = steps_of(self.program)
        calls = (each for part in loop.body for each in nodes_in(part, ast.Call))
        if any(reach.holds(each) and self._runs(each, stack) for each in calls):
            self.found.add(TRAINING)
        else:
            self.found.add(EVALUATION)
            self._bound(loop.target, stack)

    def _returned(self, node: ast.AST, stack: tuple[ast.Call, ...]) -> None:
        function = self.program.function(node)
        if function is None:
            return
        if stack and function in run_by(stack[-1], self.program):
            self._to([stack[-1]], stack[:-1])
        else:
            self._to([*leading_to(function, self.program), *_handed(self.program)[function]], ())

    def _runs(self, node: ast.AST, stack: tuple[ast.Call, ...]) -> bool:
        """Whether a line is run in the function that the last of these calls enters, as far as its constants say."""
        function = self.program.function(node)
        around = ((above, here) for above, here in arms(node, self.program) if self.program.function(above) is function)
        return not stack or all(_holds(above.test, stack, self.program) in (None, here) for above, here in around)


def _holds(test: ast.expr, stack: tuple[ast.Call, ...], program: Program) -> bool | None:
    """Whether a condition holds for the constants that a call gives; None where they do not say."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, stack, program)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _ALIKE):
        sides = [constant(each, stack, program) for each in (test.left, test.comparators[0])]
        if None in sides:
            return None
        same = all(each is not None and each.value == sides[0].value for each in sides if sides[0] is not None)
        return same == isinstance(test.ops[0], ast.Eq | ast.Is)
    found = constant(test, stack, program)
    if found is not None:
        return bool(found.value)
    kept = _kept(test, program) if isinstance(test, ast.Name) else None
    return None if kept is None else _holds(kept, stack, program)


def _kept(name: ast.Name, program: Program) -> ast.expr | None:
    """The one expression that a variable of a function is given, such as a condition by name."""
    function = program.function(name)
    found = [*stores(function, name.id)] if function is not None else []
    statement = program.parent(found[0]) if len(found) == 1 else None
    return statement.value if isinstance(statement, ast.Assign) and found[0] in statement.targets else None


def constant(node: ast.expr | None, stack: tuple[ast.Call, ...], program: Program) -> ast.Constant | None:
    """The constant that an expression is in the function that the last of these calls enters."""
    if isinstance(node, ast.Constant):
        return node
    function = program.function(node) if isinstance(node, ast.Name) else None
    if not stack or function is None or not isinstance(node, ast.Name) or any(stores(function, node.id)):
        return None
    given = argument_for(stack[-1], function, node.id, program) or default_of(function, node.id)
    return constant(given, stack[:-1], program)


def _reads(owner: ast.AST, name: str, program: Program) -> list[ast.AST]:
    """Where a variable of a scope is read."""
    return [*_reads_of(program)[owner, name]]


@remembered
def _reads_of(program: Program) -> dict[tuple[ast.AST, str], list[ast.AST]]:
    found: dict[tuple[ast.AST, str], list[ast.AST]] = defaultdict(list)
    for unit in program.units.values():
        for node in nodes_in(unit.tree, ast.Name):
            if isinstance(node.ctx, ast.Load):
                owner = unit.lexical.owner_at(node.id, node)
                if owner is not None:
                    found[owner, node.id].append(node)
    return found


@remembered
def _attributes(program: Program) -> dict[str, list[ast.Attribute]]:
    found: dict[str, list[ast.Attribute]] = defaultdict(list)
    for node in program.nodes(ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            found[node.attr].append(node)
    return found


@remembered
def _handed(program: Program) -> dict[ast.AST, list[ast.AST]]:
    """Where functions of the program are handed on by name, and not called."""
    found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
    for node in program.nodes(ast.AST):
        above = program.parent(node)
        if isinstance(node, ast.Name | ast.Attribute) and not (isinstance(above, ast.Call) and above.func is node):
            for value in program.of(node) if isinstance(node.ctx, ast.Load) else ():
                if isinstance(value, Callable):
                    found[value.node].append(node)
    return found
