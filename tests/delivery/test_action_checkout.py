"""The Action in a workspace where `actions/checkout` put the repository anywhere, and a comment that others imitate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from delivery.fake_github import serve
from delivery.repositories import git
from delivery.runner import Command, commands
from delivery.workshop import Workshop

pytestmark = pytest.mark.requires("git", "github_action_toolkit")
BROKEN = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    return folder


def repository(folder: Path, origin: str, number: int = 2) -> str:
    """A checkout of `origin` whose last commit adds new.py, new1.py ...; the commit before."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", f"https://github.com/{origin}")
    for message in ("old", "new"):
        (folder / "src").mkdir(exist_ok=True)
        (folder / "src" / f"{message}.py").write_text(BROKEN)
        git(folder, "add", "--all")
        git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD^")


def on_a_pull_request(workspace: Path, monkeypatch: pytest.MonkeyPatch, base: str, **more: str) -> None:
    path = workspace.parent / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": 1, "base": {"sha": base}}}))
    given = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(path), "GITHUB_REPOSITORY": "o/r"}
    for name, value in (given | more).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "null", '{"pull_request": []}', '{"pull_request": {"number": "1"}}', "\xff"]
)
def test_an_event_that_cannot_be_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Then all files are checked."""
    from distml.action.event import pull_request

    (tmp_path / "event.json").write_text(text, "latin-1")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    assert pull_request() is None


def action(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **inputs: str
) -> tuple[int, list[Command]]:
    from distml.action import run

    monkeypatch.chdir(workspace)
    for name, value in inputs.items():
        monkeypatch.setenv(f"INPUT_{name}", value)
    code = run.main()
    return code, [each for each in commands(capsys.readouterr().out)[0] if each.name in ("error", "warning", "notice")]


@pytest.mark.parametrize("where", [".", "sub", "a/b c", "sub/../sub"])
@pytest.mark.parametrize("inside", [".", "here", "src"])
@pytest.mark.parametrize("changed", ["true", "false"])
def test_findings_are_named_from_the_top_of_the_repository(
    workspace: Path,
    where: str,
    inside: str,
    changed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Wherever the checkout is and whatever folder is worked in: the same findings by the same names."""
    place = (workspace / where).resolve()
    base = repository(place, "o/r")
    on_a_pull_request(workspace, monkeypatch, base)
    folder = {".": ".", "here": where, "src": f"{where}/src"}[inside]
    code, said = action(
        workspace, monkeypatch, capsys, CHANGED_ONLY=changed, WORKING_DIRECTORY=folder, SARIF_FILE="x.sarif"
    )
    names = ["src/new.py"] if changed == "true" else ["src/new.py", "src/old.py"]
    assert (code, [each.properties.get("file") for each in said]) == (1, names)
    (run,) = json.loads((workspace / "x.sarif").read_text())["runs"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    assert places == names
    assert run["automationDetails"]["id"].startswith("distml/")


@pytest.mark.parametrize("around", [True, False])
def test_the_changes_are_those_of_the_repository_among_others(
    workspace: Path, around: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = repository(workspace / "ours", "O/R.git")
    repository(workspace / "another", "o/another")
    if around:
        repository(workspace, "o/around")
    on_a_pull_request(workspace, monkeypatch, base)
    code, said = action(workspace, monkeypatch, capsys, CHANGED_ONLY="true")
    assert (code, [each.properties.get("file") for each in said]) == (1, ["src/new.py"])


def test_where_nothing_shows_the_checkout_everything_is_checked(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = repository(workspace / "one", "x/one")
    repository(workspace / "two", "x/two")
    on_a_pull_request(workspace, monkeypatch, base)
    code, said = action(workspace, monkeypatch, capsys, CHANGED_ONLY="true")
    assert (code, [each.name for each in said]) == (1, ["warning", *["error"] * 4])
    assert "nothing shows which folder" in said[0].message


@pytest.mark.parametrize(
    ("paths", "changed", "level", "code"),
    [
        (".", "false", "warning", 0),
        ("left.py", "false", "error", 2),
        ("empty", "false", "warning", 0),
        (".", "true", "notice", 0),
    ],
)
def test_that_nothing_was_checked_is_said(
    workspace: Path,
    paths: str,
    changed: str,
    level: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    git(workspace, "init", "-q", "-b", "main")
    (workspace / "empty").mkdir()
    (workspace / "left.py").write_text(BROKEN)
    (workspace / "pyproject.toml").write_text('[tool.distml]\nexclude = ["left.py"]\n')
    for name in ("notes.txt", "more.txt"):
        (workspace / name).write_text("x")
        git(workspace, "add", "--all")
        git(workspace, "commit", "-qm", "x")
    on_a_pull_request(workspace, monkeypatch, git(workspace, "rev-parse", "HEAD^"))
    got, said = action(workspace, monkeypatch, capsys, PATHS=paths, CHANGED_ONLY=changed)
    assert (got, [each.name for each in said]) == (code, [level]), said
    assert said[0].message.startswith("nothing was checked")


@pytest.mark.parametrize("wrong", ["..", "/", "nowhere", "file"])
def test_a_working_directory_is_in_the_workspace(
    workspace: Path, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "file").touch()
    code, said = action(workspace, monkeypatch, capsys, WORKING_DIRECTORY=wrong)
    assert (code, len(said)) == (2, 1)
    assert "working-directory is not a folder of the workspace" in said[0].message


@pytest.mark.parametrize(("number", "known"), [(2999, True), (3000, False)])
def test_a_list_that_may_be_cut_is_none(number: int, known: bool) -> None:
    from distml.github.pulls import Repository
    from distml.github.rest import Api, ApiError

    class Many(Api):
        def get(self, *path: str | int, **query: str | int) -> Any:
            start = (int(query["page"]) - 1) * 100
            return [{"filename": f"{n}.py", "status": "added", "id": n} for n in range(start, min(start + 100, number))]

    host = Repository(Many(), "o", "r")
    for listed in (host.files, lambda pull: list(host.comments(pull))):
        if known:
            assert len(listed(1)) == number
        else:
            with pytest.raises(ApiError, match="3,000"):
                listed(1)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "\n\n"])
def test_a_comment_that_says_the_same_is_not_edited(ends: str, tail: str) -> None:
    from distml.action.comment import keep
    from distml.github.pulls import Comment

    class Host:
        edits: ClassVar[list[str]] = []
        given: ClassVar[list[Comment]] = []

        def comments(self, number: int) -> list[Comment]:
            return self.given

        def own(self, comments: Iterable[Comment]) -> Iterator[Comment]:
            return iter(comments)

        def comment(self, number: int, body: str) -> None:
            self.given.append(Comment(1, body.replace("\n", ends) + tail, "node"))

        def edit_comment(self, comment: int, body: str) -> None:
            self.edits.append(body)

    host: Any = Host()
    keep(host, 1, "one finding\n\n| a | b |\n", 1)
    keep(host, 1, "one finding\n\n| a | b |\n", 1)
    assert host.edits == []
    keep(host, 1, "two findings\n\n| a | b |\n", 2)
    assert len(host.edits) == 1


def test_a_comment_of_another_is_left_alone_and_nothing_is_edited_without_news(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.action.comment import MARK

    shop = Workshop(workspace.parent)
    shop.run()
    theirs = {"id": 1, "number": 1, "body": f"{MARK}\nmine, said a stranger", "by": "stranger"}
    shop.forge.comments.append(dict(theirs))
    git(workspace, "init", "-q")
    (workspace / "a.py").write_text(BROKEN)
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        on_a_pull_request(workspace, monkeypatch, "1" * 40, GITHUB_API_URL=address, GITHUB_TOKEN="ghs_x")
        for _ in range(3):
            assert action(workspace, monkeypatch, capsys, COMMENT="true")[0] == 1
    assert shop.forge.comments[0] == theirs
    assert len(shop.forge.comments) == 2
    assert [each for each in shop.forge.requests if each[0] == "PATCH" and "comments" in each[1]] == []


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
@pytest.mark.parametrize("depth", [1, 2, 50])
@pytest.mark.parametrize("out", ["head", "merge", "base", "later"])
def test_what_is_not_the_pull_request_is_checked_whole(
    workspace: Path,
    event: str,
    depth: int,
    out: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`pull_request_target` checks out the base unless told otherwise, where nothing of the pull request is changed."""
    origin = workspace.parent / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    added(origin, "old")
    git(origin, "checkout", "-qb", "change")
    head = added(origin, "new")
    git(origin, "checkout", "-q", "main")
    base = added(origin, "meanwhile")
    git(origin, "checkout", "-qb", "merge")
    git(origin, "merge", "-q", "--no-ff", "-m", "merge", "change")
    git(origin, "checkout", "-qb", "later", "change")
    added(origin, "later")
    names = {"head": "change", "base": "main"}
    git(
        workspace.parent,
        "clone",
        "-q",
        "--depth",
        str(depth),
        "-b",
        names.get(out, out),
        f"file://{origin}",
        str(workspace),
    )
    on_a_pull_request(workspace, monkeypatch, base, GITHUB_EVENT_NAME=event, GITHUB_REPOSITORY="")
    path = workspace.parent / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": 1, "base": {"sha": base}, "head": {"sha": head}}}))
    code, said = action(workspace, monkeypatch, capsys, CHANGED_ONLY="true")
    files = [each.properties["file"] for each in said if "file" in each.properties]
    if "src/new.py" in files:
        assert code == 1
    else:
        assert out == "base" and said[0].name == "warning" and "another commit" in said[0].message
        assert files == ["src/meanwhile.py", "src/old.py"]


def added(folder: Path, name: str) -> str:
    """A commit that adds a file with a mistake."""
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / f"{name}.py").write_text(BROKEN)
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", name)
    return git(folder, "rev-parse", "HEAD")


def test_a_comment_is_found_among_any_number_of_imitations(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.action.comment import MARK

    shop = Workshop(workspace.parent)
    shop.run()
    shop.forge.comments += [{"id": n, "number": 1, "body": MARK, "by": "stranger"} for n in range(1, 251)]
    git(workspace, "init", "-q")
    (workspace / "a.py").write_text(BROKEN)
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        on_a_pull_request(workspace, monkeypatch, "1" * 40, GITHUB_API_URL=address, GITHUB_TOKEN="ghs_x")
        for _ in range(2):
            assert action(workspace, monkeypatch, capsys, COMMENT="true")[0] == 1
    assert len(shop.forge.comments) == 251


@pytest.mark.parametrize("answer", [None, [], {}, [None], [{"viewerDidAuthor": True}] * 2, "x"])
def test_an_answer_about_something_else_fails_no_run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: Any
) -> None:
    from distml.action.comment import MARK

    def said(method: str, path: str, *_: Any) -> tuple[int, Any]:
        if path.endswith("graphql"):
            return 200, {"data": {"nodes": answer}}
        return 200, [{"id": 1, "body": MARK, "node_id": "x"}] if method == "GET" else {}

    workspace.joinpath("a.py").write_text("x = 1\n")
    with serve(said) as address:
        on_a_pull_request(workspace, monkeypatch, "1" * 40, GITHUB_API_URL=address, GITHUB_TOKEN="ghs_x")
        assert action(workspace, monkeypatch, capsys, COMMENT="true")[0] == 0


@pytest.mark.parametrize(
    "written", ["a.py", "./a.py", "src/../a.py", "{workspace}/a.py", "{workspace}", "link/a.py", "."]
)
def test_the_patch_is_of_what_was_checked_however_it_is_written(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    git(workspace, "init", "-q", "-b", "main")
    (workspace / "src").mkdir()
    (workspace / "link").symlink_to(".")
    (workspace / "a.py").write_text("import torch\n\nsize = torch.zeros(8 / 2)\n")
    git(workspace, "add", "--all")
    git(workspace, "commit", "-qm", "x")
    code, _ = action(workspace, monkeypatch, capsys, PATHS=written.format(workspace=workspace), FIX="true")
    assert code == 1
    assert "torch.zeros(8 // 2)" in (workspace.parent / "GITHUB_STEP_SUMMARY").read_text()


@pytest.mark.parametrize("target", ["{outside}", ".git/config", "src/../.git/config", "deep/more.py"])
@pytest.mark.parametrize("named", [".", "link.py"])
def test_no_line_of_a_file_outside_of_the_workspace_is_shown(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], target: str, named: str
) -> None:
    base = repository(workspace, "o/r")
    outside = workspace.parent / "settings"
    outside.write_text("[http]\n  extraheader = AUTHORIZATION basic c2VjcmV0\n")
    git(workspace, "config", "http.extraheader", "AUTHORIZATION basic c2VjcmV0")
    (workspace / "deep").mkdir()
    (workspace / "deep" / "more.py").symlink_to(outside)
    (workspace / "link.py").symlink_to(target.format(outside=outside))
    (workspace / "uses.py").write_text("import torch\n\nimport link\n\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    on_a_pull_request(workspace, monkeypatch, base)
    monkeypatch.chdir(workspace)
    for name, value in {"PATHS": named, "SARIF_FILE": "x.sarif"}.items():
        monkeypatch.setenv(f"INPUT_{name}", value)
    from distml.action import run

    assert run.main() == (1 if named == "." else 0)
    printed = capsys.readouterr().out
    written = (workspace / "x.sarif").read_text() + (workspace.parent / "GITHUB_STEP_SUMMARY").read_text()
    for secret in ("extraheader", "c2VjcmV0", "[core]", "[http]"):
        assert secret not in printed + written
    assert "link.py: it leads out of the workspace" in printed
