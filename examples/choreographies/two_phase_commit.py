"""Two-phase commit: every store votes, and all of them do what the coordinator makes of the votes."""

from enum import Enum

from distml.choreo import At, Channel, Role


class Coordinator(Role): ...


class First(Role): ...


class Second(Role): ...


class Decision(Enum):
    COMMIT = "commit"
    ABORT = "abort"


def commit(
    first: Channel[object, Coordinator, First],
    second: Channel[object, Coordinator, Second],
    change: At[tuple[str, int], Coordinator],
    store_first: At[dict[str, int], First],
    store_second: At[dict[str, int], Second],
) -> At[bool, Coordinator]:
    change_first: At[tuple[str, int], First] = first.com(change)
    change_second: At[tuple[str, int], Second] = second.com(change)
    vote_first: At[bool, Coordinator] = first.com(change_first[0] in store_first)
    vote_second: At[bool, Coordinator] = second.com(change_second[0] in store_second)
    agreed: At[bool, Coordinator] = vote_first and vote_second
    if agreed:
        first.select(Decision.COMMIT @ Coordinator())
        second.select(Decision.COMMIT @ Coordinator())
        store_first[change_first[0]] = change_first[1]
        store_second[change_second[0]] = change_second[1]
    else:
        first.select(Decision.ABORT @ Coordinator())
        second.select(Decision.ABORT @ Coordinator())
    return agreed
