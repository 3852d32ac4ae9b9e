"""Runs the steps of a composite action here, as GitHub's runner would: expressions, environment, files, exit codes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import yaml

from delivery.runner import Command, commands, outputs


class Ran(NamedTuple):
    """What a run of an action left."""

    code: int
    outputs: dict[str, str]
    commands: list[Command]
    log: str
    summary: str


def run(action: Path, workspace: Path, inputs: dict[str, str], **environment: str) -> Ran:
    """The action in the folder `action`, over the checkout `workspace`."""
    described = yaml.safe_load((action / "action.yml").read_text("utf-8"))
    assert set(inputs) <= set(described["inputs"])
    token = {"github.token": environment.get("GITHUB_TOKEN", "")}
    defaults = {name: _evaluated(each.get("default", ""), token) for name, each in described["inputs"].items()}
    known = {f"inputs.{name}": value for name, value in (defaults | inputs).items()} | token
    temporary = workspace.parent / "runner-temp"
    temporary.mkdir(exist_ok=True)
    printed, code, summary = "", 0, temporary / "summary"
    summary.write_text("")
    for number, step in enumerate(described["runs"]["steps"]):
        if code:
            break
        assert step["shell"] == "bash", "a run step of a composite action names its shell"
        output = temporary / f"output{number}"
        output.write_text("")
        script = temporary / f"step{number}.sh"
        script.write_text(_evaluated(step["run"], {}))
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOME": str(temporary),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_ACTION_PATH": str(action),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(temporary),
            "PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"),
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "DISTML_CACHE"))},
            **environment,
            **{name: _evaluated(value, known) for name, value in step.get("env", {}).items()},
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=workspace,
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        printed += done.stdout.decode("utf-8")
        code = done.returncode
        known |= {f"steps.{step['id']}.outputs.{name}": value for name, value in outputs(output).items()}
    set_here = {name: _evaluated(each["value"], known) for name, each in described["outputs"].items()}
    return Ran(code, set_here, commands(printed)[0], printed, summary.read_text("utf-8"))


def _evaluated(text: str, known: dict[str, str]) -> str:
    """`text` with its expressions replaced once: what they give is not looked at again."""

    def value(found: re.Match[str]) -> str:
        name = found[1].strip()
        assert re.fullmatch(
            r"inputs\.[\w-]+|github\.(?:token|action_repository)|steps\.[\w-]+\.outputs\.[\w-]+", name
        ), name
        return known.get(name, "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))
