"""What is held by several and changed by fewer: other names for it, and state that outlives a call.

Parties stay in agreement on an object only if all of them make every change to it. A change may come by another name, by a
method of the program that changes its object, or by going through an iterator, and it may stay in a class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.choreo.aliases import IMMUTABLE, MAKING, holds_values
from distml.choreo.changes import CHANGING, changed
from distml.choreo.hints import Hints
from distml.choreo.kinds import Hint, head
from distml.choreo.read import last
from distml.choreo.surroundings import Surroundings

_ITERATORS = frozenset(("Iterator", "Generator"))
_NEW = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.BinOp | ast.Subscript | ast.ListComp | ast.DictComp | ast.SetComp
"""Expressions that make a container, if they give one."""
_UPDATES = frozenset(
    "__setitem__ __delitem__ __setattr__ __delattr__ __iadd__ __isub__ __imul__ __ior__ __iand__".split()
)
"""Methods that Python calls where the source writes a change: those are seen there."""


def is_iterator(hint: Hint) -> bool:
    """Whether going through a value uses it up."""
    return head(hint) in _ITERATORS


def same_objects(node: ast.expr, hints: Hints) -> Iterator[ast.expr]:
    """The names, attributes and items whose objects the value of an expression may be, or contain."""
    hint = hints.of(node)
    if head(hint) in IMMUTABLE - {"tuple"}:
        return
    is_part = isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Name | ast.Attribute) or is_part:
        yield node
        return
    if isinstance(node, ast.Call):
        yield from _of_call(node, hints, hint)
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):  # `value @ Role()`
        yield from same_objects(node.left, hints)
        return
    if isinstance(node, _NEW) and holds_values(hint):
        return
    for each in _parts(node):
        yield from same_objects(each, hints)


def _parts(node: ast.expr) -> Iterable[ast.expr]:
    if isinstance(node, ast.Subscript):
        return (node.value,)
    if isinstance(node, ast.IfExp):
        return (node.body, node.orelse)
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.NamedExpr | ast.Starred):
        return (node.value,)
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return (node.left, node.right) if isinstance(node.op, ast.Add | ast.BitOr) else ()
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return () if isinstance(node.elt, ast.Constant) else [each.iter for each in node.generators]
    return ()


def _of_call(node: ast.Call, hints: Hints, hint: Hint) -> Iterator[ast.expr]:
    """A call may give what it is given, or a container of it; what its type shows to be new is new."""
    function = hints.module.local_function(node.func.id) if isinstance(node.func, ast.Name) else None
    if function is None and last(node.func) in MAKING and holds_values(hint):
        return
    given = [*node.args, *(each.value for each in node.keywords)]
    given += [node.func.value] if isinstance(node.func, ast.Attribute) else []
    given += [each for each in ast.walk(function) if isinstance(each, ast.Name)] if function is not None else []
    own = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)} if function is not None else set()
    for each in given:
        if not (isinstance(each, ast.Name) and each.id in own):
            yield from same_objects(each, hints)


def mutators(module: Surroundings) -> frozenset[str]:
    """The names of methods of the file that change their object or its class."""
    if module.told_mutators is None:
        module.told_mutators = frozenset()
        methods = [each for made in module.classes() for each in made.body if isinstance(each, ast.FunctionDef)]
        while True:  # a method may call another one
            found = frozenset(each.name for each in methods if _changes_itself(each, module)) - CHANGING
            module.told_changes = None
            if found <= module.told_mutators:
                break
            module.told_mutators |= found
    return module.told_mutators


def _changes_itself(method: ast.FunctionDef, module: Surroundings) -> bool:
    first = [*method.args.posonlyargs, *method.args.args][:1]
    return (
        bool(first)
        and method.name not in ("__init__", "__post_init__", "__new__")
        and first[0].arg in changed(method, module)
    )


def changes_when_asked(made: ast.ClassDef, module: Surroundings) -> bool:
    """Whether objects of a class change where nothing is written that changes them: in `len(x)`, `x + 1`, `str(x)`."""
    special = [each for each in made.body if isinstance(each, ast.FunctionDef) and each.name.startswith("__")]
    return any(_changes_itself(each, module) for each in special if each.name not in _UPDATES)


def is_class_state(value: ast.expr, name: str, module: Surroundings) -> bool:
    """Whether the file changes, in a class, what its body sets `name` to: one object for all of the program."""
    rebound, in_place = module.changed_fields()
    return name in rebound or (name in in_place and not isinstance(value, ast.Constant))


def kept_arguments(function: ast.FunctionDef) -> set[str]:
    """The parameters whose defaults are objects that may be changed: there is one for all calls."""
    plain = [*function.args.posonlyargs, *function.args.args]
    pairs = [*zip(plain[::-1], function.args.defaults[::-1]), *zip(function.args.kwonlyargs, function.args.kw_defaults)]
    return {each.arg for each, default in pairs if default is not None and not isinstance(default, ast.Constant)}
