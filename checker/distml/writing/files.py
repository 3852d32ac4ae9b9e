"""The one writer of files that a command was asked for.

- **Inside.** What is named below the working folder is written below it; what is named elsewhere, below the folder it is
  named in. A link is followed to a file inside and no further. Folders are opened one by one from there without following
  links, so that what is put in the way meanwhile is an error and not a way out.
- **All or none.** The files of one call are prepared beside their places, then moved there. Where one cannot be, those that
  were moved are put back, and folders that were made are removed.
- **As it was.** Mode and owner stay. A file with several names (hard links) is written in place, so that it remains one file,
  after its old content was put beside it; where a name lies outside, it is left alone. Whoever reads such a file at that
  moment may see half of it, and if the machine stops then, the old content is in `.distml-*` beside it.
- **Nothing else.** Only regular files that may be written are replaced, and no two names that some file system takes for one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_OLD = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK
LARGEST = 256 * 1024 * 1024
"""Bytes of a file that may be replaced; its content is held until all are written."""


class WriteError(Exception):
    """A file cannot be written; the message says why, in one line. Nothing was changed."""


class File(NamedTuple):
    """A file to write. `before` is what it must hold now; None where that does not matter, and it need not exist."""

    path: str
    data: bytes
    before: bytes | None = None


def roots_of(paths: Iterable[str]) -> tuple[str, ...]:
    """The folders below which a command that was given these paths may write: the working folder for what is named in it."""
    here = os.path.realpath(os.curdir)
    roots: dict[str, None] = {}
    for path in paths:
        given = os.path.abspath(path)
        folder = given if os.path.isdir(given) else os.path.dirname(given)
        roots[here if _below(given, here) else os.path.realpath(folder)] = None
    return tuple(roots)


def write_files(files: Sequence[File], roots: Sequence[str]) -> None:
    """Write all of `files`, or none, below `roots`, which have no links in them. Raises `WriteError`."""
    with ExitStack() as always, ExitStack() as undo:
        writes = []
        for file in files:
            with _told(file):
                writes.append(_prepared(file, roots, always, undo))
        _refuse_collisions(writes)
        for write in writes:
            with _told(write.file):
                _put(write, undo)
        undo.pop_all()


def replace(folder: str, name: str, data: bytes) -> None:
    """Put a file of ours into a folder of ours in one step, whatever has that name now. Raises `OSError`."""
    made = os.path.join(folder, _temporary())
    try:
        _fill(os.open(made, _NEW, 0o600), data)
        os.replace(made, os.path.join(folder, name))
    except BaseException:
        with suppress(OSError):
            os.unlink(made)
        raise


class _Write(NamedTuple):
    """A file whose turn has not come: what is in its place now, and in `made`, beside it, what is needed meanwhile.

    `made` holds the new content, or for a file with several names the old one.
    """

    file: File
    folder: int
    name: str
    made: str
    status: os.stat_result | None
    content: bytes

    @property
    def shared(self) -> bool:
        return self.status is not None and self.status.st_nlink > 1


@contextmanager
def _told(file: File) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise WriteError(f"{file.path}: cannot be written: {said}") from error


def _prepared(file: File, roots: Sequence[str], always: ExitStack, undo: ExitStack) -> _Write:
    """Look at a place and put the new content beside it."""
    target = os.path.realpath(file.path)
    root = next((each for each in roots if _below(target, each) and target != each), None)
    if root is None:
        raise WriteError(f"{file.path}: it leads to {target}, outside of {' and '.join(roots)}")
    if os.path.islink(file.path) and not os.path.lexists(target):
        raise WriteError(f"{file.path}: it is a link to nothing")
    *folders, name = os.path.relpath(target, root).split(os.sep)
    folder = _opened(root, folders, always, undo)
    status, content = _now(file, folder, name)
    if status is not None and status.st_nlink > 1 and _names_below(root, status) < status.st_nlink:
        raise WriteError(f"{file.path}: it is one file with another (a hard link) that is not below {root}")
    made = _temporary()
    for stack in (always, undo):  # before the folder is removed in which it is
        stack.callback(_removed, folder, made)
    write = _Write(file, folder, name, made, status, content)
    _create(write, content if write.shared else file.data)
    return write


def _now(file: File, folder: int, name: str) -> tuple[os.stat_result | None, bytes]:
    """What is at a place, if it may be replaced."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if file.before is not None:
            raise WriteError(f"{file.path}: it was removed by something else in the meantime") from None
        return None, b""
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a link" if stat.S_ISLNK(status.st_mode) else "no file"
        raise WriteError(f"{file.path}: there is {what} in its place")
    if not status.st_mode & 0o222:
        raise WriteError(f"{file.path}: it is read-only")
    if status.st_size > LARGEST:
        raise WriteError(f"{file.path}: it has {status.st_size} bytes, more than {LARGEST}")
    with open(os.open(name, _OLD, dir_fd=folder), "rb") as there:
        content = there.read(LARGEST)
    if file.before is not None and content != file.before:
        raise WriteError(f"{file.path}: it was changed by something else in the meantime")
    return status, content


def _put(write: _Write, undo: ExitStack) -> None:
    """Give a file its new content; how to take that back goes to `undo`."""
    if _identity(_status(write)) != _identity(write.status):
        raise WriteError(f"{write.file.path}: it was changed by something else in the meantime")
    if write.shared:
        undo.callback(_overwrite, write, write.content)
        _overwrite(write, write.file.data)
        return
    os.replace(write.made, write.name, src_dir_fd=write.folder, dst_dir_fd=write.folder)
    undo.callback(_take_back, write)


def _take_back(write: _Write) -> None:
    if write.status is None:
        os.unlink(write.name, dir_fd=write.folder)
        return
    _create(write, write.content)
    os.replace(write.made, write.name, src_dir_fd=write.folder, dst_dir_fd=write.folder)


def _create(write: _Write, data: bytes) -> None:
    """Make the temporary file; what replaces a file has its mode, and its owner where we may give files away."""
    made = os.open(write.made, _NEW, 0o666 if write.status is None else 0o600, dir_fd=write.folder)
    if write.status is not None:
        with suppress(OSError, AttributeError):
            os.fchown(made, write.status.st_uid, write.status.st_gid)
        os.fchmod(made, stat.S_IMODE(write.status.st_mode))
    _fill(made, data, lasting=True)


def _overwrite(write: _Write, data: bytes) -> None:
    with open(os.open(write.name, os.O_WRONLY | _NO_LINK, dir_fd=write.folder), "wb") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _fill(handle: int, data: bytes, lasting: bool = False) -> None:
    with open(handle, "wb") as file:
        file.write(data)
        if lasting:
            file.flush()
            os.fsync(handle)


def _opened(root: str, folders: Sequence[str], always: ExitStack, undo: ExitStack) -> int:
    """The innermost of `folders` below `root`; those that are not there are made. No link is followed."""
    made: list[str] = []
    while not os.path.isdir(root):  # the folder that was asked for may be new itself
        root, name = os.path.split(root)
        made.insert(0, name)
    folder = os.open(root, _FOLDER)
    always.callback(os.close, folder)
    for name in (*made, *folders):
        try:
            os.mkdir(name, dir_fd=folder)
        except FileExistsError:
            pass
        else:
            undo.callback(_forsaken, folder, name)
        folder = os.open(name, _FOLDER, dir_fd=folder)
        always.callback(os.close, folder)
    return folder


def _forsaken(folder: int, name: str) -> None:
    with suppress(OSError):
        os.rmdir(name, dir_fd=folder)


def _removed(folder: int, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _refuse_collisions(writes: Sequence[_Write]) -> None:
    """Names that differ in case or in the form of Unicode alone are one name on many file systems."""
    seen: dict[tuple[object, ...], _Write] = {}
    for write in writes:
        place = os.fstat(write.folder)
        other = seen.setdefault((place.st_dev, place.st_ino, _plain(write.name)), write)
        if other is not write:
            raise WriteError(f"{write.file.path}: it would be one file with {other.file.path} on many file systems")
        there = os.listdir(write.folder)
        same = next((each for each in there if _plain(each) == _plain(write.name)), write.name)
        if write.name not in there and same != write.name:
            raise WriteError(f"{write.file.path}: it would be one file with {same} on many file systems")


def _plain(name: str) -> str:
    from unicodedata import normalize

    return normalize("NFD", normalize("NFD", name).casefold())


def _names_below(root: str, status: os.stat_result) -> int:
    """How many names of a file there are below a folder, counted up to as many as it has."""
    found = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                found += os.path.samestat(os.lstat(os.path.join(folder, name)), status)
        if found == status.st_nlink:
            break
    return found


def _status(write: _Write) -> os.stat_result | None:
    try:
        return os.stat(write.name, dir_fd=write.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _identity(status: os.stat_result | None) -> tuple[int, ...]:
    return () if status is None else (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _temporary() -> str:
    return f".distml-{os.urandom(8).hex()}"


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
