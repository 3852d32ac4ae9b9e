"""What a pass over divided data derives from its batches, and where it puts that: variables, containers and objects.

The batch is what the loop goes through. What is computed of it is followed through assignments and into the functions of the
program that are given it. A *filling* is a statement that adds something of a batch to what began in front of the loop.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from distml.rewrites.horovod.aspects.filling import (
    assigned,
    by_first_axis,
    default_of,
    gone_along,
    gone_through,
    holder,
    items_of,
    set_anew,
    stores,
)
from distml.rewrites.horovod.aspects.presence import set_in_turn
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.source.nodes import walk
from distml.training.around import Looping, own_nodes
from distml.training.callers import run_by
from distml.training.callsites import asks_for_items, draws, given_by, iterated, positional, takes_receiver, unmoved
from distml.training.program import Program
from distml.training.store import ANY
from distml.training.syntax import (
    elements,
    mentions,
    method_name,
    names_in,
    nodes_in,
    receiver_of,
    root_of,
    targets_of,
    values_given,
)
from distml.training.values import Box, Callable, Foreign, Instance, Module, Value

How = Literal["grows", "extends", "items", "counts", "largest", "smallest", "anew", "object", "scattered", "opaque"]
"""By one item, by several, item by item, by one at a key of the data, as an extreme, as another container, by its own method,
at keys that the data says, by a library that keeps something of it in its own way."""
_JOINING = frozenset("append concatenate concat cat vstack hstack stack row_stack column_stack".split())
_ONE = frozenset({"append", "appendleft", "insert", "add"})
_SEVERAL = frozenset({"extend", "extendleft"})
_EXTREMES: dict[str, How] = {"max": "largest", "maximum": "largest", "min": "smallest", "minimum": "smallest"}
_DICTS = frozenset({"builtins.dict", "collections.defaultdict"})
DEEPEST = 3


class Filling(NamedTuple):
    """A place, as it is called where the loop stands, and what a statement puts into it."""

    place: str
    how: How
    values: list[ast.expr]
    statement: ast.stmt
    always: bool
    """Whether all ranks run the statement equally often."""


class Frame(NamedTuple):
    """Code that a loop runs: its nodes, the names that hold something of the batch, what its parameters are called outside."""

    body: ast.AST
    names: frozenset[str]
    outside: dict[str, str]
    always: bool
    unsure: frozenset[str] = frozenset()
    """The parameters that may be another object than one that has what the code is part of."""


class Batches:
    """What one loop does with its batches."""

    def __init__(self, program: Program, uniform: Uniform, loop: Looping) -> None:
        self.program, self.uniform, self.loop = program, uniform, loop
        self.kept: set[tuple[ast.ClassDef, str]] = set()
        """The attributes of objects of the program in which the pass leaves something of a batch."""
        size = -1
        while size != len(self.kept):
            size = len(self.kept)
            self.frames = [*self._frames(Frame(loop, self._derived(loop, set()), {}, True), DEEPEST, set())]
            self.kept |= {each for frame in self.frames for each in self._left(frame)}

    def fillings(self) -> Iterator[Filling]:
        """In the order of the text, those of functions last."""
        for frame in self.frames:
            for node in own_nodes(frame.body):
                if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                    yield from self._assigned(node, frame)
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    yield from self._called(node, node.func, frame)

    def of_batch(self, node: ast.AST, frame: Frame) -> bool:
        """Whether something is computed of a batch, and may differ between ranks."""
        return self._mentions(node, frame.names) and not (isinstance(node, ast.expr) and self.uniform.holds(node))

    def _left(self, frame: Frame) -> Iterator[tuple[ast.ClassDef, str]]:
        """The attributes to which code gives something of a batch."""
        for node in own_nodes(frame.body, ast.Assign):
            for target, value in (pair for each in node.targets for pair in assigned(each, node.value)):
                if isinstance(target, ast.Attribute) and self.of_batch(value, frame):
                    yield from self._attributes(target)

    def _attributes(self, node: ast.AST) -> Iterator[tuple[ast.ClassDef, str]]:
        """The attributes of objects of the program that an expression is, by the classes of these; `getattr` may give any."""
        computed = isinstance(node, ast.Call) and "builtins.getattr" in self.program.names(node.func) and node.args
        owner = node.value if isinstance(node, ast.Attribute) else computed[0] if computed else None
        for cls in {each.type.node for each in self.program.of(owner) if isinstance(each, Instance)}:
            yield from [(cls, node.attr)] if isinstance(node, ast.Attribute) else (k for k in self.kept if k[0] is cls)

    def _mentions(self, node: ast.AST, names: frozenset[str] | set[str], depth: int = 2) -> bool:
        """Whether something reads what holds something of a batch: a variable, or an attribute, by a method too."""
        if mentions(node, names):
            return True
        parts = walk(node) if self.kept else ()
        if any(not self.kept.isdisjoint(self._attributes(each)) for each in parts):
            return True
        asked = [each for call in parts if isinstance(call, ast.Call) for each in run_by(call, self.program)]
        given = (each.value for function in asked if depth for each in own_nodes(function, ast.Return))
        return any(each is not None and self._mentions(each, frozenset(), depth - 1) for each in given)

    # What is computed of a batch

    def _derived(self, body: ast.AST, names: set[str]) -> frozenset[str]:
        """The names that hold something of a batch."""
        size = -1
        while size != len(names):
            size = len(names)
            for node in own_nodes(body, itself=True):
                names |= self._binds(node, names, body)
        return frozenset(names)

    def _binds(self, node: ast.AST, names: set[str], body: ast.AST) -> set[str]:
        """The names that a statement gives something of a batch."""
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            target: ast.expr = node.target
            if node is not body and not self._mentions(node.iter, names):
                return set()
            written = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) and node is not body else []
            if written and isinstance(target, ast.Tuple):
                pairs = [pair for row in written for pair in assigned(target, row)]
                return {name for one, value in pairs if self._mentions(value, names) for name in names_in(one)}
            through = iterated(node.iter, self.program)
            keys = isinstance(through, ast.Call) and through.func if method_name(through) == "keys" else None
            keyed = keys.value if isinstance(keys, ast.Attribute) else through
            return set() if self._has_known_keys(keyed) else names_in(items_of(through, target))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            drawn = asks_for_items(body, self.program) and draws(node.value)
            pairs = [pair for each in targets_of(node) for pair in assigned(each, node.value)]
            return {
                name
                for target, value in pairs
                if drawn or (self._mentions(value, names) and not self.uniform.holds(value))
                for name in (() if isinstance(target, ast.Subscript | ast.Attribute) else names_in(target))
            }
        return set()

    def _frames(self, frame: Frame, depth: int, seen: set[ast.AST]) -> Iterator[Frame]:
        yield frame
        for call in own_nodes(frame.body) if depth else ():
            for function in run_by(call, self.program):
                if isinstance(function, ast.FunctionDef) and function not in seen and function.name != "__init__":
                    assert isinstance(call, ast.Call)
                    given = self._given(call, function)
                    names = {name for name, value in given.items() if self.of_batch(value, frame)}
                    if not names:
                        continue
                    outside = {name: _elsewhere(value, frame) for name, value in given.items()}
                    unsure = frame.unsure | {next(iter(given), "")} if self._of_others(call, function) else frame.unsure
                    always = frame.always and self.always(call, frame)
                    inner = Frame(function, self._derived(function, names), outside, always, unsure)
                    yield from self._frames(inner, depth - 1, seen | {function})

    def _of_others(self, call: ast.Call, function: ast.FunctionDef) -> bool:
        """Whether what a method is called on may also be an object of a class that has another one."""
        owner = self.program.parent(function)
        if not isinstance(owner, ast.ClassDef) or not takes_receiver(call, function, self.program):
            return False
        method = method_name(call) == function.name
        receiver = call.func.value if method and isinstance(call.func, ast.Attribute) else call.func
        types = self.program.classes(receiver)
        lines = [{getattr(each, "node", None) for each in self.program.lineage(one)} for one in types]
        return any(owner not in line for line in lines)

    def _given(self, call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr]:
        """What a call gives for the parameters of a function; the object it is called on for the first one of a method."""
        first = positional(function)[: takes_receiver(call, function, self.program)]
        return dict.fromkeys(first, receiver_of(call) or call.func) | given_by(call, function, self.program)

    def always(self, node: ast.AST, frame: Frame) -> bool:
        """Whether all ranks run a node of a frame equally often."""
        for above in self.program.ancestors(node):
            if above is frame.body:
                return True
            if isinstance(above, ast.If) and not self.uniform.holds(above.test):
                return False
            if isinstance(above, ast.For | ast.While) and self._draws_on(above, frame):
                return False
        return True

    def _draws_on(self, loop: ast.For | ast.While, frame: Frame) -> bool:
        """Whether a loop within the pass has turns for what is in a batch."""
        if isinstance(loop, ast.While):
            return self.of_batch(loop.test, frame)
        return any(self._lasts_by_batch(each, frame) for each in gone_along(loop.iter))

    def _lasts_by_batch(self, iterable: ast.expr, frame: Frame) -> bool:
        """Whether a batch says how many items something gives."""
        func = iterable.func if isinstance(iterable, ast.Call) else None
        named = isinstance(func, ast.Attribute) and func.attr in ("items", "keys", "values")
        written = isinstance(iterable, ast.Tuple | ast.List | ast.Dict) or self._has_known_keys(iterable)
        return self.of_batch(iterable, frame) and not named and not written

    def _has_known_keys(self, node: ast.expr | None) -> bool:
        """Whether something is a dict whose keys are all written out."""
        values = self.program.of(node)
        boxes = [each for each in values if isinstance(each, Box) and isinstance(each.node, ast.Dict)]
        open_ = any(ANY in self.program.store.keys(box) for box in boxes)
        return bool(boxes) and not open_ and all(each in boxes or self._is_missing(each) for each in values)

    def _is_missing(self, value: Value) -> bool:
        """Whether something is what a method gives that one of several classes does not have."""
        call = value.node if isinstance(value, Foreign) else None
        return isinstance(call, ast.Call) and any(isinstance(each, Callable) for each in self.program.of(call.func))

    # Where it is put

    def _assigned(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, frame: Frame) -> Iterator[Filling]:
        if isinstance(node, ast.AugAssign):
            if isinstance(node.op, ast.Add | ast.Sub):
                yield from self._added(node, node.target, node.value, frame)
        elif node.value is not None:
            for target in targets_of(node):
                for place, value in assigned(target, node.value):
                    yield from self._set(node, place, value, frame)

    def _added(self, node: ast.AugAssign, target: ast.expr, value: ast.expr, frame: Frame) -> Iterator[Filling]:
        several = self._is_list(value) or (isinstance(target, ast.Name) and self._held_list(target))
        if isinstance(target, ast.Subscript) and not self._steady(target, frame):
            if self.of_batch(value, frame):
                yield from self._filling(target, "extends" if several else "items", [value], node, frame)
            elif self._keyed_by_batch(target, frame) or not self.always(node, frame):
                yield from self._filling(target, "counts", [value], node, frame)
        elif self.of_batch(value, frame):
            items = elements(value)
            written = isinstance(value, ast.List | ast.Tuple)
            yield from self._filling(
                target, "items" if not several else "grows" if written else "extends", items, node, frame
            )

    def _set(self, node: ast.stmt, target: ast.expr, value: ast.expr, frame: Frame) -> Iterator[Filling]:
        """A place gets another value, which is made of its old one or is an item of it."""
        text = ast.unparse(target)
        own = [each for each in nodes_in(value, type(target)) if ast.unparse(each) == text]
        if not own and isinstance(target, ast.Subscript):
            if not self._steady(target, frame) or self._begins_before(target, frame):
                yield from self._put(node, target, value, frame)
        elif own and self.of_batch(value, frame) and ast.unparse(unmoved(value)) != text:
            how, values = self._made_of(value, text)
            yield from self._filling(target, how, values, node, frame)
        elif isinstance(target, ast.Name) and (how_far := self._replaced(node, target, value)) is not None:
            yield from self._filling(target, how_far, [value], node, frame)

    def _put(self, node: ast.stmt, target: ast.Subscript, value: ast.expr, frame: Frame) -> Iterator[Filling]:
        before = default_of(value, ast.unparse(target.value))
        if before is not None and not self.of_batch(before, frame) and self._keyed_by_batch(target, frame):
            yield from self._filling(target, "counts", [before], node, frame)
        elif self.of_batch(value, frame):
            yield from self._filling(target, "items", [value], node, frame)

    def _made_of(self, value: ast.expr, text: str) -> tuple[How, list[ast.expr]]:
        """How a new value of a place is made of its old one, and of what else."""
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            rest = value.right if ast.unparse(value.left) == text else value.left
            if isinstance(rest, ast.List | ast.Tuple):
                return "grows", rest.elts
            return ("extends" if self._is_list(rest) else "items"), [rest]
        if isinstance(value, ast.List | ast.Tuple) and any(isinstance(each, ast.Starred) for each in value.elts):
            return "grows", [each for each in value.elts if not isinstance(each, ast.Starred)]
        if isinstance(value, ast.Call):
            name = value.func.attr if isinstance(value.func, ast.Attribute) else ast.unparse(value.func)
            given = value.args[0].elts if value.args and isinstance(value.args[0], ast.List | ast.Tuple) else value.args
            rest_given = [each for each in given if ast.unparse(each) != text]
            if name in _EXTREMES:
                return _EXTREMES[name], rest_given
            if name in _JOINING:
                return ("extends" if by_first_axis(value, name) else "opaque"), rest_given
        return "anew", [value]

    def _replaced(self, node: ast.stmt, target: ast.Name, value: ast.expr) -> How | None:
        """The extreme that a place is where it gets a number that was compared with it."""
        above = self.program.parent(node)
        test = above.test if isinstance(above, ast.If) else None
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or self.uniform.holds(value):
            return None
        left, right = ast.unparse(test.left), ast.unparse(test.comparators[0])
        if {left, right} != {target.id, ast.unparse(value)} or not isinstance(
            test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE
        ):
            return None
        return "largest" if isinstance(test.ops[0], ast.Gt | ast.GtE) == (right == target.id) else "smallest"

    def _called(self, call: ast.Call, func: ast.Attribute, frame: Frame) -> Iterator[Filling]:
        given = values_given(call)
        held, values = holder(func), self.program.of(func.value)
        if held is None or not any(self.of_batch(each, frame) for each in given):
            return
        if any(isinstance(each, Module) or (isinstance(each, Foreign) and each.node is None) for each in values):
            return  # a function of a library or module
        found: tuple[How, list[ast.expr]] | None = None
        if not any(isinstance(each, Instance) for each in values):
            found = self._put_by(func.attr, held, given, values)
        elif isinstance(held, ast.Subscript) and not self._steady(held, frame):
            found = "object", given
        if found is not None:
            yield from self._filling(held, *found, self.program.statement(call), frame)

    def _put_by(
        self, method: str, held: ast.expr, given: list[ast.expr], values: Iterable[Value]
    ) -> tuple[How, list[ast.expr]] | None:
        """How a method of a container puts in what it is given, and what that is; None where it does not."""
        last = given[-1]
        if method == "update" and (self._counter(held) or self._is_dict(held)):
            return "counts" if self._counter(held) and not self._is_dict(given[0]) else "items", given
        if method not in _ONE | _SEVERAL:
            return None
        if _opaque(values):
            return "opaque", given
        if method in _ONE:
            return "grows", [last]
        return ("grows", last.elts) if isinstance(last, ast.List | ast.Tuple) else ("extends", [last])

    def _counter(self, node: ast.expr) -> bool:
        return any(each.endswith("Counter()") for each in self.program.names(node))

    def _filling(
        self, place: ast.expr, how: How, values: list[ast.expr], node: ast.stmt, frame: Frame
    ) -> Iterator[Filling]:
        while isinstance(place, ast.Subscript) and not self._steady(place, frame):
            if self.of_batch(place.slice, frame) or how == "extends":
                how = how if how == "counts" else "scattered"
            elif how not in ("counts", "object"):
                how = "items"
            place = place.value
        root = root_of(place)
        for _ in range(DEEPEST):
            whole = gone_through(root.id, frame.body) if root is not None else None
            if whole is None:
                break
            how = how if how in ("counts", "object", "opaque") else "scattered" if how == "extends" else "items"
            place, root = whole, root_of(whole)
        if root is None or set_anew(place, frame.body) or not self._began_before(root, place, frame):
            return
        text = ast.unparse(place)
        if frame.body is not self.loop and root.id in frame.outside:
            if not frame.outside[root.id]:
                return
            text = frame.outside[root.id] + text.removeprefix(root.id)
        how = "opaque" if root.id in frame.unsure and isinstance(place, ast.Attribute) else how
        yield Filling(text, how, values, node, frame.always and self.always(node, frame))

    def _began_before(self, root: ast.Name, place: ast.expr, frame: Frame) -> bool:
        """Whether the object that a place is, or is part of, was there before the loop."""
        if frame.body is self.loop:
            return self._outlasts(root.id, place)
        if root.id in stores(frame.body):
            return False
        return root.id not in frame.outside or self._outlasts(re.split(r"[.\[]", frame.outside[root.id])[0], place)

    def _outlasts(self, name: str, place: ast.expr) -> bool:
        """Whether a variable holds one object in all turns, or what is made of what it held."""
        named = [each for each in own_nodes(self.loop, ast.Name) if each.id == name]
        if all(set_in_turn(self.program, each, self.loop) for each in named if not self._sets(each)):
            return not named
        for store in named:
            if isinstance(store.ctx, ast.Store):
                above = self.program.statement(store)
                loads = names_in(getattr(above, "value", above))
                under = isinstance(self.program.parent(above), ast.If) and isinstance(place, ast.Name)
                if above is self.loop or not (isinstance(above, ast.AugAssign) or name in loads or under):
                    return False
        return True

    def _sets(self, name: ast.Name) -> bool:
        """Whether a variable gets a value here that is not made of its old one."""
        above = self.program.parent(name)
        return isinstance(name.ctx, ast.Store) and not (isinstance(above, ast.AugAssign) and above.target is name)

    def _begins_before(self, target: ast.Subscript, frame: Frame) -> bool:
        root = root_of(target)
        return root is not None and self._began_before(root, target, frame)

    # What places and values are

    def _steady(self, place: ast.Subscript, frame: Frame) -> bool:
        """Whether a place is the same in each turn: its key is a constant, or nothing that the loop sets."""
        if isinstance(place.value, ast.Subscript) and not self._steady(place.value, frame):
            return False
        key = place.slice
        if isinstance(key, ast.Constant):
            return True
        set_here = stores(frame.body) | stores(self.loop)
        names = names_in(key)
        return isinstance(key, ast.Name | ast.Attribute) and not names & set_here and frame.body is self.loop

    def _keyed_by_batch(self, target: ast.Subscript, frame: Frame) -> bool:
        node: ast.expr = target
        while isinstance(node, ast.Subscript):
            if self.of_batch(node.slice, frame):
                return True
            node = node.value
        return False

    def _is_list(self, node: ast.expr) -> bool:
        """Whether something is a list, as it is written or as is known of it."""
        if isinstance(node, ast.List | ast.ListComp | ast.Tuple) or method_name(node) == "tolist":
            return True
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "sorted")
        return named or self._held_list(node)

    def _held_list(self, node: ast.expr) -> bool:
        boxes = [each.node for each in self.program.of(node) if isinstance(each, Box)]
        return bool(boxes) and all(isinstance(each, ast.List | ast.ListComp) for each in boxes)

    def _is_dict(self, node: ast.expr) -> bool:
        boxes = [each.node for each in self.program.of(node) if isinstance(each, Box)]
        made = any(self.program.callee(each) & _DICTS for each in boxes)
        return made or any(isinstance(each, ast.Dict | ast.DictComp) for each in (node, *boxes))


def _opaque(values: Iterable[Value]) -> bool:
    """Whether something is an object of a library whose insides nobody knows: a meter, but no container of Python.

    A container may make room, under its name, for what is made of it later.
    """
    objects = [each for each in values if isinstance(each, Foreign) and each.node is not None]
    known = ("collections.", "dataclasses.", "builtins.", "?")
    made = any(each.name.endswith("()") and not each.name.startswith(known) for each in objects)
    return made and not any(isinstance(each, Box) for each in values)


def _elsewhere(value: ast.expr, frame: Frame) -> str:
    """What an argument is called where the loop stands; nothing where it has no name there."""
    root = root_of(value)
    if root is None:
        return ""
    text = ast.unparse(value)
    if root.id in frame.outside:
        return frame.outside[root.id] + text.removeprefix(root.id) if frame.outside[root.id] else ""
    return "" if frame.outside and root.id in stores(frame.body) else text
