"""Answers that are kept: a program that was read does not change, so that what many loops ask is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Keeper:
    """What does not change any more, with the answers to questions about it."""

    def __init__(self) -> None:
        self.answers: dict[Hashable, object] = {}


def remembered(question: Callable[_P, _T]) -> Callable[_P, _T]:
    """Have a function answer once for the same arguments; the first of them that is a `Keeper` keeps the answer.

    The arguments must be hashable, and whoever gets the answer must leave it as it is.
    """

    @wraps(question)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        keeper = next(each for each in args if isinstance(each, Keeper))
        key = (question, args, tuple(kwargs.items()))
        if key not in keeper.answers:
            keeper.answers[key] = question(*args, **kwargs)
        return cast(_T, keeper.answers[key])

    return answered
