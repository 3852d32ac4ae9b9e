"""Data files of the project that the program reads by a path that is known: JSON, YAML, TOML and INI.

From which folder the program will be run is not known: a path counts where one file fits, in the folder of the checked file or
one above it. A file that code in sight may write is not what is there now. What is read has the place of the call as its origin.
"""

from __future__ import annotations

import ast
import posixpath
from math import isfinite
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op, call_value
from distml.interp.installed import is_foreign
from distml.ops.python.paths import ROOT, as_path, place_of, placed
from distml.source.bindings import last_name
from distml.source.data import NoDataError, decoded, parsed
from distml.source.reading import UnreadableError
from distml.values import Bound, Const, DictRecord, InstanceRecord, Lib, ListRecord, Opaque, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine
    from distml.shapes import Origin
    from distml.source.file import SourceFile

MAX_ITEMS = 5_000
"""Values in one file, those counted again that aliases repeat."""
_CONTENT = "content"
"""Names the fact that says of which file an open file, or its text, is."""
_UTF8 = Const("utf-8")
_WRITING = frozenset(
    "write_text write_bytes touch unlink remove rename replace move copy copyfile copytree dump safe_dump dump_all save"
    " urlretrieve to_json to_yaml write".split()
)
"""What functions are called that make or change a file."""
_ANY = frozenset([""])
"""What a program may write, or read by a path that means another file, that goes into another folder first."""
_written: WeakKeyDictionary[SourceFile, frozenset[str]] = WeakKeyDictionary()


def path_of(vm: Machine, value: Value) -> str | None:
    """The path that a string, a place or an object with `__fspath__` is."""
    return place_of(vm, as_path(vm, value))


def _open(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`open(file)`: https://docs.python.org/3/library/functions.html#open"""
    args, named = arguments.args, arguments.kwargs
    mode = args[1] if len(args) > 1 else named.get("mode", Const("r"))
    opened = vm.opaque("open", vm.origin(node))
    file = args[0] if args else named.get("file")
    reads = isinstance(mode, Const) and isinstance(mode.value, str) and not set("wax+") & set(mode.value)
    encoding = named.get("encoding", args[3] if len(args) > 3 else _UTF8)
    plain = isinstance(encoding, Const) and str(encoding.value).lower() in ("none", "utf-8", "utf8", "ascii")
    path = path_of(vm, file) if file is not None and reads and plain and not arguments.open else None
    if path is not None:
        vm.put((_CONTENT, opened), path)
    return opened


def _read(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`file.read()` of a file that was opened for reading."""
    text = vm.opaque("text", vm.origin(node))
    path = vm.get((_CONTENT, arguments.args[0])) if len(arguments.args) == 1 else None
    if path is not None:
        vm.put((_CONTENT, text), path)
    return text


def is_open_file(vm: Machine, value: Value) -> bool:
    """Whether a value is a file that the program opened for reading by a known path."""
    return isinstance(value, Opaque) and vm.get((_CONTENT, value)) is not None


def _loader(form: str, *harmless: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """What reads a form: from an open file, or from a text. Options but the `harmless` ones may change what it gives."""

    def load(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        hook = arguments.kwargs.get("object_hook")
        known = len(arguments.args) == 1 and not arguments.open and set(arguments.kwargs) <= {*harmless, "object_hook"}
        if not known or (hook is not None and form != "json"):
            return _unknown(vm, "what is read here is not known: the options may change it", node)
        given = arguments.args[0]
        if isinstance(given, Const) and isinstance(given.value, str | bytes):
            text = given.value if isinstance(given.value, str) else given.value.decode("utf-8", "replace")
            return _made(vm, text, form, hook, node)
        path = vm.get((_CONTENT, given))
        if not isinstance(path, str):
            return _unknown(vm, "what is read here is not known", node)
        return _file(vm, path, form, hook, node)

    return load


def _yaml_load(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`yaml.load(stream, Loader)`: https://pyyaml.org/wiki/PyYAMLDocumentation"""
    loader = arguments.args[1] if len(arguments.args) > 1 else arguments.kwargs.get("Loader")
    if isinstance(loader, Lib) and loader.name.rpartition(".")[2].removeprefix("C") in _LOADERS:
        return _loader("yaml")(vm, Arguments(arguments.args[:1]), node)
    return _unknown(vm, "what is read here is not known: the loader is not one of PyYAML's", node)


_LOADERS = frozenset({"SafeLoader", "FullLoader", "Loader", "UnsafeLoader"})


def _file_at(form: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """What models of libraries read by a path, or from an open file."""

    def load(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        path = path_of(vm, arguments.args[0]) or vm.get((_CONTENT, arguments.args[0]))
        if not isinstance(path, str):
            return _unknown(vm, "what is read here is not known", node)
        return _file(vm, path, form, None, node)

    return load


def _file(vm: Machine, path: str, form: str, hook: Value | None, node: ast.AST) -> Value:
    path = posixpath.normpath(path)
    inside = path.removeprefix(f"{ROOT}/")
    reader = program_of(vm)
    base = vm.checked if not vm.import_depth else reader
    if reader is None or base is None or inside.startswith(("//", "..")):
        return _unknown(vm, f"{posixpath.basename(path)} is not read: it is outside of what is checked", node)
    if any(inside.endswith(each) for source in {base, reader} for each in _written_by(source)):
        return _unknown(vm, f"{inside} is not read: the program may write it", node)
    try:
        data = vm.project.data(base, {base, reader}, inside)
    except UnreadableError:
        data = None
    if data is None:
        return _unknown(vm, f"{inside} is not read: there is not one file of that name", node)
    try:
        return _made(vm, decoded(data), form, hook, node)
    except NoDataError:
        return _unknown(vm, f"{inside} is not read: it is too large, or not what it should be", node)


def _made(vm: Machine, text: str, form: str, hook: Value | None, node: ast.AST) -> Value:
    try:
        plain = parsed(text, form)
        _count(plain, 0)
    except NoDataError:
        return _unknown(vm, "what is read here is too large, or not what it should be", node)
    return _value(vm, plain, hook, vm.origin(node), node)


def _count(plain: Any, counted: int) -> int:
    """How many values there are, those that aliases repeat counted again."""
    counted += 1
    if counted > MAX_ITEMS:
        raise NoDataError
    items = [*plain, *plain.values()] if isinstance(plain, dict) else plain if isinstance(plain, list) else ()
    for item in items:
        counted = _count(item, counted)
    return counted


def _value(vm: Machine, plain: Any, hook: Value | None, origin: Origin, node: ast.AST) -> Value:
    if isinstance(plain, dict):
        items: dict[Value, Value] = {Const(k): _value(vm, v, hook, origin, node) for k, v in plain.items()}
        made = vm.allocate(DictRecord(items))
        return made if hook is None else call_value(vm, hook, Arguments([made]), node)
    if isinstance(plain, list):
        return vm.allocate(ListRecord(tuple(_value(vm, each, hook, origin, node) for each in plain)))
    if plain is None or isinstance(plain, bool | str | int) or (isinstance(plain, float) and isfinite(plain)):
        return Const(plain, origin)
    return vm.opaque("loaded", origin)


def _written_by(source: SourceFile) -> frozenset[str]:
    """The constants that name a file which a module may write: those in calls that write."""
    if source not in _written:
        if "chdir" in source.text:
            return _ANY
        names = {
            each.targets[0].id: each.value.value
            for each in source.tree.body
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
            if isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
        }
        calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and _writes(node)]
        parts = [part for call in calls for part in ast.walk(call)]
        found = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
        found |= {names[part.id] for part in parts if isinstance(part, ast.Name) and part.id in names}
        _written[source] = frozenset(posixpath.normpath(each) for each in found if "." in each[1:])
    return _written[source]


def _writes(call: ast.Call) -> bool:
    name = last_name(call.func)
    if name != "open":
        return name in _WRITING
    modes = [*call.args[:2], *(each.value for each in call.keywords if each.arg == "mode")]
    texts = [each.value for each in modes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(set(text) <= set("rwaxbt+") and set("wax+") & set(text) for text in texts)


def _unknown(vm: Machine, reason: str, node: ast.AST) -> Value:
    vm.lose(reason, node)
    return vm.opaque("loaded", vm.origin(node))


def _beside(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`beside(path)`: a path from the folder of the file whose code this is."""
    source, path = program_of(vm), path_of(vm, arguments.args[0])
    if source is None or path is None or source.path.startswith("/") or path.startswith("pkg:"):
        return vm.opaque("path")
    return placed(vm, posixpath.join(ROOT, posixpath.dirname(source.path), path))


def program_of(vm: Machine) -> SourceFile | None:
    """The file of the program whose code runs, or called the library whose code does."""
    frames = [vm.frame, *reversed(vm.stack)]
    return next((each.module.source for each in frames if not is_foreign(each.module.source)), None)


def _str(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`str(x)` is what `x.__str__()` gives: https://docs.python.org/3/reference/datamodel.html#object.__str__"""
    value = arguments.args[0] if len(arguments.args) == 1 and not arguments.kwargs else None
    if isinstance(value, Ref) and isinstance(vm.record(value), InstanceRecord):
        method = vm.attribute(value, "__str__")
        if isinstance(method, Bound):
            return call_value(vm, method, Arguments([]), node)
    if isinstance(value, Opaque) and place_of(vm, value) is not None:
        return value
    return call_op(vm, "builtins.str", arguments, node, "builtins")


def joined_path(vm: Machine, values: list[Value]) -> Value | None:
    """What an f-string of paths and constants is; None where no part of it is a path."""
    parts = [path_of(vm, value) for value in values]
    text = "".join(part for part in parts if part is not None)
    return placed(vm, text) if None not in parts and text.startswith(ROOT) else None


DATA: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    **dict.fromkeys(("builtins.open", "io.open"), _open),
    "builtins.str": _str,
    **dict.fromkeys(("json.load", "json.loads"), _loader("json")),
    **dict.fromkeys(("tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads"), _loader("toml")),
    **dict.fromkeys(("yaml.safe_load", "yaml.full_load", "yaml.unsafe_load"), _loader("yaml")),
    "yaml.load": _yaml_load,
    "_elsewhere.read": _read,
    "_elsewhere.opened": _open,
    "_elsewhere.yaml_file": _file_at("omegaconf"),
    "_elsewhere.hydra_file": _file_at("hydra"),
    "_elsewhere.beside": _beside,
    "_elsewhere.ini_file": _file_at("ini"),
    "toml.load": _file_at("toml"),
}
