"""What a rank tells: what is watched, and where it is given what comes from this rank's part of the data.

A number that rank 0 computes from its own batches is right on rank 0, and is not the number of the whole run. Data is a
rank's own where a sampler or a loader of the library says so, and where the number of the rank chooses it: as an index, in
a slice, as an argument. A condition on the rank chooses who does something, and not of which data.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from distml.spmd.touched import touches
from distml.spmd.values import Items, Known, Local, Place, Table, Unknown, Value, derived, key

MAYBE = "another batch or none"
"""The type of what `next(iterator, None)` gives: whether there is one says nothing of what is in it."""
WHY = "each rank has its own part of the data"


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What is looked at beside communication."""

    calls: frozenset[str]
    """The functions that tell something, as the program spells them."""
    alike: frozenset[str] = frozenset()
    """The names of functions whose result is the same on all ranks."""
    texts: frozenset[str] = frozenset()
    """The methods and attributes of objects of libraries by which a text is told."""
    trains: frozenset[str] = frozenset()
    """The functions that train on a batch, as the program spells them: each rank gives them its own."""
    steps: frozenset[str] = frozenset()
    """The calls, and functions, by which all ranks take a step together, as the program spells them."""
    _known: dict[int, tuple[ast.AST, bool]] = field(default_factory=dict)

    def tells(self, node: ast.AST) -> bool:
        """Whether a node is a call or an assignment that is watched."""
        return isinstance(node, _TELLING) and self._once(node, lambda: self._told(node))

    def _told(self, node: ast.Call | ast.Assign | ast.AugAssign) -> bool:
        if isinstance(node, ast.Call):
            given, places = [*node.args, *(each.value for each in node.keywords)], [node.func]
        else:
            given, places = [node.value], node.targets if isinstance(node, ast.Assign) else [node.target]
        spelled = {ast.unparse(each) for each in places if isinstance(each, ast.Name | ast.Attribute | ast.Call)}
        return bool(spelled & self.calls) or (bool(spelled & self.texts) and any(map(_makes_text, given)))

    def agreed(self, values: Iterable[Value]) -> bool:
        """Whether one of some values is made of what all ranks agreed on."""
        keys = [key(each) for each in values]
        return any(f"{name}@" in each for each in keys for name in self.alike)

    def given(self, node: ast.Call, result: Value, place: Place) -> Value:
        """What a call gives: of this rank's batch, where that is trained on."""
        trains = bool(self.trains) and ast.unparse(node.func) in self.trains
        return owned(result, Local(WHY, place, data=True)) if trains else result

    @property
    def stepping(self) -> set[str]:
        """The last names of the functions by which steps are taken."""
        return {each.partition("(")[0].rpartition(".")[2] for each in self.steps}

    def steps_by(self, node: ast.Call) -> bool:
        """Whether a call takes a step of all ranks."""
        return bool(self.steps) and (ast.unparse(node.func) in self.steps or ast.unparse(node) in self.steps)

    def within(self, node: ast.AST) -> bool:
        """Whether a watched call or assignment, or what touches files, stands in `node`."""
        return self._once(node, lambda: any(self.tells(each) or touches(each) for each in ast.walk(node)))

    def _once(self, node: ast.AST, ask: Callable[[], bool]) -> bool:
        """An answer about a node, asked for the first time or remembered; the node is kept, so that its number stays its own."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = node, ask()
        return known[1]


_TELLING = (ast.Call, ast.Assign, ast.AugAssign)


def _makes_text(node: ast.expr) -> bool:
    """Whether an expression puts what it has into a text."""
    match node:
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod() | ast.Add()):
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _makes_text(left) or _makes_text(right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format")):
            return True
        case ast.Call(func=ast.Name(id="str" | "repr" | "format")):
            return True
    return isinstance(node, ast.JoinedStr)


def owned(value: Value, local: Local) -> Value:
    """A value that is this rank's own; of one that holds others, what it holds."""
    match value:
        case Unknown():
            return replace(value, local=value.local or local)
        case Items(members=members, kind=kind, exact=exact):
            return Items([owned(each, local) for each in members], kind, exact)
    return value


_ONE = frozenset("cycle takewhile dropwhile filter filterfalse tee".split())
_MADE = frozenset(
    {"map", "starmap", "chain", "from_iterable", "imap", "imap_unordered", "accumulate", "chunked", "batched"}
)
"""Functions that give the members of what they are given, and what they make of them."""


def given_by(name: str, given: list[Value]) -> Value | None:
    """What a function of iterators gives one after the other, as far as that is known; `name` is its own, without a module."""
    parts = [each.each if isinstance(each, Unknown) else None for each in given]
    known = [each for each in parts if each is not None]
    if name == "zip" and known:
        return Items([each or Unknown("a member of another iterator") for each in parts], "tuple")
    if name in _MADE and known:
        return derived(f"{name}(…)", *known)
    return next(iter(known), None) if name in _ONE else None


_SESSION = re.compile(r"tensorflow\.[\w.]*Session\(")
_VARIABLE = re.compile(r"tensorflow\.([\w.]*\.)?(Variable|get_variable|\w*global_step)\(")
"""What a graph keeps between two steps: no data that it is fed changes what it is."""


def fetched(receiver: Unknown, name: str, given: list[Value]) -> Value | None:
    """What a session gives for what it is asked for first, in the same structure: each comes of itself and of what is fed."""
    if name != "run" or not given or not _SESSION.match(receiver.key):
        return None
    return _fetched(given[0], given[1:])


def _fetched(asked: Value, fed: list[Value]) -> Value:
    match asked:
        case Items(members=members, kind=kind, exact=exact):
            return Items([_fetched(each, fed) for each in members], kind, exact)
        case Table(members=table, exact=exact):
            return Table({name: _fetched(each, fed) for name, each in table.items()}, exact)
        case Unknown(key=text) if _VARIABLE.match(text):
            return Unknown(f"run({text})")
    return derived(f"run({key(asked)})", asked, *fed)


def chosen(place: Place, *by: Value) -> Local | None:
    """Why what is chosen by some values is this rank's own."""
    numbers = (each for each in by if isinstance(each, Known) and each.ranked)
    return Local(WHY, place, data=True) if any(not isinstance(each.value, bool) for each in numbers) else None
