"""A stream through a filter: only what passes is forwarded, and the end travels along."""

from enum import Enum

from distml.choreo import At, DiChannel, Role


class Source(Role): ...


class Filter(Role): ...


class Viewer(Role): ...


class Stream(Enum):
    ITEM = "item"
    END = "end"


class Passed(Enum):
    SHOWN = "shown"
    DROPPED = "dropped"
    END = "end"


def stream(
    feed: DiChannel[object, Source, Filter],
    screen: DiChannel[object, Filter, Viewer],
    items: At[list[int], Source],
    least: At[int, Filter],
) -> At[list[int], Viewer]:
    shown: At[list[int], Viewer] = []
    for item in items:
        feed.select(Stream.ITEM @ Source())
        held: At[int, Filter] = feed.com(item)
        if held >= least:
            screen.select(Passed.SHOWN @ Filter())
            shown.append(screen.com(held))
        else:
            screen.select(Passed.DROPPED @ Filter())
    else:
        feed.select(Stream.END @ Source())
        screen.select(Passed.END @ Filter())
    return shown
