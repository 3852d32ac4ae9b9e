"""Paths: `os.path`, and where in the project a path leads that begins at the program's own file.

A path is a constant, or a *place*: a string that is not known, of a file that is. A place begins with `ROOT`, which stands for
the folder from which distml runs, so that no result depends on where the project lies.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from distml.ops.python.folding import compute
from distml.ops.registry import op
from distml.values import Bound, Const, InstanceRecord, Opaque, Prim, Ref, Value

if TYPE_CHECKING:
    from distml.ops.call import Call, World

ROOT = "//root"
_PLACE = "place"


def place_of(world: World, value: Value) -> str | None:
    """The path that a value is, None when not known."""
    if isinstance(value, Const):
        return value.value if isinstance(value.value, str) else None
    found = world.get((_PLACE, value)) if isinstance(value, Opaque) else None
    return found if isinstance(found, str) else None


def as_path(world: World, value: Value) -> Value:
    """What `os.fspath` gives: of an object, what its `__fspath__` gives."""
    if not isinstance(value, Ref) or not isinstance(world.record(value), InstanceRecord):
        return value
    method = world.attribute(value, "__fspath__")
    return world.apply(method, []) if isinstance(method, Bound) else value


def placed(world: World, path: str) -> Value:
    """A string of which is known which file it means."""
    made = Opaque("path", world.serial())
    world.put((_PLACE, made), path)
    world.put(("truth", made), True)
    return made


def is_place(world: World, value: Value) -> bool:
    """Whether a value is a path of which is known where it leads, and not how it is written."""
    return isinstance(value, Opaque) and place_of(world, value) is not None


@op("os.path.join")
def join(call: Call, a: Value, /, *paths: Value) -> Value:
    """os.path.join(a, *paths): https://docs.python.org/3/library/os.path.html#os.path.join"""
    values = [as_path(call.world, each) for each in (a, *paths)]
    parts = [place_of(call.world, each) for each in values]
    if None not in parts and any(is_place(call.world, each) for each in values):
        return placed(call.world, posixpath.join(*[part for part in parts if part is not None]))
    return compute(call, posixpath.join, *values) or Prim("str")


@op("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "os.path.expandvars", "os.fspath")
def absolute(call: Call, path: Value, **options: Value) -> Value:
    """os.path.abspath(path): https://docs.python.org/3/library/os.path.html#os.path.abspath"""
    path = as_path(call.world, path)
    known = place_of(call.world, path)
    name = call.name.rpartition(".")[2]
    if known is None or "~" in known or "$" in known:
        return Prim("str")
    if name not in ("abspath", "realpath"):
        return compute(call, posixpath.normpath, path) or path if name == "normpath" else path
    return placed(call.world, known if known.startswith("/") else posixpath.join(ROOT, known))


@op("os.getcwd")
def getcwd(call: Call) -> Value:
    """os.getcwd(): https://docs.python.org/3/library/os.html#os.getcwd"""
    return placed(call.world, ROOT)


@op("os.path.dirname")
def dirname(call: Call, p: Value, /) -> Value:
    """os.path.dirname(p): https://docs.python.org/3/library/os.path.html#os.path.dirname"""
    p = as_path(call.world, p)
    if is_place(call.world, p):
        return placed(call.world, posixpath.dirname(posixpath.normpath(place_of(call.world, p) or "")))
    return compute(call, posixpath.dirname, p) or Prim("str")


@op("os.path.basename", "os.path.split", "os.path.splitext")
def part_of_path(call: Call, p: Value, /) -> Value:
    """os.path.basename(p) and its kin: https://docs.python.org/3/library/os.path.html"""
    name, p = call.name.rpartition(".")[2], as_path(call.world, p)
    if name == "basename" and is_place(call.world, p):
        return Const(posixpath.basename(place_of(call.world, p) or ""))
    known: Any = compute(call, getattr(posixpath, name), p)
    return known if known is not None else call.unknown() if "split" in name else Prim("str")
