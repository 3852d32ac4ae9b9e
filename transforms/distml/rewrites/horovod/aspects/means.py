"""Sums over the data of training: what a rank adds up in a pass over its part becomes the mean over all ranks.

What is printed, compared and kept after the pass is then what one process would have found, and the same on every rank.
Means are linear: a sum may become one at any time, also before the pass ends, and more than once. What a single batch gives
becomes one where it is told of now and then, or behind the pass; where each turn tells of it, it stays that of rank 0.
"""

from __future__ import annotations

import ast
from collections.abc import Callable as Function
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from types import MappingProxyType

from distml.rewrites.horovod.aspects.containers import Containers, Kept, read_outside
from distml.rewrites.horovod.aspects.filling import (
    assigned,
    is_addition,
    is_attribute_of,
    items_filled,
    loads_attribute,
)
from distml.rewrites.horovod.aspects.numbers import Numbers, is_text, shown_whole
from distml.rewrites.horovod.aspects.reports import reports
from distml.rewrites.horovod.aspects.together import Spelling
from distml.rewrites.horovod.aspects.totals import Shares, Totals
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, between, block_of, own_nodes, owner_of
from distml.training.callers import callers, run_by
from distml.training.callsites import called
from distml.training.syntax import names_in, nodes_in, receiver_of, root_of, values_given
from distml.training.values import BoxMethod, Callable, Class

_MEAN = Note(
    "mean over all ranks",
    "a rank adds up what its own part of the data gives; what is printed, compared and kept is of all the data",
    "mean-of-sums",
)
_SUM = Note(
    "sum over all ranks",
    "a rank adds up its own part of the data; what is reported, or divided by a count of all the data, is of all the data",
    "mean-of-sums",
)
Loop = ast.For | ast.AsyncFor | ast.While
_PLACES = ast.Name | ast.Attribute | ast.Subscript


class Means:
    """Plans where sums of ranks become means."""

    def __init__(
        self,
        plan: Plan,
        uniform: Uniform,
        losses: Collection[str],
        words: Spelling,
        phases: Mapping[ast.AST, str] = MappingProxyType({}),
    ) -> None:
        """`phases` say under which condition the data of a loop is divided, where it is not always."""
        self.plan, self.program, self.uniform, self.words = plan, plan.program, uniform, words
        self.numbers = Numbers(self.program, uniform, losses)
        self.number = self.numbers.is_one
        self.losses = losses  # the names of what gradients are taken of
        self.containers = Containers(plan, uniform, self.number, words, phases)
        self.totals: Totals | None = None

    def tell_sums(self, shares: Shares) -> None:
        """Let sums become those over all ranks, where they are told as sums or divided by counts of all the data."""
        self.totals = Totals(self.plan, self.uniform, shares)

    def average(self, loops: set[ast.AST], numbers: Collection[ast.AST] = ()) -> None:
        """Behind each of the loops over divided data, and where it tells in between how far it is.

        Where it may be other data, that all ranks go through, only `numbers` become means: they stay what they are then.
        """
        loops = loops | self.containers.drawn(loops)
        for loop in sorted((each for each in loops if isinstance(each, LOOPS)), key=lambda each: each.lineno):
            if self.plan.may_change(loop):
                sums = dict(self._sums(loop))
                self._add_up(loop, sums, contained=loop not in numbers)
                for name, held in dict(self._ratios(loop, sums)).items():
                    sums[name] = False
                    words = self.words.mean_of_each if held else self.words.mean_of
                    code = partial("{} = {}".format, name, words(loop, name))
                    self._mean(loop, name, code, read_outside(self.program, loop, name))
                for name in dict.fromkeys(self._singles(loop)):
                    if name not in sums:
                        self._tell(loop, name)
                for place in dict.fromkeys(self._latest(loop)):
                    code = partial(self._code, loop, place, False)
                    self._mean(loop, place, code, self._read_behind(loop, place))

    def _add_up(self, loop: Loop, sums: dict[str, bool], contained: bool) -> None:
        """What a loop adds up becomes a mean, or a total where it is told as one, and so do the containers that it fills."""
        known, totals = {*sums}, self.totals.of(loop, sums) if self.totals is not None else set()
        for place, whole in sums.items():
            read = place not in totals and read_outside(self.program, loop, place)
            self._mean(loop, place, partial(self._code, loop, place, whole), read)
        self.containers.name_windows(loop, {place for place, whole in sums.items() if whole})
        for place in sorted(totals):
            if sums.get(place):
                self.containers.put(loop, Kept(place, "gather", stored=False))
            else:
                self.containers.behind(loop, place, f"{place} = {self._total(loop, place)}", _SUM)
        if contained:
            self._contained(loop, known | totals)

    def _mean(self, loop: Loop, place: str, code: Function[[], str], read: bool) -> None:
        """Let a number become that of all ranks where the loop tells it in between, and behind the loop if it is read there."""
        self.between(loop, place, code)
        if read:
            self.containers.behind(loop, place, code(), _MEAN)

    def average_each(self, passes: Iterable[ast.comprehension]) -> None:
        """What comprehensions over divided data give: numbers become means item by item, anything else is warned of."""
        for each in sorted(passes, key=lambda each: each.iter.lineno):
            whole = self.program.parent(each)
            if not isinstance(whole, ast.expr) or isinstance(self.program.parent(whole), ast.Expr):
                continue
            item = whole.value if isinstance(whole, ast.DictComp) else getattr(whole, "elt", None)
            if isinstance(whole, ast.SetComp) or item is None or not self.containers.plain(item):
                self.containers.warn(whole, ast.unparse(whole))
                continue
            items = "[*{}]" if isinstance(whole, ast.GeneratorExp) else "{}"
            numbers = self.number(item) and not isinstance(whole, ast.DictComp)
            code = (self.words.mean_of if numbers else self.words.mean_of_each)(whole, items)
            self.plan.patch(whole).wrap(whole, code, _MEAN)

    def _contained(self, loop: Loop, known: set[str]) -> None:
        """Containers that a loop fills, but for those that are known already."""
        for kept in (*self.containers.of(loop, known), *self._inside(loop)):
            self.containers.put(loop, kept)
            if kept.way == "mean":
                self.between(loop, kept.place, partial(self.containers.code, loop, kept), differentiable=True)
                if self.totals is not None:
                    self.totals.divide_items(loop, kept.place)

    def _code(self, node: ast.AST, place: str, whole: bool) -> str:
        return f"{place}{'[:]' if whole else ''} = {self.words.mean_of(node, place)}"

    def _total(self, loop: Loop, place: str) -> str:
        """The sum over all data of what a rank has added up, whichever part of them the loop has gone through."""
        factor = self.totals.shares.factor(loop, loop) if self.totals is not None else ""
        all_parts = factor == self.plan.world(loop).size
        return self.words.sum_of(loop, place) if all_parts else f"{self.words.mean_of(loop, place)} * {factor}"

    # What is added up

    def _sums(self, loop: Loop) -> Iterator[tuple[str, bool]]:
        """What a loop adds up of its data, as it is called there, and whether it is a list."""
        for node in own_nodes(loop):
            if node in self.uniform.agreed:
                continue
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
                if self._fixed(node.target, loop) and self._is_sum(node):
                    yield ast.unparse(node.target), False
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                for place, value in assigned(node.targets[0], node.value):
                    if self._is_running(place, value) and self._fixed(place, loop):
                        yield ast.unparse(place), False
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = node.func.value
                if isinstance(held, _PLACES) and self._fixed(held, loop):
                    yield from self._collected(node, ast.unparse(held), loop)

    def _is_sum(self, node: ast.AugAssign) -> bool:
        """Whether numbers that differ between ranks are added to what began as a number."""
        same = self.uniform.holds(node.value) and self.uniform.steady(node)
        if same or (isinstance(node.target, ast.Name) and shown_whole(node.target, self.program)):
            return False
        return self.numbers.begins(node.target) or self.number(node.value)

    def _is_running(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether a place gets a mean of what it was and a number of the data, as in `mean = 0.9 * mean + 0.1 * loss`."""
        place = ast.unparse(target)
        parts = {ast.unparse(each) for each in walk(value)}
        return (
            place in parts
            and not self.uniform.holds(value)
            and (self._linear(value, place) or (is_addition(value, place) and self.numbers.begins(target)))
        )

    def _linear(self, node: ast.expr, place: str) -> bool:
        if isinstance(node, ast.IfExp):
            return self._linear(node.body, place) and self._linear(node.orelse, place)
        if ast.unparse(node) == place or self.uniform.holds(node):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return self._linear(node.left, place) and self._linear(node.right, place)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            factors = [each for each in (node.left, node.right) if not self.uniform.holds(each)]
            return (
                len(factors) == 1
                and factors != [node.right] * isinstance(node.op, ast.Div)
                and self._linear(factors[0], place)
            )
        return self.number(node)

    def _singles(self, loop: Loop) -> Iterator[str]:
        """The variables that hold a number of the present batch."""
        for node in own_nodes(loop, ast.Name):
            if isinstance(node.ctx, ast.Store):
                above = self.program.parent(node)
                value = above.value if isinstance(above, ast.Assign) and node in above.targets else None
                if node.id in self.losses or (value is not None and self.number(value)):
                    yield node.id

    def _ratios(self, loop: Loop, sums: Collection[str]) -> Iterator[tuple[str, bool]]:
        """The variables that hold, in each turn anew, what a sum is divided by how much was added up so far, and whether they
        hold it in a container."""
        for node in loop.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and len(node.targets) == 1:
                parts = [*walk(node.value)]
                texts = {ast.unparse(each) for each in parts if isinstance(each, ast.expr)}
                divided = any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div) for each in parts)
                held = isinstance(node.value, ast.Dict | ast.List)
                text = not held and any(is_text(each) for each in parts if not isinstance(each, ast.Constant))
                if divided and texts & {*sums} and node.targets[0].id not in {*sums, *self.losses} and not text:
                    yield node.targets[0].id, held

    def _collected(self, call: ast.Call, held: str, loop: Loop) -> Iterator[tuple[str, bool]]:
        """Lists that get a number each turn, and objects of the program that add up what a method of theirs is given."""
        assert isinstance(call.func, ast.Attribute)
        appended = any(isinstance(v, BoxMethod) for v in self.program.of(call.func)) and call.func.attr == "append"
        if appended and len(call.args) == 1 and self._each_turn(call, loop) and self.number(call.args[0]):
            yield held, True
        for method in self._given_to(call):
            yield from ((f"{held}.{name}", whole) for name, whole in self._kept(method))

    def _given_to(self, call: ast.Call) -> Iterator[ast.FunctionDef]:
        """The methods of an object of the program to which a call may give a number of a batch."""
        given = isinstance(self.program.parent(call), ast.Expr) or any(map(self.number, call.args))
        assert isinstance(call.func, ast.Attribute)
        if given and self.program.classes(call.func.value):
            for value in self.program.of(call.func):
                if isinstance(value, Callable) and isinstance(value.node, ast.FunctionDef):
                    yield value.node

    def _inside(self, loop: Loop) -> list[Kept]:
        """The containers of objects into whose items a method adds numbers of a batch that it is given."""
        calls = (
            (call, receiver_of(call)) for call in own_nodes(loop, ast.Call) if any(map(self.number, values_given(call)))
        )
        held = [(call, each) for call, each in calls if isinstance(each, _PLACES) and self._fixed(each, loop)]
        filled = (
            (each, name) for call, each in held for method in self._given_to(call) for name in items_filled(method)
        )
        places = dict.fromkeys(f"{ast.unparse(each)}.{name}" for each, name in filled)
        return [Kept(place, "mean", stored=False) for place in places]

    def _latest(self, loop: Loop) -> Iterator[str]:
        """The attributes in which an object keeps the last of the numbers that it adds up."""
        for call in own_nodes(loop, ast.Call):
            held = receiver_of(call)
            if isinstance(held, _PLACES) and self._fixed(held, loop) and call not in self.uniform.agreed:
                for name in (name for method in self._given_to(call) for name in self._kept_last(method)):
                    yield f"{ast.unparse(held)}.{name}"

    def _kept_last(self, method: ast.FunctionDef) -> Iterator[str]:
        """The attributes that a method sets to what it adds up."""
        own = method.args.args[0].arg if method.args.args else ""
        nodes = [*own_nodes(method)]
        adding = (each for each in nodes if isinstance(each, ast.AugAssign) and is_attribute_of(each.target, own))
        added = {part.id for each in adding for part in nodes_in(each.value, ast.Name)}
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in added:
                yield from (ast.unparse(each).partition(".")[2] for each in node.targets if is_attribute_of(each, own))

    def _read_behind(self, loop: Loop, place: str) -> bool:
        """Whether code of the function around a loop reads a place behind it."""
        nodes = own_nodes(owner_of(loop, self.program), ast.Attribute)
        return any(ast.unparse(each) == place and each.lineno > (loop.end_lineno or loop.lineno) for each in nodes)

    def _kept(self, method: ast.FunctionDef) -> Iterator[tuple[str, bool]]:
        """The attributes in which a method adds up numbers, and those that it computes of them."""
        own = method.args.args[0].arg if method.args.args else ""
        sums: set[str] = set()
        for node in own_nodes(method):
            if isinstance(node, ast.AugAssign) and is_attribute_of(node.target, own) and self._is_sum(node):
                sums.add(ast.unparse(node.target))
                yield ast.unparse(node.target).partition(".")[2], False
            elif isinstance(node, ast.Assign) and is_attribute_of(node.targets[0], own):
                if sums & {ast.unparse(each) for each in nodes_in(node.value, ast.Attribute)}:
                    yield ast.unparse(node.targets[0]).partition(".")[2], False
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
                held = node.func.value
                if is_attribute_of(held, own) and self._given_number(node, method):
                    yield ast.unparse(held).partition(".")[2], True

    def _given_number(self, append: ast.Call, method: ast.FunctionDef) -> bool:
        """Whether what a method appends is a number that each call gives it."""
        given = append.args[0] if len(append.args) == 1 else None
        names = [each.arg for each in method.args.args]
        if (
            not isinstance(given, ast.Name)
            or given.id not in names
            or not isinstance(self.program.parent(self.program.parent(append) or append), ast.FunctionDef)
        ):
            return given is not None and self.number(given)
        at = names.index(given.id) - 1
        calls = callers(self.program).get(method, [])
        return bool(calls) and all(len(call.args) > at and self.number(call.args[at]) for call in calls)

    # Where it is told

    def between(
        self, loop: Loop, place: str, code: Function[[], str], note: Note = _MEAN, *, differentiable: bool = False
    ) -> None:
        """In front of the first line in each arm of a branch in the loop that all ranks take and that reads the sum.

        Where the loss may be computed of it, it stays until the gradients are there.
        """
        seen: set[tuple[ast.AST, bool]] = set()
        for statement in (each for each in own_nodes(loop) if isinstance(each, ast.Expr | ast.Assign)):
            first, branch = self._in_branch(statement)
            if not isinstance(branch, ast.If) or (arm := _arm(branch, first)) in seen:
                continue
            if self._reads(statement, place) and not (differentiable and self._derived(loop, statement)):
                if not self._adds(statement, place) and self._now_and_then(branch, loop):
                    seen.add(arm)
                    self.plan.patch(first).before(first, code(), note)

    def _in_branch(self, statement: ast.stmt) -> tuple[ast.stmt, ast.AST | None]:
        """The statement of a branch that a statement is, or that a `with` around it is, and the branch."""
        first, above = statement, self.program.parent(statement)
        while isinstance(above, ast.With):
            first, above = above, self.program.parent(above)
        return first, above

    def _reads(self, statement: ast.stmt, place: str) -> bool:
        """Whether a statement reads a sum, or shows the object that has it, itself or by a function of the program."""
        loads = [each for each in walk(statement) if isinstance(getattr(each, "ctx", None), ast.Load)]
        if any(ast.unparse(each) == place for each in loads):
            return True
        owner = place.rpartition(".")[0]
        whole = [each for each in loads if not isinstance(self.program.parent(each), ast.Attribute)]
        if not owner:
            return False
        if any(self._computes(each, place) for each in loads if isinstance(each, ast.Attribute)):
            return True
        held = [each for each in whole if ast.unparse(each) == owner]
        shows = any(self._shows(statement) or self._is_part_of_text(each) for each in held)
        calls = list(nodes_in(statement, ast.Call))
        return shows or any(self._asks(call, place, each) for call in calls for each in run_by(call, self.program))

    def _is_part_of_text(self, node: ast.AST) -> bool:
        """Whether a text is made of something as a whole, which may read all of it: `"{meter.mean}".format(meter=meter)`."""
        above = self.program.parent(node)
        above = self.program.parent(above) if isinstance(above, ast.keyword) else above
        return isinstance(above, ast.FormattedValue) or (isinstance(above, ast.Call) and is_text(above))

    def _computes(self, load: ast.Attribute, place: str) -> bool:
        """Whether an attribute is a property that reads a sum of its object."""
        owner, _, name = place.rpartition(".")
        kinds = self.program.classes(load.value)
        bases = [base for kind in kinds if ast.unparse(load.value) == owner for base in self.program.lineage(kind)]
        bodies = [each for base in bases if isinstance(base, Class) for each in base.node.body]
        asked = [each for each in bodies if isinstance(each, ast.FunctionDef) and each.name == load.attr]
        return any(loads_attribute(each, name) for one in asked if one.decorator_list for each in walk(one))

    def _asks(self, call: ast.Call, place: str, function: ast.AST) -> bool:
        """Whether a function that is called reads a sum, as a method of the object that has it, or shows that object: another
        object may hold it."""
        owner, _, name = place.rpartition(".")
        receiver = receiver_of(call)
        if receiver is not None and ast.unparse(receiver) == owner:
            return any(loads_attribute(each, name) for each in walk(function))
        given = values_given(call)
        reached = owner in map(ast.unparse, given) or receiver is not None
        return (reached or self._names(function, owner.partition(".")[0], call)) and self._outputs(function)

    def _names(self, function: ast.AST, name: str, call: ast.Call) -> bool:
        """Whether a function reads the variable that has this name where it is called."""
        variable, lexical = self.program.unit(call).lexical.owner_at(name, call), self.program.unit(function).lexical
        named = (each for each in nodes_in(function, ast.Name) if each.id == name)
        return any(lexical.owner_at(name, each) is variable for each in named)

    def _outputs(self, function: ast.AST) -> bool:
        return any(isinstance(each, ast.Expr) and self._shows(each) for each in walk(function))

    def _shows(self, statement: ast.stmt) -> bool:
        """Whether a statement reports."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        return isinstance(call, ast.Call) and reports(call, self.program)

    def _tell(self, loop: Loop, name: str) -> None:
        """In front of what tells of a number of one batch: in branches that all ranks take, and behind the loop."""
        told: dict[tuple[ast.AST, bool], ast.stmt] = {}
        for statement in own_nodes(loop, ast.Expr):
            branch = self.program.parent(statement)
            first = self._telling(statement, name) if isinstance(branch, ast.If) and self._tells(statement) else None
            if isinstance(branch, ast.If) and first is not None:
                if self._now_and_then(branch, loop) and not self._derived(loop, first):
                    told.setdefault(_arm(branch, statement), first)
        behind = (each for each in self._behind(loop, name) if self._loads(each, name) and self._tells(each))
        for first in [*told.values(), *[*behind][:1]]:
            self.plan.patch(first).before(first, self._code(first, name, False), _MEAN)

    def _telling(self, told: ast.stmt, name: str) -> ast.stmt | None:
        """The first statement of a block by which a number is told there: the one that tells it, or makes the text for that."""
        block, read = block_of(told, self.program), names_in(told)
        made = (each for each in block[: block.index(told)] if isinstance(each, ast.Assign))
        texts = [each for each in made if any(names_in(target) & read for target in each.targets)]
        return next((each for each in [*texts, told] if self._loads(each, name)), None)

    def _tells(self, statement: ast.stmt) -> bool:
        """Whether a statement reports, or hands what it has to a function of the program that does."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        own = run_by(call, self.program)
        return self._shows(statement) or any(self._outputs(each) for each in own)

    def _loads(self, statement: ast.stmt, name: str) -> bool:
        loads = (each for each in nodes_in(statement, ast.Name) if isinstance(each.ctx, ast.Load))
        return any(each.id == name for each in loads)

    def _derived(self, loop: Loop, statement: ast.stmt) -> bool:
        """Whether gradients are computed behind a statement of a loop: until then, what they are taken of stays."""
        later = (each for each in own_nodes(loop, ast.Call) if each.lineno > statement.lineno)
        return any(called(each, self.program) in ("backward", "gradient") for each in later)

    def _behind(self, loop: Loop, name: str) -> Iterator[ast.stmt]:
        """The statements of its block behind a loop, up to one that gives a variable anew."""
        block = block_of(loop, self.program)
        for statement in block[block.index(loop) + 1 :]:
            stores = (each for each in nodes_in(statement, ast.Name) if each.id == name)
            if any(not isinstance(each.ctx, ast.Load) for each in stores):
                return
            taken = isinstance(statement, ast.If) and self.uniform.holds(statement.test)
            yield from statement.body if isinstance(statement, ast.If) and taken else [statement]

    def _adds(self, statement: ast.stmt, place: str) -> bool:
        """Whether a statement goes on adding up, and tells nothing."""
        if isinstance(statement, ast.Assign):
            pairs = assigned(statement.targets[0], statement.value)
            return any(ast.unparse(target) == place and self._is_running(target, value) for target, value in pairs)
        return isinstance(statement, ast.Expr) and ast.unparse(statement).startswith(place + ".")

    def _all_take(self, branch: ast.If, loop: Loop) -> bool:
        """Whether a branch of a loop is taken by all ranks in the same turns."""
        for above in [branch, *self.program.ancestors(branch)]:
            if above is loop:
                return True
            if not isinstance(above, ast.If) or not self.uniform.holds(above.test):
                return False
        return False

    def _now_and_then(self, branch: ast.If, loop: Loop) -> bool:
        """Whether all ranks take a branch of a loop in the same turns, and not in each or none: the loop sets what is asked."""
        tests = [each.test for each in (branch, *between(branch, loop, self.program)) if isinstance(each, ast.If)]
        return self._all_take(branch, loop) and any(self._may_change(test, loop) for test in tests)

    def _may_change(self, test: ast.expr, loop: Loop) -> bool:
        """Whether what a condition asks may be another in the next turn."""
        stored = {each.id for each in own_nodes(loop, ast.Name) if isinstance(each.ctx, ast.Store)}
        attributes = {each.attr for each in nodes_in(test, ast.Attribute)}
        called_for = any(isinstance(each, ast.Call) for each in walk(test))
        return called_for or bool(names_in(test) & stored) or not attributes.isdisjoint(self._changing)

    @cached_property
    def _changing(self) -> frozenset[str]:
        """The attributes that are set elsewhere than where objects are made."""
        found = set()
        for node in self.program.nodes(ast.Attribute):
            function = self.program.function(node) if isinstance(node.ctx, ast.Store) else None
            if isinstance(function, ast.FunctionDef) and function.name != "__init__":
                found.add(node.attr)
        return frozenset(found)

    def _fixed(self, place: ast.expr, loop: Loop) -> bool:
        """Whether a place is the same in each turn of a loop: its names and keys are not set there."""
        if isinstance(place, ast.Subscript) and not isinstance(place.slice, ast.Constant):
            return False
        base = root_of(place)
        if base is None:
            return False
        stores = (each for each in own_nodes(loop, ast.Name) if isinstance(each.ctx, ast.Store))
        return all(self._resets(each, place) for each in stores if each.id == base.id)

    def _resets(self, store: ast.Name, place: ast.expr) -> bool:
        """Whether a store adds to a sum, or sets it back to zero in a branch."""
        statement = self.program.statement(store)
        if isinstance(statement, ast.AugAssign):
            return True
        pairs = assigned(statement.targets[0], statement.value) if isinstance(statement, ast.Assign) else ()
        if any(target is store and self._is_running(target, value) for target, value in pairs):
            return True
        return isinstance(self.program.parent(statement), ast.If) and isinstance(place, ast.Name)

    def _each_turn(self, call: ast.Call, loop: Loop) -> bool:
        """Whether a list gets as many items on every rank."""
        above = self.program.parent(self.program.statement(call))
        return above is loop or (isinstance(above, ast.If) and self._all_take(above, loop))


def _arm(branch: ast.If, statement: ast.stmt) -> tuple[ast.If, bool]:
    """The arm of a branch that a statement stands in: the branch, and whether it is its `else`."""
    return branch, statement in branch.orelse
