"""Answers that are kept: a program that was read does not change, so that what many loops ask is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_UNKNOWN = object()


class Keeper:
    """What does not change any more, with the answers to questions about it."""

    def __init__(self) -> None:
        self.answers: dict[Hashable, Any] = {}


def remembered(question: Callable[_P, _T]) -> Callable[_P, _T]:
    """Have a function answer once for the same arguments; the first of them that is a `Keeper` keeps the answer.

    The arguments must be hashable, and whoever gets the answer must leave it as it is.
    """

    @wraps(question)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        answers, key = _answers(args), (question, args, *kwargs.items())
        found = answers.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = answers[key] = question(*args, **kwargs)
        return found  # type: ignore[no-any-return]

    return answered


def _answers(given: Iterable[object]) -> dict[Hashable, Any]:
    """Where the answers to a question are kept."""
    for each in given:
        if isinstance(each, Keeper):
            return each.answers
    raise TypeError("nothing keeps the answers")
