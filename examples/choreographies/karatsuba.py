"""Karatsuba's product of large numbers: three products of half the length, each led by another of three parties."""

from enum import Enum

from distml.choreo import At, Ch3, Channel, Role


class A(Role): ...


class B(Role): ...


class C(Role): ...


class Work(Enum):
    SPLIT = "split"
    DONE = "done"


class Karatsuba(Ch3[A, B, C]):
    def __init__(self, ab: Channel[object, A, B], bc: Channel[object, B, C], ca: Channel[object, C, A]) -> None:
        self.ab = ab
        self.bc = bc
        self.ca = ca

    def multiply(self, left: At[int, A], right: At[int, A]) -> At[int, A]:
        if left < 10 or right < 10:
            self.ab.select(Work.DONE @ A())
            self.ca.select(Work.DONE @ A())
            return left * right
        self.ab.select(Work.SPLIT @ A())
        self.ca.select(Work.SPLIT @ A())
        split: At[int, A] = 10 ** (len(str(max(left, right))) // 2)
        left_high: At[int, A] = left // split
        left_low: At[int, A] = left % split
        right_high: At[int, A] = right // split
        right_low: At[int, A] = right % split
        next_turn: At[Karatsuba, B, C, A] = Karatsuba[B, C, A](self.bc, self.ca, self.ab)
        last_turn: At[Karatsuba, C, A, B] = Karatsuba[C, A, B](self.ca, self.ab, self.bc)
        high: At[int, A] = self.ab.com(next_turn.multiply(self.ab.com(left_high), self.ab.com(right_high)))
        low: At[int, A] = self.ca.com(last_turn.multiply(self.ca.com(left_low), self.ca.com(right_low)))
        both: At[int, A] = self.multiply(left_high + left_low, right_high + right_low)
        return high * split**2 + (both - high - low) * split + low
