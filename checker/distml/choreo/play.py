"""Plays a choreography: loads the program of each party and runs all of them on this machine, for trying out.

The only part of the checker that executes the code it is given. Nothing imports it but the command that says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Literal, NamedTuple

from distml.choreo.check import Checked
from distml.choreo.model import Definition, Function, Kind, Located, Module, Parameter
from distml.choreo.project import Projection
from distml.choreo.read import is_static, last
from distml.choreo.runtime import PartiesFailed, PartyError, run_parties
from distml.choreo.runtime.parties import Ends
from distml.choreo.runtime.parties import Function as Act

Arguments = Mapping[tuple[str, str], object]


class PlayError(ValueError):
    """What was asked for cannot be played: no such choreography, other roles, an argument too many or too few."""


class Call(NamedTuple):
    """One step of a party: the projected name is called with its parameters at the role."""

    function: Function
    parameters: tuple[Parameter, ...]
    formal: Mapping[str, str]


class Scene(NamedTuple):
    """A choreography to play: its roles, and the calls that make it, the constructor of a class first."""

    name: str
    roles: tuple[str, ...]
    definition: Definition | None
    calls: tuple[Call, ...]


def scene(module: Module, name: str | None, roles: Sequence[str] | None) -> Scene:
    """The choreography called `name`: a function, or `Class.method`.

    Without a name it is the only one that has these roles. Raises PlayError where there is none, or no only one.
    """
    found = {each.name: each for each in _scenes(module)}
    if name is None:
        fitting = [each for each in found.values() if roles is None or set(roles) == set(each.roles)]
        if len(fitting) != 1:
            raise PlayError(f"{'no' if not fitting else 'more than one'} choreography to call; {_listed(found)}")
        return _ordered(fitting[0], roles)
    if name not in found:
        raise PlayError(f"no choreography {name}; {_listed(found)}")
    return _ordered(found[name], roles)


def play(
    projection: Projection,
    chosen: Scene,
    arguments: Arguments,
    path: Path,
    transport: Literal["threads", "tcp"],
    timeout: float,
) -> dict[str, Any]:
    """Load the programs of the parties and run them; their results by role.

    `arguments` are by role and parameter. Raises PlayError before anything runs where they do not fit, PartiesFailed
    where a party failed.
    """
    _fit(chosen, arguments)
    with _loaded(projection.files, chosen.roles, path) as programs:
        parties = {role: _act(projection.checked, chosen, role, programs[role], arguments) for role in chosen.roles}
        wire = {role: program.__dict__.get("WIRE", ()) for role, program in programs.items()}
        channels = _channels(chosen)
        return run_parties(parties, channels=channels, transport=transport, wire=wire, timeout=timeout)


def _scenes(module: Module) -> Iterator[Scene]:
    for name, function in module.functions.items():
        yield Scene(name, function.roles, None, (Call(function, tuple(function.parameters), {}),))
    for definition in module.classes.values():
        itself = Located(Kind.OBJECT, definition.roles, definition.name)
        made = module.method_of(itself, "__init__")
        built = () if made is None else (_call(*made),)
        for method in definition.methods.values():
            name = method.node.name
            marks = {last(each) for each in method.node.decorator_list}
            if name.startswith("_") or method.is_abstract or marks & {"property", "cached_property"}:
                continue
            call = _call(method, {role: role for role in definition.roles})
            before = () if is_static(method.node) else built
            yield Scene(f"{definition.name}.{name}", definition.roles, definition, (*before, call))


def _call(function: Function, roles: Mapping[str, str]) -> Call:
    bound = function.parameters if is_static(function.node) else function.parameters[1:]
    parameters = (each._replace(type=each.type.renamed(roles)) for each in bound)
    return Call(function, tuple(parameters), {actual: formal for formal, actual in roles.items()})


def _ordered(found: Scene, roles: Sequence[str] | None) -> Scene:
    if roles is None:
        return found
    if set(roles) != set(found.roles) or len(roles) != len(found.roles):
        raise PlayError(f"the roles of {found.name} are {', '.join(found.roles)}, not {', '.join(roles)}")
    return found._replace(roles=tuple(roles))


def _listed(found: Mapping[str, Scene]) -> str:
    if not found:
        return "the file has none"
    return "there are " + ", ".join(f"{name} ({', '.join(each.roles)})" for name, each in found.items())


def _at(call: Call, role: str) -> Iterator[Parameter]:
    return (each for each in call.parameters if each.type.roles is None or role in each.type.roles)


def _fit(chosen: Scene, arguments: Arguments) -> None:
    wanted = {(role, each.name): each for call in chosen.calls for role in chosen.roles for each in _at(call, role)}
    for (role, name), each in wanted.items():
        if each.type.kind is Kind.OBJECT:
            raise PlayError(f"{chosen.name} takes the choreography {name}; call one that makes it")
        missing = each.default is None and (role, name) not in arguments
        if each.type.kind is Kind.DATA and missing:
            raise PlayError(f"{chosen.name} needs --arg {role}.{name}=LITERAL")
    for role, name in arguments:
        if (role, name) not in wanted or wanted[role, name].type.kind is not Kind.DATA:
            raise PlayError(f"{chosen.name} takes no argument {name} at {role}")


def _channels(chosen: Scene) -> list[tuple[str, str, str]]:
    found = {}
    for call in chosen.calls:
        for each in call.parameters:
            if each.type.kind is Kind.CHANNEL and each.type.roles is not None:
                first, second = each.type.roles
                found[frozenset((first, second)), each.name] = (first, second, each.name)
    return list(found.values())


def _act(checked: Checked, chosen: Scene, role: str, program: ModuleType, arguments: Arguments) -> Act:
    def given(call: Call, ends: Ends) -> dict[str, Any]:
        if (call.function, call.formal.get(role, role)) not in checked.bodies:
            return {}
        values: dict[str, Any] = {}
        for each in _at(call, role):
            if each.type.kind is Kind.CHANNEL:
                peer = next(other for other in each.type.roles or () if other != role)
                values[each.name] = ends[peer, each.name]
            elif (role, each.name) in arguments:
                values[each.name] = arguments[role, each.name]
        return values

    def act(ends: Ends) -> Any:
        *built, wanted = chosen.calls
        if chosen.definition is None:
            return getattr(program, f"{chosen.name}_{role}")(**given(wanted, ends))
        made = getattr(program, f"{chosen.definition.name}_{role}")
        if not is_static(wanted.function.node):
            made = made(**(given(built[0], ends) if built else {}))
        # A party that does nothing in a method has none.
        method = getattr(made, wanted.function.node.name, None)
        return None if method is None else method(**given(wanted, ends))

    return act


@contextmanager
def _loaded(files: Mapping[str, str], roles: Sequence[str], path: Path) -> Iterator[dict[str, ModuleType]]:
    """The programs of the roles as modules, beside which the folder of the source can be imported from."""
    before = list(sys.path)
    sys.path.insert(0, str(path.resolve().parent))
    loaded: dict[str, ModuleType] = {}
    try:
        with TemporaryDirectory(prefix="distml-") as folder:
            for role in roles:
                loaded[role] = _load(files[role], role, Path(folder) / f"{path.stem}_{role}.py")
            yield loaded
    finally:
        sys.path[:] = before
        for program in loaded.values():
            sys.modules.pop(program.__name__, None)


def _load(text: str, role: str, target: Path) -> ModuleType:
    target.write_text(text, "utf-8")
    spec = spec_from_file_location(f"_distml_played_{target.stem}", target)
    if spec is None or spec.loader is None:
        raise PlayError(f"cannot load the program of {role}")
    program = module_from_spec(spec)
    sys.modules[program.__name__] = program  # dataclasses look their module up
    try:
        spec.loader.exec_module(program)
    except Exception as error:  # the code of others may raise anything
        del sys.modules[program.__name__]
        told = PartyError(role, f"cannot be loaded: {type(error).__name__}: {error}")
        raise PartiesFailed(role, told.message, {role: error}) from error
    return program
