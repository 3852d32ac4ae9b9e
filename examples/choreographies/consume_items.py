"""A producer hands over its items one by one, and says when there are no more."""

from enum import Enum

from distml.choreo import At, Channel, Role


class Producer(Role): ...


class Consumer(Role): ...


class More(Enum):
    NEXT = "next"
    STOP = "stop"


def consume(
    ch: Channel[object, Producer, Consumer], items: At[list[int], Producer], sink: At[list[int], Consumer]
) -> At[list[int], Consumer]:
    while items:
        ch.select(More.NEXT @ Producer())
        sink.append(ch.com(items.pop(0)))
    else:
        ch.select(More.STOP @ Producer())
    return sink
