"""A choreography that is given its channels, and one that is used between different parties."""

from distml.choreo import At, Channel, DiChannel, Role


class A(Role): ...


class B(Role): ...


class C(Role): ...


class Sender(Role): ...


class Receiver(Role): ...


def hand_over(
    wire: DiChannel[str, Sender, Receiver], text: At[str, Sender], mark: At[str, Receiver]
) -> At[str, Receiver]:
    return wire.com(text) + mark


def around(
    ab: Channel[str, A, B], bc: Channel[str, B, C], ca: Channel[str, C, A], text: At[str, A], mark: str
) -> At[str, A]:
    at_b: At[str, B] = hand_over(ab, text, mark)
    at_c: At[str, C] = hand_over(bc, at_b, mark)
    return hand_over(ca, at_c, mark)
