"""Python's own parser, and why it gave up: source that is nested too deeply, or memory that ran out.

Both are a `MemoryError`. From Python 3.12 on the first says so. Before, what tells is how close to its limit the process
came: the parser's stack overflows however much memory is left.
"""

from __future__ import annotations

import ast
import os
import warnings
from contextlib import suppress

from distml.source.apart import apart, can_fork
from distml.source.memory import limit_now

_SECONDS = 60  # of processor time; the parser takes time in proportion to the source
_SPENT, _NESTED = 1, 2
_DEEPEST = tuple(6_000 * each + "0" for each in ("lambda: ", "not "))
"""More nesting than the parser takes, of the kinds for which it uses most stack, up to 1 MiB, and little time; by version of
Python it is one or the other."""
_DEEPER = 300
"""How much deeper, in calls of half a KiB: other kinds of nesting take up to 100 KiB more."""
_REQUEST = 2 << 20
"""Bytes of address space that the allocator asks of the system at once, at most, for small objects."""
_PER_CHARACTER = 16
"""Bytes for each character of the source that the parser asks for at once, at most: its array of tokens, when it doubles."""


class NestedError(Exception):
    """The source is nested too deeply for Python's parser."""


def parse(text: str) -> ast.Module:
    """The syntax tree. Raises `NestedError`, `MemoryError` where memory ran out, `SyntaxError`, and `ValueError` for NULs."""
    try:
        return _parse(text)
    except RecursionError:
        raise NestedError from None
    except MemoryError as error:
        if error.args or not _runs_out_of_memory(text):
            raise NestedError from None
        raise


def take_stack(deeper: int = _DEEPER) -> None:
    """Let the stack grow to what the parser may need, also where it is asked from deeper within: for want of memory the stack
    cannot grow, and the process ends (SIGSEGV).
    """
    if deeper:
        return next(map(take_stack, [deeper - 1]))  # by C, whose calls take stack
    for text in _DEEPEST:
        with suppress(MemoryError, RecursionError):
            _parse(text)
    return None


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are not ours to report
        return ast.parse(text, type_comments=False)


def _runs_out_of_memory(text: str) -> bool:
    """Whether the limit on address space stops the parser; a process of its own tries, whose peak is that of this source."""
    limit = limit_now()
    if limit is None or not can_fork() or not os.path.exists("/proc/self/status"):
        return False
    try:
        return apart(lambda: _ends_near(limit, text), _SECONDS) != _NESTED
    except OSError:  # no room for another process
        return True


def _ends_near(limit: int, text: str) -> int:
    """`_SPENT` where the peak of this process comes so close to the limit that the next request may have gone beyond."""
    with suppress(MemoryError):
        _parse(text)
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmPeak:"))
    return _SPENT if peak + _REQUEST + _PER_CHARACTER * len(text) > limit else _NESTED
