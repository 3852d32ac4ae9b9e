"""Distributed authentication with five roles: one password opens three services that never see it."""

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from secrets import token_hex

from distml.choreo import At, Ch4, Ch5, Channel, Role


class Client(Role): ...


class Shop(Role): ...


class Bank(Role): ...


class Mail(Role): ...


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


class AuthResult(Ch4[Client, Shop, Bank, Mail]):
    def __init__(
        self,
        client: At[AuthToken | None, Client],
        shop: At[AuthToken | None, Shop],
        bank: At[AuthToken | None, Bank],
        mail: At[AuthToken | None, Mail],
    ) -> None:
        self.client = client
        self.shop = shop
        self.bank = bank
        self.mail = mail


class DistAuth(Ch5[Client, Shop, Bank, Mail, IP]):
    def __init__(
        self,
        client: Channel[object, Client, IP],
        shop: Channel[object, Shop, IP],
        bank: Channel[object, Bank, IP],
        mail: Channel[object, Mail, IP],
    ) -> None:
        self.client = client
        self.shop = shop
        self.bank = bank
        self.mail = mail

    def authenticate(
        self, credentials: At[Credentials, Client], salts: At[dict[str, str], IP], hashes: At[dict[str, str], IP]
    ) -> At[AuthResult, Client, Shop, Bank, Mail]:
        user: At[str, IP] = self.client.com(credentials.user)
        salt: At[str, Client] = self.client.com(salts[user])
        proof: At[str, IP] = self.client.com(hashed(salt, credentials.password))
        if hashes[user] == proof:
            self.client.select(AuthBranch.OK @ IP())
            self.shop.select(AuthBranch.OK @ IP())
            self.bank.select(AuthBranch.OK @ IP())
            self.mail.select(AuthBranch.OK @ IP())
            token: At[AuthToken, IP] = AuthToken(token_hex(8))
            return AuthResult[Client, Shop, Bank, Mail](
                self.client.com(token), self.shop.com(token), self.bank.com(token), self.mail.com(token)
            )
        else:
            self.client.select(AuthBranch.KO @ IP())
            self.shop.select(AuthBranch.KO @ IP())
            self.bank.select(AuthBranch.KO @ IP())
            self.mail.select(AuthBranch.KO @ IP())
            return AuthResult[Client, Shop, Bank, Mail](None, None, None, None)
