"""Merge sort by three parties: two sort a half each, taking turns in the role of the first, and merge head by head."""

from enum import Enum

from distml.choreo import At, Ch3, Channel, Role


class A(Role): ...


class B(Role): ...


class C(Role): ...


class Work(Enum):
    SPLIT = "split"
    DONE = "done"


class Left(Enum):
    SOME = "some"
    NONE = "none"


class Right(Enum):
    SOME = "some"
    NONE = "none"


class Smaller(Enum):
    LEFT = "left"
    RIGHT = "right"


class MergeSort(Ch3[A, B, C]):
    def __init__(self, ab: Channel[object, A, B], bc: Channel[object, B, C], ca: Channel[object, C, A]) -> None:
        self.ab = ab
        self.bc = bc
        self.ca = ca

    def sort(self, items: At[list[int], A]) -> At[list[int], A]:
        if len(items) > 1:
            self.ab.select(Work.SPLIT @ A())
            self.ca.select(Work.SPLIT @ A())
            middle: At[int, A] = len(items) // 2
            at_b: At[list[int], B] = self.ab.com(items[:middle])
            at_c: At[list[int], C] = self.ca.com(items[middle:])
            left: At[list[int], B] = MergeSort[B, C, A](self.bc, self.ca, self.ab).sort(at_b)
            right: At[list[int], C] = MergeSort[C, A, B](self.ca, self.ab, self.bc).sort(at_c)
            return self.merge(left, right)
        else:
            self.ab.select(Work.DONE @ A())
            self.ca.select(Work.DONE @ A())
            return items

    def merge(self, left: At[list[int], B], right: At[list[int], C]) -> At[list[int], A]:
        if not left:
            self.ab.select(Left.NONE @ B())
            self.bc.select(Left.NONE @ B())
            return self.ca.com(right)
        self.ab.select(Left.SOME @ B())
        self.bc.select(Left.SOME @ B())
        if not right:
            self.ca.select(Right.NONE @ C())
            self.bc.select(Right.NONE @ C())
            return self.ab.com(left)
        self.ca.select(Right.SOME @ C())
        self.bc.select(Right.SOME @ C())
        head: At[int, C] = self.bc.com(left[0])
        if head <= right[0]:
            self.ca.select(Smaller.LEFT @ C())
            self.bc.select(Smaller.LEFT @ C())
            return [self.ab.com(left[0]), *self.merge(left[1:], right)]
        self.ca.select(Smaller.RIGHT @ C())
        self.bc.select(Smaller.RIGHT @ C())
        return [self.ca.com(right[0]), *self.merge(left, right[1:])]
