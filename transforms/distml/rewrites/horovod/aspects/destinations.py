"""Which file a call opens or writes, and how, whatever library and method it goes by."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from distml.rewrites.horovod.aspects.anchors import path_of
from distml.rewrites.horovod.aspects.origins import wholes
from distml.spmd.touched import FILES
from distml.training.callers import run_by
from distml.training.callsites import argument, argument_for
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, receiver_of, values_given
from distml.training.values import PATH, Class, Constant, Foreign, Instance

NOTHING, FILE, FOLDER = "nothing", "file", "folder"
"""What a rank that is not to write is given: a file that forgets, one of its own by the same name, a folder of its own."""


SCREEN = re.compile(r"sys\.(stdout|stderr)")


class Opened(NamedTuple):
    """A file that a call opens: the expression that says which one, and the mode; None where that is computed.

    A folder of files of events may be left to the library: then there is no expression.
    """

    path: ast.expr | None
    mode: str | None
    instead: str = NOTHING

    @property
    def to_write(self) -> bool:
        """Whether what is in it may change."""
        return self.mode is not None and bool(set(self.mode) & set("wax"))


class _Form(NamedTuple):
    """How calls of one sort are given a path and a mode; position -1: by name only, None: what the method is called on."""

    names: re.Pattern[str]
    path: tuple[int | None, str]
    mode: tuple[int, str]
    unless: str
    instead: str = NOTHING


_ALWAYS = (-1, "")

_OPENS = (
    _Form(re.compile(r"(builtins|io|codecs)\.open"), (0, "file"), (1, "mode"), "r"),
    _Form(re.compile(r"(gzip|bz2|lzma)\.open"), (0, "filename"), (1, "mode"), "r"),
    _Form(re.compile(re.escape(PATH) + r"\.open"), (None, ""), (0, "mode"), "r"),
    _Form(re.compile(r"tensorflow\.(io\.)?gfile\.(GFile|FastGFile|Open)"), (0, "name"), (1, "mode"), "r"),
    _Form(re.compile(r"tensorflow\.(io|python_io)\.TFRecordWriter"), (0, "path"), _ALWAYS, "w"),
    _Form(re.compile(r"zipfile\.ZipFile"), (0, "file"), (1, "mode"), "r"),
    _Form(re.compile(r"tarfile\.open"), (0, "name"), (1, "mode"), "r"),
    _Form(re.compile(r"cv2\.VideoWriter(\(\)\.open)?"), (0, "filename"), _ALWAYS, "w", FILE),
    _Form(re.compile(r"imageio(\.v[23])?\.get_writer"), (0, "uri"), _ALWAYS, "w", FILE),
    _Form(re.compile(r"pandas\.ExcelWriter"), (0, "path"), (-1, "mode"), "w", FILE),
)
_HDF5 = (_Form(re.compile(r"h5py\.File"), (0, "name"), (1, "mode"), "r", FILE),)
_EVENTS = (
    _Form(
        re.compile(r"(torch\.utils\.tensorboard|tensorboardX?)(\.writer)?\.SummaryWriter"),
        (0, "log_dir"),
        _ALWAYS,
        "w",
        FOLDER,
    ),
    _Form(re.compile(r"tensorboardX?(\.writer)?\.SummaryWriter"), (0, "logdir"), _ALWAYS, "w", FOLDER),
    _Form(
        re.compile(
            r"tensorflow\.(contrib\.)?summary\.create_file_writer|tensorflow\.summary\.create_summary_file_writer"
        ),
        (0, "logdir"),
        _ALWAYS,
        "w",
        FOLDER,
    ),
    _Form(re.compile(r"tensorflow\.(summary\.File|train\.Summary)Writer"), (0, "logdir"), _ALWAYS, "w", FOLDER),
    _Form(re.compile(r"tensorboard_logger\.Logger"), (0, "logdir"), _ALWAYS, "w", FOLDER),
)
"""What makes a file of events as soon as it is called, in a folder."""
_LOGS = (
    _Form(re.compile(r"logging(\.handlers)?\.(Rotating|Watched)?FileHandler"), (0, "filename"), (1, "mode"), "a"),
    _Form(re.compile(r"logging\.handlers\.TimedRotatingFileHandler"), (0, "filename"), (-1, ""), "a"),
    _Form(re.compile(r"logging\.basicConfig"), (-1, "filename"), (-1, "filemode"), "a"),
)
_WRITES = (
    *((re.compile(re.escape(name)), where) for name, where in FILES.items()),
    (re.compile(re.escape(PATH) + r"\.write_(text|bytes)"), (None, "")),
    (re.compile(r"numpy\.[\w.()\[\]]+\.tofile"), (0, "fid")),
    (re.compile(r"pandas\.[\w.()\[\]]+\.to_(csv|json|pickle|excel|parquet|feather)"), (0, "path")),
    (re.compile(r"lmdb\.open|lmdb\.Environment"), (0, "path")),
)
"""What writes a whole file, and by which argument it is told which."""
_SHOWN = re.compile(r"\.(png|jpe?g|gif|bmp|tiff?|svg|pdf|eps|webp|mp4|avi|mov|wav|mp3|flac|ogg|html)$", re.IGNORECASE)
_PATHS = frozenset({"os.path.join", "builtins.str", PATH.removesuffix("()")})


def opened(call: ast.Call, program: Program) -> Opened | None:
    """The file that a call opens, to give it back."""
    return _opened(call, program, _OPENS)


def opened_by(call: ast.Call, program: Program) -> Opened | None:
    """The file that a function of the program opens for a call, which says which one and for what."""
    for function in (each for each in run_by(call, program) if isinstance(each, ast.FunctionDef)):
        given = [each.value for each in nodes_in(function, ast.Return)]
        for inner in (each for each in given if isinstance(each, ast.Call)):
            found = _opened(inner, program, _OPENS)
            mode = argument(inner, 1, "mode")
            if (
                found is not None
                and found.mode is None
                and isinstance(found.path, ast.Name)
                and isinstance(mode, ast.Name)
            ):
                path, said = (argument_for(call, function, each.id, program) for each in (found.path, mode))
                if path is not None and isinstance(said, ast.Constant) and isinstance(said.value, str):
                    return Opened(path, said.value, found.instead)
    return None


def locked(call: ast.Call, program: Program) -> Opened | None:
    """The file that a call opens, and that no two processes can open to write."""
    return _opened(call, program, _HDF5)


def logged(call: ast.Call, program: Program) -> Opened | None:
    """The file that a call has the log written to."""
    found = _opened(call, program, _LOGS)
    return found and found._replace(mode=found.mode or "a")  # whatever the mode is, a log is only written


def recorded(call: ast.Call, program: Program) -> Opened | None:
    """The folder in which a call begins a file of events; its path is None where the library chooses one."""
    found, names = _opened(call, program, _EVENTS), _made(call, program)
    chosen = any(each.names.fullmatch(name) for each in _EVENTS[:1] for name in names)
    spread = any(isinstance(each, ast.Starred) for each in call.args) or any(k.arg is None for k in call.keywords)
    return found or (Opened(None, "w", FOLDER) if chosen and not spread else None)


@remembered
def screens(program: Program) -> frozenset[ast.AST]:
    """The methods of what takes the place of the screen: who prints is asked, and Python calls them when all has ended."""
    held = [
        node.value
        for unit in program.units.values()
        for node in nodes_in(unit.tree, ast.Assign)
        if any(SCREEN.fullmatch(path_of(each, unit)) for each in node.targets)
    ]
    made = {each.type for value in held for each in program.of(value) if isinstance(each, Instance)}
    bodies = (each for owner in made for base in program.own_bases(owner) for each in base.body)
    return frozenset(each for each in bodies if isinstance(each, ast.FunctionDef))


def opens_to_write(call: ast.Call, program: Program) -> bool:
    """Whether a call opens a file to write it."""
    found = opened(call, program)
    return found is not None and found.to_write


def written(call: ast.Call, program: Program) -> ast.expr | None:
    """The expression that says which file a call opens to write, or writes whole; None if it is not known to do so."""
    found = opened(call, program) or opened_by(call, program)
    if found is not None:
        return found.path if found.to_write else None
    names = program.names(call.func)
    if any(each.arg == "readonly" and getattr(each.value, "value", False) for each in call.keywords):
        return None
    where = next((where for pattern, where in _WRITES if any(map(pattern.fullmatch, names))), None)
    return None if where is None else _given(call, *where)


def makes_picture(call: ast.Call, program: Program) -> bool:
    """Whether a call, from which nothing is taken, is given what it puts into a picture or a film, whatever library it is of."""
    if not isinstance(program.parent(call), ast.Expr) or run_by(call, program):
        return False
    given = values_given(call)
    paths = [each for each in given if _SHOWN.search(_ending(each, program))]
    return bool(paths) and any(each not in paths and not _is_text(each, program) for each in given)


def _is_text(node: ast.expr, program: Program) -> bool:
    values = program.of(node)
    return bool(values) and all(isinstance(each, Constant) for each in values)


def _ending(node: ast.expr, program: Program, depth: int = 4) -> str:
    """What the text that an expression puts together ends with, as far as that is written out."""
    inner: ast.expr | None = None
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[*_, last]):
            inner = last
        case ast.BinOp(left=left, op=ast.Mod()):
            inner = left
        case ast.BinOp(right=right, op=ast.Add() | ast.Div()):
            inner = right
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            inner = text
        case ast.Call(args=[*_, last]) if program.names(node.func) & _PATHS:
            inner = last
        case ast.Name() | ast.Attribute():
            inner = next(iter(wholes(node, program)), None)
    return _ending(inner, program, depth - 1) if inner is not None and depth else ""


def _opened(call: ast.Call, program: Program, forms: tuple[_Form, ...]) -> Opened | None:
    names = _made(call, program)
    for form in (each for each in forms if any(map(each.names.fullmatch, names))):
        path, mode = _given(call, *form.path), _given(call, *form.mode)
        if path is not None:
            said = mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None
            return Opened(path, form.unless if mode is None else said, form.instead)
    return None


def _made(call: ast.Call, program: Program) -> set[str]:
    """The paths of what a call makes: an object of the program's own class is made as the class below it makes one.

    Where the class has an `__init__`, that of the class below is called there.
    """
    names = {name.removesuffix("().__init__") for name in program.names(call.func)}
    for owner in program.of(call.func):
        for below in program.lineage(owner) if isinstance(owner, Class) else ():
            if isinstance(below, Foreign):
                names.add(below.name)
            elif any(getattr(each, "name", "") == "__init__" for each in below.node.body):
                break
    return names


def _given(call: ast.Call, position: int | None, name: str) -> ast.expr | None:
    if position is None:
        return receiver_of(call)
    return argument(call, position, *([name] if name else []))
