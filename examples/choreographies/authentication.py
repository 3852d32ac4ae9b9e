"""Distributed authentication: an identity provider proves to a service who the client is; the service sees no password."""

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from secrets import token_hex

from distml.choreo import At, Ch2, Ch3, Channel, Role


class Client(Role): ...


class Service(Role): ...


class IP(Role): ...


class AuthBranch(Enum):
    OK = "ok"
    KO = "ko"


@dataclass(frozen=True)
class Credentials:
    user: str
    password: str


@dataclass(frozen=True)
class AuthToken:
    id: str


def hashed(salt: str, password: str) -> str:
    return sha256(f"{salt}:{password}".encode()).hexdigest()


class AuthResult(Ch2[Client, Service]):
    def __init__(self, client: At[AuthToken | None, Client], service: At[AuthToken | None, Service]) -> None:
        self.client = client
        self.service = service


class DistAuth(Ch3[Client, Service, IP]):
    def __init__(self, client_ip: Channel[object, Client, IP], service_ip: Channel[object, Service, IP]) -> None:
        self.client_ip = client_ip
        self.service_ip = service_ip

    def authenticate(
        self, credentials: At[Credentials, Client], salts: At[dict[str, str], IP], hashes: At[dict[str, str], IP]
    ) -> At[AuthResult, Client, Service]:
        user: At[str, IP] = self.client_ip.com(credentials.user)
        salt: At[str, Client] = self.client_ip.com(salts[user])
        proof: At[str, IP] = self.client_ip.com(hashed(salt, credentials.password))
        valid: At[bool, IP] = hashes[user] == proof
        if valid:
            self.client_ip.select(AuthBranch.OK @ IP())
            self.service_ip.select(AuthBranch.OK @ IP())
            token: At[AuthToken, IP] = AuthToken(token_hex(8))
            return AuthResult[Client, Service](self.client_ip.com(token), self.service_ip.com(token))
        else:
            self.client_ip.select(AuthBranch.KO @ IP())
            self.service_ip.select(AuthBranch.KO @ IP())
            return AuthResult[Client, Service](None, None)
