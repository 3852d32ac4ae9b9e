"""`distml run` and `distml project --diagram`: choreographies from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from distml.cli.main import main

SHOP = """
from dataclasses import dataclass
from enum import Enum

from greetings import greet

from distml.choreo import At, Ch2, Channel, DiChannel, Role


class Client(Role): ...


class Server(Role): ...


class Logger(Role): ...


class Answer(Enum):
    BUY = "buy"
    LEAVE = "leave"


@dataclass(frozen=True)
class Book:
    title: str
    price: int


def price_of(title: str) -> int:
    return {"Emma": 10}[title]


def ping_pong(ch: Channel[str, Client, Server], message: At[str, Client]) -> At[str, Client]:
    received: At[str, Server] = ch.com(message)
    return ch.com(greet(received))


def log(ch: DiChannel[object, Server, Logger], lines: At[list[str], Server], top: At[int, Server] = 2) -> At[
    list[str], Logger
]:
    return ch.com(lines[:top])


class Asking(Ch2[Client, Server]):
    def __init__(self, ch: Channel[object, Client, Server]) -> None:
        self.ch = ch

    def ask(self, title: At[str, Client]) -> At[Book, Client]:
        wanted: At[str, Server] = self.ch.com(title)
        return self.ch.com(Book(wanted, price_of(wanted)))


class Buying(Asking[Client, Server], Ch2[Client, Server]):
    def buy(self, title: At[str, Client], budget: At[int, Client]) -> At[bool, Client]:
        book: At[Book, Client] = self.ask(title)
        if book.price <= budget:
            self.ch.select(Answer.BUY @ Client())
            return self.ch.com(True @ Server())
        else:
            self.ch.select(Answer.LEAVE @ Client())
            return False
"""
EMMA = ("--arg", "Client.title='Emma'")


@pytest.fixture(autouse=True)
def shop(folder: Path) -> None:
    (folder / "greetings.py").write_text("def greet(text: str) -> str:\n    return text + '!'\n")
    (folder / "shop.py").write_text(SHOP)


@pytest.mark.parametrize("transport", ["threads", "tcp"])
def test_each_role_has_its_result(transport: str, capsys: pytest.CaptureFixture[str]) -> None:
    paths, modules = list(sys.path), {name for name in sys.modules if "played" in name}
    arguments = ["--call", "ping_pong", "--arg", "Client.message='hi'", "--transport", transport]
    assert main(["run", "shop.py", *arguments]) == 0
    said = capsys.readouterr()
    assert said.out == "Client: 'hi!'\nServer: None\n"
    assert said.err.startswith("executing ping_pong of shop.py: Client, Server")
    assert sys.path == paths
    assert {name for name in sys.modules if "played" in name} == modules


def test_roles_choose_and_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shop.py", "--roles", "Logger,Server", "--arg", "Server.lines=['a', 'b', 'c']"]) == 0
    assert capsys.readouterr().out == "Logger: ['a', 'b']\nServer: None\n"


@pytest.mark.parametrize(("budget", "bought"), [(20, True), (5, False)])
def test_a_class_is_made_and_its_method_called(budget: int, bought: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shop.py", "--call", "Buying.buy", *EMMA, "--arg", f"Client.budget={budget}"]) == 0
    assert capsys.readouterr().out == f"Client: {bought}\nServer: None\n"


def test_static_methods_and_parties_that_do_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "idle.py").write_text(
        """
from distml.choreo import At, Ch3, Channel, Role
class Ann(Role): ...
class Bob(Role): ...
class Cid(Role): ...
class Talk(Ch3[Ann, Bob, Cid]):
    def __init__(self, ch: Channel[int, Ann, Bob], other: Channel[int, Bob, Cid], base: At[int, Bob]) -> None:
        self.ch = ch
        self.other = other
        self.base: At[int, Bob] = base
    @property
    def start(self) -> At[int, Bob]:
        return self.base
    @staticmethod
    def twice(ch: Channel[int, Ann, Bob], n: At[int, Ann]) -> At[int, Bob]:
        return ch.com(n) * 2
    def add(self, n: At[int, Ann]) -> At[int, Bob]:
        return self.ch.com(n) + self.start
"""
    )
    assert main(["run", "idle.py", "--call", "Talk.twice", "--arg", "Ann.n=4"]) == 0
    assert capsys.readouterr().out == "Ann: None\nBob: 8\nCid: None\n"
    assert main(["run", "idle.py", "--call", "Talk.add", "--arg", "Ann.n=4", "--arg", "Bob.base=3"]) == 0
    assert capsys.readouterr().out == "Ann: None\nBob: 7\nCid: None\n"
    assert main(["run", "idle.py"]) == 2
    assert "there are Talk.twice (Ann, Bob, Cid), Talk.add (Ann, Bob, Cid)" in capsys.readouterr().err


def test_checking_and_projecting_execute_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shop.py").write_text(SHOP.replace("from greetings", "open('ran', 'w')\nfrom greetings"))
    assert main(["check", "shop.py"]) == 0
    assert main(["project", "shop.py"]) == 0
    assert main(["project", "shop.py", "--diagram"]) == 0
    assert not (folder / "ran").exists()


def test_a_party_that_fails_is_named_first_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shop.py", "--call", "Asking.ask", "--arg", "Client.title='Persuasion'"]) == 1
    said = capsys.readouterr()
    first, second = said.err.splitlines()[1:]
    assert said.out == ""
    assert first.startswith("Server failed (shop_Server.py:")
    assert first.endswith("KeyError: 'Persuasion'")
    assert second.startswith("Client failed")
    assert "Server: KeyError" in second


def test_a_program_that_cannot_be_loaded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "greetings.py").write_text("raise OSError('closed')\n")
    sys.modules.pop("greetings", None)
    assert main(["run", "shop.py", "--call", "ping_pong", "--arg", "Client.message='hi'"]) == 1
    assert "Server failed" in (said := capsys.readouterr().err)
    assert "OSError: closed" in said


def test_a_refused_choreography_is_not_executed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = SHOP.replace("return ch.com(greet(received))", "return received")
    (folder / "shop.py").write_text(wrong.replace("from greetings", "open('ran', 'w')\nfrom greetings"))
    assert main(["run", "shop.py", "--call", "ping_pong", "--arg", "Client.message='hi'"]) == 1
    assert "CHO103" in (said := capsys.readouterr().err)
    assert "executing" not in said
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent.py"], "cannot read absent.py"),
        (["shop.py"], "more than one choreography to call; there are ping_pong (Client, Server), log (Server, Logger)"),
        (["shop.py", "--call", "buy"], "no choreography buy; there are ping_pong"),
        (["shop.py", "--roles", "Client,Logger"], "no choreography to call"),
        (["shop.py", "--call", "log", "--roles", "Client,Server"], "the roles of log are Server, Logger, not Client"),
        (["greetings.py"], "the file has none"),
        (["shop.py", "--call", "ping_pong"], "ping_pong needs --arg Client.message=LITERAL"),
        (["shop.py", "--call", "Asking.ask", *EMMA, "--arg", "Server.title=1"], "takes no argument title at Server"),
        (["shop.py", "--call", "Asking.ask", *EMMA, "--arg", "Client.ch=1"], "takes no argument ch at Client"),
    ],
)
def test_wrong_use(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *arguments]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["Client.message=hi", "message='hi'", "Client.message", "Client.message=print(1)"])
def test_arguments_are_literals_at_a_role(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["run", "shop.py", "--arg", argument])
    assert stopped.value.code == 2
    assert "argument --arg" in capsys.readouterr().err
