"""What the Action and the workflows install: a commit of this repository, and lists by hash; never a name from an index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from delivery.repositories import git

ROOT = Path(__file__).parents[2]
LISTS = ("action", "checker", "compiled", "distml", "image", "jax", "release", "site", "test", "tools")

pytestmark = pytest.mark.requires("bash", "git", "yaml", "packaging")


def scripts() -> dict[str, str]:
    """All that runs on GitHub's machines or builds an image, and installs."""
    import yaml

    found = {name: (ROOT / name).read_text("utf-8") for name in (".ci/install", ".ci/newest", "Dockerfile")}
    for path in [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]:
        described: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
        for job in [described.get("runs", {}), *described.get("jobs", {}).values()]:
            for step in job.get("steps", []):
                found[f"{path.name}: {step.get('name')}"] = step.get("run", "")
    return found


def test_nothing_is_installed_by_its_name() -> None:
    installs = [
        line for text in scripts().values() for line in text.splitlines() if re.search(r"pip\b.*\binstall", line)
    ]
    assert len(installs) >= 10
    assert [line for line in installs if "--require-hashes" not in line and "--no-index" not in line] == []
    assert [name for name, text in scripts().items() if "distml==" in text] == []


def pins(name: str) -> dict[str, list[str]]:
    """The lines of each requirement in a list: the pin, then its hashes."""
    text = (ROOT / ".ci" / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {re.split(r"[=\s;]", line[0])[0]: line for line in lines}


def lock() -> Any:
    loader = SourceFileLoader("lock", str(ROOT / ".ci" / "lock"))
    module = module_from_spec(spec_from_loader("lock", loader))  # type: ignore[arg-type]
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


def test_there_is_a_list_for_each_that_is_named() -> None:
    assert sorted(lock().wanted()) == sorted(LISTS)
    assert sorted(path.stem for path in (ROOT / ".ci" / "requirements").iterdir()) == sorted(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_what_the_project_wants_now(name: str) -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    wanted, found = lock().wanted()[name], pins(name)
    assert (ROOT / ".ci" / "requirements" / f"{name}.txt").read_text("utf-8").startswith(lock().head(wanted)), (
        "run .ci/lock"
    )
    for each in map(Requirement, wanted):
        (version,) = re.findall(r"==([^\s;]+)", found[canonicalize_name(each.name)][0])
        assert each.specifier.contains(version, prereleases=True), f"{each}: {version}; run .ci/lock"
    for line in found.values():
        assert re.fullmatch(r"[a-z0-9-]+==[^\s;*]+", line[0])
        assert any(re.fullmatch("--hash=sha256:[0-9a-f]{64}", part) for part in line), line[0]


@pytest.mark.parametrize(
    "name", ["action", "checker", "image", "release", "tools"]
)  # what `distml` holds, `action` holds too
def test_a_list_is_complete(name: str) -> None:
    """pip refuses a list that lacks what one of its requirements needs. The list of the tests is installed by CI itself."""
    command = [sys.executable, "-I", "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--require-hashes", "--requirement", str(ROOT / ".ci" / "requirements" / f"{name}.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def source(tmp_path: Path) -> dict[str, str]:
    """A repository o/r with a tag, a branch, and a commit that only a fork has but that can be fetched from here too, as
    on GitHub; versions that can be named, by kind."""
    folder = tmp_path / "server" / "o" / "r"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    (folder / ".ci").mkdir()
    named = {}
    for kind in ("old", "new"):
        (folder / ".ci" / "install").write_text(f'echo "installed {kind} with $*"\n')
        git(folder, "add", "--all")
        git(folder, "commit", "-qm", kind)
        named[kind] = git(folder, "rev-parse", "HEAD")
    git(folder, "tag", "v0.1.0", named["old"])
    git(folder, "tag", "-m", "said", "v0.1.1")
    git(folder, "tag", "nightly")
    (folder / ".ci" / "install").write_text('echo "installed evil"\n')
    git(folder, "commit", "-qam", "evil")
    named["fork"] = git(folder, "rev-parse", "HEAD")
    git(folder, "reset", "-q", "--hard", named["new"])
    named["short"] = named["new"][:12]
    named["tree"] = git(folder, "rev-parse", "HEAD^{tree}")
    return named


def install(tmp_path: Path, version: str, repository: str = "o/r") -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_SERVER_URL": f"file://{tmp_path}/server",
        "DISTML_VERSION": version,
        "DISTML_REPOSITORY": repository,
    }
    command = ["bash", str(ROOT / ".ci" / "install"), "there", "action"]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("kind", "installed"), [("old", "old"), ("new", "new"), ("v0.1.0", "old"), ("v0.1.1", "new")])
def test_a_version_is_a_commit_or_a_tag(tmp_path: Path, source: dict[str, str], kind: str, installed: str) -> None:
    done = install(tmp_path, source.get(kind, kind))
    assert (done.returncode, done.stdout) == (0, f"installed {installed} with there action\n"), done.stderr


@pytest.mark.parametrize(
    "version",
    [
        "fork",
        "short",
        "tree",
        "main",
        "nightly",
        "v9.9.9",
        "0.1.0",
        "v0.1",
        "f" * 40,
        "v0.1.0\n",
        "--upload-pack=touch pwned",
        "$(touch pwned)",
        "refs/heads/main",
        "git+https://example.org",
        "v0.1.0;touch pwned",
        "../r",
    ],
)
def test_what_is_no_version_of_the_repository_is_refused(tmp_path: Path, source: dict[str, str], version: str) -> None:
    done = install(tmp_path, source.get(version, version))
    assert done.returncode == 2, done
    assert done.stdout.startswith("::error title=distml::version ")
    assert done.stdout.count("\n") == 1
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    "repository", ["", "o", "../server/o/r", "o/r/../r", "-o/r;touch pwned", "https://example.org/r"]
)
def test_a_version_needs_the_repository(tmp_path: Path, source: dict[str, str], repository: str) -> None:
    done = install(tmp_path, "v0.1.0", repository)
    assert done.returncode == 2
    assert "version needs the Action from its repository" in done.stdout
    assert not list(tmp_path.rglob("pwned"))


def test_the_fork_is_to_be_had_all_the_same(tmp_path: Path, source: dict[str, str]) -> None:
    """Without this the refusal of the fork's commit would show nothing."""
    git(tmp_path, "init", "-q", "clone")
    git(tmp_path / "clone", "fetch", "-q", f"file://{tmp_path}/server/o/r", source["fork"])
    assert git(tmp_path / "clone", "cat-file", "-t", source["fork"]) == "commit"


def test_what_is_not_run_on_a_newer_python_is_said(tmp_path: Path) -> None:
    for name in ("sh", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    environment = {"PATH": str(tmp_path), "DISTML_VENV": sys.prefix}
    done = subprocess.run([ROOT / ".ci" / "newest"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("not run: tests on a newer Python")
