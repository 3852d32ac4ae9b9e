"""Runs the steps of a composite action here, as GitHub's runner would: expressions, conditions, environment, files, exit
codes, and the steps of actions/cache, for which a folder stands in."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from delivery.caches import Caches
from delivery.runner import Command, commands, outputs

_NAME = r"(?:inputs|steps|github|runner)\.[\w.-]+"


class Ran(NamedTuple):
    """What a run of an action left; `took`: by key, what was restored."""

    code: int
    outputs: dict[str, str]
    commands: list[Command]
    log: str
    summary: str
    took: tuple[str, ...] = ()


class Job:
    """One job in which steps run: what they know of each other, and whether one failed."""

    def __init__(self, action: Path, workspace: Path, known: dict[str, str], caches: Caches | None) -> None:
        self.known = known
        self.code = 0
        self.printed = ""
        self.took: list[str] = []
        self._action = action
        self._workspace = workspace
        self._caches = caches
        self.temporary = workspace.parent / "runner-temp"
        self.temporary.mkdir(exist_ok=True)
        self.summary = self.temporary / "summary"
        self.summary.write_text("")

    def step(self, step: dict[str, Any], environment: dict[str, str]) -> None:
        """Run a step whose condition holds."""
        if not holds(str(step.get("if", "")), self.known, failed=bool(self.code)):
            return
        left = self._used(step) if "uses" in step else self._executed(step, environment)
        self.known |= {f"steps.{step['id']}.outputs.{name}": value for name, value in left.items() if "id" in step}

    def _used(self, step: dict[str, Any]) -> dict[str, str]:
        name, _, commit = step["uses"].partition("@")
        assert re.fullmatch("[0-9a-f]{40}", commit), "an action is used by its full commit"
        given = {key: evaluated(value, self.known) for key, value in step["with"].items()}
        if self._caches is None:  # a server without caches: the action says so and does nothing
            return {}
        if name == "actions/cache/save":
            self._caches.save(given["path"], given["key"])
            return {}
        assert name == "actions/cache/restore", name
        found = self._caches.restore(given["path"], given["key"], given.get("restore-keys", "").splitlines())
        self.took += [found] if found else []
        return {"cache-hit": str(found == given["key"]).lower()} if found else {}

    def _executed(self, step: dict[str, Any], environment: dict[str, str]) -> dict[str, str]:
        assert step["shell"] == "bash", "a run step of a composite action names its shell"
        output, script = self.temporary / "output", self.temporary / "step.sh"
        output.write_text("")
        script.write_text(evaluated(step["run"], {}))
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.temporary),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self._workspace),
            "GITHUB_ACTION_PATH": str(self._action),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(self.temporary),
            "PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"),
            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
            **environment,
            **{name: evaluated(value, self.known) for name, value in step.get("env", {}).items()},
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self._workspace,
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        self.printed += done.stdout.decode("utf-8")
        self.code = self.code or done.returncode
        return outputs(output)


def run(action: Path, workspace: Path, inputs: dict[str, str], caches: Caches | None = None, **environment: str) -> Ran:
    """The action in the folder `action`, over the checkout `workspace`."""
    described = yaml.safe_load((action / "action.yml").read_text("utf-8"))
    assert set(inputs) <= set(described["inputs"])
    token = {"github.token": environment.get("GITHUB_TOKEN", "")}
    defaults = {name: evaluated(each.get("default", ""), token) for name, each in described["inputs"].items()}
    known = {f"inputs.{name}": value for name, value in (defaults | inputs).items()} | token
    job = Job(action, workspace, known, caches)
    for step in described["runs"]["steps"]:
        job.step(step, environment)
    set_here = {name: evaluated(each["value"], job.known) for name, each in described["outputs"].items()}
    said = commands(job.printed)[0]
    return Ran(job.code, set_here, said, job.printed, job.summary.read_text("utf-8"), tuple(job.took))


def holds(condition: str, known: dict[str, str], *, failed: bool) -> bool:
    """Whether a step runs: comparisons of names with texts, and what asks for the state of the job, all of which hold.

    Without one that asks for the state, a step runs only after success.
    """
    text = condition.strip().removeprefix("${{").removesuffix("}}").strip()
    terms = [term.strip() for term in text.split("&&") if term.strip()]
    states = {"always()": True, "!cancelled()": True, "success()": not failed, "failure()": failed}
    asked = [states.get(term) for term in terms]
    if not any(each is not None for each in asked):
        asked.append(not failed)
    return all(
        _compared(term, known) if state is None else state for term, state in zip([*terms, ""], asked, strict=False)
    )


def _compared(term: str, known: dict[str, str]) -> bool:
    found = re.fullmatch(rf"({_NAME}) (==|!=) '([^']*)'", term)
    assert found, f"no condition that is understood here: {term}"
    return (known.get(found[1], "").lower() == found[3].lower()) == (found[2] == "==")


def evaluated(text: str, known: dict[str, str]) -> str:
    """`text` with its expressions replaced once: what they give is not looked at again."""

    def value(found: re.Match[str]) -> str:
        name = found[1].strip()
        assert re.fullmatch(
            r"inputs\.[\w-]+|github\.(?:token|action_repository)|steps\.[\w-]+\.outputs\.[\w-]+", name
        ), name
        return known.get(name, "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))
