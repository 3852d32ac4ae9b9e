"""What a run of the Action keeps answers the next, and nothing does that does not hold any more or that others made."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from delivery.caches import Caches
from delivery.composite import Ran, holds, run
from delivery.prepared import ROOT, prepared
from delivery.repositories import git

BROKEN = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"

pytestmark = pytest.mark.requires("bash", "git", "github_action_toolkit", "yaml")


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(f"# {name}\n{BROKEN}")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "x")
    return folder


def job(action: Path, workspace: Path, caches: Caches | None, event: str = "push", **inputs: str) -> Ran:
    """A run of the Action on a machine that nothing ran on before."""
    shutil.rmtree(workspace.parent / "runner-temp", ignore_errors=True)
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    ran = run(action, workspace, given, caches, GITHUB_EVENT_NAME=event, RUNNER_OS="Linux", RUNNER_ARCH="X64")
    assert (ran.code, ran.outputs["findings"]) == (1, "2"), ran.log
    return ran


def cached(ran: Ran) -> int:
    """How many files were answered from the cache."""
    found = re.search(r"(\d+) cached", ran.log)
    return int(found[1]) if found else 0


def test_a_run_of_the_same_commit_installs_and_checks_nothing_anew(workspace: Path, tmp_path: Path) -> None:
    """All steps as they are; the packages come from no index the second time."""
    caches = Caches(tmp_path / "caches")
    first = job(ROOT, workspace, caches)
    assert (cached(first), first.took) == (0, ())
    packages, results = (each.key for each in caches.entries)
    (workspace.parent / "runner-temp" / "distml-packages").rename(tmp_path / "seen")
    assert len(list((tmp_path / "seen").glob("*.whl"))) >= 10
    second = run(
        ROOT, workspace, {}, caches, GITHUB_EVENT_NAME="push", RUNNER_OS="Linux", RUNNER_ARCH="X64", PIP_NO_INDEX="1"
    )
    assert (second.code, cached(second), second.took) == (1, 2, (packages, results)), second.log
    assert len(caches.entries) == 2, "what is known already is not kept again"
    rows = [[line for line in each.summary.splitlines() if line.startswith("|")] for each in (first, second)]
    assert rows[0] == rows[1] != []


def test_a_changed_file_is_checked_anew(action: Path, workspace: Path, tmp_path: Path) -> None:
    caches = Caches(tmp_path / "caches")
    assert cached(job(action, workspace, caches)) == 0
    (workspace / "two.py").write_text(f"# another\n{BROKEN}")
    assert cached(job(action, workspace, caches)) == 1
    assert cached(job(action, workspace, caches)) == 2


def test_a_folder_to_work_in_has_results_of_its_own(action: Path, workspace: Path, tmp_path: Path) -> None:
    caches = Caches(tmp_path / "caches")
    shutil.copytree(workspace, workspace / "sub", ignore=shutil.ignore_patterns(".git", "*.sarif"))
    assert cached(job(action, workspace, caches, working_directory="sub")) == 0
    assert job(action, workspace, caches, paths="one.py\ntwo.py").took == ()
    assert cached(job(action, workspace, caches, working_directory="sub")) == 2


def test_a_pull_request_takes_from_its_base_and_gives_it_nothing(action: Path, workspace: Path, tmp_path: Path) -> None:
    main = Caches(tmp_path / "caches")
    request = main.seen_from("refs/pull/7/merge", "refs/heads/main")
    assert cached(job(action, workspace, request, "pull_request")) == 0
    assert cached(job(action, workspace, request, "pull_request")) == 2
    assert cached(job(action, workspace, main)) == 0, "the base takes nothing from a pull request"
    assert cached(job(action, workspace, main.seen_from("refs/pull/8/merge", "refs/heads/main"), "pull_request")) == 2


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run", "issue_comment", "repository_dispatch", ""])
def test_what_may_run_a_strangers_code_for_the_default_branch_keeps_nothing(
    action: Path, workspace: Path, tmp_path: Path, event: str
) -> None:
    caches = Caches(tmp_path / "caches")
    job(action, workspace, caches, event)
    assert caches.entries == []


def test_nothing_is_kept_if_told_so(action: Path, workspace: Path, tmp_path: Path) -> None:
    caches = Caches(tmp_path / "caches")
    for _ in range(2):
        assert cached(job(action, workspace, caches, cache="false")) == 0
    assert caches.entries == []
    assert not (workspace.parent / "runner-temp" / "distml-results").exists()
    refused = run(action, workspace, {"cache": "$(touch pwned)"})
    assert (refused.code, refused.commands[0].message) == (2, "cache must be true or false")
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"[" * 5000, b'{"a": 1}'])
def test_damaged_results_are_as_good_as_none(action: Path, workspace: Path, tmp_path: Path, damage: bytes) -> None:
    caches = Caches(tmp_path / "caches")
    job(action, workspace, caches)
    results = workspace.parent / "runner-temp" / "distml-results"
    for path in filter(Path.is_file, results.rglob("*")):
        path.write_bytes(damage)
    subprocess.run(["tar", "-P", "-cf", str(caches.entries[-1].archive), str(results)], check=True)
    ran = job(action, workspace, caches)
    assert (cached(ran), len(ran.took)) == (0, 2 if len(caches.entries) > 2 else 1)
    assert "Traceback" not in ran.log


def wheel(folder: Path, text: str) -> Path:
    """A package `tiny` whose module holds `text`."""
    path = folder / "tiny-1-py3-none-any.whl"
    files = {
        "tiny.py": text,
        "tiny-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n",
        "tiny-1.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    sums = {
        name: base64.urlsafe_b64encode(hashlib.sha256(each.encode()).digest()).rstrip(b"=")
        for name, each in files.items()
    }
    record = "".join(f"{name},sha256={each.decode()},{len(files[name])}\n" for name, each in sums.items())
    with zipfile.ZipFile(path, "w") as archive:
        for name, each in {**files, "tiny-1.dist-info/RECORD": record + "tiny-1.dist-info/RECORD,,\n"}.items():
            archive.writestr(name, each)
    return path


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A package index of the folders in a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("kept", ["nothing", "the same", "another", "a link", "no wheel", "a pipe"])
def test_of_kept_packages_only_those_of_the_list_are_installed(tmp_path: Path, kept: str) -> None:
    """`.ci/install` of a copy whose list has one package, with an index that has it too."""
    root, index, packages = (tmp_path / name for name in ("root", "index", "packages"))
    for folder in (root / ".ci" / "requirements", index / "tiny", packages):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "install", root / ".ci")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["."]\n'
    )
    (root / "back.py").write_text(
        "import shutil\ndef build_wheel(to, *rest):\n"
        f"    return shutil.copy({str(wheel(root, 'own = 1'))!r}, to + '/tiny-1-py3-none-any.whl').rpartition('/')[2]\n"
    )
    good = wheel(index / "tiny", "good = 1")
    hashed = hashlib.sha256(good.read_bytes()).hexdigest()
    (root / ".ci" / "requirements" / "tiny.txt").write_text(f"tiny==1 --hash=sha256:{hashed}\n")
    place = packages / good.name
    if kept == "the same":
        shutil.move(good, place)
    elif kept == "another":
        wheel(packages, "evil = 1")
    elif kept == "a link":
        place.symlink_to(wheel(tmp_path, "evil = 1"))
    elif kept == "no wheel":
        (packages / "tiny-1.tar.gz").write_bytes(b"evil")
    elif kept == "a pipe":
        os.mkfifo(packages / "README")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DISTML_PACKAGES": str(packages)}
    command = ["bash", str(root / ".ci" / "install"), str(tmp_path / "env"), "tiny"]
    with served(index) as address:
        environment |= {"PIP_INDEX_URL": address, "PIP_CONFIG_FILE": os.devnull}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert hashlib.sha256(place.read_bytes()).hexdigest() == hashed


@pytest.mark.parametrize(
    ("condition", "failed", "expected"),
    [
        ("", False, True),
        ("", True, False),
        ("steps.a.outputs.x == 'true'", False, True),
        ("steps.a.outputs.x == 'true'", True, False),
        ("steps.a.outputs.x != 'true'", False, False),
        ("steps.a.outputs.none == ''", False, True),
        ("${{ !cancelled() && steps.a.outputs.x == 'true' }}", True, True),
        ("failure()", True, True),
        ("always() && steps.a.outputs.x != 'true'", True, False),
    ],
)
def test_conditions_are_those_of_the_runner(condition: str, failed: bool, expected: bool) -> None:
    assert holds(condition, {"steps.a.outputs.x": "true"}, failed=failed) is expected
