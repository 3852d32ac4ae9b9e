"""What a call changes in place: its object, or what it is given."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from distml.choreo.aliases import IMMUTABLE, Aliases, arguments, given_to, is_new
from distml.choreo.hints import Hints
from distml.choreo.read import last
from distml.choreo.sharing import same_objects
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

_UPDATES = frozenset(
    "__setitem__ __delitem__ __setattr__ __delattr__ __iadd__ __isub__ __imul__ __ior__ __iand__".split()
)
"""Methods that Python calls where the source writes a change: those are seen there."""


def changed_by(call: ast.Call, hints: Hints, unknown: bool) -> list[ast.expr]:
    """What a call may change in place, of what has a name.

    An `unknown` call may change whatever it is given that can be changed.
    """
    found = []
    for each in _changed(call, hints, unknown):
        named = isinstance(each, ast.Name | ast.Attribute | ast.Subscript)
        found += [each] if named else [] if is_new(each, hints) else list(same_objects(each, hints))
    return found


def _changed(call: ast.Call, hints: Hints, unknown: bool) -> list[ast.expr]:
    module, given = hints.module, arguments(call)
    path = _path(call.func, module)
    if path in FIRST or _takes_method(call, module):
        return given[:1]
    if isinstance(call.func, ast.Attribute):
        base = call.func.value
        if call.func.attr in CHANGING or call.func.attr in mutators(module):
            itself = isinstance(base, ast.Name) and base.id in MUTABLE and base.id not in hints.names
            return given[:1] if itself else [base]
    if isinstance(call.func, ast.Name) and call.func.id in hints.names and "__call__" in mutators(module):
        return [call.func]
    function = module.local_function(last(call.func)) if isinstance(call.func, ast.Name) else None
    if function is not None:
        return [
            each for each in given_to(call, function, changed(function, module)) if hints.kind(each) not in IMMUTABLE
        ]
    handed = [
        module.local_function(each.id) for each in given if isinstance(each, ast.Name) and each.id not in hints.names
    ]
    if any(each is not None and changed(each, module) for each in handed):
        return given  # a function that changes what it is given, handed to one that calls it
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
        mutators(module)
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


def _aliases_of(function: ast.FunctionDef, module: Surroundings) -> Aliases:
    if function not in module.told_aliases:
        module.told_aliases[function] = Aliases(function, module)
    return module.told_aliases[function]


def _changed_in(function: ast.FunctionDef, module: Surroundings, known: dict[str, set[str]]) -> set[str]:
    aliases = _aliases_of(function, module)
    found = set(aliases.outer)
    called = {id(each.func) for each in aliases.nodes if isinstance(each, ast.Call)}
    for each in aliases.nodes:
        if isinstance(each, ast.Call):
            found.update(*(aliases.of(target).itself for target in _inner(each, aliases, known)))
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found |= aliases.of(each.target).itself  # a list, say, is changed in place
        elif isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            found |= aliases.of(each.value).itself
        elif isinstance(each, ast.Attribute) and id(each) not in called and _is_changing(each, module):
            found |= aliases.of(each.value).itself  # whoever has the method may call it
        elif isinstance(each, ast.Name) and id(each) not in called and known.get(each.id):
            found |= aliases.given() if module.local_function(each.id) is not None else set()
    return found


def _inner(call: ast.Call, aliases: Aliases, known: dict[str, set[str]]) -> Iterator[ast.expr]:
    """What a call inside a local function changes."""
    module, base = aliases.module, call.func.value if isinstance(call.func, ast.Attribute) else None
    if base is not None and last(call.func) in CHANGING | mutators(module):
        yield from [base] if _is_changing(call.func, module) else []
        yield from call.args[:1] if last(base) in MUTABLE | {*module.imports()} else []
    if _path(call.func, module) in FIRST or _takes_method(call, module):
        yield from call.args[:1]
    function = module.local_function(call.func.id) if isinstance(call.func, ast.Name) else None
    if function is not None:
        yield from given_to(call, function, known[function.name])
    elif not isinstance(call.func, ast.Name | ast.Attribute | ast.Lambda):
        yield from arguments(call)  # a function that something gave


def _is_changing(function: ast.expr, module: Surroundings) -> bool:
    """Whether it is a method that changes its object, and no function of a module, such as `operator.add`."""
    home = _path(function, module).partition(".")[0]
    return last(function) in CHANGING | mutators(module) and home not in sys.stdlib_module_names


def _takes_method(call: ast.Call, module: Surroundings) -> bool:
    """Whether `getattr` may take a method that changes its object."""
    if last(call.func) != "getattr" or len(call.args) < 2:
        return False
    name = call.args[1]
    return not isinstance(name, ast.Constant) or name.value in CHANGING | mutators(module)


def _path(function: ast.expr, module: Surroundings) -> str:
    """The qualified name of a function that is imported or built in."""
    if isinstance(function, ast.Name):
        return module.imports().get(function.id, function.id)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{module.imports().get(function.value.id, function.value.id)}.{function.attr}"
    return ""


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
    rebound, in_place = changed_fields(module)
    return name in rebound or (name in in_place and not isinstance(value, ast.Constant))


def changed_fields(module: Surroundings) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that a file sets in its classes, and those whose values it changes in place; found out once."""
    if module.told_fields is None:
        module.told_fields = _changed_fields(module)
    return module.told_fields


def _changed_fields(module: Surroundings) -> tuple[frozenset[str], frozenset[str]]:
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
            target = each.func.value if each.func.attr in CHANGING | mutators(module) else None
        while isinstance(target, ast.Subscript):
            target = target.value
        in_place |= {target.attr} if isinstance(target, ast.Attribute) else set()
    return frozenset(rebound), frozenset(in_place)
