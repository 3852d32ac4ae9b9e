"""Vectors with their length in the type: `Vector[3]` checks what it is given."""

from __future__ import annotations

from functools import cache

import numpy as np


class Vector:
    size: int

    def __init__(self, values: list[float]) -> None:
        self.values = np.asarray(values, dtype=float).reshape(self.size)

    @classmethod
    @cache
    def __class_getitem__(cls, size: int) -> type[Vector]:
        class Sized(cls):
            pass

        Sized.size = size
        return Sized

    def dot(self, other: Vector) -> float:
        return float(self.values @ other.values)


def main() -> None:
    position = Vector[3]([1.0, 2.0, 3.0])
    axis = Vector[3]([0.0, 1.0, 0.0])
    print(position.dot(axis))


if __name__ == "__main__":
    main()
