"""Ring all-reduce: four parties sum their vectors, each sending to its neighbor only, a quarter at a time."""

from distml.choreo import At, Ch4, DiChannel, Role

PARTIES = 4


class A(Role): ...


class B(Role): ...


class C(Role): ...


class D(Role): ...


def chunk(owner: int, turn: int) -> int:
    """The part of its vector that a party sends: one further back each turn."""
    return (owner - turn) % PARTIES


class Ring(Ch4[A, B, C, D]):
    def __init__(
        self,
        ab: DiChannel[float, A, B],
        bc: DiChannel[float, B, C],
        cd: DiChannel[float, C, D],
        da: DiChannel[float, D, A],
    ) -> None:
        self.ab = ab
        self.bc = bc
        self.cd = cd
        self.da = da

    def reduce(
        self, a: At[list[float], A], b: At[list[float], B], c: At[list[float], C], d: At[list[float], D]
    ) -> None:
        """Replace every vector by the sum of all."""
        for turn in range(PARTIES - 1):
            b[chunk(0, turn)] += self.ab.com(a[chunk(0, turn)])
            c[chunk(1, turn)] += self.bc.com(b[chunk(1, turn)])
            d[chunk(2, turn)] += self.cd.com(c[chunk(2, turn)])
            a[chunk(3, turn)] += self.da.com(d[chunk(3, turn)])
        for turn in range(PARTIES - 1):
            b[chunk(1, turn)] = self.ab.com(a[chunk(1, turn)])
            c[chunk(2, turn)] = self.bc.com(b[chunk(2, turn)])
            d[chunk(3, turn)] = self.cd.com(c[chunk(3, turn)])
            a[chunk(4, turn)] = self.da.com(d[chunk(4, turn)])
