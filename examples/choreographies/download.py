"""A download in pieces: both sides agree on how many there are, and the client checks what arrived."""

from hashlib import sha256

from distml.choreo import At, Channel, Role


class Client(Role): ...


class Server(Role): ...


def checksum(content: bytes) -> str:
    return sha256(content).hexdigest()


def download(
    ch: Channel[object, Client, Server],
    name: At[str, Client],
    files: At[dict[str, bytes], Server],
    size: At[int, Server],
) -> At[bytes, Client]:
    wanted: At[str, Server] = ch.com(name)
    content: At[bytes, Server] = files[wanted]
    expected: At[str, Client] = ch.com(checksum(content))
    count: At[int, Client, Server] = ch.com((len(content) + size - 1) // size)
    received: At[list[bytes], Client] = []
    for index in range(count):
        received.append(ch.com(content[index * size : (index + 1) * size]))
    result: At[bytes, Client] = b"".join(received)
    if checksum(result) != expected:
        raise ValueError("the download is damaged" @ Client())
    return result
