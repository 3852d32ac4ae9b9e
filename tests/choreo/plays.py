"""How the parties of the programs in examples/choreographies are played, and what must come out.

A party is a function of its projected program (a module) and its channel ends by peer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from types import ModuleType
from typing import Any, NamedTuple

Party = Callable[[Any, Mapping[Any, Any]], Any]


class Play(NamedTuple):
    """One run of an example: its parties by role, and their results."""

    example: str
    parties: dict[str, Party]
    expected: dict[str, Any]


CATALOGUE = {"Emma": 80, "Persuasion": 20}
SALTS = {"ada": "pepper"}
HASHES = {"ada": sha256(b"pepper:engine").hexdigest()}
SERVICES = ["Shop", "Bank", "Mail", "Forum", "Wiki", "Build", "Store", "Clock"]


def remote_client(program: ModuleType, ends: Mapping[Any, Any]) -> Any:
    return program.use_both_Client(ends["Server"], 5)


def purchase(budget: int, day: str | None) -> Play:
    return Play(
        "buyer_seller_shipper",
        {
            "Buyer": lambda p, e: p.Purchase_Buyer(e["Seller"], e["Shipper"]).run("Emma", budget),
            "Seller": lambda p, e: p.Purchase_Seller(e["Buyer"], e["Shipper"]).run(CATALOGUE),
            "Shipper": lambda p, e: p.Purchase_Shipper(e["Seller"], e["Buyer"]).run({"Emma": "Tuesday"}),
        },
        {"Buyer": day, "Seller": None, "Shipper": None},
    )


def shared_book(title: str, receipt: str | None) -> Play:
    return Play(
        "book_buying",
        {
            "Reader": lambda p, e: p.buy_Reader(e["Shop"], e["Friend"], title, 30),
            "Friend": lambda p, e: p.buy_Friend(e["Shop"], e["Reader"], help_up_to=40, address="Bath"),
            "Shop": lambda p, e: p.buy_Shop(e["Reader"], e["Friend"], CATALOGUE),
        },
        {"Reader": None, "Friend": receipt, "Shop": None},
    )


def sign_on(attempts: list[str], user: str | None) -> Play:
    def service(program: Any, ends: Mapping[Any, Any]) -> str | None:
        ticket = program.SignOn_Service(ends["Authority"], ends["Client"]).run()
        return ticket and ticket.user

    return Play(
        "single_sign_on",
        {
            "Client": lambda p, e: p.SignOn_Client(e["Authority"], e["Service"]).run("ada", attempts),
            "Service": service,
            "Authority": lambda p, e: p.SignOn_Authority(e["Client"], e["Service"]).run({"ada": "engine"}),
        },
        {"Client": None, "Service": user, "Authority": None},
    )


def sorting(example: str, unit: str, items: list[int]) -> Play:
    return Play(
        example,
        {
            "A": lambda p, e: getattr(p, f"{unit}_A")(ab=e["B"], ca=e["C"]).sort(items),
            "B": lambda p, e: getattr(p, f"{unit}_B")(ab=e["A"], bc=e["C"]).sort(),
            "C": lambda p, e: getattr(p, f"{unit}_C")(bc=e["B"], ca=e["A"]).sort(),
        },
        {"A": sorted(items), "B": None, "C": None},
    )


def product(left: int, right: int) -> Play:
    return Play(
        "karatsuba",
        {
            "A": lambda p, e: p.Karatsuba_A(ab=e["B"], ca=e["C"]).multiply(left, right),
            "B": lambda p, e: p.Karatsuba_B(ab=e["A"], bc=e["C"]).multiply(),
            "C": lambda p, e: p.Karatsuba_C(bc=e["B"], ca=e["A"]).multiply(),
        },
        {"A": left * right, "B": None, "C": None},
    )


def game(crosses: list[int], noughts: list[int], winner: str) -> Play:
    return Play(
        "tic_tac_toe",
        {
            "Crosses": lambda p, e: p.play_Crosses(e["Noughts"], list(crosses)),
            "Noughts": lambda p, e: p.play_Noughts(e["Crosses"], list(noughts)),
        },
        {"Crosses": winner, "Noughts": winner},
    )


def committing(key: str, decided: bool, first: dict[str, int], second: dict[str, int]) -> Play:
    def store(unit: str) -> Party:
        def run(program: Any, ends: Mapping[Any, Any]) -> dict[str, int]:
            held = {"apples": 1, "pears": 1} if unit == "commit_First" else {"apples": 1}
            getattr(program, unit)(ends["Coordinator"], held)
            return held

        return run

    return Play(
        "two_phase_commit",
        {
            "Coordinator": lambda p, e: p.commit_Coordinator(e["First"], e["Second"], (key, 7)),
            "First": store("commit_First"),
            "Second": store("commit_Second"),
        },
        {"Coordinator": decided, "First": first, "Second": second},
    )


def ring() -> Play:
    vectors = {role: [float(10 * place + index) for index in range(4)] for place, role in enumerate("ABCD")}
    before = dict(zip("ABCD", "DABC"))
    after = dict(zip("ABCD", "BCDA"))

    def party(role: str) -> Party:
        def run(program: Any, ends: Mapping[Any, Any]) -> list[float]:
            mine = list(vectors[role])
            outgoing, incoming = f"{role}{after[role]}".lower(), f"{before[role]}{role}".lower()
            channels = {outgoing: ends[after[role]], incoming: ends[before[role]]}
            getattr(program, f"Ring_{role}")(**channels).reduce(mine)
            return mine

        return run

    total = [sum(column) for column in zip(*vectors.values())]
    return Play("ring_all_reduce", {role: party(role) for role in "ABCD"}, dict.fromkeys("ABCD", total))


def training(steps: int) -> Play:
    data = {"First": [(1.0, 3.0), (2.0, 6.0)], "Second": [(3.0, 9.0)], "Third": [(0.5, 1.5), (1.5, 4.5)]}
    slope = 0.0
    for _ in range(steps):
        slopes = [sum(2 * x * (slope * x - y) for x, y in points) / len(points) for points in data.values()]
        slope -= 0.05 * sum(slopes) / 3

    def worker(role: str) -> Party:
        return lambda p, e: getattr(p, f"train_{role}")(e["Server"], steps, data[role])

    def server(program: Any, ends: Mapping[Any, Any]) -> float:
        result: float = program.train_Server(ends["First"], ends["Second"], ends["Third"], steps, 0.05)
        return result

    return Play(
        "parameter_server",
        {"Server": server, **{role: worker(role) for role in data}},
        {"Server": slope, **dict.fromkeys(data)},
    )


def secret() -> Play:
    shared = pow(5, 6 * 15, 23)
    return Play(
        "diffie_hellman",
        {
            "Alice": lambda p, e: p.exchange_Alice(e["Bob"], 23, 5, 6).of_alice,
            "Bob": lambda p, e: p.exchange_Bob(e["Alice"], 23, 5, 15).of_bob,
        },
        {"Alice": shared, "Bob": shared},
    )


def downloading(content: bytes) -> Play:
    return Play(
        "download",
        {
            "Client": lambda p, e: p.download_Client(e["Server"], "emma.txt"),
            "Server": lambda p, e: p.download_Server(e["Client"], {"emma.txt": content}, 16),
        },
        {"Client": content, "Server": None},
    )


def streaming(items: list[int]) -> Play:
    return Play(
        "streaming",
        {
            "Source": lambda p, e: p.stream_Source(e["Filter"], items),
            "Filter": lambda p, e: p.stream_Filter(e["Source"], e["Viewer"], 3),
            "Viewer": lambda p, e: p.stream_Viewer(e["Filter"]),
        },
        {"Source": None, "Filter": None, "Viewer": [item for item in items if item >= 3]},
    )


def authentication(example: str, services: list[str], password: str) -> Play:
    """Tokens are random: a party's result is whether it has one."""

    def client(program: Any, ends: Mapping[Any, Any]) -> bool:
        found = program.DistAuth_Client(ends["IP"]).authenticate(program.Credentials("ada", password))
        return found.client is not None

    def service(role: str) -> Party:
        def run(program: Any, ends: Mapping[Any, Any]) -> bool:
            found = getattr(program, f"DistAuth_{role}")(ends["IP"]).authenticate()
            return getattr(found, role.lower()) is not None

        return run

    def provider(program: Any, ends: Mapping[Any, Any]) -> None:
        program.DistAuth_IP(ends["Client"], *(ends[role] for role in services)).authenticate(SALTS, HASHES)

    valid = password == "engine"
    return Play(
        example,
        {"Client": client, **{role: service(role) for role in services}, "IP": provider},
        {"Client": valid, **dict.fromkeys(services, valid), "IP": None},
    )


def consuming(items: list[int]) -> Play:
    return Play(
        "consume_items",
        {
            "Producer": lambda p, e: p.consume_Producer(e["Consumer"], list(items)),
            "Consumer": lambda p, e: p.consume_Consumer(e["Producer"], []),
        },
        {"Producer": None, "Consumer": items},
    )


PLAYS: dict[str, Play] = {
    "ping-pong": Play(
        "ping_pong",
        {
            "Client": lambda p, e: p.ping_pong_Client(e["Server"], "ping"),
            "Server": lambda p, e: p.ping_pong_Server(e["Client"]),
        },
        {"Client": "ping pong", "Server": None},
    ),
    "remote functions": Play(
        "remote_function",
        {"Client": remote_client, "Server": lambda p, e: p.use_both_Server(e["Client"], 100)},
        {"Client": (20, 210), "Server": None},
    ),
    "channels as arguments": Play(
        "channels_as_arguments",
        {
            "A": lambda p, e: p.around_A(e["B"], e["C"], "go", "!"),
            "B": lambda p, e: p.around_B(e["A"], e["C"], "!"),
            "C": lambda p, e: p.around_C(e["B"], e["A"], "!"),
        },
        {"A": "go!!!", "B": None, "C": None},
    ),
    "split and combine": Play(
        "split_and_combine",
        {
            "Boss": lambda p, e: p.sum_of_squares_Boss(e["Left"], e["Right"], [1, 2, 3, 4, 5]),
            "Left": lambda p, e: p.sum_of_squares_Left(e["Boss"]),
            "Right": lambda p, e: p.sum_of_squares_Right(e["Boss"]),
        },
        {"Boss": 55, "Left": None, "Right": None},
    ),
    "buying": purchase(100, "Tuesday"),
    "leaving": purchase(79, None),
    "a shared book": shared_book("Persuasion", "Persuasion to Bath"),
    "a book too dear": shared_book("Emma", None),
    "signing on at once": sign_on(["engine"], "ada"),
    "signing on again": sign_on(["motor", "machine", "engine"], "ada"),
    "giving up": sign_on(["motor", "machine"], None),
    "authentication": authentication("authentication", ["Service"], "engine"),
    "intrusion": authentication("authentication", ["Service"], "motor"),
    "authentication of five": authentication("authentication_of_five", SERVICES[:3], "engine"),
    "intrusion of five": authentication("authentication_of_five", SERVICES[:3], "motor"),
    "authentication of ten": authentication("authentication_of_ten", SERVICES, "engine"),
    "intrusion of ten": authentication("authentication_of_ten", SERVICES, "motor"),
    "consuming": consuming([3, 1, 2]),
    "consuming nothing": consuming([]),
    "download": downloading(b"handsome, clever, and rich" * 3),
    "streaming": streaming([5, 1, 3, 2, 8]),
    "an empty stream": streaming([]),
    "a secret": secret(),
    "merge sort": sorting("merge_sort", "MergeSort", [5, 2, 9, 2, -1, 7, 0]),
    "quick sort": sorting("quick_sort", "QuickSort", [5, 2, 9, 2, -1, 7, 0]),
    "karatsuba": product(987654, 12345),
    "crosses win": game([0, 1, 2], [4, 5], "X"),
    "noughts win": game([0, 1, 8], [3, 4, 5], "O"),
    "a draw": game([0, 2, 3, 7, 8], [1, 4, 5, 6], ""),
    "committing": committing("apples", True, {"apples": 7, "pears": 1}, {"apples": 7}),
    "aborting": committing("pears", False, {"apples": 1, "pears": 1}, {"apples": 1}),
    "training": training(20),
    "a ring": ring(),
}
