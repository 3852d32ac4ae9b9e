"""pathlib: https://docs.python.org/3/library/pathlib.html

A path is what `os.path` makes of it. What lies on the disk is unknown.
"""

import os

from _elsewhere import asked, opened


class PurePath:
    """PurePath(*parts)."""

    def __init__(self, *parts):
        if not parts:
            self._path = "."
        else:
            self._path = os.path.join(*[os.fspath(each) for each in parts])

    def __fspath__(self):
        return self._path

    def __str__(self):
        return self._path

    def __truediv__(self, other):
        return type(self)(os.path.join(self._path, os.fspath(other)))

    def __rtruediv__(self, other):
        return type(self)(os.path.join(os.fspath(other), self._path))

    def joinpath(self, *others):
        return type(self)(self._path, *others)

    @property
    def parent(self):
        return type(self)(os.path.dirname(self._path) or ".")

    @property
    def parents(self):
        return _Parents(self)

    @property
    def name(self):
        return os.path.basename(self._path)

    @property
    def stem(self):
        return os.path.splitext(os.path.basename(self._path))[0]

    @property
    def suffix(self):
        return os.path.splitext(os.path.basename(self._path))[1]

    def as_posix(self):
        return self._path

    def with_name(self, name):
        return type(self)(os.path.join(os.path.dirname(self._path), name))

    def with_suffix(self, suffix):
        return type(self)(os.path.splitext(self._path)[0] + suffix)

    def __getattr__(self, name):
        return asked(name)


class _Parents:
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        found = self.path.parent
        for _ in range(index):
            found = found.parent
        return found


class Path(PurePath):
    """Path(*parts)."""

    @classmethod
    def cwd(cls):
        return cls(os.getcwd())

    @classmethod
    def home(cls):
        return cls(asked("home"))

    def absolute(self):
        return type(self)(os.path.abspath(self._path))

    def resolve(self, strict=False):
        return type(self)(os.path.abspath(self._path))

    def expanduser(self):
        return type(self)(os.path.expanduser(self._path))

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        return opened(self._path, mode)

    def read_text(self, encoding=None, errors=None, newline=None):
        return opened(self._path).read()

    def read_bytes(self):
        return opened(self._path).read()

    def mkdir(self, mode=0o777, parents=False, exist_ok=False):
        return None

    def exists(self, **options):
        return bool(asked("exists"))

    def is_file(self, **options):
        return bool(asked("is_file"))

    def is_dir(self, **options):
        return bool(asked("is_dir"))


PosixPath = Path
PurePosixPath = PurePath
