"""Ping-pong: a client sends a message, the server answers it."""

from distml.choreo import At, Channel, Role


class Client(Role): ...


class Server(Role): ...


def ping_pong(ch: Channel[str, Client, Server], message: At[str, Client]) -> At[str, Client]:
    received: At[str, Server] = ch.com(message)
    return ch.com(received + " pong")
