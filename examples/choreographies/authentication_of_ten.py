"""Distributed authentication with ten roles: one password opens eight services that never see it."""

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from secrets import token_hex

from distml.choreo import At, Ch9, Ch10, Channel, Role


class Client(Role): ...


class Shop(Role): ...


class Bank(Role): ...


class Mail(Role): ...


class Forum(Role): ...


class Wiki(Role): ...


class Build(Role): ...


class Store(Role): ...


class Clock(Role): ...


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


class AuthResult(Ch9[Client, Shop, Bank, Mail, Forum, Wiki, Build, Store, Clock]):
    def __init__(
        self,
        client: At[AuthToken | None, Client],
        shop: At[AuthToken | None, Shop],
        bank: At[AuthToken | None, Bank],
        mail: At[AuthToken | None, Mail],
        forum: At[AuthToken | None, Forum],
        wiki: At[AuthToken | None, Wiki],
        build: At[AuthToken | None, Build],
        store: At[AuthToken | None, Store],
        clock: At[AuthToken | None, Clock],
    ) -> None:
        self.client = client
        self.shop = shop
        self.bank = bank
        self.mail = mail
        self.forum = forum
        self.wiki = wiki
        self.build = build
        self.store = store
        self.clock = clock


class DistAuth(Ch10[Client, Shop, Bank, Mail, Forum, Wiki, Build, Store, Clock, IP]):
    def __init__(
        self,
        client: Channel[object, Client, IP],
        shop: Channel[object, Shop, IP],
        bank: Channel[object, Bank, IP],
        mail: Channel[object, Mail, IP],
        forum: Channel[object, Forum, IP],
        wiki: Channel[object, Wiki, IP],
        build: Channel[object, Build, IP],
        store: Channel[object, Store, IP],
        clock: Channel[object, Clock, IP],
    ) -> None:
        self.client = client
        self.shop = shop
        self.bank = bank
        self.mail = mail
        self.forum = forum
        self.wiki = wiki
        self.build = build
        self.store = store
        self.clock = clock

    def authenticate(
        self, credentials: At[Credentials, Client], salts: At[dict[str, str], IP], hashes: At[dict[str, str], IP]
    ) -> At[AuthResult, Client, Shop, Bank, Mail, Forum, Wiki, Build, Store, Clock]:
        user: At[str, IP] = self.client.com(credentials.user)
        salt: At[str, Client] = self.client.com(salts[user])
        proof: At[str, IP] = self.client.com(hashed(salt, credentials.password))
        if hashes[user] == proof:
            self.client.select(AuthBranch.OK @ IP())
            self.shop.select(AuthBranch.OK @ IP())
            self.bank.select(AuthBranch.OK @ IP())
            self.mail.select(AuthBranch.OK @ IP())
            self.forum.select(AuthBranch.OK @ IP())
            self.wiki.select(AuthBranch.OK @ IP())
            self.build.select(AuthBranch.OK @ IP())
            self.store.select(AuthBranch.OK @ IP())
            self.clock.select(AuthBranch.OK @ IP())
            token: At[AuthToken, IP] = AuthToken(token_hex(8))
            return AuthResult[Client, Shop, Bank, Mail, Forum, Wiki, Build, Store, Clock](
                self.client.com(token),
                self.shop.com(token),
                self.bank.com(token),
                self.mail.com(token),
                self.forum.com(token),
                self.wiki.com(token),
                self.build.com(token),
                self.store.com(token),
                self.clock.com(token),
            )
        else:
            self.client.select(AuthBranch.KO @ IP())
            self.shop.select(AuthBranch.KO @ IP())
            self.bank.select(AuthBranch.KO @ IP())
            self.mail.select(AuthBranch.KO @ IP())
            self.forum.select(AuthBranch.KO @ IP())
            self.wiki.select(AuthBranch.KO @ IP())
            self.build.select(AuthBranch.KO @ IP())
            self.store.select(AuthBranch.KO @ IP())
            self.clock.select(AuthBranch.KO @ IP())
            return AuthResult[Client, Shop, Bank, Mail, Forum, Wiki, Build, Store, Clock](
                None, None, None, None, None, None, None, None, None
            )
