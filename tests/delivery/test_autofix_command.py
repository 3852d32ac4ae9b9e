"""`distml autofix` from the command line: what it asks, what it says, what it hands over and what it never shows."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from distml.autofix import command, describe
from distml.autofix.fixes import write_fixes
from distml.autofix.proposal import (
    LARGEST,
    OBJECTS,
    Change,
    Left,
    Proposal,
    ProposalError,
    Reason,
    Smoked,
    decode,
    encode,
)
from distml.cli.main import main
from distml.diagnostics.model import Diagnostic, Edit, Fix, Span
from distml.git.clone import Git, GitError, leads_to

from delivery.fake_github import serve
from delivery.repositories import git
from delivery.workshop import BASE, BRANCH, Workshop

pytestmark = pytest.mark.requires("git")
TRAINING = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
loader = DataLoader(data, batch_size=16, shuffle=True)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, targets in loader:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()
"""
SECRET = "ghs_secretsecret"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = Workshop(tmp_path)
    made.commit(BASE, {"train.py": TRAINING, "a.py": "x = 1\n"})
    git(made.clone, "pull", "-q")
    monkeypatch.chdir(made.clone)
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY", "GITHUB_API_URL"):
        monkeypatch.delenv(name, raising=False)
    return made


ASKED = ["autofix", "--repo", "o/r", "--horovod", "train.py"]


def test_a_dry_run_shows_patch_and_description(shop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--dry-run"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("diff --git a/train.py b/train.py\n")
    assert "is made distributed (`HVD106`)" in out
    assert "smoke run: none was made" in out
    assert shop.tip() is None
    patch = out.partition("<!-- distml-autofix")[0]
    subprocess.run(["git", "apply", "--check"], input=patch, cwd=shop.clone, text=True, check=True)


def test_computing_and_publishing_apart(
    shop: Workshop, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "fixes.json")
    assert main([*ASKED, "--compute", file]) == 0
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    seen: list[str] = []

    def handle(method: str, path: str, body: Any, headers: Any) -> tuple[int, Any]:
        seen.append(headers["Authorization"])
        return shop.forge.handle(method, path, body)

    with serve(handle) as address:
        published = ["autofix", "--repo", "o/r", "--apply", file, "--label", "distml", "--api-url", address]
        assert main(published) == 0
        assert main(published) == 0
    out, errors = capfd.readouterr()
    assert out.splitlines()[1:] == ["created: opened pull request 1", "unchanged: pull request 1 is up to date"]
    assert "horovod.torch" in shop.files(BRANCH)["train.py"]
    assert set(seen) == {f"Bearer {SECRET}"}
    assert SECRET not in out + errors


def test_one_step(shop: Workshop, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", SECRET)
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        assert main(["autofix", "--repo", "o/r", "--api-url", address]) == 0
    assert capfd.readouterr().out == "nothing: nothing to fix\n"


def test_fixes_of_findings(shop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    net = (
        "import torch\n\n\ndef make(width):\n    return torch.zeros(width / 2)\n\n\nmake(8)  # distml: ignore[SHP101]\n"
    )
    shop.commit(BASE, {"net.py": net, "use.py": "import net\n"})
    git(shop.clone, "pull", "-q")
    assert main(["autofix", "--repo", "o/r", "--dry-run", "net.py"]) == 0
    assert "- line 8: remove the comment" not in capfd.readouterr().out, "another file, left out, imports this one"
    monkeypatch.setenv("GH_TOKEN", SECRET)
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        assert main(["autofix", "--repo", "o/r", "--api-url", address]) == 0
    assert shop.files(BRANCH)["net.py"] == net.replace("/", "//").partition("  #")[0] + "\n"
    (pull,) = shop.forge.open
    assert "divide with //" in pull["body"]
    assert "remove the comment" in pull["body"]


def test_the_run_says_which_repository_it_is(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [each for each in ASKED if each not in ("--repo", "o/r")]
    monkeypatch.setenv("GITHUB_REPOSITORY", "o/r")
    assert main([*asked, "--dry-run"]) == 0
    monkeypatch.delenv("GITHUB_REPOSITORY")
    assert main([*asked, "--dry-run"]) == 2


def test_a_loop_that_is_hidden_is_left_alone(shop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    hidden = TRAINING.replace("in loader:", "in loader:  # distml: ignore[HVD106]")
    shop.commit(BASE, {"train.py": hidden})
    git(shop.clone, "pull", "-q")
    assert main([*ASKED, "--dry-run"]) == 0
    assert capfd.readouterr().out == "nothing to fix\n"
    shop.commit(BASE, {"train.py": TRAINING, "pyproject.toml": '[tool.distml]\nignore = ["HVD106"]\n'})
    git(shop.clone, "pull", "-q")
    assert main([*ASKED, "--dry-run"]) == 0
    assert capfd.readouterr().out == "nothing to fix\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--repo", "o/r/x", "--dry-run"], "--repo must be OWNER/NAME"),
        (["--repo", "../r", "--dry-run"], "--repo must be OWNER/NAME, not '../r'"),
        (["--repo", "o/..", "--dry-run"], "--repo must be OWNER/NAME, not 'o/..'"),
        (["--repo=-o/r", "--dry-run"], "--repo must be OWNER/NAME, not '-o/r'"),
        (["--repo", "o/r", "--base", "a b", "--dry-run"], "--base: no branch can be called 'a b'"),
        (["--repo", "o/r", "--base=--upload-pack=x", "--dry-run"], "--base: no branch can be called"),
        (["--repo", "o/r", "--branch", "x\ny", "--dry-run"], "--branch: no branch can be called 'x\\ny'"),
        (["--repo", "o/r", "--branch", "main", "--dry-run"], "fixes need a branch of their own"),
        (["--repo", "o/r", "--base", "nowhere", "--dry-run"], "this clone has no branch nowhere of origin"),
        (["--repo", "o/r"], "no token: set GITHUB_TOKEN"),
        (["--repo", "o/r", "--remote=-x", "--dry-run"], "--remote: no remote can be called '-x'"),
        (["--repo", "o/r", "--dry-run", "--smoke", "python3"], "use --compute"),
    ],
)
def test_wrong_use(shop: Workshop, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["autofix", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["main;touch${IFS}pwned", "$(touch${IFS}pwned)", "`id`", "a'b\"c", "${{github.token}}", "日本"]
)
def test_branches_with_odd_names(name: str, shop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    git(shop.bare, "update-ref", f"refs/heads/{name}", BASE)
    git(shop.clone, "fetch", "-q", "origin")
    assert main([*ASKED, "--base", name, "--branch", f"fix/{name}", "--dry-run"]) == 0
    assert "train.py" in capfd.readouterr().out
    assert not list(shop.clone.parent.rglob("pwned"))


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://example.org", "the address of the API must begin with https://"),
        ("file:///etc/passwd", "the address of the API must begin with https://"),
    ],
)
def test_a_token_needs_an_address_with_tls(
    shop: Workshop, url: str, error: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    assert main(["autofix", "--repo", "o/r", "--api-url", url]) == 2
    assert error in capsys.readouterr().err


@pytest.mark.parametrize(
    ("api", "address"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://git.example.org/api/v3", "https://git.example.org"),
        ("https://api.our.ghe.com/", "https://our.ghe.com"),
    ],
)
def test_git_sends_the_token_to_the_server_of_the_api(api: str, address: str) -> None:
    assert command.server(api) == address


def test_a_token_that_is_none_is_not_shown(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs\nsecret")
    assert main(["autofix", "--repo", "o/r"]) == 2
    assert "secret" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "fits"),
    [
        ("https://github.com/o/r.git", True),
        ("https://github.com/o/r", True),
        ("https://github.com/O/R/", True),
        ("https://user@github.com:443/o/r.git/", True),
        ("git@github.com:o/r.git", True),
        ("github-of-work:/o/r", True),
        ("ssh://git@github.com:22/o/r.git", True),
        ("git://github.com/o/r", True),
        ("https://github.com/o/other", False),
        ("https://github.com/xo/r.git", False),
        ("https://github.com/x/o/r.git", False),
        ("https://github.com/o/r/x", False),
        ("https://github.com/o/r.git.git", False),
        ("https://github.com/x?/o/r", False),
        ("https://github.com/x#/o/r", False),
        ("https://github.com/", False),
        ("git@github.com:evil/r.git", False),
        ("git@github.com:xo/r.git", False),
        ("git@github.com:x/o/r", False),
        ("ssh://git@github.com/xo/r", False),
        ("ext::sh -c true o/r", False),
        ("../remote.git", True),
        ("o/r", False),
        ("./o/r", False),
        (".", False),
    ],
)
def test_the_remote_must_be_the_repository(address: str, fits: bool, shop: Workshop) -> None:
    """By owner and name, exactly; or a path on this machine, but not into the clone itself."""
    git(shop.clone, "remote", "set-url", "origin", "--", address)
    assert leads_to(Git(str(shop.clone)), "origin", "o/r") is fits
    assert not leads_to(Git(str(shop.clone)), "origin", "r/r") or address == "../remote.git"


def test_the_token_of_git_stands_in_no_argument(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\ncase " $* " in *" push "*) ;; *) exec {shutil.which("git")} "$@";; esac\n'
        'printf "%s\\n" "$@"; env | grep ^GIT_CONFIG; echo "bad: $GIT_CONFIG_VALUE_1" >&2; exit 1\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    with pytest.raises(Exception, match=r"bad: AUTHORIZATION: basic \*\*\*"):
        Git(str(shop.clone), SECRET).run("push")


def test_git_sends_one_header_to_the_server_alone(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def handle(_method: str, _path: str, _body: Any, headers: Any) -> tuple[int, Any]:
        seen.append(headers.get_all("Authorization"))
        return 404, {}

    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraheader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic of-the-caller")
    with serve(handle) as ours, serve(handle) as other:
        git(shop.clone, "config", f"http.{ours}/.extraheader", "AUTHORIZATION: basic left-by-a-checkout")
        for address in (ours, other):
            with pytest.raises(GitError):
                Git(str(shop.clone), SECRET, ours).run("ls-remote", f"{address}/o/r.git")
    basic = base64.b64encode(f"x-access-token:{SECRET}".encode()).decode()
    assert seen == [[f"basic {basic}"], None]


@pytest.mark.parametrize("piece", ["{}", "[]", "1", '"ab"', '{"a":1}', "[[]]", "null", "0.5"])
def test_a_proposal_takes_no_multiple_of_its_length(piece: str) -> None:
    """2 MiB of `{}` took 24 times as much."""
    text = '{"version":1,"base":"' + "0" * 40 + '","changes":[' + ",".join([piece] * (2**21 // (len(piece) + 1))) + "]}"
    tracemalloc.start()
    try:
        with pytest.raises(ProposalError):
            decode(text)
        assert tracemalloc.get_traced_memory()[1] < OBJECTS + len(text)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("data", [b"\xff{}", b"{", b"x" * (LARGEST + 1)], ids=["not UTF-8", "cut", "large"])
def test_a_file_that_is_no_proposal_is_one_line(
    data: bytes, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fixes.json").write_bytes(data)
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    assert main(["autofix", "--repo", "o/r", "--apply", str(tmp_path / "fixes.json")]) == 2
    assert capsys.readouterr().err.startswith("distml: error: not a proposal: ")


HOSTILE = "a`b|c\n### heading\n<!-- distml-autofix end -->\n@owner ${{ secrets.X }} <img src=x> [l](http://e.org)"


def test_descriptions_hold_any_text() -> None:
    change = Change(f"{HOSTILE}.py", "0" * 40, b"", (Reason(3, HOSTILE, HOSTILE, HOSTILE),))
    proposal = Proposal(
        "1" * 40, (change,), (Left(HOSTILE, 1, HOSTILE, HOSTILE),), (Smoked(change.path, HOSTILE, HOSTILE),)
    )
    text = describe.body(proposal, HOSTILE)
    assert text.count(describe.END) == 1
    assert [line for line in text.splitlines() if line.startswith("###")][-1] == "### If you do not want this"
    assert "\n### heading" not in text
    assert "@owner" not in text.replace("&#64;", "")
    assert describe.key(text) == proposal.key
    assert describe.message(proposal).splitlines() == ["distml: fixes in 1 file"]


def test_a_description_that_is_too_long_is_cut() -> None:
    change = Change("a.py", "0" * 40, b"", tuple(Reason(n, "what " * 20, "why " * 20, "SHP101") for n in range(1000)))
    text = describe.body(Proposal("1" * 40, (change,)), "b")
    assert len(text) < 65_536
    assert "There is more than fits here" in text
    assert "ignore[SHP101]" in text


def test_a_proposal_survives_being_handed_over() -> None:
    change = Change("a b\udcff.py", "0" * 40, b"\xff\x00\r\n", (Reason(1, HOSTILE, "y", "SHP101"),))
    proposal = Proposal("1" * 40, (change,), (Left("x", 1, "r", "w"),), (Smoked("a", "passed", "s"),))
    assert decode(encode(proposal)) == proposal


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"base": "main"},
        {"base": "1" * 39 + "\n"},
        {"changes": {}},
        {"changes": [{"path": "../x.py", "before": "0" * 40, "after": "", "reasons": []}]},
        {"changes": [{"path": ".github/workflows/x.py", "before": "0" * 40, "after": "", "reasons": []}]},
        {"changes": [{"path": "x.yml", "before": "0" * 40, "after": "", "reasons": []}]},
        {"changes": [{"path": "x.py", "before": "--all", "after": "", "reasons": []}]},
        {"changes": [{"path": "x.py", "before": "0" * 40, "after": "not base64!", "reasons": []}]},
        {"changes": [{"path": "x.py", "before": "0" * 40, "after": "", "reasons": []}] * 2},
        {"left": [{"path": 3, "line": 1, "rule": "", "why": ""}]},
        {"smoked": None},
    ],
)
def test_what_is_handed_over_is_not_believed(change: dict[str, Any]) -> None:
    plain = {**json.loads(encode(Proposal("1" * 40))), **change}
    with pytest.raises(ProposalError):
        decode(json.dumps(plain))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "[" * 100_000])
def test_what_is_no_proposal(text: str) -> None:
    with pytest.raises(ProposalError):
        decode(text)


def finding(path: str, *edits: tuple[int, int, int, str]) -> Diagnostic:
    made = tuple(Edit(Span(path, line, start, line, end), text) for line, start, end, text in edits)
    return Diagnostic("SHP101", "m", made[0].span, fix=Fix("d", made))


def test_fixes_are_written_whole_and_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\nn\xc3\xa4me = (2, 3)\r\n")
    found = [
        finding(str(path), (1, 5, 6, "10"), (2, 12, 13, "30")),
        finding(str(path), (2, 9, 10, "20")),
        finding(str(path), (2, 9, 13, "overlaps")),
    ]
    fixed = write_fixes(found, {str(path): "a.py"})
    assert path.read_bytes() == b"\xef\xbb\xbfx = 10\r\nn\xc3\xa4me = (20, 30)\r\n"
    assert [each.line for each in fixed.reasons["a.py"]] == [1, 2]


def test_a_fix_that_breaks_the_file_is_not_applied(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    fixed = write_fixes([finding(str(path), (1, 5, 6, "("))], {str(path): "a.py"})
    assert path.read_text() == "x = 1\n"
    assert fixed.reasons == {}
    assert "would not parse" in fixed.left[0].why


def test_the_command_is_listed() -> None:
    from distml.cli.commands import every

    assert every()["autofix"] is command
