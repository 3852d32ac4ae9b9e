"""The image: what it can do without rights, what is in it, and that it can be made again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from container.conftest import BUILD, CHECKOUT, Shell

PAGE = (CHECKOUT / "docs" / "container.md").read_text()
BARE = "podman run --rm --network=none --read-only --cap-drop=ALL --security-opt=no-new-privileges"
tools = pytest.mark.requires("buildah", "podman", "runc", "debootstrap")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_first_command_of_the_page_makes_the_image() -> None:
    assert blocks("sh")[0] == "docker build --tag distml .\n"


@tools
@pytest.mark.parametrize("commands", blocks("sh")[1:])
def test_commands_of_the_page(shell: Shell, image: str, project: Path, commands: str) -> None:
    done = shell(commands, project)
    assert done.returncode == 0, done.stdout + done.stderr


@tools
def test_findings_are_the_exit_code(shell: Shell, image: str, project: Path) -> None:
    (project / "model.py").write_text((project / "model.py").read_text().replace("4, 128", "4, 96"))
    done = shell(f'{BARE} -v "$PWD:/src:ro" {image} check --format concise', project)
    assert done.returncode == 1
    assert done.stdout.startswith("model.py:11:16: error[SHP401]")
    assert shell(f"{BARE} {image} check /gone", project).returncode == 2


@tools
def test_the_solver_and_the_rewriters_are_there(shell: Shell, image: str, project: Path) -> None:
    (project / "view.py").write_text("def f(x):\n    return x.view(6, -1).reshape(x.shape[0] + 1, 5)\n")
    done = shell(f'{BARE} -v "$PWD:/src:ro" {image} migrate model.py --diff', project)
    assert done.returncode == 0, done.stderr
    assert '+    def forward(self, x: Float[torch.Tensor, "b 128"]):' in done.stdout
    done = shell(f'{BARE} -v "$PWD:/src:ro" {image} migrate view.py', project)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr


@tools
def test_small_nobody_and_without_a_shell(shell: Shell, image: str, project: Path) -> None:
    (described,) = json.loads(shell(f"podman image inspect {image}", project).stdout)
    assert described["Config"]["User"] == "10001:10001"
    assert described["Size"] < 150 * 1024 * 1024
    assert shell(f"podman run --rm --entrypoint /bin/sh {image} -c true", project).returncode in (126, 127)


@tools
def test_nothing_of_the_build_is_left(shell: Shell, image: str, project: Path) -> None:
    listed = shell(
        f"container=$(podman create {image}); podman export $container | tar -t; podman rm -f $container", project
    )
    names = listed.stdout.split()
    assert "opt/distml/distml/cli/check.pyc" in names
    assert not [name for name in names if name.endswith((".py", ".h", "/pip/")) or "__pycache__" in name]


@tools
def test_the_same_sources_make_the_same_image(shell: Shell, image: str, context: Path) -> None:
    """The page's command, with nothing left of the build before."""
    (command,) = blocks("sh buildah")
    again = (
        command.strip().replace("buildah build", f"{BUILD} --no-cache").replace("--tag distml", f"--tag again-{image}")
    )
    assert again.endswith(f"--timestamp 0 --tag again-{image} .")
    assert shell(again, context).returncode == 0
    show = "podman image inspect --format '{{.Id}}'"
    done = shell(f"{show} {image} again-{image}; podman rmi again-{image}", context)
    first, second, *_ = done.stdout.split()
    assert first == second


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if hadolint is None:
        pytest.skip("not run: needs hadolint")
    done = subprocess.run([hadolint, "Dockerfile"], cwd=CHECKOUT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
