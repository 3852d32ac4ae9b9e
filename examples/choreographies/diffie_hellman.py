"""Diffie-Hellman: two parties come to one secret that never travels."""

from distml.choreo import At, Ch2, Channel, Role


class Alice(Role): ...


class Bob(Role): ...


class Secret(Ch2[Alice, Bob]):
    def __init__(self, of_alice: At[int, Alice], of_bob: At[int, Bob]) -> None:
        self.of_alice = of_alice
        self.of_bob = of_bob


def exchange(
    ch: Channel[int, Alice, Bob],
    prime: At[int, Alice, Bob],
    base: At[int, Alice, Bob],
    private_alice: At[int, Alice],
    private_bob: At[int, Bob],
) -> At[Secret, Alice, Bob]:
    public_alice: At[int, Bob] = ch.com(pow(base, private_alice, prime))
    public_bob: At[int, Alice] = ch.com(pow(base, private_bob, prime))
    return Secret[Alice, Bob](pow(public_bob, private_alice, prime), pow(public_alice, private_bob, prime))
