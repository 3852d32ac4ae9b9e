"""The workflows, ours and those of the pages: linted, pinned, without rights they do not need; the fixing ones are executed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from delivery.fake_github import serve
from delivery.linters import lint
from delivery.pages import ROOT, blocks
from delivery.repositories import git
from delivery.workshop import BASE, BRANCH, Workshop

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = ["action.md", "autofix.md"]
SELF = ("./", "OWNER/distml")

pytestmark = pytest.mark.requires("yaml")


def read(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


@pytest.mark.requires("zizmor", "check_jsonschema")
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_linters_have_nothing_to_say(path: Path) -> None:
    lint(path, "vendor.github-workflows")


@pytest.mark.requires("zizmor", "check_jsonschema")
@pytest.mark.parametrize("page", PAGES)
def test_linters_have_nothing_to_say_of_the_pages(page: str, tmp_path: Path) -> None:
    (block,) = blocks(page, "yaml workflow")
    path = tmp_path / ".github" / "workflows" / "page.yml"
    path.parent.mkdir(parents=True)
    path.write_text(block.replace("COMMIT", "0" * 40))
    lint(path, "vendor.github-workflows")


@pytest.mark.requires("zizmor", "check_jsonschema")
def test_linters_have_nothing_to_say_of_dependabot() -> None:
    lint(ROOT / ".github" / "dependabot.yml", "vendor.dependabot")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nobody_has_rights_by_default_and_nothing_is_unpinned(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    used = [step["uses"] for job in workflow["jobs"].values() for step in job.get("steps", []) if "uses" in step]
    used += [job["uses"] for job in workflow["jobs"].values() if "uses" in job]
    assert [each for each in used if not each.startswith(SELF) and not re.search("@[0-9a-f]{40}$", each)] == []
    for job in workflow["jobs"].values():
        assert "uses" in job or "timeout-minutes" in job
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", "")
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_every_action_is_pinned_to_one_commit() -> None:
    texts = [path.read_text("utf-8") for path in WORKFLOWS] + [
        (ROOT / "docs" / page).read_text("utf-8") for page in PAGES
    ]
    pins: dict[str, set[str]] = {}
    for text in texts:
        for name, rest in re.findall(r"uses: ([\w./-]+)@(\S+ # v\S+)", text):
            pins.setdefault(name, set()).add(rest)
    assert {name for name, found in pins.items() if len(found) > 1} == set()


def writes(job: dict[str, Any]) -> set[str]:
    return {right for right, level in job["permissions"].items() if level == "write"}


def test_who_computes_may_not_write_and_who_writes_runs_no_checkout() -> None:
    (compute,) = read(ROOT / ".github" / "workflows" / "autofix-compute.yml")["jobs"].values()
    (publish,) = read(ROOT / ".github" / "workflows" / "autofix-publish.yml")["jobs"].values()
    assert writes(compute) == set()
    assert "token" not in str(compute["steps"]).lower()
    assert writes(publish) == {"contents", "pull-requests"}
    for job in (compute, publish):
        first, ours, theirs = job["steps"][:3]
        assert set(first["env"].values()) == {"${{ job.workflow_repository }}", "${{ job.workflow_sha }}"}
        assert (ours["with"]["repository"], ours["with"]["ref"]) == tuple(first["env"].values())
        assert "repository" not in theirs["with"]
        assert job["steps"][-1 if job is publish else -2]["working-directory"] == theirs["with"]["path"] == "checkout"
    for workflow, jobs in (("release.yml", ("build", "publish")),):
        build, upload = (read(ROOT / ".github" / "workflows" / workflow)["jobs"][name] for name in jobs)
        assert writes(build) == set()
        (listed,) = [step for step in upload["steps"] if step.get("uses", "").startswith("actions/checkout")]
        assert listed["with"]["sparse-checkout"] == ".ci/requirements/release.txt"
        assert listed["with"]["sparse-checkout-cone-mode"] is False


def test_gpus_are_for_the_default_branch_alone() -> None:
    workflow = read(ROOT / ".github" / "workflows" / "nightly.yml")
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}
    (job,) = workflow["jobs"].values()
    assert job["if"] == "${{ github.ref == 'refs/heads/main' && vars.DISTML_NIGHTLY == github.repository }}"
    assert "event.repository" not in str(job)
    assert workflow["concurrency"]["cancel-in-progress"] is False
    assert writes(job) == set()
    assert job["steps"][-1]["if"] == "always()"


FAKE_PYTHON = """\
#!/bin/sh
# Stands for the python3 of a runner: environments and installs take no time.
case "$*" in
  "-I -m venv "*) mkdir -p "$4/bin" && ln -sf "$0" "$4/bin/python" ;;
  "-I -m pip "*) echo "$*" >> "$RUNNER_TEMP/installed" ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
"""


PEOPLE = {
    "REVIEWERS": "ann\nbob\n",
    "TEAM_REVIEWERS": "core\n$(touch pwned)",
    "ASSIGNEES": "bob",
    "MILESTONE": "next",
}


def script(name: str, part: str = "do") -> str:
    (job,) = read(ROOT / ".github" / "workflows" / name)["jobs"].values()
    first, found = [step["run"] for step in job["steps"] if "run" in step]
    return str({"which": first, "do": found}[part])


@pytest.mark.requires("bash")
@pytest.mark.parametrize("name", ["autofix-compute.yml", "autofix-publish.yml"])
@pytest.mark.parametrize(
    ("repository", "commit", "code"),
    [("o/distml", "a" * 40, 0), ("", "a" * 40, 2), ("o/distml", "", 2), ("o/distml", "main", 2), ("o", "a" * 40, 2)],
)
def test_without_a_commit_of_its_own_a_workflow_runs_nothing(
    name: str, repository: str, commit: str, code: int
) -> None:
    environment = {"PATH": os.environ["PATH"], "REPOSITORY": repository, "COMMIT": commit}
    done = subprocess.run(
        ["bash", "-e", "-c", script(name, "which")], env=environment, capture_output=True, check=False
    )
    assert done.returncode == code


@pytest.mark.requires("bash", "git")
def test_the_fixing_workflows_do_it(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.commit(BASE, {"a file.py": TRAINING, "a.py": "x = 1\n"})
    git(shop.clone, "pull", "-q")
    (tmp_path / "distml").symlink_to(ROOT)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").write_text(FAKE_PYTHON)
    (programs / "python3").chmod(0o755)

    def run(name: str, **environment: str) -> str:
        temporary = tmp_path / name
        (temporary / "handed-over").mkdir(parents=True)
        if "GITHUB_TOKEN" in environment:
            (tmp_path / "autofix-compute.yml" / "fixes.json").rename(temporary / "handed-over" / "fixes.json")
        surroundings = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_REPOSITORY": "o/r",
            "REAL_PYTHON": sys.executable,
            "DISTML_VERSION": "",
            "BASE": BASE,
            **dict.fromkeys(PEOPLE, ""),
            **environment,
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script(name)]
        done = subprocess.run(command, cwd=shop.clone, env=surroundings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (temporary / "installed").read_text().rstrip().endswith(f"--no-build-isolation {tmp_path / 'distml'}")
        return done.stdout

    assert run("autofix-compute.yml", HOROVOD="\na file.py\n$(touch pwned)\n").startswith("1 files to change")
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        said = run(
            "autofix-publish.yml",
            GITHUB_TOKEN="t",
            GITHUB_API_URL=address,
            LABEL="di stml;",
            DRAFT="false",
            SIGN="true",
            **PEOPLE,
        )
    assert said == "created: opened pull request 1\n"
    (pull,) = shop.forge.open
    assert (pull["labels"], pull["draft"]) == (["di stml;"], False)
    assert (pull["reviewers"], pull["team_reviewers"], pull["assignees"]) == (["ann", "bob"], ["core"], ["bob"])
    assert pull["milestone"] == 3
    assert "horovod.torch" in shop.files(BRANCH)["a file.py"]
    assert "gpgsig" in git(shop.bare, "cat-file", "commit", BRANCH)
    assert not list(tmp_path.rglob("pwned"))


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
