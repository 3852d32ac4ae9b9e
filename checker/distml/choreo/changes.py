"""What a call changes in place: its object, or what it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.choreo.hints import Hints
from distml.choreo.read import last
from distml.choreo.surroundings import Surroundings

CHANGING = frozenset(
    "append appendleft add extend extendleft insert pop popleft popitem remove clear sort reverse rotate update setdefault "
    "discard subtract intersection_update difference_update symmetric_difference_update "
    "__setitem__ __delitem__ __iadd__ __imul__ __ior__ __iand__ __ixor__ __isub__ __setattr__ __delattr__ __next__".split()
)
"""Methods that change their object, whatever it is."""
FIRST = frozenset(
    "next setattr delattr heapq.heappush heapq.heappop heapq.heapify heapq.heapreplace heapq.heappushpop bisect.insort "
    "bisect.insort_left bisect.insort_right random.shuffle operator.setitem operator.delitem operator.iadd operator.iand "
    "operator.iconcat operator.ior operator.isub operator.ixor operator.imul struct.pack_into".split()
)
"""Functions that change their first argument."""
MUTABLE = frozenset(
    "list List dict Dict set Set MutableSet MutableSequence MutableMapping deque bytearray Counter OrderedDict "
    "defaultdict".split()
)


IMMUTABLE = frozenset("int float bool complex str bytes tuple frozenset range None".split())


def changed_by(call: ast.Call, hints: Hints, unknown: bool) -> list[ast.expr]:
    """What a call may change in place, of what has a name.

    An `unknown` call may change whatever it is given that can be changed.
    """
    return [
        each for each in _changed(call, hints, unknown) if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)
    ]


def _changed(call: ast.Call, hints: Hints, unknown: bool) -> list[ast.expr]:
    module, given = hints.module, [*call.args, *(each.value for each in call.keywords)]
    path = _path(call.func, module)
    if path in FIRST:
        return given[:1]
    if isinstance(call.func, ast.Attribute):
        base = call.func.value
        if call.func.attr in CHANGING or call.func.attr in _mutators(module):
            itself = isinstance(base, ast.Name) and base.id in MUTABLE and base.id not in hints.names
            return given[:1] if itself else [base]
    if isinstance(call.func, ast.Name) and call.func.id in hints.names and "__call__" in _mutators(module):
        return [call.func]
    function = module.local_function(last(call.func)) if isinstance(call.func, ast.Name) else None
    if function is not None:
        inside = changed(function, module)
        parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        named = [*zip(parameters, call.args), *((each.arg or "", each.value) for each in call.keywords)]
        return [value for name, value in named if name in inside and hints.kind(value) not in IMMUTABLE]
    return [each for each in given if hints.kind(each) in MUTABLE] if unknown else []


def changed(function: ast.FunctionDef, module: Surroundings) -> set[str]:
    """The names whose values a local function changes in place: its parameters, or what was there before it."""
    known = _of_functions(module)
    return (
        known[function.name]
        if module.local_function(function.name) is function
        else _changed_in(function, module, known)
    )


def _of_functions(module: Surroundings) -> dict[str, set[str]]:
    """The same of all functions of a file, which may call each other."""
    if module.told_changes is None:
        _mutators(module)
        functions = [each for each in module.local if isinstance(each, ast.FunctionDef)]
        known: dict[str, set[str]] = {each.name: set() for each in functions}
        module.told_changes = known
        grown = True
        while grown:
            before = {name: len(each) for name, each in known.items()}
            for each in functions:
                known[each.name] |= _changed_in(each, module, known)
            grown = before != {name: len(each) for name, each in known.items()}
    return module.told_changes


def _changed_in(function: ast.FunctionDef, module: Surroundings, known: dict[str, set[str]]) -> set[str]:
    own, found, outer = set(), set(), set()
    parameters = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            own.add(each.id)
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found |= {each.target.id} & parameters  # a list, say, is changed in place
        elif isinstance(each, ast.Call):
            found.update(*(_roots(target, module) for target in _inner(each, module, known)))
        elif isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            found.add(_root(each.value))
        elif isinstance(each, ast.Global | ast.Nonlocal):
            outer.update(each.names)
    return (found - (own - parameters) - {""}) | outer


def _inner(call: ast.Call, module: Surroundings, known: dict[str, set[str]]) -> Iterator[ast.expr]:
    """What a call inside a local function changes."""
    if isinstance(call.func, ast.Attribute) and (call.func.attr in CHANGING or call.func.attr in _mutators(module)):
        yield call.func.value
    if _path(call.func, module) in FIRST or (isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING):
        yield from call.args[:1] if last(getattr(call.func, "value", None)) in MUTABLE | {*module.imports()} else []
        yield from call.args[:1] if isinstance(call.func, ast.Name) else []
    function = module.local_function(call.func.id) if isinstance(call.func, ast.Name) else None
    if function is not None:
        inside = known[function.name]
        yield from (value for each, value in zip(function.args.args, call.args) if each.arg in inside)


def _path(function: ast.expr, module: Surroundings) -> str:
    """The qualified name of a function that is imported or built in."""
    if isinstance(function, ast.Name):
        return module.imports().get(function.id, function.id)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{module.imports().get(function.value.id, function.value.id)}.{function.attr}"
    return ""


def _mutators(module: Surroundings) -> frozenset[str]:
    from distml.choreo.sharing import mutators

    return mutators(module)


def fields_changed(module: Surroundings) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that a file sets in its classes, and those whose values it changes in place."""
    rebound, in_place = set(), set()
    classes = {each.name for each in module.classes()} | {
        function.args.args[0].arg
        for made in module.classes()
        for function in made.body
        if isinstance(function, ast.FunctionDef) and function.args.args
        if function.name == "__init_subclass__" or any(last(each) == "classmethod" for each in function.decorator_list)
    }
    for each in ast.walk(module.tree):
        target: ast.expr | None = None
        if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load):
            base = each.value
            of_class = isinstance(base, ast.Call) or last(base) == "__class__" or last(base) in classes
            rebound |= {each.attr} if of_class else set()
        if isinstance(each, ast.AugAssign):
            target = each.target
        elif isinstance(each, ast.Subscript) and not isinstance(each.ctx, ast.Load):
            target = each.value
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            target = each.func.value if each.func.attr in CHANGING | _mutators(module) else None
        while isinstance(target, ast.Subscript):
            target = target.value
        in_place |= {target.attr} if isinstance(target, ast.Attribute) else set()
    return frozenset(rebound), frozenset(in_place)


def _roots(node: ast.expr, module: Surroundings) -> set[str]:
    """The variables whose objects an expression reaches: of a call, those that the called function names."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = module.local_function(node.func.id)
        return {each.id for each in ast.walk(function) if isinstance(each, ast.Name)} if function is not None else set()
    return {_root(node)}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return last(node) if isinstance(node, ast.Name) else ""
