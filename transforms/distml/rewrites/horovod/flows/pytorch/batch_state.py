"""What a batch leaves behind for the next ones to be trained with: each rank would go on with that of its own batch.

Running means that a loss takes, codebooks, and what a layer sets from its first batch become the mean over all ranks where
they are set. Statistics that a layer keeps for its evaluation are made the same as those of batch normalization are. What
cannot be a mean stays different on each rank, since only gradients are averaged: weights that are set so are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from distml.rewrites.horovod.aspects.batches import Batches
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study, graded
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import LOOPS, arms, between, own_nodes
from distml.training.callsites import argument_for, called, default_of, positional, stored
from distml.training.syntax import method_name, names_in, nodes_in, receiver_of, targets_of, values_given
from distml.training.values import Box, Class, Instance

_NOTE = Note(
    "mean over all ranks",
    "later batches are trained with what this one leaves behind, which must be the same on every rank",
    "mean-of-sums",
)
_OF_SHAPE = frozenset(
    "shape size dim ndim ndimension device dtype numel type get_device is_cuda requires_grad training".split()
)
"""What is asked of a tensor that no element decides."""
_NEW = frozenset(
    "new_zeros new_ones new_empty new_full zeros_like ones_like empty_like full_like rand_like randn_like len".split()
)
"""What makes a tensor of the kind of another."""
_IN_PLACE = frozenset("copy_ fill_ add_ sub_ mul_ div_ lerp_ addcmul_ addcdiv_ set_".split())
"""Methods that choose no elements of a tensor by the data: what ranks make with them has a mean."""
_ANEW = frozenset({"copy_", "fill_", "set_"})
_DETACHES = frozenset("detach item float numpy tolist".split())


class Setting(NamedTuple):
    """A statement that sets a place from a batch."""

    statement: ast.stmt
    place: str
    whole: bool
    """Whether the place may become a mean: all of it is set, and on all ranks."""


class BatchState:
    """What the code that training runs sets from its batches."""

    def __init__(self, study: Study) -> None:
        self.study, self.program = study, study.program
        self.uniform = Uniform(study.program, study.dealt, study.environment)
        trees = [unit.tree for unit in self.program.units.values()]
        self.models = [each for tree in trees for each in nodes_in(tree, ast.ClassDef) if study.is_model(Class(each))]
        self.loops = [each for tree in trees for each in nodes_in(tree, ast.stmt) if isinstance(each, LOOPS)]
        self.parameters = [*dict.fromkeys(each for model in self.models for each in self._set_in(model, "parameter"))]
        self.buffers = [*dict.fromkeys(each for model in self.models for each in self._set_in(model, "buffer"))]

    def refused(self) -> Iterator[ast.stmt]:
        """The statements that set parameters of models so that they cannot become a mean."""
        return (each.statement for each in self.parameters if not each.whole)

    def agree(self, plan: Plan, spelling: Spelling) -> None:
        """Ask for the means over all ranks behind the statements, which are noted in the study."""
        kept = [each for each in self.buffers if each.whole and self._read_in_training(each)]
        for each in (*self.parameters, *kept):
            self._put(plan, each, f"{each.place}.data.copy_({spelling.mean_of(each.statement, each.place)})")
        for each in dict.fromkeys(self._running()):
            self._put(plan, each, f"{each.place} = {spelling.mean_of(each.statement, each.place)}")

    def keeps_statistics(self) -> bool:
        """Whether a model of the program sets buffers from batches that have become no mean."""
        return any(each.statement not in self.study.agreed for each in self.buffers)

    def _put(self, plan: Plan, setting: Setting, code: str) -> None:
        if plan.may_change(setting.statement) and setting.statement not in self.study.agreed:
            plan.patch(setting.statement).after(setting.statement, code, _NOTE)
            self.study.agreed.add(setting.statement)

    # What is set

    def _settings(self, body: ast.AST, given: Collection[str]) -> Iterator[Setting]:
        """What statements set from what some names hold."""
        for node in own_nodes(body, ast.stmt):
            for place, values, whole in _changes(node):
                if any(_reads(each, given) for each in values):
                    asked = (getattr(each, "test", None) for each in between(node, body, self.program))
                    decided = any(test is not None and _reads(test, given) for test in asked)
                    yield Setting(node, ast.unparse(place), whole and not decided)

    def _set_in(self, model: ast.ClassDef, kind: str) -> Iterator[Setting]:
        """The parameters, or the buffers, that a model sets in a forward pass."""
        classes = self.program.own_bases(Class(model))
        held = {name for each in classes for name in self._held(each, kind)}
        for method, given in (self._forward(classes) if held else {}).items():
            for each in self._settings(method, given):
                owner, _, name = each.place.partition(".")
                if [owner] == positional(method)[:1] and name in held:
                    yield each

    def _forward(self, classes: list[ast.ClassDef]) -> dict[ast.FunctionDef, set[str]]:
        """The methods that a forward pass runs, with the names that hold something of a batch in each."""
        methods: dict[str, ast.FunctionDef] = {}
        for owner in reversed(classes):
            methods |= {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
        first = methods.get("forward")
        found: dict[ast.FunctionDef, set[str]] = {}
        waiting = [(first, {name for name in positional(first)[1:] if self._is_data(first, name)})] if first else []
        while waiting:
            method, names = waiting.pop()
            if method in found and names <= found[method]:
                continue
            found[method] = given = _derived(method, names | found.get(method, set()))
            for call in nodes_in(method, ast.Call):
                inner = methods.get(method_name(call)) if isinstance(receiver_of(call), ast.Name) else None
                if inner is not None and positional(inner):
                    handed = {name: argument_for(call, inner, name, self.program) for name in positional(inner)[1:]}
                    waiting.append((inner, {name for name, each in handed.items() if each and _reads(each, given)}))
        return found

    def _held(self, owner: ast.ClassDef, kind: str) -> Iterator[str]:
        """The names under which a class registers its parameters, or its buffers."""
        for node in nodes_in(owner, ast.Assign):
            if kind == "parameter" and any(name.endswith(".Parameter()") for name in self.program.names(node.value)):
                yield from (target.attr for target in node.targets if isinstance(target, ast.Attribute))
        for call in nodes_in(owner, ast.Call):
            name = call.args[0] if call.args else None
            if method_name(call) == f"register_{kind}" and isinstance(name, ast.Constant):
                yield str(name.value)

    def _is_data(self, method: ast.FunctionDef, name: str) -> bool:
        """Whether a parameter may be of a batch: no model, and nothing that is the same on all ranks wherever it is given."""
        loads = [each for each in nodes_in(method, ast.Name) if each.id == name]
        values = {value for each in loads for value in self.program.of(each)}
        if any(isinstance(each, Instance) and self.study.is_model(each.type) for each in values):
            return False
        calls = self.study.callers.get(method, [])
        given = [found for call in calls if (found := argument_for(call, method, name, self.program)) is not None]
        return not all(map(self.uniform.holds, given)) if given else default_of(method, name) is None

    # What is read again

    def _read_in_training(self, setting: Setting) -> bool:
        """Whether a model trains with a buffer that it has set, and does not only keep it for its evaluation."""
        method = self.program.function(setting.statement)
        owner = self.program.parent(method) if method is not None else None
        sets = {each.statement for each in self.buffers if each.place == setting.place}
        for node in nodes_in(owner, ast.Attribute) if owner is not None else ():
            if isinstance(node.ctx, ast.Load) and ast.unparse(node) == setting.place:
                if self.program.statement(node) not in sets and not self._only_evaluates(node):
                    return True
        return False

    def _only_evaluates(self, node: ast.AST) -> bool:
        """Whether a node of a model stands in the arm of a branch that training does not take."""
        for above, holds in arms(node, self.program):
            negated = isinstance(above.test, ast.UnaryOp)
            test = above.test.operand if isinstance(above.test, ast.UnaryOp) else above.test
            if isinstance(test, ast.Attribute) and test.attr == "training" and holds == negated:
                return True
        return False

    def _running(self) -> Iterator[Setting]:
        """What training makes of what it was and of a batch, without gradients, and computes later losses of."""
        for loop in self.loops:
            for frame in Batches(self.program, self.uniform, loop).frames if self.study.training.holds(loop) else ():
                for each in self._settings(frame.body, frame.names):
                    if each.whole and self._lasts(each, frame.body) and self._mixes(each) and self._trains(each):
                        yield each

    def _lasts(self, setting: Setting, body: ast.AST) -> bool:
        """Whether a place is an attribute, or a variable of a loop that nothing else sets there."""
        if "." in setting.place or not isinstance(body, LOOPS):
            return setting.place.count(".") == 1
        stores = (each for each in own_nodes(body, ast.Name) if each.id == setting.place)
        return all(
            self.program.statement(each) is setting.statement or isinstance(each.ctx, ast.Load) for each in stores
        )

    def _mixes(self, setting: Setting) -> bool:
        """Whether a statement makes a place of what it was and of what has no gradients: these would have to be taken twice."""
        node = setting.statement
        if isinstance(node, ast.AugAssign):
            held = self.program.of(node.target) | self.program.of(node.value)
            return self._detached(node.value) and not any(isinstance(each, Box) for each in held)
        value = getattr(node, "value", None)
        if not isinstance(value, ast.expr) or not self._detached(value):
            return False
        anew = [value] if isinstance(node, ast.Assign) else _given_anew(value)
        return all(_blends(self._made(each), setting.place) for each in anew)

    def _detached(self, value: ast.expr) -> bool:
        """Whether something has no gradients, as far as can be seen."""
        sources = self.program.sources(value)
        names = {called(each, self.program) for each in sources if isinstance(each, ast.Call)}
        data = any(isinstance(each, ast.Attribute) and each.attr == "data" for each in sources)
        return data or bool(names & _DETACHES) or not graded(self.program, value)

    def _made(self, value: ast.expr) -> ast.expr:
        """What is computed, where that has a name of its own, without what only takes it out of the graph."""
        value = _plain(value)
        made = [*stored(value, self.program)] if isinstance(value, ast.Name) else []
        return made[0] if len(made) == 1 else value

    def _trains(self, setting: Setting) -> bool:
        """Whether a loss is computed of a place elsewhere."""
        around = [*self.program.ancestors(setting.statement)]
        kind = ast.ClassDef if "." in setting.place else LOOPS
        scope = next((each for each in around if isinstance(each, kind)), around[-1])
        return any(
            ast.unparse(node) == setting.place
            and self.program.statement(node) is not setting.statement
            and TRAINING in purposes(node, self.program)
            for node in nodes_in(scope, ast.expr)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        )


def _derived(method: ast.FunctionDef, given: set[str]) -> set[str]:
    """The names of a method that hold something of what some parameters are given."""
    for _ in range(3):
        for each in nodes_in(method, ast.Assign):
            if _reads(each.value, given):
                given |= {name for target in each.targets for name in names_in(target)} - {*positional(method)[:1]}
    return given


def _changes(node: ast.stmt) -> Iterator[tuple[ast.expr, list[ast.expr], bool]]:
    """The places that a statement sets, or changes in place, with what they are given and whether all of each is set."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        yield from ((_plain(target), [node.value], _is_whole(target)) for target in targets_of(node))
    call = node.value if isinstance(node, ast.Expr) else None
    values: list[ast.expr] = []
    whole = True
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _changes_in_place(call.func.attr):
        values += values_given(call)
        whole = whole and call.func.attr in _IN_PLACE
        place, call = call.func.value, call.func.value
        if not isinstance(call, ast.Call):
            yield _plain(place), values, whole and _is_whole(place)


def _given_anew(call: ast.expr) -> list[ast.expr]:
    """What methods in a row set all of a tensor to, whatever it was."""
    found: list[ast.expr] = []
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        found += values_given(call)[:1] if call.func.attr in _ANEW else []
        call = call.func.value
    return found


def _changes_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__")


def _is_whole(place: ast.expr) -> bool:
    """Whether a place is all of what it is a part of: `x`, `x.data`, `x[:]`, `x[...]`."""
    while isinstance(place, ast.Subscript):
        key = place.slice
        if not (isinstance(key, ast.Slice) and ast.unparse(key) == ":") and ast.unparse(key) != "...":
            return False
        place = place.value
    return isinstance(place, ast.Name | ast.Attribute)


def _plain(place: ast.expr) -> ast.expr:
    """What something is a part of, or the same as without gradients: `x` of `x[0]`, `x.data`, `x.detach()`, `float(x)`."""
    while True:
        if isinstance(place, ast.Subscript) or (isinstance(place, ast.Attribute) and place.attr == "data"):
            place = place.value
        elif isinstance(place, ast.Call) and method_name(place) in ("detach", "clone", "item") and not place.args:
            assert isinstance(place.func, ast.Attribute)
            place = place.func.value
        else:
            return place


def _blends(value: ast.expr, place: str) -> bool:
    """Whether something is computed of what a place was by addition and factors, as a running mean is."""
    value = _plain(value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return _blends(value.left, place) or (not isinstance(value.op, ast.Div) and _blends(value.right, place))
    return ast.unparse(value) == place


def _reads(node: ast.AST, names: Collection[str]) -> bool:
    """Whether the elements of one of some tensors decide what an expression is, and not only their shape."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute) and node.attr in _OF_SHAPE:
        return False
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else method_name(node)
        return name not in _NEW and any(_reads(each, names) for each in (node.func, *values_given(node)))
    return any(_reads(each, names) for each in ast.iter_child_nodes(node))
