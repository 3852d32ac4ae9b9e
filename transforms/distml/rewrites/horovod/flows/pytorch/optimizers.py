"""Where optimizers are made: their rates grow with the number of ranks, and all ranks begin with the same weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from distml.rewrites.horovod.aspects.presence import is_set_before, may_be_none
from distml.rewrites.horovod.aspects.rates import change_each
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.pytorch.parameters import of_models
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import block_of, owner_of
from distml.training.callers import Reach
from distml.training.callsites import argument, argument_for, positional, settings_of
from distml.training.syntax import (
    is_false,
    is_literal,
    method_name,
    names_in,
    nodes_in,
    place_of,
    receiver_of,
    root_of,
    runs_as_script,
    targets_of,
)
from distml.training.values import Box, Class, Foreign, Value

_RATES = {"SGD": "1e-3", "Adagrad": "1e-2", "RMSprop": "1e-2", "Rprop": "1e-2", "ASGD": "1e-2", "Adadelta": "1.0"}
_RATES |= {"Adam": "1e-3", "AdamW": "1e-3", "SparseAdam": "1e-3", "Adamax": "2e-3", "NAdam": "2e-3", "RAdam": "1e-3"}
_ABSOLUTE = {"OneCycleLR": {"max_lr": 1}, "CyclicLR": {"base_lr": 1, "max_lr": 2}, "CosineAnnealingLR": {"eta_min": 2}}
_ABSOLUTE |= {"CosineAnnealingWarmRestarts": {"eta_min": 3}, "ReduceLROnPlateau": {"min_lr": 7}}
_SCALED = Note(
    "learning rate times the number of ranks",
    "the global batch is larger by the number of ranks",
    "scale-rate",
)
_BROADCAST = Note(
    "weights of rank 0 for all ranks",
    "ranks that start from different weights stay different: only gradients are averaged",
    "broadcast-weights",
)
_STATE = Note(
    "optimizer state of rank 0 for all ranks",
    "what is read from a checkpoint must be the same everywhere",
    "broadcast-state",
)


class Model(NamedTuple):
    """What a model is called; where there are several, it is the name of each `among` them."""

    name: str
    among: str = ""


@dataclass(frozen=True)
class Place:
    """A statement in front of or behind which something is said, and the models as they are called there."""

    statement: ast.stmt
    behind: bool
    models: tuple[Model, ...]


class Optimizers:
    """Plans what becomes of the calls that make optimizers."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling) -> None:
        self.study, self.plan, self.spelling = study, plan, spelling
        self.program = study.program
        self.makers = sorted({maker for step in study.steps for maker in step.makers}, key=place_of)
        self.places = [self._place(maker, tuple(dict.fromkeys(self._models(maker))), 4) for maker in self.makers]

    # Rates

    def scale(self, makers: frozenset[ast.Call]) -> None:
        """The rates of optimizers times the number of ranks, wherever they are set."""
        if self.plan.options.scale_lr == "none" or not makers:
            return
        for maker in self.makers:
            if maker in makers:
                self._scale_maker(maker)
        for node in self.set_by_hand():
            if not any(_is_rate(each) and self._of_group(each) for each in self._derived_from(node.value)):
                self._times(node.value)
        for call in self.program.calls:
            for name in self.program.names(call.func):
                if name.startswith("torch.optim.lr_scheduler."):
                    for keyword, position in _ABSOLUTE.get(name.rpartition(".")[2], {}).items():
                        self._times(argument(call, position, keyword))

    def set_by_hand(self) -> Iterator[ast.Assign | ast.AugAssign]:
        """What sets rates of optimizers, or adds to them, in files that must not be changed where it is sure to run."""
        for location, unit in self.program.units.items():
            for node in (each for each in walk(unit.tree) if each not in self.program.idle):
                if isinstance(node, ast.Assign) or (
                    isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub)
                ):
                    sets = any(self._sets_rate(each) for each in targets_of(node))
                    if sets and (location in self.plan.editable or self._runs(node)):
                        yield node

    def _runs(self, node: ast.Assign | ast.AugAssign) -> bool:
        """Whether something of the program calls the function around an assignment to what is surely an optimizer."""
        held = (v for target in targets_of(node) for each in walk(target) for v in self.program.of(each))
        stepped = {maker for step in self.study.steps for maker in step.makers}
        return bool(self.study.leading(node)) and any(
            isinstance(each, Foreign) and each.node in stepped for each in held
        )

    def _scale_maker(self, maker: ast.Call) -> None:
        given = argument(maker, 0, "params")
        within = [*self._groups_in(given)] if given is not None else []
        groups = [rate for each in within for rate in self._under("lr", each)]
        for each in groups:
            self._times(each)
        rate = argument(maker, *self._rate_at(maker))
        if rate is not None:
            self._times(rate)
            return
        spread = [rate for k in maker.keywords if k.arg is None for rate in self._rates_in(k.value)]
        for each in spread:
            self._times(each)
        if groups and len(groups) == len(within):
            return
        settings, whole = settings_of(maker, self.program)
        for each, kind in settings:
            rate = argument(each, -1, "lr") if each is not maker else None
            if rate is not None:
                self._times(rate)
            else:
                self._times_default(each, kind, spread or groups)
        if not whole:
            self._unknown(maker, maker.func)

    def _times_default(self, call: ast.Call, kind: ast.expr, known: list[ast.expr]) -> None:
        """Give a call the rate that a class has where it is given none, unless rates are `known` otherwise."""
        rates = {_RATES.get(name.rpartition(".")[2], "") for name in self.program.names(kind)}
        if len(rates) == 1 and "" not in rates and not any(k.arg is None for k in call.keywords):
            world = self.plan.world(call)
            self.plan.patch(call).keyword(call, "lr", f"{rates.pop()} * {world.size}", _SCALED)
        elif not known:
            self._unknown(call, kind)

    def _unknown(self, call: ast.Call, kind: ast.expr) -> None:
        self.plan.warn(
            "HVD304",
            call,
            f"the learning rate of `{ast.unparse(kind)}` cannot be determined; it was not scaled",
            "multiply it where it is set",
        )

    def _rate_at(self, maker: ast.Call) -> tuple[int, str]:
        """At which place and by which name an optimizer is given its rate: as in PyTorch, unless its own class says otherwise."""
        for value in self.program.of(maker.func):
            for base in self.program.lineage(value) if isinstance(value, Class) else ():
                methods = [] if isinstance(base, Foreign) else base.node.body
                for each in methods:
                    if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                        names = positional(each)[1:]
                        found = [name for node in walk(each) for name in _rates_in(node) if name in names]
                        return (names.index(found[0]), found[0]) if found else (len(maker.args), "lr")
        return 1, "lr"

    def _groups_in(self, node: ast.expr) -> Iterator[ast.Dict | ast.Call]:
        """The groups of parameters that an expression is made from."""
        for each in self.program.sources(node):
            if isinstance(each, ast.Dict | ast.Call) and any(True for _ in self._under("params", each)):
                yield each

    def _rates_in(self, node: ast.expr) -> Iterator[ast.expr]:
        """The values under `lr` in dicts that an expression is made from."""
        found = {each for each in self.program.sources(node) if isinstance(each, ast.Dict | ast.Call)}
        found |= {
            v.node for v in self.program.of(node) if isinstance(v, Box) and isinstance(v.node, ast.Dict | ast.Call)
        }
        for each in found:
            yield from self._under("lr", each)

    def _under(self, name: str, held: ast.Dict | ast.Call) -> Iterator[ast.expr]:
        """What stands under a name in a dict as it is written."""
        if isinstance(held, ast.Dict):
            yield from (value for key, value in zip(held.keys, held.values, strict=True) if is_literal(key, name))
        elif "builtins.dict" in self.program.names(held.func):
            yield from (each.value for each in held.keywords if each.arg == name)

    def _times(self, rate: ast.expr | None) -> None:
        if rate is not None and not is_false(rate):
            times = f"{{}} * {self.plan.world(rate).size}"
            values = self.program.of(rate)
            if values and all(isinstance(value, Box) for value in values):
                change_each(self.plan, rate, times, _SCALED)
            else:
                self.plan.patch(rate).wrap(rate, times, _SCALED)

    def _sets_rate(self, target: ast.expr) -> bool:
        """Whether a rate of an optimizer is set, and not one that is written into a log or a checkpoint."""
        if not _is_rate(target):
            return False
        assert isinstance(target, ast.Subscript)
        held = self.program.of(target.value)
        return not held or not all(self._records(each) for each in held)

    def _records(self, value: Value) -> bool:
        """Whether a value is a dict, and no group of parameters."""
        if isinstance(value, Box):
            return "params" not in self.program.store.keys(value)
        return isinstance(value, Foreign) and not value.name.startswith("?") and "param_groups" not in value.name

    def _of_group(self, rate: ast.AST) -> bool:
        """Whether a rate that is read may be that of an optimizer, and not one of the program's settings."""
        assert isinstance(rate, ast.Subscript)
        held = rate.value
        if "param_groups" in ast.unparse(held):
            return True
        if (
            isinstance(held, ast.Subscript)
            and isinstance(held.slice, ast.Constant)
            and isinstance(held.slice.value, str)
        ):
            return False  # a group is an item of a list, and has no name
        values = self.program.of(held)
        return not values or not all(self._records(each) for each in values)

    def _derived_from(self, value: ast.expr) -> Iterator[ast.AST]:
        names = set()
        for node in walk(value):
            yield node
            if isinstance(node, ast.Name):
                names.add(node.id)
        scope: ast.AST = owner_of(value, self.program)
        for node in nodes_in(scope, ast.Assign):
            if any(isinstance(t, ast.Name) and t.id in names for t in node.targets):
                yield from walk(node.value)

    # The same start

    def resume(self) -> None:
        """All ranks go on with the optimizer state that rank 0 has read, unless they read one file."""
        uniform = Uniform(self.program)
        for call in self.program.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict":
                stepped = self.study.makers(call.func.value) & {*self.makers}
                read = all(uniform.holds(each) for each in call.args)
                if stepped and not read and isinstance(self.program.statement(call), ast.Expr):
                    self._resume(call, call.func.value)

    def broadcast(self) -> None:
        """All ranks begin with the weights of rank 0."""
        asked: set[tuple[ast.stmt, str]] = set()
        for maker, place in zip(self.makers, self.places, strict=True):
            lines = [self._broadcast(place.statement, each) for each in place.models]
            target = self._target(maker)
            whole = all(of_models(self.program, each) for each in maker.args[:1]) and not self._unnamed(maker)
            if lines and target and not whole:
                statement = self.program.statement(maker)
                code = self.spelling.broadcast_weights(statement, target)
                self.plan.patch(statement).after(statement, code, _BROADCAST)
            if not lines:
                if target is None:
                    self.plan.warn(
                        "HVD309", maker, "cannot find the model of this optimizer: its weights are not broadcast"
                    )
                    continue
                lines = [self.spelling.broadcast_weights(place.statement, target)]
            for line in lines:
                if (place.statement, line) not in asked:
                    asked.add((place.statement, line))
                    patch = self.plan.patch(place.statement)
                    put = patch.after if place.behind else patch.before
                    put(place.statement, line, _BROADCAST)

    def _broadcast(self, statement: ast.stmt, model: Model) -> str:
        line = self.spelling.broadcast_model(statement, model.name)
        head = f"for {model.name} in {model.among}" if model.among else ""
        if may_be_none(self.program, model.among or model.name, statement):
            head = f"if {model.name} is not None"
        return f"{head}:\n    {line}" if head else line

    def _resume(self, call: ast.Call, optimizer: ast.expr) -> None:
        statement = self.program.statement(call)
        line = self.spelling.broadcast_state(optimizer, ast.unparse(optimizer))
        self.plan.patch(statement).after(statement, line, _STATE)

    def _target(self, maker: ast.Call) -> str | None:
        statement = self.program.statement(maker)
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name | ast.Attribute):
            if statement.value is maker:
                return ast.unparse(statement.targets[0])
        return None

    def called_at(self, maker: ast.Call, statement: ast.stmt) -> str | None:
        """What an optimizer is called where training begins with a statement."""
        target = self._target(maker)
        place = self._place(maker, (Model(target),), 4) if target else None
        same = place is not None and place.statement is statement and not place.behind
        return place.models[0].name if place is not None and same else None

    def of_one_model(self) -> bool:
        """Whether all that the optimizers change are parameters of one model."""
        found: set[str] = set()
        for maker in self.makers:
            given = [*maker.args[:1], *(k.value for k in maker.keywords if k.arg == "params")]
            nodes = [node for each in given for node in self.study.parameters_in(each)]
            found |= {ast.unparse(self._whole(node.value)) for node in nodes} or {"", "nothing known"}
            if not all(of_models(self.program, each) for each in given):
                found |= {"", "tensors beside models"}
        return len(found) == 1

    def _models(self, maker: ast.Call) -> Iterator[Model]:
        """The models whose parameters an optimizer changes, as they are called where it is made."""
        for node in self._given(maker):
            yield from self._named(node, maker)

    def _unnamed(self, maker: ast.Call) -> bool:
        """Whether an optimizer changes parameters of models that have no name where it is made."""
        return any(not [*self._named(node, maker)] for node in self._given(maker))

    def _given(self, maker: ast.Call) -> list[ast.Attribute]:
        given = [*maker.args[:1], *(k.value for k in maker.keywords if k.arg == "params")]
        return [found for each in given for found in self.study.parameters_in(each)]

    def _named(self, node: ast.Attribute, maker: ast.Call) -> Iterator[Model]:
        model = self._whole(node.value)
        if self.program.function(node) is self.program.function(maker):
            if self.stable(model):
                yield Model(ast.unparse(model))
            elif isinstance(model, ast.Name):
                yield from self._each(model)

    def _each(self, model: ast.Name) -> Iterator[Model]:
        """A model that a comprehension or loop takes from several."""
        for above in self.program.ancestors(model):
            loops = above.generators if isinstance(above, ast.ListComp | ast.GeneratorExp) else [above]
            for loop in loops:
                if isinstance(loop, ast.For | ast.comprehension) and isinstance(loop.target, ast.Name):
                    if loop.target.id == model.id and isinstance(loop.iter, ast.Name | ast.Attribute):
                        yield Model(model.id, ast.unparse(loop.iter))
                        return

    def _whole(self, part: ast.expr) -> ast.expr:
        """The largest model that an expression names a part of: what a plain dict or list holds is no part of a model."""
        whole = part
        while isinstance(part, ast.Attribute | ast.Subscript):
            held = isinstance(part, ast.Subscript) and any(isinstance(v, Box) for v in self.program.of(part.value))
            part = part.value
            if held and not any(_is_module(name) for name in self.program.names(part)):
                break
            if any(_is_module(name) for name in self.program.names(part)):
                whole = part
        return whole

    def stable(self, model: ast.expr) -> bool:
        """Whether an expression means the same behind the statement it stands in."""
        root = root_of(model)
        if root is None:
            return False
        if any(self._loop_variable(each) for each in nodes_in(model, ast.Name)):
            return False
        for above in self.program.ancestors(model):
            if isinstance(above, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
                bound = {n.id for g in above.generators for n in nodes_in(g.target, ast.Name)}
                if root.id in bound:
                    return False
            if isinstance(above, ast.Lambda):
                return False
        return True

    def _loop_variable(self, name: ast.Name) -> bool:
        """Whether a loop in the same function sets a name: behind the loop it is only the last of several."""
        scope: ast.AST = owner_of(name, self.program)
        targets = [each.target for each in nodes_in(scope, ast.For)]
        return any(isinstance(n, ast.Name) and n.id == name.id for target in targets for n in walk(target))

    def _place(self, node: ast.Call, models: tuple[Model, ...], depth: int) -> Place:
        """Where training begins after a call: in its function, or in those that call it."""
        statement = self.program.statement(node)
        if self.study.stepping.holds(statement):  # `train(model, SGD(model.parameters()))`
            return Place(statement, False, models)
        later = training_after(self.study, statement)
        if later is not None and not any(self.program.statement(step.call) is later for step in self.study.steps):
            here = any(each in block_of(statement, self.program) for each in (later, *self.program.ancestors(later)))
            if not here and not all(is_set_before(self.program, each.among or each.name, later) for each in models):
                last = block_of(statement, self.program)[-1]
                return Place(last, not isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break), models)
            return Place(later, False, models)
        own = Place(self._last_use(statement, models), not isinstance(statement, ast.Return), models)
        function = self.program.function(node)
        calls = self.study.leading(node)
        if function is None or not depth or len(calls) != 1:
            return own
        renamed = [self._outside(each, function, calls[0]) for each in models]
        if None in renamed or not models:
            return own
        lifted = self._place(calls[0], tuple(each for each in renamed if each), depth - 1)
        return own if lifted.behind else lifted

    def _last_use(self, statement: ast.stmt, models: tuple[Model, ...]) -> ast.stmt:
        """The last statement of its block, from one on, that does something with models: it may set their weights."""
        roots = {(each.among or each.name).partition(".")[0] for each in models}
        block = block_of(statement, self.program)
        later = (each for each in block[block.index(statement) + 1 :] if isinstance(each, ast.Expr))
        return [statement, *(each for each in later if names_in(each) & roots)][-1]

    def _outside(self, model: Model, function: ast.AST, call: ast.Call) -> Model | None:
        """How the caller of a function calls what is `model` inside it."""
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        root, dot, rest = (model.among or model.name).partition(".")
        names = positional(function)
        if [root] == names[:1] and isinstance(self.program.parent(function), ast.ClassDef):
            found = self._receiver(function, call)
        else:
            found = argument_for(call, function, root, self.program) if root in names else None
        if not isinstance(found, ast.Name | ast.Attribute):
            return None
        whole = f"{ast.unparse(found)}{dot}{rest}"
        return Model(model.name, whole) if model.among else Model(whole)

    def _receiver(self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> ast.expr | None:
        if function.name == "__init__":
            statement = self.program.statement(call)
            if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
                return statement.targets[0]
            return None
        return receiver_of(call)


def training_after(study: Study, statement: ast.stmt) -> ast.stmt | None:
    """The first statement behind one, in its function, that leads to a step."""
    return _after(study, study.stepping, statement)


def _after(study: Study, reach: Reach, statement: ast.stmt) -> ast.stmt | None:
    current: ast.AST | None = statement
    while isinstance(current, ast.stmt | ast.ExceptHandler):
        if isinstance(current, ast.stmt):
            block = block_of(current, study.program)
            for later in block[block.index(current) + 1 :]:
                if reach.holds(later):
                    return _begun(reach, later)
        current = study.program.parent(current)
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return None
    return None


def _begun(reach: Reach, statement: ast.stmt) -> ast.stmt:
    """Inside `if __name__ == "__main__":`, the statement that leads to training."""
    if runs_as_script(statement):
        return next((_begun(reach, each) for each in statement.body if reach.holds(each)), statement)
    return statement


def _is_rate(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in ("lr", "initial_lr")
    )


def _rates_in(node: ast.AST) -> Iterator[str]:
    """The variables that are handed on as the rate of an optimizer, where one is made: by its name, or behind the parameters."""
    values: list[ast.expr] = []
    if isinstance(node, ast.Dict):
        values = [value for key, value in zip(node.keys, node.values, strict=True) if is_literal(key, "lr")]
    elif isinstance(node, ast.Call):
        values = [keyword.value for keyword in node.keywords if keyword.arg == "lr"]
        made = method_name(node) == "__init__"
        values += node.args[1:2] if made else []
    yield from (value.id for value in values if isinstance(value, ast.Name))


def _is_module(name: str) -> bool:
    return name.startswith(("torch.nn.", "torchvision.models.", "torch.jit.")) and name.endswith("()")
