"""A GitHub of one repository, `o/r`, and maybe a fork of it, over bare repositories of git: pull requests, labels,
comments, and what GitHub refuses.

`Forge.handle` is all of it; `Direct` is the client's API with the wire left out, `serve` puts it behind HTTP. Given
GitHub's OpenAPI, answers are built over its examples, so that they are whole.
"""

from __future__ import annotations

import base64
import copy
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from distml.github.rest import Answer, Api

from delivery.repositories import git

HOME = "/repos/o/r"
PEOPLE, TEAMS, MILESTONES = {"ann", "bob"}, {"core"}, {"next": 3, "7": 4}
BOT = "a-job[bot] <1+a-job[bot]@users.noreply.github.com>"
SIGNATURE = ("gpgsig -----BEGIN PGP SIGNATURE-----", " ", " c2lnbmVk", " -----END PGP SIGNATURE-----", " ")
Pull = dict[str, Any]


class Forge:
    """The state, and the calls on it."""

    def __init__(self, bare: Path, spec: Mapping[str, Any] | None = None) -> None:
        self.bare, self.spec = bare, spec
        self.forks: dict[str, Path] = {}
        """The repositories of forks, by owner."""
        self._pulls: list[Pull] = []
        self.comments: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str]] = []
        self.viewer = "a-job[bot]"
        """Whom the token belongs to."""
        self.signs = True
        """Whether the token is one of a job or an app, whose commits GitHub signs."""

    @property
    def pulls(self) -> list[Pull]:
        """All pull requests; one whose branch was removed is closed."""
        for pull in self._pulls:
            if pull["state"] == "open" and self.tip(pull["head"]) is None:
                pull["state"] = "closed"
        return self._pulls

    @property
    def open(self) -> list[Pull]:
        return [pull for pull in self.pulls if pull["state"] == "open"]

    def tip(self, head: str) -> str | None:
        """The commit at the tip of a branch, or of `owner:branch`."""
        owner, _, branch = head.rpartition(":")
        where = self.forks.get(owner, self.bare)
        return git(where, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}") or None

    def handle(self, method: str, address: str, body: Any) -> tuple[int, Any]:
        """Status and answer of a request."""
        url = urlsplit(address)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self.requests.append((method, url.path))
        owner, _, made = unquote(url.path).removeprefix("/repos/").partition("/r/git/")
        if method == "POST" and made in (calls := {"blobs": self._blob, "trees": self._tree, "commits": self._commit}):
            return calls[made](self.forks.get(owner, self.bare), body)
        if (method, url.path) == ("POST", "/graphql"):
            assert "viewerDidAuthor" in body["query"]
            by = {f"IC_{each['id']}": each.get("by") for each in self.comments}
            return 200, {
                "data": {"nodes": [{"viewerDidAuthor": by[n] == self.viewer} for n in body["variables"]["ids"]]}
            }
        for pattern, verb, call in self._calls():
            found = re.fullmatch(HOME + pattern, unquote(url.path))
            if found and verb == method:
                return call(*map(int, found.groups()), *([query] if method == "GET" else [body]))
        return 404, _error("Not Found")

    def _calls(self) -> list[tuple[str, str, Callable[..., tuple[int, Any]]]]:
        return [
            ("/pulls", "GET", self._list),
            ("/pulls", "POST", self._create),
            (r"/pulls/(\d+)", "PATCH", self._update),
            (r"/issues/(\d+)/labels", "POST", self._label),
            (r"/issues/(\d+)/comments", "GET", self._list_comments),
            (r"/issues/(\d+)/comments", "POST", self._comment),
            (r"/issues/comments/(\d+)", "PATCH", self._edit_comment),
            (r"/pulls/(\d+)/files", "GET", self._files),
            (r"/pulls/(\d+)/requested_reviewers", "POST", self._request_review),
            (r"/issues/(\d+)/assignees", "POST", self._assign),
            (r"/issues/(\d+)", "PATCH", self._plan),
            ("/milestones", "GET", self._milestones),
        ]

    def _list(self, query: dict[str, str]) -> tuple[int, Any]:
        state = query.get("state", "open")
        fitting = [
            pull
            for pull in self.pulls
            if state in ("all", pull["state"])
            and query.get("head", _label(pull["head"])) == _label(pull["head"])
            and query.get("base", pull["base"]) == pull["base"]
        ]
        return 200, _page([self._shown(pull, "pull-request-simple-items") for pull in fitting], query)

    def _create(self, body: dict[str, Any]) -> tuple[int, Any]:
        head, base = self.tip(body["head"]), self.tip(body["base"])
        same = [pull for pull in self.open if (pull["head"], pull["base"]) == (body["head"], body["base"])]
        if head is None or base is None:
            return 422, _error("Validation Failed", {"resource": "PullRequest", "field": "head", "code": "invalid"})
        if same:
            return 422, _refused(f"A pull request already exists for {_label(body['head'])}.")
        if (
            git(self.forks.get(body["head"].rpartition(":")[0], self.bare), "rev-list", "--count", f"{base}..{head}")
            == "0"
        ):
            return 422, _refused(f"No commits between {body['base']} and {body['head']}")
        number = len(self._pulls) + 1
        empty: Pull = {"labels": [], "reviewers": [], "team_reviewers": [], "assignees": [], "milestone": None}
        self._pulls.append({"number": number, "state": "open", "merged_at": None, **empty, **body})
        return 201, self._shown(self._pulls[-1], "pull-request")

    def _update(self, number: int, body: dict[str, Any]) -> tuple[int, Any]:
        pull = self.pulls[number - 1]
        if body.get("state") == "open" and self.tip(pull["head"]) is None:
            return 422, _refused("state cannot be changed. The branch was deleted.")
        pull.update(body)
        return 200, self._shown(pull, "pull-request")

    def _label(self, number: int, body: dict[str, Any]) -> tuple[int, Any]:
        pull = self.pulls[number - 1]
        pull["labels"] = list(dict.fromkeys([*pull["labels"], *body["labels"]]))
        return 200, self._labels(pull)

    def _request_review(self, number: int, body: dict[str, Any]) -> tuple[int, Any]:
        pull = self.pulls[number - 1]
        for kind, known in (("reviewers", PEOPLE), ("team_reviewers", TEAMS)):
            if not known.issuperset(body.get(kind, ())):
                return 422, _error("Reviews may only be requested from collaborators.")
            pull[kind] = list(dict.fromkeys([*pull[kind], *body.get(kind, ())]))
        return 201, self._shown(pull, "pull-request-review-request")

    def _assign(self, number: int, body: dict[str, Any]) -> tuple[int, Any]:
        """People that are not known are passed over, as GitHub does."""
        pull = self.pulls[number - 1]
        known = sorted(PEOPLE.intersection(map(str.lower, body["assignees"])))
        pull["assignees"] = list(dict.fromkeys([*pull["assignees"], *known]))
        return 201, self._issue(pull)

    def _plan(self, number: int, body: dict[str, Any]) -> tuple[int, Any]:
        if body["milestone"] not in MILESTONES.values():
            return 422, _error("Validation Failed", {"resource": "Issue", "field": "milestone", "code": "invalid"})
        self.pulls[number - 1]["milestone"] = body["milestone"]
        return 200, self._issue(self.pulls[number - 1])

    def _milestones(self, query: dict[str, str]) -> tuple[int, Any]:
        shown = [self._over("milestone-items", {"title": t, "number": n}) for t, n in MILESTONES.items()]
        return 200, _page(shown, query)

    def _blob(self, where: Path, body: dict[str, Any]) -> tuple[int, Any]:
        assert body["encoding"] == "base64"
        sha = stored(where, "blob", base64.b64decode(body["content"], validate=True))
        return 201, self._over("short-blob", {"sha": sha})

    def _tree(self, where: Path, body: dict[str, Any]) -> tuple[int, Any]:
        """A tree of folders and files: no index, which the repository of a fork may lack."""
        files: dict[str, str] = {}
        for row in git(where, "ls-tree", "-r", "-z", body["base_tree"]).split("\0"):
            head, _, path = row.partition("\t")
            files |= {path: head} if row else {}
        for each in body["tree"]:
            if git(where, "cat-file", "-t", each["sha"]) != each["type"]:
                return 422, _error("Validation Failed")
            files[each["path"]] = f"{each['mode']} {each['type']} {each['sha']}"
        sha = tree_of(where, files)
        return 201, self._over("git-tree", {"sha": sha, "tree": []})

    def _commit(self, where: Path, body: dict[str, Any]) -> tuple[int, Any]:
        parents = "".join(f"parent {git(where, 'rev-parse', each + '^{commit}')}\n" for each in body["parents"])
        times = "1700000000 +0000"
        head = f"tree {git(where, 'rev-parse', body['tree'] + '^{tree}')}\n{parents}author {BOT} {times}\n"
        by = "GitHub <noreply@github.com>" if self.signs else BOT
        seal = "".join(f"{line}\n" for line in SIGNATURE) if self.signs else ""
        text = f"{head}committer {by} {times}\n{seal}\n{body['message']}"
        sha = stored(where, "commit", text.encode())
        shown = self._over("git-commit", {"sha": sha, "message": body["message"]})
        said = {"verified": self.signs, "reason": "valid" if self.signs else "unsigned", "verified_at": None}
        shown["verification"] = {"signature": None, "payload": None, **said}
        return 201, shown

    def _issue(self, pull: Pull) -> Any:
        """A pull request as an issue."""
        shown = self._over("issue", {name: pull[name] for name in ("number", "title", "state")})
        person = shown.get("user", {})
        shown["assignees"] = [{**person, "login": login} for login in pull["assignees"]]
        milestone = self._over("milestone-items", {"number": pull["milestone"]})
        shown["milestone"] = milestone if pull["milestone"] else None
        return shown

    def _list_comments(self, number: int, query: dict[str, str]) -> tuple[int, Any]:
        fitting = [each for each in self.comments if each["number"] == number]
        return 200, _page([self._shown_comment(each, "issue-comment-items") for each in fitting], query)

    def _comment(self, number: int, body: dict[str, Any]) -> tuple[int, Any]:
        self.comments.append({"id": len(self.comments) + 1, "number": number, "body": body["body"], "by": self.viewer})
        return 201, self._shown_comment(self.comments[-1], "issue-comment")

    def _edit_comment(self, comment: int, body: dict[str, Any]) -> tuple[int, Any]:
        self.comments[comment - 1]["body"] = body["body"]
        return 200, self._shown_comment(self.comments[comment - 1], "issue-comment")

    def _files(self, number: int, query: dict[str, str]) -> tuple[int, Any]:
        pull = self.pulls[number - 1]
        rows = git(self.bare, "diff", "--name-status", "-z", f"{pull['base']}...{pull['head']}").split("\0")
        kinds = {"A": "added", "M": "modified", "D": "removed"}
        files = [{"filename": name, "status": kinds[kind]} for kind, name in zip(rows[::2], rows[1::2])]
        return 200, _page([self._over("diff-entry-items", each) for each in files], query)

    def _shown(self, pull: Pull, example: str) -> Any:
        parts = {"number", "title", "body", "state", "draft", "merged_at"}
        shown = self._over(example, {name: value for name, value in pull.items() if name in parts})
        shown["labels"] = self._labels(pull)
        for side in ("head", "base"):
            place = shown.setdefault(side, {})
            place.update(
                ref=pull[side].rpartition(":")[2], label=_label(pull[side]), sha=self.tip(pull[side]) or "0" * 40
            )
        for team in shown.get("requested_teams", []):
            team.setdefault("type", "organization")
        return shown

    def _shown_comment(self, comment: Mapping[str, Any], example: str) -> Any:
        return self._over(example, {"id": comment["id"], "node_id": f"IC_{comment['id']}", "body": comment["body"]})

    def _labels(self, pull: Pull) -> list[Any]:
        (example,) = self._examples("label-items")[:1] or [{}]
        return [{**example, "name": name} for name in pull["labels"]]

    def _over(self, example: str, values: Mapping[str, Any]) -> Any:
        (whole,) = self._examples(example)[:1] or [{}]
        return {**copy.deepcopy(whole), **values}

    def _examples(self, name: str) -> list[Any]:
        if self.spec is None:
            return []
        value = self.spec["components"]["examples"][name]["value"]
        return value if isinstance(value, list) else [value]


class Direct(Api):
    """The client's API without the wire: time passes at once, and `fault` may come between.

    `fault(method, address, carry_out)` gives the answer; what it does not carry out does not happen.
    """

    def __init__(self, forge: Forge) -> None:
        self.slept: list[float] = []
        super().__init__("http://127.0.0.1", "token", wait=self.slept.append, clock=lambda: 1000.0)
        self.forge = forge
        self.fault: Callable[[str, str, Callable[[], Answer]], Answer] = lambda _m, _a, carry_out: carry_out()

    def _once(self, method: str, address: str, body: Mapping[str, Any] | None) -> Answer:
        def carry_out() -> Answer:
            status, said = self.forge.handle(method, address, body)
            return Answer(status, {}, json.dumps(said).encode())

        return self.fault(method, address, carry_out)


@contextmanager
def serve(handle: Callable[[str, str, Any, Mapping[str, str]], tuple[int, Any] | None]) -> Iterator[str]:
    """The address of an HTTP server that answers with `handle`; None breaks the connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            found = handle(self.command, self.path, body, self.headers)
            if found is None:
                self.close_connection = True
                self.connection.close()
                return
            status, said = found
            headers = said.pop("headers", {}) if isinstance(said, dict) else {}
            data = json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def stored(where: Path, kind: str, content: bytes) -> str:
    """The object with this content, in a repository."""
    command = ["git", "hash-object", "-t", kind, "-w", "--stdin"]
    return subprocess.run(command, cwd=where, input=content, capture_output=True, check=True).stdout.decode().strip()


def tree_of(where: Path, files: Mapping[str, str]) -> str:
    """The tree with these files: `mode type object` by path."""
    here: dict[str, str] = {}
    below: dict[str, dict[str, str]] = {}
    for path, entry in files.items():
        folder, slash, rest = path.partition("/")
        if slash:
            below.setdefault(folder, {})[rest] = entry
        else:
            here[path] = entry
    here |= {folder: f"040000 tree {tree_of(where, inside)}" for folder, inside in below.items()}
    return git(where, "mktree", "-z", data="".join(f"{entry}\t{name}\0" for name, entry in here.items()))


def _page(items: list[Any], query: Mapping[str, str]) -> list[Any]:
    size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
    return items[size * (number - 1) : size * number]


def _label(head: str) -> str:
    return head if ":" in head else f"o:{head}"


def _refused(message: str) -> dict[str, Any]:
    return _error("Validation Failed", {"resource": "PullRequest", "code": "custom", "message": message})


def _error(message: str, *errors: dict[str, str]) -> dict[str, Any]:
    return {
        "message": message,
        "documentation_url": "https://docs.github.com/rest",
        **({"errors": list(errors)} if errors else {}),
    }
