"""What the hook, the Action and `distml autofix` cost, with and without what they install, beside ruff's hook; and what
zizmor finds.

    python benchmarks/delivery.py [--runs 3]

Prints Markdown. Works on copies of this checkout; needs git, bash, pre-commit and PyYAML, and an index of packages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import yaml
from process import Run, best, run

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("checker", "transforms", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "action.yml")
BIN = Path(sys.executable).parent
RUFF = """\
- repo: local
  hooks:
  - id: ruff
    name: ruff
    entry: ruff check --force-exclude --exit-zero
    language: python
    additional_dependencies: [ruff]
    types_or: [python, pyi]
    require_serial: true
"""
"""ruff's hook as ruff-pre-commit has it, of which nothing but the package is needed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="distml-delivery-") as name:
        folder = Path(name)
        shipped, project = copies(folder)
        print("| | seconds | CPU seconds |\n|---|---|---|")
        for what, measured in measurements(folder, shipped, project, options.runs):
            print(f"| {what} | {measured.seconds:.1f} | {measured.cpu:.1f} |")
    found = run([str(BIN / "zizmor"), "--offline", "--no-progress", "--persona", "pedantic", "."], ROOT)
    print(f"\nzizmor, pedantic: {found.output.strip().splitlines()[-1]}")


def copies(folder: Path) -> tuple[Path, Path]:
    """What is shipped, and a project that uses it, as repositories of one commit each."""
    shipped, project = folder / "shipped", folder / "project"
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, shipped / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shipped.mkdir(exist_ok=True)
            shutil.copy(source, shipped / name)
    shutil.copytree(ROOT / "examples", project)
    revision = commit(shipped)
    hooks = f"repos:\n- repo: {shipped}\n  rev: {revision}\n  hooks:\n  - id: distml-shapes\n"
    (project / ".pre-commit-config.yaml").write_text(hooks + RUFF)
    commit(project)
    git(project, "remote", "add", "origin", str(project))
    return shipped, project


def measurements(folder: Path, shipped: Path, project: Path, runs: int) -> Iterator[tuple[str, Run]]:
    """Each thing that is measured, the best of its runs."""

    def repeated(what: str, once: Callable[[], Run], times: int = runs) -> tuple[str, Run]:
        done = [once() for _ in range(times)]
        return what, done[-1]._replace(**best(done)._asdict())

    count = len(list(project.rglob("*.py")))
    home = {"PRE_COMMIT_HOME": str(folder / "home")}
    for name, hook in (("hook", "distml-shapes"), ("ruff's hook", "ruff")):
        command = [sys.executable, "-m", "pre_commit", "run", hook, "--all-files"]
        once = partial(run, command, project, home)
        yield repeated(f"{name}, installing it", once, 1)
        yield repeated(f"{name}, on {count} files", once)
    install, check = yaml.safe_load((shipped / "action.yml").read_text("utf-8"))["runs"]["steps"]
    around = {"GITHUB_ACTION_PATH": str(shipped), "RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(folder / "output")}
    yield repeated("Action, installing", lambda: bash(install["run"], project, around), 1)
    python = (folder / "output").read_text().partition("python=")[2].strip()
    inputs = {**around, "PYTHON": python, "GITHUB_STEP_SUMMARY": str(folder / "summary"), "INPUT_SARIF_FILE": "x.sarif"}
    yield repeated(f"Action, on {count} files", lambda: bash(check["run"], project, inputs))
    fix = [sys.executable, "-m", "distml.cli", "autofix", "--repo", "o/r", "--dry-run"]
    yield repeated(f"autofix, on {count} files", lambda: run(fix, project))
    yield repeated("autofix, three of them made distributed", lambda: run([*fix, "--horovod", "training"], project))


def bash(script: str, folder: Path, environment: Mapping[str, str]) -> Run:
    return run(["bash", "-eo", "pipefail", "-c", script], folder, environment)


def commit(folder: Path) -> str:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "all")
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
