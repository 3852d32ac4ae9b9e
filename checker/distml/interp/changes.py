"""What code in sight changes on objects: names of attributes, read off the source of a file.

An object that a method meets was through any number of other methods, functions and hooks. What a constructor sets on
its own `self`, or on an object that it has made itself, it sets before all of them; every other write, through `self` in a
method or through any other name, may have happened since. Names are enough: which objects another name stands for is not
known.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from distml.interp.sites import HANDING_ON
from distml.source.bindings import MUTATORS, last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.interp.sites import Place, Sites

ANY = "*"
"""Stands for a name that is not known: `setattr(x, name, y)`."""
ANY_MODULE = "*module"
"""Stands for the name of some module: `setattr(net, name, y)` in code that goes through modules by name."""
ANY_TENSOR = "*tensor"
"""Stands for a tensor in some variable: `p.data = x` in code that goes through the parameters of modules."""
ANY_ITEM = "*item"
"""Stands for an item of an object: `config["width"] = 3`, where the object's class may be derived from dict or list."""
MODULE_SETTERS = frozenset({"_modules", "add_module", "register_module", "set_submodule"})
CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
STORAGE = frozenset({"__dict__", "_buffers", "_modules", "_parameters"})
"""Attributes that hold the attributes of an object."""
RESHAPING = frozenset(
    "data dtype resize resize_ resize_as_ set_ shape squeeze_ strides swapaxes_ swapdims_ t_ transpose_ unsqueeze_".split()
)
"""What changes the shape of a tensor in place: methods, and attributes that are set."""
BY_NAME = {
    "setattr": 1,
    "delattr": 1,
    "__setattr__": 0,
    "__delattr__": 0,
    "register_buffer": 0,
    "register_parameter": 0,
    "register_module": 0,
    "add_module": 0,
    "set_submodule": 0,
}
"""Functions that set an attribute by name, and the argument that names it."""
PASSING = frozenset({"__setattr__", "__delattr__", "__setstate__"})
"""Methods that set what was asked for elsewhere, or restore what such an object held before."""
HOLDING = PASSING | MUTATORS | {"__setitem__", "__delitem__"}
"""Methods that change the items which their callers name, as is noted where they are called."""
_COPIES = frozenset({"copy.copy", "copy.deepcopy", "deepcopy"})
_WALKING = frozenset({"enumerate", "zip", "reversed", "iter", "map", "filter", "next", "list", "tuple", "sorted"})


@dataclass(slots=True)
class Changes:
    """Names of attributes that code changes on an object.

    `assigned` another value, `filled` (a container that is changed in place), `shared` (handed to what may keep or change
    a container), `visited` (items of a container are handed out).
    """

    assigned: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)

    def add(self, other: Changes) -> None:
        """Take in what other code changes."""
        self.assigned |= other.assigned
        self.filled |= other.filled
        self.shared |= other.shared
        self.visited |= other.visited

    def sets(self, name: str) -> bool:
        """Whether an attribute of this name may have been set."""
        return name in self.assigned or ANY in self.assigned


class FileChanges:
    """What the code of one file changes: through the `self` of each class, in constructors and in other methods, and
    through anything else."""

    def __init__(self, makers: frozenset[str] = frozenset()) -> None:
        self.constructors: dict[ast.ClassDef, Changes] = {}
        self.methods: dict[ast.ClassDef, Changes] = {}
        self.others = Changes()
        self.makers = makers  # what gives a new object whenever it is called
        self.made: dict[ast.FunctionDef, frozenset[str]] = {}


def changes_at(sites: Sites) -> FileChanges:
    """What the code of a file changes."""
    found = FileChanges(_COPIES | {node.name for node, place in sites.of(ast.ClassDef) if place.outer is None})
    # `p.data -= x` changes no shape.
    kept = {statement.target for statement, _ in sites.of(ast.AugAssign)}
    for node, place in sites.of(ast.Attribute):
        _set_by_name(node.value, ANY if node.attr in STORAGE else node.attr, place, found)
        if node not in kept:
            _reshaped(node, place, found)
    for item, place in sites.of(ast.Subscript):
        if not isinstance(item.ctx, ast.Load):
            _fill(item.value, place, found, key=item.slice)
    for call, place in sites.of(ast.Call):
        _note_call(call, place, found)
    imported = frozenset(
        (alias.asname or alias.name).partition(".")[0]
        for statement, _ in sites.of(ast.Import, ast.ImportFrom)
        for alias in statement.names
    )
    for site, place in sites.of(*HANDING_ON, ast.Call):
        for part, use in _uses(site, imported):
            if isinstance(part, ast.Attribute):
                getattr(_changes_of(part.value, place, found), use).add(part.attr)
    return found


def changed_outside(node: ast.AST) -> frozenset[str]:
    """Names of attributes and variables that the code of a function changes, beside those it only binds itself."""
    known: frozenset[str] | None = getattr(node, _OUTSIDE, None)
    if known is None:
        known = _changed_outside(node)
        setattr(node, _OUTSIDE, known)
    return known


_OUTSIDE = "distml_changed_outside"


def _changed_outside(node: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Nonlocal | ast.Global):
            found.update(part.names)
        elif isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            found.update(_names_of(part))
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in MUTATORS:
            found.update(_names_of(part.func.value))
    return frozenset(found)


def _names_of(node: ast.AST) -> Iterator[str]:
    """The names that lead to what is changed: `self` and `rows` in `self.rows[0]`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _note_call(node: ast.Call, place: Place, found: FileChanges) -> None:
    function = node.func
    name = last_name(function)
    if name in BY_NAME:
        at = BY_NAME[name]
        unbound = isinstance(function, ast.Attribute) and len(node.args) > at + 2 - (name == "__delattr__")
        if isinstance(function, ast.Attribute) and name.startswith("__") and unbound:
            target, at = node.args[0], 1
        elif isinstance(function, ast.Attribute):
            target = function.value
        elif node.args:
            target = node.args[0]
        else:
            return
        key = node.args[at] if at < len(node.args) else None
        told = _text(key, place.by_module or name in MODULE_SETTERS)
        _set_by_name(target, told, place, found)
        _reshaped(ast.Attribute(target, told, ast.Store()), place, found)
    elif isinstance(function, ast.Attribute):
        if name == "update" and not node.args:
            for keyword in node.keywords:
                _fill(function.value, place, found, ast.Constant(keyword.arg))
        elif name in MUTATORS:
            _fill(function.value, place, found)
        _reshaped(function, place, found)


def _set_by_name(target: ast.expr, name: str, place: Place, found: FileChanges) -> None:
    if not name.startswith(ANY) or place.method not in PASSING:
        _changes_of(target, place, found).assigned.add(name)


def _text(node: ast.expr | None, by_module: bool) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition(".")[2]
    return ANY_MODULE if by_module else ANY


def _reshaped(node: ast.Attribute, place: Place, found: FileChanges) -> None:
    if node.attr not in RESHAPING:
        return
    if isinstance(node.value, ast.Attribute):
        _changes_of(node.value.value, place, found).assigned.add(node.value.attr)
    elif place.owner is None or not _is_self(
        node.value, place.receiver
    ):  # an object of a class of the file is no tensor
        found.others.assigned.add(ANY_TENSOR)


def _fill(node: ast.expr, place: Place, found: FileChanges, key: ast.expr | None = None) -> None:
    """A container is changed: the attribute that holds it, or for `x.__dict__` what it holds."""
    while isinstance(node, ast.Subscript):
        key, node = node.slice, node.value
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars" and node.args:
        node = ast.Attribute(node.args[0], "__dict__", ast.Load())
    if isinstance(node, ast.Name) and place.method not in HOLDING and not (key is not None and _is_place(key)):
        _changes_of(node, place, found).filled.add(ANY_ITEM)
    if not isinstance(node, ast.Attribute):
        return
    if node.attr in STORAGE:
        _set_by_name(node.value, _text(key, node.attr in MODULE_SETTERS), place, found)
    else:
        _changes_of(node.value, place, found).filled.add(node.attr)


def _is_place(key: ast.expr) -> bool:
    """Whether a key is a place in an array or list, and no name."""
    if isinstance(key, ast.UnaryOp):
        return _is_place(key.operand)
    return isinstance(key, ast.Slice | ast.Tuple) or (isinstance(key, ast.Constant) and type(key.value) is int)


def _changes_of(target: ast.expr, place: Place, found: FileChanges) -> Changes:
    """Where to note what is changed on what `target` stands for."""
    root = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if place.owner is not None and _is_self(root, place.receiver):
        if place.method in CONSTRUCTORS:
            return found.constructors.setdefault(place.owner, Changes())
        if root is target:
            return found.methods.setdefault(place.owner, Changes())
    if place.owner is not None and place.method in CONSTRUCTORS and _is_made_here(root, place.node, found):
        return found.constructors.setdefault(place.owner, Changes())
    return found.others


def _is_made_here(node: ast.expr, constructor: ast.AST | None, found: FileChanges) -> bool:
    """Whether a name stands for nothing but new objects, which the function that uses it has made itself."""
    if not isinstance(node, ast.Name) or not isinstance(constructor, ast.FunctionDef):
        return False
    if constructor not in found.made:
        found.made[constructor] = _made_in(constructor, found.makers)
    return node.id in found.made[constructor]


def _made_in(constructor: ast.FunctionDef, makers: frozenset[str]) -> frozenset[str]:
    """The names that a function binds to nothing but what `makers` give."""
    made: set[ast.expr] = set()
    bound: dict[str, list[ast.AST]] = {}
    for part in ast.walk(constructor):
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Call):
            if ast.unparse(part.value.func) in makers:
                made.update(part.targets)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            bound.setdefault(part.id, []).append(part)
        elif isinstance(part, ast.arg):
            bound.setdefault(part.arg, []).append(part)
    return frozenset(name for name, parts in bound.items() if made.issuperset(parts))


def _is_self(node: ast.expr, receiver: str | None) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id == receiver


def _uses(node: ast.AST, imported: frozenset[str]) -> Iterator[tuple[ast.AST, str]]:
    """The parts of a node whose value goes elsewhere (`shared`), or whose items do (`visited`)."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Return | ast.Yield | ast.YieldFrom):
        yield from ((part, "shared") for part in _results(node.value))
    elif isinstance(node, ast.Lambda):
        yield from ((part, "shared") for part in _results(node.body))
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.iter, "visited"
    elif isinstance(node, ast.Subscript):
        yield node.value, "visited"
    elif isinstance(node, ast.Call):
        use = _handed(node.func, imported)
        if use is not None:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from ((part, use) for value in given for part in _results(value))


def _results(node: ast.expr | None) -> Iterator[ast.expr]:
    """What the value of an expression may be or hold."""
    waiting = [] if node is None else [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, ast.BoolOp):
            waiting.extend(part.values)
        elif isinstance(part, ast.IfExp):
            waiting.extend((part.body, part.orelse))
        elif isinstance(part, ast.List | ast.Tuple | ast.Set):
            waiting.extend(part.elts)
        elif isinstance(part, ast.Dict):
            waiting.extend(part.values)
        elif isinstance(part, ast.NamedExpr | ast.Starred):
            waiting.append(part.value)


def _handed(function: ast.expr, imported: frozenset[str]) -> str | None:
    """What a call does with containers it is given; libraries and built-ins change none."""
    if isinstance(function, ast.Name):
        if function.id in _WALKING:
            return "visited"
        return None if hasattr(builtins, function.id) else "shared"
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    return None if isinstance(root, ast.Name) and root.id in imported else "shared"
