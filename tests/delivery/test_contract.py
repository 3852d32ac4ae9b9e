"""The client against GitHub's own description of its API: Prism holds every request and every answer to it.

client -> faults -> Prism -> the fake over a bare repository. A violation on either side is an error, and fails the run.
GraphQL, which the OpenAPI does not describe, goes past Prism and is held against the schema that GitHub publishes for it.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from distml.autofix.publish import Outcome, Wanted, publish
from distml.github.objects import Objects
from distml.github.pulls import Repository
from distml.github.rest import Api, ApiError

from delivery.fake_github import Forge, serve
from delivery.graph import faults
from delivery.openapi import cut_down
from delivery.repositories import git
from delivery.workshop import BAD, BASE, BRANCH, EXTRAS, Workshop

pytestmark = pytest.mark.requires("git", "node", "prism")
Answered = tuple[int, Any] | None
Step = Callable[[Callable[[], Answered]], Answered]


class Contract:
    """The workshop with the wire in between; `faults` are taken one by one by the requests of their method."""

    def __init__(self, shop: Workshop, prism: str) -> None:
        self.shop, self.prism = shop, prism
        self.faults: list[tuple[str, Step]] = []
        self.sent: list[tuple[str, str, Mapping[str, str]]] = []
        self.slept: list[float] = []
        self.violations: list[Answered] = []
        self.address = ""

    def forward(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Answered:
        """Hand a request on, with what is to go wrong."""
        self.sent.append((method, path, headers))

        def carry_out() -> Answered:
            if path == "/graphql":
                return self._graph(method, body)
            answered = ask(self.prism, method, path, body, headers)
            if is_violation(answered):
                self.violations.append(answered)
            return answered

        step = next((each for each in self.faults if each[0] == method), None)
        if step is None:
            return carry_out()
        self.faults.remove(step)
        return step[1](carry_out)

    def _graph(self, method: str, body: Any) -> Answered:
        answered = self.shop.forge.handle(method, "/graphql", body)
        wrong = faults(body, answered[1], "IssueComment")
        if wrong:
            self.violations.append((answered[0], wrong))
        return answered

    def run(self, sign: bool = False) -> Outcome:
        api = Api(self.address, "ghs_secret", wait=self.slept.append)
        signs = Objects(api, self.shop.fork or "o", "r") if sign else None
        wanted = Wanted(extras=EXTRAS, warn=self.shop.warnings.append, signs=signs)
        return publish(self.shop.proposal(), self.shop.remote(), Repository(api, "o", "r", self.shop.fork), wanted)


def ask(address: str, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Answered:
    parts = urlsplit(address)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    kept = {
        name: value for name, value in headers.items() if name.lower() in ("accept", "content-type", "authorization")
    }
    connection.request(method, path, None if body is None else json.dumps(body), kept)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, json.loads(data) if data else {}


def is_violation(answered: Answered) -> bool:
    """Whether Prism itself answered, because the request or the answer is not as described."""
    said = answered[1] if answered else None
    return isinstance(said, dict) and "stoplight.io/prism/errors" in str(said.get("type"))


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    return cut_down()


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory, spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Forge]]]:
    """Prism once for all tests, in front of whichever fake is in the dictionary."""
    current: dict[str, Forge] = {}
    folder = tmp_path_factory.mktemp("prism")
    with serve(lambda method, path, body, _headers: current["forge"].handle(method, path, body)) as fake:
        (folder / "github.json").write_text(json.dumps(spec))
        with prism(folder, fake) as address:
            yield address, current


@contextmanager
def prism(folder: Path, upstream: str) -> Iterator[str]:
    """`prism proxy --errors`: a violation on either side is answered with an error."""
    log = folder / "log"
    command = ["prism", "proxy", "-h", "127.0.0.1", "-p", "0", "--errors", str(folder / "github.json"), upstream]
    environment = {**os.environ, "NO_COLOR": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    try:
        yield _listening(log, process)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _listening(log: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        found = re.search(r"listening on (http://127\.0\.0\.1:\d+)", log.read_text("utf-8"))
        if found:
            return found[1]
        assert process.poll() is None, log.read_text("utf-8")
        time.sleep(0.1)
    raise AssertionError(log.read_text("utf-8"))


@pytest.fixture
def contract(
    wire: tuple[str, dict[str, Forge]], spec: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Contract]:
    address, current = wire
    shop = Workshop(tmp_path, getattr(request, "param", ""))
    shop.forge.spec = spec
    current["forge"] = shop.forge
    made = Contract(shop, address)
    with serve(made.forward) as entrance:
        made.address = entrance
        yield made
    assert made.violations == []


@pytest.mark.parametrize("contract", ["", "p"], ids=["own", "fork"], indirect=True)
def test_a_whole_life(contract: Contract) -> None:
    shop = contract.shop
    assert contract.run().result == "created"
    assert contract.run().result == "unchanged"
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert contract.run().result == "updated"
    shop.commit(BASE, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    assert contract.run().result == "closed"
    assert contract.run().result == "nothing"
    assert [pull["state"] for pull in shop.forge.pulls] == ["closed"]
    (pull,) = shop.forge.pulls
    assert (pull["reviewers"], pull["team_reviewers"], pull["assignees"], pull["milestone"]) == (
        ["ann"],
        ["core"],
        ["bob"],
        3,
    )
    assert shop.warnings == []
    assert all(headers["Authorization"] == "Bearer ghs_secret" for _, _, headers in contract.sent)
    assert all(headers["X-Github-Api-Version"] == "2022-11-28" for _, _, headers in contract.sent)


@pytest.mark.parametrize("contract", ["", "p"], ids=["own", "fork"], indirect=True)
@pytest.mark.parametrize("carried_out", [True, False], ids=["after", "before"])
def test_signed_commits_with_each_request_lost_once(contract: Contract, carried_out: bool) -> None:
    """The three requests that make a commit may be sent again, so a lost answer costs nothing."""
    lost = drop_after if carried_out else drop
    contract.faults += [("POST", lost), ("POST", lambda carry_out: carry_out())] * 3
    assert contract.run(sign=True).result == "created"
    assert contract.run(sign=True).result == "unchanged"
    made = [path.rpartition("/")[2] for method, path, _ in contract.sent if method == "POST" and "/git/" in path]
    assert made == ["blobs", "blobs", "trees", "trees", "commits", "commits"]
    assert len(contract.shop.forge.pulls) == 1
    assert "gpgsig" in git(contract.shop.home, "cat-file", "commit", BRANCH)


def drop(_carry_out: Callable[[], Answered]) -> Answered:
    return None


def drop_after(carry_out: Callable[[], Answered]) -> Answered:
    carry_out()
    return None


def saying(status: int, message: str, **headers: str) -> Step:
    return lambda _carry_out: (
        status,
        {"message": message, "headers": {n.replace("_", "-"): v for n, v in headers.items()}},
    )


def fail_after(carry_out: Callable[[], Answered]) -> Answered:
    carry_out()
    return 502, {"message": "Server Error"}


def already(carry_out: Callable[[], Answered]) -> Answered:
    """Another run was faster by a moment."""
    carry_out()
    return carry_out()


@pytest.mark.parametrize(
    "fault",
    [drop, drop_after, fail_after, saying(503, "unavailable"), saying(403, "slow down", retry_after="2"), already],
    ids=["dropped", "dropped-after", "502-after", "503", "403-retry-after", "422-exists"],
)
def test_faults_when_it_is_opened(contract: Contract, fault: Step) -> None:
    contract.faults.append(("POST", fault))
    assert contract.run().result in ("created", "updated")
    assert len(contract.shop.forge.pulls) == 1
    assert contract.run().result == "unchanged"


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize(
    "fault", [drop, drop_after, fail_after, saying(409, "Conflict")], ids=["drop", "after", "502", "409"]
)
def test_faults_when_it_is_updated(contract: Contract, method: str, fault: Step) -> None:
    assert contract.run().result == "created"
    contract.shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    contract.faults += [(method, fault), (method, fault)]
    assert contract.run().result == "updated"
    assert contract.faults == []
    assert len(contract.shop.forge.pulls) == 1
    assert "`b.py`" in contract.shop.forge.pulls[0]["body"]


@pytest.mark.parametrize("contract", ["", "p"], ids=["own", "fork"], indirect=True)
def test_the_branch_moves_while_it_is_opened(contract: Contract) -> None:
    def moved(carry_out: Callable[[], Answered]) -> Answered:
        contract.shop.commit(BRANCH, {"c.py": "mine\n"})
        return carry_out()

    contract.faults.append(("POST", moved))
    assert contract.run().result == "created"
    assert contract.run().result == "kept"
    assert "c.py" in contract.shop.files(BRANCH)


def test_the_comment_of_the_action(contract: Contract) -> None:
    from distml.action.comment import keep

    contract.run()
    host = Repository(Api(contract.address, "ghs_secret"), "o", "r")
    keep(host, 1, "nothing", 0)
    assert contract.shop.forge.comments == []
    keep(host, 1, "one finding", 1)
    keep(host, 1, "one finding", 1)
    keep(host, 1, "nothing", 0)
    (comment,) = contract.shop.forge.comments
    assert comment["body"].split() == ["<!--", "distml-action", "-->", "nothing"]
    assert host.files(1) == ["a.py"]


def test_violations_are_noticed(wire: tuple[str, dict[str, Forge]], tmp_path: Path) -> None:
    address, current = wire
    forge = current["forge"] = Workshop(tmp_path).forge
    json_only = {"Accept": "application/json", "Content-Type": "application/json"}
    assert is_violation(ask(address, "POST", "/repos/o/r/pulls", {"title": "no branches"}, json_only))
    assert forge.requests == [], "the request went no further"
    assert ask(address, "GET", "/repos/o/r/pulls?state=open", None, json_only) == (200, [])
    forge.comments.append({"id": 1, "number": 1, "body": "x"})
    assert is_violation(ask(address, "GET", "/repos/o/r/issues/1/comments", None, json_only)), "an answer with gaps"


@pytest.mark.parametrize(
    ("query", "variables", "answer", "said"),
    [
        ("query($ids: [ID!]!) { nodes(id: $ids) { id } }", {"ids": ["a"]}, {"nodes": []}, "Unknown argument 'id'"),
        ("{ nodes(ids: []) { ... on IssueComment { mine } } }", {}, {"nodes": []}, "Cannot query field 'mine'"),
        ("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": None}, {"nodes": []}, "non-null"),
        ("{ nodes(ids: []) { id } }", {}, {"nodes": [{"id": None}]}, "Cannot return null"),
        ("{ nodes(ids: []) { id } }", {}, {"nodes": [{"id": "a", "more": 1}]}, "comes out as"),
    ],
)
def test_violations_of_the_graph_are_noticed(query: str, variables: object, answer: object, said: str) -> None:
    assert said in faults({"query": query, "variables": variables}, {"data": answer}, "IssueComment")[0]


def test_the_token_is_in_no_message(contract: Contract) -> None:
    contract.faults.append(("GET", saying(401, "Bad credentials for ghs_secret")))
    with pytest.raises(ApiError, match=r"Bad credentials for \*\*\*"):
        contract.run()
