"""Single sign-on: a client may try again until its password is right or it gives up."""

from dataclasses import dataclass
from enum import Enum

from distml.choreo import At, Ch3, Channel, Role


class Client(Role): ...


class Service(Role): ...


class Authority(Role): ...


class Outcome(Enum):
    VALID = "valid"
    INVALID = "invalid"


class Next(Enum):
    RETRY = "retry"
    GIVE_UP = "give up"


@dataclass(frozen=True)
class Ticket:
    user: str


class SignOn(Ch3[Client, Service, Authority]):
    def __init__(
        self,
        client_authority: Channel[object, Client, Authority],
        authority_service: Channel[object, Authority, Service],
        client_service: Channel[object, Client, Service],
    ) -> None:
        self.client_authority = client_authority
        self.authority_service = authority_service
        self.client_service = client_service

    def run(
        self, user: At[str, Client], attempts: At[list[str], Client], passwords: At[dict[str, str], Authority]
    ) -> At[Ticket | None, Service]:
        name: At[str, Authority] = self.client_authority.com(user)
        password: At[str, Authority] = self.client_authority.com(attempts[0])
        if passwords[name] == password:
            self.client_authority.select(Outcome.VALID @ Authority())
            self.authority_service.select(Outcome.VALID @ Authority())
            return self.authority_service.com(Ticket(name))
        else:
            self.client_authority.select(Outcome.INVALID @ Authority())
            self.authority_service.select(Outcome.INVALID @ Authority())
            if len(attempts) > 1:
                self.client_authority.select(Next.RETRY @ Client())
                self.client_service.select(Next.RETRY @ Client())
                return self.run(user, attempts[1:], passwords)
            else:
                self.client_authority.select(Next.GIVE_UP @ Client())
                self.client_service.select(Next.GIVE_UP @ Client())
                return None
