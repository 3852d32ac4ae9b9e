"""Two buyers share the price of a book: the second one decides by what it is asked to add."""

from enum import Enum

from distml.choreo import At, Channel, Role


class Reader(Role): ...


class Friend(Role): ...


class Shop(Role): ...


class Answer(Enum):
    BUY = "buy"
    LEAVE = "leave"


def buy(
    reader_shop: Channel[object, Reader, Shop],
    friend_shop: Channel[object, Friend, Shop],
    reader_friend: Channel[object, Reader, Friend],
    title: At[str, Reader],
    own: At[int, Reader],
    help_up_to: At[int, Friend],
    address: At[str, Friend],
    catalogue: At[dict[str, int], Shop],
) -> At[str | None, Friend]:
    wanted: At[str, Shop] = reader_shop.com(title)
    price: At[int, Shop] = catalogue[wanted]
    for_reader: At[int, Reader] = reader_shop.com(price)
    for_friend: At[int, Friend] = friend_shop.com(price)
    missing: At[int, Friend] = for_friend - reader_friend.com(min(own, for_reader))
    if missing <= help_up_to:
        friend_shop.select(Answer.BUY @ Friend())
        reader_friend.select(Answer.BUY @ Friend())
        there: At[str, Shop] = friend_shop.com(address)
        return friend_shop.com(f"{wanted} to {there}")
    else:
        friend_shop.select(Answer.LEAVE @ Friend())
        reader_friend.select(Answer.LEAVE @ Friend())
        return None
