"""Every command that README.md and the pages under docs/ print is run by a test, or is listed here with a reason.

A block of a page is run by the test that reads it by its page and info string. What no other test has is run here, as it is
printed, in the project of somebody who uses distml.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from delivery.environments import environment
from delivery.pages import MODEL, ROOT, blocks, fenced, shell
from delivery.repositories import git

PROGRAMS = (
    "distml docker podman buildah bazel make git pip python python3 pre-commit horovodrun torchrun accelerate mkdir cat "
    "npm cd ."
)
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
RUN = {
    ("docs/action.md", "sh"): "delivery/test_pages.py::test_commands_of_the_action",
    ("docs/adoption.md", "sh baseline"): "delivery/test_pages.py::test_commands_of_adoption",
    ("docs/adoption.md", "sh since"): "delivery/test_pages.py::test_commands_of_adoption",
    ("docs/adoption.md", "sh ignore"): "delivery/test_inventory.py::test_comments_are_added",
    ("docs/adoption.md", "sh init"): "delivery/test_inventory.py::test_init_knows_where_distml_comes_from",
    ("docs/autofix.md", "sh"): "delivery/test_pages.py::test_commands_of_autofix",
    ("docs/autofix.md", "sh token"): "delivery/test_pages.py::test_commands_of_autofix",
    ("docs/autofix.md", "sh fork"): "delivery/test_pages.py::test_commands_of_autofix_from_a_fork",
    ("docs/bazel.md", "sh"): "bazel/test_docs.py::test_commands",
    ("docs/bazel.md", "sh sarif"): "bazel/test_commands.py::test_one_sarif_file_of_a_build",
    ("docs/bazel.md", "sh wheels"): "bazel/test_docs.py::test_nothing_but_the_wheels",
    ("docs/bazel.md", "sh here"): "bazel/test_commands.py::test_here",
    ("docs/choreographies.md", ""): "delivery/test_inventory.py::test_commands_of_choreographies",
    ("docs/container.md", "sh"): "container/test_image.py::test_commands_of_the_page",
    ("docs/container.md", "sh shell"): "container/test_image.py::test_the_image_with_a_shell",
    ("docs/container.md", "sh buildah"): "container/test_image.py::test_the_same_sources_make_the_same_image",
    ("docs/draw.md", "sh svg"): "docs/test_draw.py::test_the_picture_is_the_one_that_is_made",
    ("docs/draw.md", "sh depth"): "docs/test_draw.py::test_the_graph_is_the_one_that_is_shown",
    ("docs/draw.md", "sh page"): "docs/test_draw.py::test_the_page_stands_alone",
    ("docs/editors.md", "sh vscode"): "server/test_extension.py::test_the_extension",
    ("docs/faq.md", "sh shapes"): "docs/test_start.py::test_questions_about_unknown_shapes",
    ("docs/faq.md", "sh statistics"): "docs/test_start.py::test_questions_about_unknown_shapes",
    ("docs/faq.md", "sh told"): "docs/test_start.py::test_questions_about_unknown_shapes",
    ("docs/faq.md", "sh verbose"): "docs/test_start.py::test_questions_about_unknown_shapes",
    ("docs/gradual.md", ""): "delivery/test_inventory.py::test_commands_about_shapes",
    ("docs/horovod.md", "sh"): "delivery/test_training_pages.py::test_commands_that_rewrite",
    ("docs/horovod.md", "sh launch"): "delivery/test_training_pages.py::test_what_was_rewritten_is_started_so",
    ("docs/nightly.md", "sh"): "delivery/test_pages.py::test_commands_of_the_nightly_run",
    ("docs/pre-commit.md", "sh"): "delivery/test_hook.py::test_the_command_of_the_page",
    ("docs/ranks.md", "sh"): "docs/test_ranks.py::test_the_command_says_what_is_shown",
    ("docs/release.md", "sh"): "delivery/test_inventory.py::test_commands_of_a_release",
    ("docs/shapes.md", "sh forward"): "docs/test_shapes.py::test_the_commands_print_what_is_shown",
    ("docs/shapes.md", "sh input"): "docs/test_shapes.py::test_the_commands_print_what_is_shown",
    ("docs/shapes.md", "sh layers"): "docs/test_shapes.py::test_the_commands_print_what_is_shown",
    ("docs/shapes.md", "sh page"): "docs/test_shapes.py::test_the_commands_print_what_is_shown",
    ("docs/smoke.md", "sh"): "delivery/test_training_pages.py::test_commands_that_smoke",
    ("docs/start.md", "sh"): "docs/test_start.py::test_the_first_five_minutes",
    ("docs/tutorial.md", "sh picture"): "docs/test_pictures.py::test_every_command_of_the_tutorial_has_its_picture",
    ("docs/usage.md", "sh"): "delivery/test_pages.py::test_commands_that_fix",
    ("README.md", ""): "delivery/test_readme.py::test_commands",
}
"""The tests that run whole blocks: they read the page by its info string."""
BAZEL = "bazel build --aspects=@distml//bazel:shape.bzl%check //..."
ONE_BY_ONE = {
    "make demo": "docs/test_start.py::test_the_first_five_minutes",
    BAZEL: "bazel/test_commands.py::test_the_printed_command_fails_on_findings_and_leaves_reports",
    'docker build -t distml . && docker run --rm -v "$PWD:/src" distml check /src': "container/test_image.py::test_readme",
}
"""Commands of blocks that another test runs than the rest of the block."""
NOT_RUN = {
    "distml branches --trace transformers:": "needs transformers; benchmarks/gradual_branches.py does this with many models",
    "make test": "it is what runs these tests; tests.yml does the same",
    "distml smoke train.py --np 2": "needs Horovod in distml's own environment; docs/smoke.md's are run with one of their own",
    "distml check [PATH ...]": "says how the command is called, and is none",
    "docker build --target smoke": "needs base images of a registry that has them with CUDA; tests.yml has neither",
    "docker run --rm --gpus all": "needs a GPU and the image above",
}
"""The beginnings of the other commands, each with the reason why no test runs it."""


def commands(page: str) -> list[tuple[str, str]]:
    """The info string and each command of the blocks that are for a shell, comments and prompts aside."""
    found = []
    for info, body in fenced(page):
        lines = body.replace("\\\n", " ").splitlines() if info.split(" ")[0] in ("", "sh", "text", "bash") else []
        for line in lines:
            command = re.split(r"\s+#\s", re.sub(r"^\$ ", "", line))[0].strip()
            setting = command.startswith("build --") or ":" in command.split(" ")[0]
            if command and command.split(" ")[0] in PROGRAMS.split() and not setting and not _is_output(command):
                found.append((info, re.sub(r"\s+", " ", command)))
    return found


def _is_output(line: str) -> bool:
    return line.startswith("distml smoke runs ")


PRINTED = [(page, info, command) for page in PAGES for info, command in commands(page)]


def test_every_block_for_a_shell_was_understood() -> None:
    """A block with a program that this file does not know would hide its commands."""
    unknown = [
        (page, line)
        for page in PAGES
        for info, body in fenced(page)
        if info.split(" ")[0] in ("sh", "bash")
        for line in body.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#") and line.split(" ")[0] not in PROGRAMS.split()
    ]
    assert unknown == []
    assert len(PRINTED) > 70


@pytest.mark.parametrize(("page", "info", "command"), PRINTED)
def test_every_command_is_run_by_a_test(page: str, info: str, command: str) -> None:
    if any(command.startswith(each) for each in NOT_RUN):
        return
    test = ONE_BY_ONE.get(command) or RUN[page, info]
    file, _, name = test.partition("::")
    text = (ROOT / "tests" / file).read_text("utf-8")
    (found,) = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef) and each.name == name]
    assert found.name.startswith("test_")
    if command not in ONE_BY_ONE and page != "README.md":
        read = rf'\b(?:blocks|fenced_of)\("{re.escape(Path(page).name)}", "{info}"\)'
        assert re.search(read, text), "it reads another block"


def test_nothing_is_listed_that_is_not_printed() -> None:
    printed = {command for _, _, command in PRINTED}
    assert set(RUN) - {(page, info) for page, info, _ in PRINTED} == set()
    assert set(ONE_BY_ONE) - printed == set()
    assert [each for each in NOT_RUN if not any(command.startswith(each) for command in printed)] == []


def fenced_of(page: str, info: str) -> list[str]:
    """The commands of a page's blocks with this info string, in order."""
    return [command for kind, command in commands(f"docs/{page}") if kind == info]


def test_commands_of_choreographies(folder: Path) -> None:
    """In order: the choreography of the page, under the name that its commands use."""
    (folder / "protocol.py").write_text(blocks("choreographies.md", "py ping_pong.py")[0])
    asked = fenced_of("choreographies.md", "")
    outputs = [shell(command, folder) for command in asked]
    assert [done.returncode for done in outputs] == [0] * 4, outputs
    assert sorted(path.name for path in (folder / "programs").iterdir()) == ["protocol_client.py", "protocol_server.py"]
    assert "sequenceDiagram" in outputs[2].stdout
    assert "ping pong" in outputs[3].stdout


@pytest.mark.requires("torch", "z3")
def test_commands_about_shapes(folder: Path) -> None:
    """The project has the files that the commands name."""
    for command in fenced_of("gradual.md", ""):
        (folder / "model.py").write_text(MODEL)
        (folder / "models.py").write_text(MODEL)
        if any(command.startswith(each) for each in NOT_RUN):
            continue
        done = shell(command, folder)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        written = command.startswith("distml migrate") and "--write" in command
        assert ((folder / "model.py").read_text() != MODEL) == written, command


def test_comments_are_added(folder: Path) -> None:
    (folder / "old.py").write_text("import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    (command,) = blocks("adoption.md", "sh ignore")
    assert shell(command, folder).returncode == 0
    assert (folder / "old.py").read_text().endswith("# distml: ignore[SHP101]\n")
    assert shell("distml check", folder).returncode == 0


@pytest.mark.requires("git", "hatchling")
def test_init_knows_where_distml_comes_from(tmp_path: Path) -> None:
    """distml as pip installs it from a repository; what it needs is lent by this environment."""
    source, project = tmp_path / "distml", tmp_path / "project"
    source.mkdir()
    project.mkdir()
    for name in ("checker", "transforms"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source / name)
    git(source, "init", "-q", "-b", "main")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "first")
    python = lent(tmp_path / "there")
    address = "git+https://github.com/someone/distml"
    install = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation", address]
    instead = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{source.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/someone/distml",
    }
    subprocess.run(install, check=True, capture_output=True, env={**os.environ, **instead})
    (command,) = blocks("adoption.md", "sh init")
    git(project, "init", "-q", "-b", "main")
    (project / "pyproject.toml").write_text('[project]\nname = "a"\n')
    done = shell(f'PATH="{Path(python).parent}:$PATH"; {command}', project)
    assert done.returncode == 0, done.stdout + done.stderr
    commit = git(source, "rev-parse", "HEAD").strip()
    # Quotes are for names that YAML may take for numbers.
    assert re.search(rf"""rev: (["']?){commit}\1$""", done.stdout, re.MULTILINE)
    assert f"uses: someone/distml@{commit}" in done.stdout
    assert sorted(path.name for path in project.iterdir()) == [".git", "pyproject.toml"]


def lent(folder: Path) -> str:
    """An environment of its own, with the packages of this one but without distml; its Python."""
    there = environment(folder)
    (here,) = [path for path in sys.path if path.endswith("site-packages") and path.startswith(sys.prefix)]
    for path in Path(here).iterdir():
        if not re.match(r"_*(?:editable_impl_)?distml|pip|setuptools|.*\.pth$", path.name):
            if not (there / path.name).exists():
                (there / path.name).symlink_to(path)
    return str(folder / "bin" / "python")


@pytest.mark.requires("git")
def test_commands_of_a_release(tmp_path: Path) -> None:
    """With the tools that the page names, in an environment of their own."""
    folder = checkout(tmp_path / "checkout")
    environment(tmp_path / "tools")
    install = "python -m pip install -q --require-hashes --requirement .ci/requirements/release.txt"
    path = f'export PATH="{tmp_path / "tools" / "bin"}:$PATH"'
    installs(shell(f"{path}; {install}", folder))
    done = shell("\n".join([path, *fenced_of("release.md", "sh")]), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def checkout(folder: Path) -> Path:
    """This repository as it is cloned, without its tests."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if not name.startswith(("tests/", "benchmarks/")) and (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def installs(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """What installed something; without an index the test is not run."""
    if re.search(r"No matching distribution|Could not find a version|Failed to establish", done.stderr):
        pytest.skip("not run: needs a package index")
    assert done.returncode == 0, done.stdout + done.stderr
    return done
