"""Files by name in a folder of bounded size, written atomically; whatever cannot be read or written is simply not there.

How files are written is imported where one is: a run that finds all results only reads.
"""

from __future__ import annotations

import os
from contextlib import suppress

LARGEST = 1024 * 1024
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Results of distml, safe to delete.\n"


class Store:
    """Files under `folder`, spread over 256 folders by their name, of which each keeps the newest `bound`."""

    def __init__(self, folder: str, bound: int = 128) -> None:
        self._folder = folder
        self._bound = bound

    def read(self, name: str) -> bytes | None:
        """The content of a file, `None` where there is none."""
        try:
            with open(self._path(name), "rb", opener=_at_once) as file:
                return file.read(LARGEST + 1)
        except (OSError, ValueError):
            return None

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return os.path.exists(self._path(name))

    def drop(self, name: str) -> None:
        """Remove a file."""
        with suppress(OSError):
            os.unlink(self._path(name))

    def write(self, name: str, data: bytes) -> None:
        """Write a file; does nothing where it would be too large or the folder cannot be written."""
        if len(data) > LARGEST:
            return
        from distml.writing.files import replace

        folder, last = os.path.split(self._path(name))
        with suppress(OSError):
            self._make(folder)
            replace(folder, last, data)
            _drop_oldest(folder, self._bound)

    def _path(self, name: str) -> str:
        if not name.isalnum():
            raise ValueError("no name of a file of ours")
        return os.path.join(self._folder, name[:2], name[2:])

    def _make(self, folder: str) -> None:
        if not os.path.isdir(folder):
            from distml.writing.files import replace

            os.makedirs(folder, exist_ok=True)
            replace(self._folder, "CACHEDIR.TAG", _TAG)


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, should it be a pipe that somebody put there."""
    return os.open(path, flags | os.O_NONBLOCK)


def _drop_oldest(folder: str, bound: int) -> None:
    """Drop the oldest quarter of a folder that holds more than `bound` files."""
    names = os.listdir(folder)
    if len(names) <= bound:
        return
    paths = [os.path.join(folder, name) for name in names]
    for _, path in sorted((os.stat(path).st_mtime_ns, path) for path in paths)[: bound // 4]:
        os.unlink(path)
