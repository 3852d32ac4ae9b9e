"""Merge sort by three parties: each half is sorted by the next two, who take turns in the role of the first."""

from enum import Enum

from distml.choreo import At, Ch3, Channel, Role


class A(Role): ...


class B(Role): ...


class C(Role): ...


class Work(Enum):
    SPLIT = "split"
    DONE = "done"


def merged(left: list[int], right: list[int]) -> list[int]:
    result: list[int] = []
    while left and right:
        result.append(left.pop(0) if left[0] <= right[0] else right.pop(0))
    return result + left + right


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
            return merged(self.ab.com(left), self.ca.com(right))
        else:
            self.ab.select(Work.DONE @ A())
            self.ca.select(Work.DONE @ A())
            return items
