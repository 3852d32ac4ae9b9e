"""What names and attributes mean: in functions, files, objects and libraries; and names that by custom tell the rank."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from distml.source.bindings import decorators
from distml.source.file import SourceFile
from distml.spmd.library import (
    ACCELERATOR,
    ALIKE,
    COMMUNICATOR,
    COMMUNICATORS,
    FABRIC,
    LAST_NAMES,
    MAIN_ONLY,
    RANK_NAMES,
    RANK_VARIABLES,
    RANKS,
    SIZE_NAMES,
    SIZE_VARIABLES,
    TELLING,
    WORLD,
)
from distml.spmd.run import Run
from distml.spmd.values import (
    Class,
    Function,
    Group,
    Instance,
    Items,
    Known,
    Library,
    Module,
    Place,
    Scope,
    Unknown,
    Value,
    derived,
    key,
    local_of,
    trained,
)

_OBJECT_NAMES = {"accelerator": ACCELERATOR, "fabric": FABRIC}
_BUILTINS = frozenset(
    "SystemExit abs all any bool callable dict enumerate exit quit filter float getattr hasattr id int isinstance issubclass "
    "iter len list map max min next open print range reversed round set setattr sorted str sum super tuple type zip".split()
)


def lookup(run: Run, scope: Scope, name: str) -> Value:
    """What a name means in a scope."""
    where: Scope | None = scope
    while where is not None:
        if name in where.names:
            return where.names[name]
        if where.parent is None:
            return _of_file(run, where, name)
        where = where.parent
    raise AssertionError(name)


def custom(run: Run, source: SourceFile, name: str) -> Value | None:
    """What a name tells by custom, where the file has to do with ranks at all."""
    if name in _OBJECT_NAMES and _OBJECT_NAMES[name].partition(".")[0] in source.text:
        return Unknown(name, type=_OBJECT_NAMES[name])
    if name == "comm" and "mpi4py" in source.text:
        return Unknown(name, type=COMMUNICATOR)
    if (
        name not in TELLING
        or not run.facts(source).about_ranks
        or (name == "rank" and run.facts(source).about_matrices)
    ):
        return None
    if name in RANK_NAMES:
        return Known(run.rank, assumed=True, ranked=True)
    if name in LAST_NAMES:
        return Known(run.rank == RANKS - 1, assumed=True)
    return Known(RANKS if name in SIZE_NAMES else run.rank == 0, assumed=True)


def attribute(run: Run, base: Value, name: str, place: Place) -> Value:
    """`base.name`."""
    match base:
        case Library(name=owner):
            return _of_library(run, f"{owner}.{name}")
        case Module(source=source):
            return member(run, source, name)
        case Instance():
            return _of_instance(run, base, name, place)
        case Class():
            return class_member(run, base, name) or Unknown(f"{key(base)}.{name}")
        case Unknown(type=kind):
            if (key(base), name) in run.fields:
                return run.fields[key(base), name]
            found = custom(run, place.source, name)
            if name == "rank" and (found is not None or kind == COMMUNICATOR):
                run.ranked.add(key(base))
                return Known(run.rank, assumed=kind != COMMUNICATOR, ranked=True)
            if name == "size" and (kind == COMMUNICATOR or key(base) in run.ranked):
                return Known(RANKS)  # what has the rank of this process is of the size of them all
            return found or _derived(base, name)
    return custom(run, place.source, name) or Unknown(f"{key(base)}.{name}", local_of(base))


def set_attribute(run: Run, base: Value, name: str, found: Value) -> None:
    """`base.name = found`."""
    if isinstance(base, Instance):
        run.write(base.fields, name, _kept(run, base, name, found))
    elif isinstance(base, Class):
        run.write(run.fields, (base.key, name), found)
    elif isinstance(base, Unknown):
        run.write(run.fields, (key(base), name), found)


def _kept(run: Run, base: Instance, name: str, found: Value) -> Value:
    """What an object says of an attribute that was set, where its class decides that."""
    decides = class_member(run, base.cls, "__setattr__") is not None
    descriptor = class_member(run, base.cls, name)
    return Unknown(f"{base.key}.{name}") if decides or isinstance(descriptor, Instance) else found


def _derived(base: Unknown, name: str) -> Unknown:
    return Unknown(f"{base.key}.{name}", None if name in ALIKE else local_of(base), trained=trained(base))


def _of_library(run: Run, name: str) -> Value:
    if name in WORLD:
        return Group(tuple(range(RANKS)))
    if name in COMMUNICATORS:
        return Unknown("COMM_WORLD", type=COMMUNICATOR)
    return Library(name)


def _of_instance(run: Run, base: Instance, name: str, place: Place) -> Value:
    if name in base.fields:
        return base.fields[name]
    found = class_member(run, base.cls, name)
    if found is None:
        return custom(run, place.source, name) or Unknown(f"{base.key}.{name}")
    if not isinstance(found, Function):
        return found
    bound = Function(found.node, found.scope, base, found.owner, found.first_only, found.block)
    asked = decorators(found.node)
    if {"property", "cached_property"}.isdisjoint(asked):
        return bound
    result = run.language.invoke(run, bound, [], {}, place)
    if "cached_property" in asked:
        run.write(base.fields, name, result)
    return result


def class_member(run: Run, cls: Class, name: str, seen: frozenset[int] = frozenset()) -> Value | None:
    """What a class, or one that it is derived from, holds under a name: what was set later, else its last definition."""
    if (cls.key, name) in run.fields:
        return run.fields[cls.key, name]
    statement = run.facts(cls.scope.source).members(cls.node).get(name)
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return decorated(run, statement, cls.scope, cls)
    if isinstance(statement, ast.Assign):
        return _quietly(run, cls.scope, statement.value, name)
    if statement is not None:
        return Unknown(f"{key(cls)}.{name}")  # set on some paths: what lies behind it may be meant, or not
    for base in bases(run, cls):
        if isinstance(base, Class) and id(base.node) not in seen:
            found = class_member(run, base, name, seen | {id(cls.node)})
            if found is not None:
                return found
    return None


def bases(run: Run, cls: Class) -> list[Value]:
    """What a class is derived from, worked out once where that is known: a class keeps its bases."""
    known = run.bases.get((id(cls.node), id(cls.scope)))
    if known is None:
        found = [_quietly(run, cls.scope, base, "base") for base in cls.node.bases]
        if any(isinstance(base, Unknown) for base in found):
            return found
        known = run.bases[id(cls.node), id(cls.scope)] = cls, found
    return known[1]


def is_environment(value: Value) -> bool:
    """Whether a value is `os.environ`."""
    return isinstance(value, Library) and value.name == "os.environ"


def variable(run: Run, name: object, default: Sequence[Value] = ()) -> Value:
    """A variable of the environment, or what is meant where there is none."""
    if name in RANK_VARIABLES:
        return Known(str(run.rank), ranked=True)
    if name in SIZE_VARIABLES:
        return Known(str(RANKS))
    return derived(f"environ[{', '.join((str(name), *map(key, default)))}]", *default)


def member(run: Run, source: SourceFile, name: str) -> Value:
    """What a file of the project holds under a name."""
    giving = _giver(run, source, name) if source.text else None
    if giving is not None:
        return _of_file(run, run.file(giving), name)
    submodule = run.project.submodule(source, name)
    if submodule is not None:
        return Module(submodule)
    return Library(f"{source.module}.{name}") if source.text else Unknown(f"{source.module}.{name}")


def _giver(run: Run, source: SourceFile, name: str) -> SourceFile | None:
    known = run.facts(source).givers
    if name not in known:
        known[name] = _giving(run, source, name, {source.location})
    return known[name]


def _giving(run: Run, source: SourceFile, name: str, seen: set[str]) -> SourceFile | None:
    """The file that binds a name which another holds: itself, or one that it takes all names of by `import *`."""
    if not source.may_bind(name):
        return None
    facts = run.facts(source)
    if name in facts.bindings:
        return source
    for statement in reversed(facts.stars):
        found = _file_of(run, source, statement)
        if found is not None and found.location not in seen and found.may_give(name):
            giving = _giving(run, found, name, seen | {found.location})
            if giving is not None:
                return giving
    return None


def _of_file(run: Run, scope: Scope, name: str) -> Value:
    if name in scope.names:
        return scope.names[name]
    facts = run.facts(scope.source)
    statements = facts.bindings.get(name, [])
    if not statements:
        giving = _giver(run, scope.source, name)
        if giving is not None:
            return _of_file(run, run.file(giving), name)
        if name == "__name__":
            return Known(scope.source.module)
        return Library(f"builtins.{name}") if name in _BUILTINS else custom(run, scope.source, name) or Unknown(name)
    scope.names[name] = Unknown(name)  # for what refers to itself
    found: Value = Unknown(name)
    if name not in facts.rebound:
        found = _bound_by(run, scope, name, statements)
    if isinstance(found, Unknown) and not found.type:
        found = custom(run, scope.source, name) or found
    scope.names[name] = found
    return found


def _bound_by(run: Run, scope: Scope, name: str, statements: list[ast.stmt]) -> Value:
    """A name of a file that nothing was followed for: the last definition or import, or the only assignment."""
    for statement in reversed(statements):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            return decorated(run, statement, scope, None)
        if isinstance(statement, ast.ClassDef):
            return Class(statement, scope)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return imported(run, scope.source, statement, name)
    if len(statements) == 1 and isinstance(statements[0], ast.Assign | ast.AnnAssign):
        statement = statements[0]
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and statement.value is not None:
            return _quietly(run, scope, statement.value, name)
    return Unknown(name)


def _quietly(run: Run, scope: Scope, node: ast.expr, name: str) -> Value:
    if len(run.active) > 20:
        return Unknown(name)
    with run.silent():
        return run.language.value(run, scope, node)


def imported(run: Run, source: SourceFile, statement: ast.Import | ast.ImportFrom, name: str) -> Value:
    """What an import binds to a name."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            bound = alias.asname or alias.name.partition(".")[0]
            if bound == name:
                return _module(run, source, alias.name if alias.asname else bound)
        elif (alias.asname or alias.name) == name:
            return _taken(run, source, statement, alias.name)
    return Unknown(name)


def _module(run: Run, source: SourceFile, name: str) -> Value:
    found = None if name.partition(".")[0] in {"torch", "horovod"} else run.project.resolve(source, name)
    return Module(found) if found is not None else _of_library(run, name)


def _taken(run: Run, source: SourceFile, statement: ast.ImportFrom, name: str) -> Value:
    module, found = statement.module or "", _file_of(run, source, statement)
    if found is not None:
        return member(run, found, name)
    if statement.level:
        package = source.module.split(".") if source.is_package else source.module.split(".")[:-1]
        package = package[: len(package) - statement.level + 1]
        module = ".".join([*package, *([module] if module else [])])
    return _of_library(run, f"{module}.{name}")


def _file_of(run: Run, source: SourceFile, statement: ast.ImportFrom) -> SourceFile | None:
    """The file of the project that names are imported from."""
    module = statement.module or ""
    outside = not statement.level and module.partition(".")[0] in {"torch", "horovod"}
    return None if outside else run.project.resolve(source, module, statement.level)


def decorated(run: Run, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, owner: Class | None) -> Value:
    """A function with what its decorators make of it."""
    found: Value = Function(node, scope, None, owner)
    for decorator, name in zip(reversed(node.decorator_list), reversed(decorators(node))):
        if not isinstance(found, Function):
            break
        if name in {"contextmanager", "asynccontextmanager"}:
            found.block = True
        elif name in MAIN_ONLY and _foreign(run, scope, decorator):
            found.first_only = Place(scope.source, decorator)
        elif name not in {"property", "cached_property", "staticmethod", "classmethod", "wraps", "setter"}:
            found = _wrapped(run, scope, decorator, found)
    return found


def _wrapped(run: Run, scope: Scope, decorator: ast.expr, function: Function) -> Value:
    """A function in what a decorator of the project returns for it, if that has to do with ranks."""
    bare = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(decorator, ast.Call) or not isinstance(bare, ast.Name):
        return function
    found = lookup(run, scope, bare.id)
    if not isinstance(found, Function) or not run.facts(found.scope.source).minds(found.node):
        return function
    with run.silent():
        result = run.language.invoke(run, found, [function], {}, Place(scope.source, decorator))
    if isinstance(result, Function):
        return Function(result.node, result.scope, None, function.owner, result.first_only, result.block)
    return function


def _foreign(run: Run, scope: Scope, decorator: ast.expr) -> bool:
    """Whether a decorator is not the project's own."""
    bare = decorator.func if isinstance(decorator, ast.Call) else decorator
    return not isinstance(bare, ast.Name) or not isinstance(lookup(run, scope, bare.id), Function)


def ranks_of(value: Value) -> tuple[int, ...] | None:
    """The ranks that a list names."""
    if isinstance(value, Known) and value.value is None:
        return tuple(range(RANKS))
    if isinstance(value, Items) and value.exact:
        numbers = [each.value for each in value.members if isinstance(each, Known)]
        if len(numbers) == len(value.members) and all(isinstance(each, int) for each in numbers):
            return tuple(each for each in numbers if isinstance(each, int))
    return None
