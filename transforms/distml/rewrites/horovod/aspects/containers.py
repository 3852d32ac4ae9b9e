"""Containers that a pass over divided data fills: behind it, they hold what the data of all ranks gives.

Numbers of batches become their means, item by item; samples, such as guesses, are those of all ranks; counts by class are added
up; the largest and smallest numbers are those of all ranks. What none of these says is warned of.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable as Function
from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Literal, NamedTuple

from distml.rewrites.horovod.aspects.batches import Batches, Filling, How
from distml.rewrites.horovod.aspects.filling import is_size, item_of
from distml.rewrites.horovod.aspects.presence import is_set_before, only_where
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.aspects.together import Spelling
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, Looping, block_of, own_nodes, owner_of
from distml.training.callers import run_by
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.syntax import elements, method_name, names_in, nodes_in, receiver_of, targets_of

Way = Literal["mean", "gather", "sum", "max", "min"]
_NOTES: dict[Way, Note] = {
    "mean": Note(
        "mean over all ranks",
        "a rank keeps numbers of its own part of the data; what is printed, compared and kept is of all the data",
        "mean-of-sums",
    ),
    "gather": Note(
        "samples of all ranks",
        "a rank keeps what its own part of the data gives; what is measured is of all the data",
        "mean-of-sums",
    ),
    "sum": Note("counts of all ranks", "a rank counts its own part of the data", "mean-of-sums"),
    "max": Note("largest of all ranks", "a rank looks at its own part of the data only", "mean-of-sums"),
    "min": Note("smallest of all ranks", "a rank looks at its own part of the data only", "mean-of-sums"),
}
_EXTREMES: dict[How, Way] = {"largest": "max", "smallest": "min"}
_ITEMS = frozenset({"items", "grows", "object", "anew"})
"""The ways to fill a container whose items may be means."""
_ARRAYS = frozenset({"array", "asarray", "tensor", "as_tensor", "stack", "constant"})
_SHAPES = frozenset("reshape view unsqueeze detach cpu clone numpy item float double squeeze expand_dims".split())
_CHOOSING = frozenset("max min amax amin argmax argmin median quantile std var reduce_max reduce_min".split())


class Kept(NamedTuple):
    """What becomes of a place behind the loop."""

    place: str
    way: Way
    stored: bool
    """Whether the place itself is assigned to, and not only what it holds is changed."""
    behind: bool = True
    """Whether it may be read behind the loop."""


class Containers:
    """Answers for the loops of one program."""

    def __init__(
        self,
        plan: Plan,
        uniform: Uniform,
        number: Function[[ast.expr], bool],
        words: Spelling,
        phases: Mapping[ast.AST, str],
    ) -> None:
        self.plan, self.program, self.uniform, self.number, self.words = plan, plan.program, uniform, number, words
        self.phases = phases
        """Under which condition the data of a loop is divided, where it is not always."""

    def of(self, loop: Looping, known: set[str]) -> Iterator[Kept]:
        """The containers that a loop fills, but for those of which more is known."""
        batches = Batches(self.program, self.uniform, loop)
        found: dict[str, list[Filling]] = {}
        for each in batches.fillings():
            if each.statement not in self.uniform.agreed and not any(
                _within(each.place, place) or _within(place, each.place) for place in known
            ):
                found.setdefault(each.place, []).append(each)
        for place, fillings in found.items():
            if not any(_within(place, other) for other in found if other != place):
                way, behind = self._way(fillings, loop), read_outside(self.program, loop, place)
                if way is not None:
                    yield Kept(place, way, self._assigns(loop, place), behind)
                elif behind:
                    self.warn(loop, place)

    def code(self, loop: Looping, kept: Kept) -> str:
        """The statement behind the loop."""
        if kept.way == "mean":
            code = self.words.mean_of_each(loop, kept.place)
        elif kept.way == "sum":
            code = self.words.sum_of_each(loop, kept.place)
        elif kept.way == "gather":
            return f"{kept.place}{'' if kept.stored else '[:]'} = {self.words.from_all(loop, kept.place)}"
        else:
            code = self.words.extreme(loop, kept.place, kept.way)
        replaced = kept.stored or kept.way in ("max", "min") or not kept.place.isidentifier()
        return f"{kept.place} = {code}" if replaced else code

    def put(self, loop: Looping, kept: Kept) -> None:
        """Ask for what becomes of a place behind the loop."""
        if not kept.behind:
            return
        patch = self.plan.patch(loop)
        if kept.way == "gather" and not begins(kept.place, loop, self.program):
            begin = patch.free("kept_before")
            patch.before(loop, f"{begin} = len({kept.place})", _NOTES["gather"])
            rest = f"{kept.place}[{begin}:]"
            code = f"{rest} = {self.words.from_all(loop, rest)}"
        else:
            code = self.code(loop, kept)
        divided = self.phases.get(loop) if kept.way in ("gather", "sum") else None
        self.behind(loop, kept.place, f"if {divided}:\n    {code}" if divided else code, _NOTES[kept.way])

    def behind(self, loop: Looping, place: str, code: str, note: Note) -> None:
        """Ask for a statement about a place behind a loop, under the condition of the loop's own where that alone has set it."""
        root = re.split(r"[.\[]", place)[0]
        names = [each for each in own_nodes(loop, ast.Name) if each.id == root]
        tests = [each for each in only_where(self.program, names, loop) if self.uniform.holds(each)]
        if tests:
            code = f"if {ast.unparse(_all(tests))}:\n{indent(code, '    ')}"
        elif root == place and not any(
            root in names_in(each.test) for each in own_nodes(loop) if isinstance(each, ast.If | ast.While)
        ):
            setting = {self.program.statement(each) for each in own_nodes(loop, ast.Name) if each.id == root}
            self.plan.averaged |= {each for each in setting if {*map(ast.unparse, targets_of(each))} <= {root}}
        self.plan.patch(loop).after(loop, code, note)

    # What becomes of a place

    def _way(self, fillings: list[Filling], loop: Looping) -> Way | None:
        kinds, even = {each.how for each in fillings}, all(each.always for each in fillings)
        if len(kinds) == 1 and kinds <= _EXTREMES.keys():
            return _EXTREMES[kinds.pop()]
        if kinds == {"counts"}:
            return "sum" if begins(fillings[0].place, loop, self.program) else None
        if kinds <= {"grows", "extends"}:
            if len(kinds) == 1 and even and all(self.plain(value) for each in fillings for value in each.values):
                return "mean"
            listed = begins(fillings[0].place, loop, self.program) or all(self._is_list(each) for each in fillings)
            return "gather" if listed else None
        numbers = kinds <= _ITEMS and even and all(self._adds_numbers(each) for each in fillings)
        return "mean" if numbers else None

    def _adds_numbers(self, filling: Filling) -> bool:
        """Whether what is put into the items of a container are numbers of batches, or sums of anything."""
        if isinstance(filling.statement, ast.AugAssign) and filling.how == "items":
            return True
        return filling.how == "object" or all(map(self.plain, filling.values)) or filling.how == "anew"

    def plain(self, node: ast.expr, depth: int = 6) -> bool:
        """Whether something is a number of a batch, or holds only such and what is the same on every rank."""
        if not depth or chooses(node):
            return False
        if isinstance(node, ast.Tuple | ast.List):
            return all(self.plain(each, depth - 1) for each in node.elts)
        if isinstance(node, ast.Dict):
            return all(self.plain(each, depth - 1) for each in node.values)
        if self.uniform.holds(node) or self.number(node) or is_size(node):
            return True
        if isinstance(node, ast.Subscript):
            return self.plain(node.value, depth - 1)
        if isinstance(node, ast.BinOp):
            return self.plain(node.left, depth - 1) and self.plain(node.right, depth - 1)
        if isinstance(node, ast.Call):
            return self._plain_call(node, depth - 1)
        return isinstance(node, ast.Name) and self._plain_name(node, depth - 1)

    def _plain_call(self, node: ast.Call, depth: int) -> bool:
        functions = [each for each in run_by(node, self.program) if isinstance(each, ast.FunctionDef)]
        if functions:
            given = [node.value for each in functions for node in own_nodes(each, ast.Return)]
            return bool(given) and all(each is not None and self.plain(each, depth) for each in given)
        name = called(node, self.program)
        if name in _ARRAYS and node.args:
            return self.plain(node.args[0], depth)
        if isinstance(node.func, ast.Attribute) and name in _SHAPES | {"get"}:
            return self.plain(node.func.value, depth)
        return method_name(node) == "get" and self.plain(node.args[-1], depth)

    def _plain_name(self, node: ast.Name, depth: int) -> bool:
        """Whether a variable only gets such, item by item of what is unpacked."""
        values = [*self._bound_to(node)]
        return bool(values) and all(self.plain(each, depth) for each in values)

    def _bound_to(self, name: ast.Name) -> Iterator[ast.expr]:
        for node in own_nodes(owner_of(name, self.program)):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if any(isinstance(each, ast.Name) and each.id == name.id for each in elements(target)):
                        yield node.value
            elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
                if isinstance(node.target, ast.Name) and node.target.id == name.id:
                    yield node.value
            elif isinstance(node, ast.For) and (held := item_of(node.target, node.iter, name.id)) is not None:
                yield held

    def _is_list(self, filling: Filling) -> bool:
        statement = filling.statement
        joined = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        return not joined

    # Where it stands

    def _assigns(self, loop: Looping, place: str) -> bool:
        """Whether code of the function around a loop assigns to a place."""
        for node in own_nodes(owner_of(loop, self.program)):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                if ast.unparse(node) == place:
                    return True
        return False

    def warn(self, loop: ast.expr | ast.stmt, place: str) -> None:
        """Say that something holds what the data of one rank gives."""
        self.plan.warn(
            "HVD312",
            loop,
            f"`{place}` holds what the data of one rank gives: it was not combined across ranks",
            "gather it from all ranks behind the loop before it is reported",
        )

    def name_windows(self, loop: Looping, lists: set[str]) -> None:
        """Warn where the last of a list are read behind a loop, as many as a number says: a rank's are of several passes."""
        outer = next((each for each in self.program.ancestors(loop) if isinstance(each, LOOPS)), None)
        begun = {text for each in walk(outer or loop) for text in map(ast.unparse, targets_of(each))}
        for node in nodes_in(outer, ast.Subscript) if outer is not None else ():
            place, behind = ast.unparse(node.value), node.lineno > (loop.end_lineno or loop.lineno)
            if place in lists - begun and behind and _ends(node.slice):
                what = f"`{ast.unparse(node)}` is of several passes through the data: a rank adds fewer items in each"
                self.plan.warn("HVD312", node, what, "divide the number by that of the ranks")

    def drawn(self, loops: set[ast.AST]) -> set[ast.AST]:
        """The loops that go through what a generator yields in one of some loops: they see the part of a rank too."""
        found: set[ast.AST] = set()
        for function in {self.program.function(each) for each in loops} - {None}:
            yields = own_nodes(function, ast.Yield) if function else ()
            if any(loop in loops for each in yields for loop in self.program.ancestors(each)):
                for call in self.uniform.callers.get(function, ()) if function else ():
                    loop = next((each for each in self.program.ancestors(call) if isinstance(each, ast.stmt)), None)
                    if isinstance(loop, ast.For) and call in walk(loop.iter):
                        found.add(loop)
                    else:
                        self.warn(call, ast.unparse(call))
        return found


def begins(place: str, loop: Looping, program: Program) -> bool:
    """Whether a place, or what holds it, is set in front of a loop: in its block or one around it in the same turn, or in a
    branch there, where nothing else sets it.
    """
    statement: ast.AST = loop
    sometimes = not is_set_before(program, re.split(r"[.\[]", place)[0], loop)
    while isinstance(statement, ast.stmt):
        block = block_of(statement, program)
        earlier = block[: block.index(statement)]
        inner = [part for each in earlier if sometimes and isinstance(each, ast.If) for part in walk(each)]
        for each in (*earlier, *inner):
            targets = targets_of(each) if isinstance(each, ast.Assign | ast.AnnAssign) else ()
            if any(_within(place, ast.unparse(part)) for target in targets for part in elements(target)):
                return True
        above = program.parent(statement)
        if not isinstance(above, ast.With | ast.If | ast.Try):
            return False
        statement = above
    return False


def read_outside(program: Program, loop: Looping, place: str) -> bool:
    """Whether a place is read outside a loop, or may be: attributes of `self`, and what several functions share."""
    root, lexical = place.replace("[", ".").partition(".")[0], program.unit(loop).lexical
    owner = lexical.owner_at(root, loop)
    named = [each for each in nodes_in(owner_of(loop, program), ast.Name) if each.id == root]
    same = [each for each in named if lexical.owner_at(root, each) is owner]
    if not any(isinstance(each.ctx, ast.Store) for each in same):
        return True
    inside = {id(each) for each in walk(loop)}
    behind = (each for each in same if isinstance(each.ctx, ast.Load) and id(each) not in inside)
    return any(_is_used(each, program) for each in behind) and _is_attribute_read(program, same, place, inside)


def _is_attribute_read(program: Program, objects: list[ast.Name], place: str, inside: set[int]) -> bool:
    """Whether an attribute of objects of the program is read outside of a loop, by others or by a method that is called there."""
    name = place.partition(".")[2]
    types = {v.node for node in objects for v in program.classes(node)}
    own = {node for each in types for node in walk(each)}
    trees = (unit.tree for unit in program.units.values())
    found = [each for tree in trees for each in nodes_in(tree, ast.Attribute) if each.attr == name]
    reads = [
        each
        for each in found
        if isinstance(each.ctx, ast.Load) and id(each) not in inside
        if getattr(program.parent(each), "func", None) is not each  # a method of something else
        if not program.of(each.value) or any(owner.node in types for owner in program.classes(each.value))
    ]
    if not types or "." in name or any(each not in own for each in reads):
        return True
    methods = {program.function(each) for each in reads}
    called = [(each, program.calling(each)) for each in methods if each is not None and not each.decorator_list]
    others: set[tuple[str, ast.AST | None]] = {(each.id, program.function(each)) for each in objects}
    known = all(calls and all(_is_elsewhere(call, others, inside, program) for call in calls) for _, calls in called)
    return len(called) < len(methods) or not known


def _is_elsewhere(call: ast.Call, objects: set[tuple[str, ast.AST | None]], inside: set[int], program: Program) -> bool:
    """Whether a method is called in the loop, or on a variable that is none of some."""
    held = receiver_of(call)
    if id(call) in inside:
        return True
    return isinstance(held, ast.Name) and held.id != "self" and (held.id, program.function(held)) not in objects


def _is_used(read: ast.Name, program: Program, depth: int = 4) -> bool:
    """Whether something is done with what a variable is read for: more than to compute what nothing reads."""
    statement = program.statement(read)
    if not isinstance(statement, ast.Assign | ast.Return) or statement.value is None or not depth:
        return True
    if not reads_only(statement.value, program):
        return True
    if isinstance(statement, ast.Assign):
        return _is_read(statement, read, program, depth)
    function = program.function(read)
    calls = program.calling(function)
    return not calls or any(not isinstance(program.parent(call), ast.Expr) for call in calls)


def _is_read(statement: ast.Assign, read: ast.Name, program: Program, depth: int) -> bool:
    """Whether what an assignment sets is used, or may be: attributes, items, and names that other files can import."""
    unit = program.unit(read)
    shared = program.function(read) is None and unit not in program.roots
    if shared or not all(isinstance(each, ast.Name) for target in statement.targets for each in elements(target)):
        return True
    owners = {(name, unit.lexical.owner_at(name, statement)) for each in statement.targets for name in names_in(each)}
    reads = (each for each in nodes_in(unit.tree, ast.Name) if isinstance(each.ctx, ast.Load) and each is not read)
    own = (each for each in reads if (each.id, unit.lexical.owner_at(each.id, each)) in owners)
    return any(program.statement(each) is not statement and _is_used(each, program, depth - 1) for each in own)


def _within(place: str, whole: str) -> bool:
    """Whether a place is another one or a part of it."""
    return place == whole or place.startswith((whole + ".", whole + "["))


def _all(tests: list[ast.expr]) -> ast.expr:
    """The condition that all of some hold."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def chooses(node: ast.expr) -> bool:
    """Whether a number is picked out of a batch: the mean of such numbers is none of all the data."""
    calls = [each.func for each in nodes_in(node, ast.Call)]
    return any((each.attr if isinstance(each, ast.Attribute) else ast.unparse(each)) in _CHOOSING for each in calls)


def _ends(cut: ast.expr) -> bool:
    """Whether a slice takes the last items, as many as something says that is neither written out nor a length."""
    match cut:
        case ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=ast.Name() | ast.Attribute()), upper=None):
            return True
    return False
