"""A function that lives elsewhere: an interface between two parties, and two choreographies that implement it."""

from abc import abstractmethod

from distml.choreo import At, Ch2, Channel, Role


class Client(Role): ...


class Server(Role): ...


class RemoteFunction(Ch2[Client, Server]):
    @abstractmethod
    def call(self, argument: At[int, Client]) -> At[int, Client]: ...


class Doubler(RemoteFunction):
    def __init__(self, ch: Channel[int, Client, Server]) -> None:
        self.ch = ch

    def call(self, argument: At[int, Client]) -> At[int, Client]:
        received: At[int, Server] = self.ch.com(argument)
        return self.ch.com(received * 2)


class Counter(RemoteFunction):
    def __init__(self, ch: Channel[int, Client, Server], start: At[int, Server]) -> None:
        self.ch = ch
        self.total: At[int, Server] = start

    def call(self, argument: At[int, Client]) -> At[int, Client]:
        self.total += self.ch.com(argument)
        return self.ch.com(self.total)


def call_twice(function: At[RemoteFunction, Client, Server], argument: At[int, Client]) -> At[int, Client]:
    return function.call(function.call(argument))


def use_both(
    ch: Channel[int, Client, Server], argument: At[int, Client], start: At[int, Server]
) -> At[tuple[int, int], Client]:
    doubled: At[int, Client] = call_twice(Doubler[Client, Server](ch), argument)
    counted: At[int, Client] = call_twice(Counter[Client, Server](ch, start), argument)
    return doubled, counted
