"""`distml init`: what it adds to files is what their own readers read, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from distml.cli.adopting import HOOKS, WORKFLOW, CannotAddError, with_hooks, with_table, workflow
from distml.cli.main import main

from delivery.pages import blocks

ROOT = Path(__file__).parents[2]
ADDRESS, REVISION = "https://github.com/someone/distml", "0123abc"
GIVEN = ["--address", ADDRESS, "--revision", REVISION]
ADDED = {"repo": ADDRESS, "rev": REVISION, "hooks": [{"id": hook} for hook in HOOKS]}

names = st.text("abcdefgh-", min_size=1, max_size=8).map(lambda name: f"h{name}")
hooks = st.fixed_dictionaries({"id": names}, optional={"args": st.lists(names, max_size=2), "files": st.just("^a: #b")})
repositories = st.fixed_dictionaries(
    {"repo": names.map("https://x/{}".format), "rev": names, "hooks": st.lists(hooks, min_size=1, max_size=2)}
)
settings_before = st.dictionaries(st.sampled_from(["fail_fast", "exclude", "ci"]), st.sampled_from([True, "^a/"]))


@st.composite
def configurations(draw: Any) -> str:
    """Files as people write them: indented or not, with comments, empty lines, other keys before and behind."""
    before, behind = draw(settings_before), draw(settings_before)
    behind = {name: value for name, value in behind.items() if name not in before}
    lists = yaml.safe_dump({"repos": draw(st.lists(repositories, max_size=3))}, sort_keys=False)
    if draw(st.booleans()):
        lists = "repos:" + lists.removeprefix("repos:").replace("\n", "\n   ").rstrip(" ")
    head = draw(st.sampled_from(["", "---\n", "# hooks\n", "\n"]))
    gap = draw(st.sampled_from(["", "\n", "# more\n", "\n\n  # more\n"]))
    text = head + (yaml.safe_dump(before) if before else "") + lists + gap + (yaml.safe_dump(behind) if behind else "")
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(configurations())
def test_hooks_come_last_and_nothing_else_changes(text: str) -> None:
    added = with_hooks(text, ADDRESS, REVISION)
    before = yaml.safe_load(text)
    before["repos"] = [*(before["repos"] or []), ADDED]
    assert yaml.safe_load(added) == before
    rest = iter(added.splitlines())
    kept = [line for line in text.splitlines() if not line.startswith("repos:")]
    assert all(line in rest for line in kept)  # in the order they had
    assert with_hooks(added, ADDRESS, REVISION) == added


@pytest.mark.parametrize("text", ["repos: [{repo: a}]\n", "repos: &all\n  - repo: a\n", "fail_fast: true\n", "- a\n"])
def test_other_styles_are_refused(text: str) -> None:
    with pytest.raises(CannotAddError, match="distml-shapes"):
        with_hooks(text, ADDRESS, REVISION)


ITEM = "- repo: https://a\n  rev: v1\n  hooks:\n  - id: x\n"
LOCAL = "repos:\n- repo: local\n  hooks:\n  - id: x\n    name: x\n    language: system\n    entry: "
STYLES = [
    "repos: null\n",
    "repos: ~  # none yet\n",
    "repos: [\n]\n",
    '"repos":\n' + ITEM,
    "repos :\n" + ITEM,
    "? repos\n: - repo: https://a\n    rev: v1\n    hooks: []\n",
    "repos:\n-\n  repo: https://a\n  rev: v1\n  hooks:\n  - id: x\n",
    "repos:\n" + ITEM + "...\n",
    "%YAML 1.1\n---\nrepos:\n" + ITEM,
    "\ufeffrepos:\n" + ITEM,
    LOCAL + "|+\n      a\n\n\nfail_fast: true\n",
    LOCAL + "|\n      a\n\n      # no comment\n",
    LOCAL + '"a\nb"\n',
    LOCAL + "a\n      b  # a comment\n  # another\nci: {}\n",
    "x: &x\n- id: z\nrepos:\n- repo: local\n  hooks: *x",
    "repos:\n- {repo: https://a, rev: v1,\nhooks: [{id: x}]}\n",
    "x: |\n repos:\n - a\nrepos:\n" + ITEM,
    "# distml-shapes one day\nexclude: ^distml-shapes/\nrepos:\n" + ITEM.replace("id: x", "id: distml-shapes-too"),
]
HOPELESS = [
    "repos:\n  [{repo: https://a, rev: v1, hooks: [{id: x}]}]\n",
    "repos: !!seq\n" + ITEM,
    "repos: []\nrepos: []\n",
    "repos:\n- repo: [\n",
    "repos:\n-\trepo: https://a\n\trev: v1\n",
    "repos:\n- repo: a\x0c\n",
    "repos: 3\n",
    "x:\n  repos:\n  - a\n",
]
REVISIONS = ["v1", "1.0", "1234567", "1e5", "0b11", "0x1f", "2024-01-01", "on", "Null", "n"]


@pytest.mark.parametrize("text", STYLES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_whatever_yaml_allows_is_read_again_with_one_entry_more(text: str, end: str) -> None:
    text = text.replace("\n", end)
    for revision in REVISIONS:
        expected = yaml.safe_load(text)
        expected["repos"] = [*(expected["repos"] or []), {**ADDED, "rev": revision}]
        assert yaml.safe_load(with_hooks(text, ADDRESS, revision)) == expected


@pytest.mark.parametrize("text", HOPELESS)
def test_what_cannot_be_made_longer_is_refused(text: str) -> None:
    with pytest.raises(CannotAddError):
        with_hooks(text, ADDRESS, REVISION)


@pytest.mark.parametrize("branch", [*REVISIONS, "a/b", "release-1"])
def test_a_branch_is_a_name(branch: str) -> None:
    started = yaml.safe_load(workflow("o/d", "abc", branch))[True]
    assert started["push"]["branches"] == [branch]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n"])
def test_an_empty_file_gets_a_list(text: str) -> None:
    assert yaml.safe_load(with_hooks(text, ADDRESS, REVISION)) == {"repos": [ADDED]}


keys = st.sampled_from(["project", "build-system", "tool.ruff", "tool.ruff.lint", "tool.'a b'"])


@given(st.lists(keys, unique=True), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_table_is_added_once(tables: list[str], end: str, closed: bool) -> None:
    text = end.join(f"[{name}]{end}x = 1" for name in tables) + (end if closed else "")
    added = with_table(text)
    read = tomllib.loads(added)
    assert read["tool"].pop("distml") == {"exclude": []}
    before = tomllib.loads(text)
    before.setdefault("tool", {})
    assert read == before
    assert added.startswith(text)
    assert with_table(added) == added


@pytest.mark.parametrize("text", ["tool = {ruff = {}}\n", "tool = 3\n", "[a\n", "[[tool]]\nx = 1\n"])
def test_no_table_where_none_can_follow(text: str) -> None:
    with pytest.raises(CannotAddError):
        with_table(text)


def test_the_workflow_is_the_one_of_the_page() -> None:
    (shown,) = blocks("action.md", "yaml workflow")
    paths = "        with:\n          paths: |\n            src\n            train.py\n"
    assert shown.replace(" # v0.1.0", "").replace(f"COMMIT\n{paths}", "COMMIT\n") == WORKFLOW


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / ".git").mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "a"\n')
    return folder


def test_everything_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "inside").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "distml.cli", "init", "--yes", *GIVEN],
        cwd=project / "inside", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.endswith(
        "wrote .pre-commit-config.yaml\nwrote .github/workflows/distml.yml\nwrote pyproject.toml\n"
    )
    assert yaml.safe_load((project / ".pre-commit-config.yaml").read_text()) == {"repos": [ADDED]}
    jobs = yaml.safe_load((project / ".github/workflows/distml.yml").read_text())["jobs"]
    assert jobs["shapes"]["steps"][1]["uses"] == "someone/distml@0123abc"
    assert main(["init", "--yes", *GIVEN]) == 0
    assert capsys.readouterr().out.count("has it already") == 3


@pytest.mark.requires("pre_commit")
def test_pre_commit_reads_it(project: Path) -> None:
    assert main(["init", "hook", "--yes", *GIVEN]) == 0
    file = str(project / ".pre-commit-config.yaml")
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", file], check=True)


def test_a_patch_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.rglob("*"))
    assert main(["init", "--diff", *GIVEN]) == 0
    patch = capsys.readouterr().out
    assert sorted(project.rglob("*")) == before
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=project, check=True)
    assert main(["init", "--diff", *GIVEN]) == 0
    assert "+++" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "not a terminal"),
        (["--revision", "a b", "--address", ADDRESS, "--yes"], "--revision"),
        (["--address", "https://x y", "--revision", "a", "--yes"], "--address"),
        (["hooks", "--yes"], "unknown part hooks; known parts: hook, workflow, table"),
        (["workflow", "--branch", "a]\nb", *GIVEN, "--yes"], "--branch"),
    ],
)  # fmt: skip
def test_what_is_not_done(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("/dev/null") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert main(["init", *(arguments or GIVEN)]) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in project.iterdir()) == [".git", "pyproject.toml"]


def test_parts_that_cannot_be_added_do_not_hinder_the_others(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--yes", "--address", "https://example.org/distml", "--revision", "v1"]) == 2
    assert "workflow: GitHub runs Actions from GitHub only" in capsys.readouterr().out
    assert (project / ".pre-commit-config.yaml").is_file()
    assert not (project / ".github").exists()


def test_a_project_without_the_file_of_the_table_lacks_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").unlink()
    for _ in range(2):  # the second time all of it is there
        assert main(["init", "--yes", *GIVEN]) == 0
        assert "table: there is no pyproject.toml; distml works without one" in capsys.readouterr().out
    assert not (project / "pyproject.toml").exists()
    assert main(["init", "table", "--yes", *GIVEN]) == 2


@pytest.mark.parametrize("name", [".pre-commit-config.yaml", ".github/workflows/distml.yml", "pyproject.toml"])
def test_what_is_no_file_is_not_waited_for(project: Path, name: str) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).unlink(missing_ok=True)
    os.mkfifo(project / name)
    command = [sys.executable, "-m", "distml.cli", "init", "--yes", *GIVEN]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "not a regular file" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_closed_standard_input_is_no_terminal(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["init", *GIVEN]) == 2
    assert "not a terminal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("checks.yaml", "jobs:\n  a:\n    steps:\n      - uses: someone/distml@v1\n", "checks.yaml has it already"),
        ("a.yml", "jobs:\n  a:\n    steps:\n      - name: x\n        uses: 'o/distml@v1'\n", "a.yml has it already"),
        ("distml.yml", "name: x\n", "does not run the Action"),
        ("distml.yml", "# uses: someone/distml@v1\n", "does not run the Action"),
    ],
)
def test_only_a_workflow_that_runs_the_action_has_it(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str
) -> None:
    workflows = project / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / name).write_text(text)
    assert main(["init", "workflow", "--yes", *GIVEN]) == (0 if "already" in said else 2)
    assert said in capsys.readouterr().out
    assert [(each.name, each.read_text()) for each in workflows.iterdir()] == [(name, text)]


def test_the_table_goes_where_distml_reads_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "part" / "deep").mkdir(parents=True)
    (project / "part" / "pyproject.toml").write_text("[project]\n")
    monkeypatch.chdir(project / "part" / "deep")
    before = (project / "pyproject.toml").read_text()
    assert main(["init", "table", "--yes"]) == 0
    assert "distml" in tomllib.loads((project / "part" / "pyproject.toml").read_text())["tool"]
    assert (project / "pyproject.toml").read_text() == before
