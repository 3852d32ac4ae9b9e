"""Quick sort by three parties: the first one splits around a pivot, the others sort the parts in its place."""

from enum import Enum

from distml.choreo import At, Ch3, Channel, Role


class A(Role): ...


class B(Role): ...


class C(Role): ...


class Work(Enum):
    SPLIT = "split"
    DONE = "done"


class QuickSort(Ch3[A, B, C]):
    def __init__(self, ab: Channel[object, A, B], bc: Channel[object, B, C], ca: Channel[object, C, A]) -> None:
        self.ab = ab
        self.bc = bc
        self.ca = ca

    def sort(self, items: At[list[int], A]) -> At[list[int], A]:
        if len(items) <= 1:
            self.ab.select(Work.DONE @ A())
            self.ca.select(Work.DONE @ A())
            return items
        self.ab.select(Work.SPLIT @ A())
        self.ca.select(Work.SPLIT @ A())
        pivot: At[int, A] = items[0]
        low: At[list[int], B] = self.ab.com([item for item in items[1:] if item < pivot])
        high: At[list[int], C] = self.ca.com([item for item in items[1:] if item >= pivot])
        before: At[list[int], A] = self.ab.com(QuickSort[B, C, A](self.bc, self.ca, self.ab).sort(low))
        after: At[list[int], A] = self.ca.com(QuickSort[C, A, B](self.ca, self.ab, self.bc).sort(high))
        return [*before, pivot, *after]
