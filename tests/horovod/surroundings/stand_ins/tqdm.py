"""Stands for tqdm: a bar that tells on stderr how many items there were of how many, once it is closed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Self


class tqdm:
    def __init__(
        self,
        iterable: Iterable[Any] | None = None,
        desc: str = "",
        total: int | None = None,
        disable: bool = False,
        **_: Any,
    ) -> None:
        self.iterable, self.desc, self.disable, self.n = iterable, desc, disable, 0
        self.total = total if total is not None or not hasattr(iterable, "__len__") else len(iterable)  # type: ignore[arg-type]
        self.postfix = ""

    def __iter__(self) -> Iterator[Any]:
        for each in self.iterable or ():
            yield each
            self.n += 1
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        self.n += n

    def set_description(self, desc: str = "", *_: object, **__: object) -> None:
        self.desc = desc

    def set_postfix(self, *_: object, **given: object) -> None:
        self.postfix = " ".join(f"{name}={value}" for name, value in given.items())

    def close(self) -> None:
        if not self.disable:
            print(f"bar {self.desc} {self.n}/{self.total} {self.postfix}", file=sys.stderr, flush=True)
            self.disable = True

    @staticmethod
    def write(text: str) -> None:
        print(text, flush=True)


def trange(*given: int, **named: Any) -> tqdm:
    return tqdm(range(*given), **named)
