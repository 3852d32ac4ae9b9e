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
from container.conftest import BASE, BUILD, CHECKOUT, Shell

from distml.diagnostics.version import VERSION

from delivery.pages import blocks

BARE = "podman run --rm --network=none --read-only --cap-drop=ALL --security-opt=no-new-privileges"
tools = pytest.mark.requires("buildah", "podman", "runc", "debootstrap")


def test_the_first_command_of_the_page_makes_the_image() -> None:
    assert blocks("container.md", "sh")[0] == "docker build --tag distml .\n"


@tools
@pytest.mark.parametrize("commands", blocks("container.md", "sh")[1:])
def test_commands_of_the_page(shell: Shell, image: str, project: Path, commands: str) -> None:
    done = shell(commands, project)
    assert done.returncode == 0, done.stdout + done.stderr


@tools
def test_readme(shell: Shell, image: str, context: Path) -> None:
    """The command of README.md, in this repository: distml finds nothing in distml."""
    (command,) = re.findall(r"^docker build .*$", (CHECKOUT / "README.md").read_text(), re.MULTILINE)
    for path in (context, *context.parents[:2]):  # the image runs as nobody
        path.chmod(path.stat().st_mode | 0o055)
    done = shell(command, context)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No problems found" in done.stdout


@tools
def test_findings_are_the_exit_code(shell: Shell, image: str, project: Path) -> None:
    (project / "model.py").write_text((project / "model.py").read_text().replace("4, 128", "4, 96"))
    done = shell(f'{BARE} -v "$PWD:/src:ro" {image} check --format concise', project)
    assert done.returncode == 1
    assert done.stdout.startswith("model.py:11:16: error[SHP401]")
    assert shell(f"{BARE} {image} check /gone", project).returncode == 2


@tools
@pytest.mark.parametrize("mount", ["", '-v "$PWD/docs:/src:ro"', '-v "$PWD/closed:/src/closed:ro"'])
def test_nothing_checked_is_an_error(shell: Shell, image: str, project: Path, mount: str) -> None:
    """No mount, one without Python, one that cannot be read."""
    (project / "docs").mkdir(mode=0o755)
    (project / "docs" / "index.md").touch()
    (project / "closed").mkdir(mode=0o700)
    (project / "closed" / "model.py").write_text("import torch\n")
    done = shell(f"{BARE} {mount} {image} check", project)
    assert done.returncode == 2
    assert "distml: error: nothing was checked in ." in done.stderr
    assert ("Permission denied" in done.stdout) == ("closed" in mount)


@tools
def test_a_file_that_begins_with_a_dash(shell: Shell, image: str, project: Path) -> None:
    (project / "-dash.py").write_text("def f(:\n")
    (project / "-dash.py").chmod(0o644)
    done = shell(f'{BARE} -v "$PWD:/src:ro" {image} check --format concise -- -dash.py', project)
    assert (done.returncode, done.stdout.partition(":")[0]) == (1, "-dash.py")


@tools
def test_labels_and_layers(shell: Shell, image: str, project: Path) -> None:
    """What a new version of distml changes is the last layer, and at most a tenth of the image."""
    (described,) = json.loads(shell(f"podman image inspect {image}", project).stdout)
    labels = {name.removeprefix("org.opencontainers.image."): value for name, value in described["Labels"].items()}
    assert {"title": "distml", "version": VERSION, "licenses": "Apache-2.0"}.items() <= labels.items()
    assert {"source", "revision"} <= labels.keys()
    listed = shell(f"podman image history --format json {image}", project)
    sizes = [layer["size"] for layer in json.loads(listed.stdout) if layer["size"] > 1 << 16]
    assert len(sizes) == 3 and sizes[0] < sum(sizes) / 10


@tools
def test_scanners_see_what_is_in_it(shell: Shell, image: str, project: Path) -> None:
    """The release, Debian's packages and Python's, with their versions."""
    listed = shell(
        f"container=$(podman create {image}); podman export $container > image.tar; podman rm -f $container;"
        "tar -xOf image.tar usr/lib/os-release var/lib/dpkg/status.d/libc6; tar -tf image.tar",
        project,
    ).stdout
    assert re.search("^ID=debian$", listed, re.MULTILINE)
    assert re.search("^Package: libc6\n(?:.*\n)*?Version: [0-9]", listed, re.MULTILINE)
    for package in ("libcst", "z3_solver", "distml"):
        assert re.search(rf"^opt/distml/{package}-[0-9.]+\.dist-info/METADATA$", listed, re.MULTILINE)


@tools
def test_the_image_with_a_shell(shell: Shell, image: str, project: Path, context: Path) -> None:
    """As GitLab calls it: a script in a shell, in a folder that its runner brings."""
    (command,) = blocks("container.md", "sh shell")
    named = command.strip().replace("docker build", f"{BUILD} --timestamp 0").replace("distml-shell", f"shell-{image}")
    assert shell(named, context).returncode == 0
    (pipeline,) = blocks("container.md", "yaml gitlab")
    (script,) = re.findall(r"^    - (distml .*)$", pipeline, re.MULTILINE)
    run = f"podman run --rm --network=none --user 0 -v $PWD:/builds:ro -w /builds --entrypoint '' shell-{image} sh -euc"
    done = shell(f"{run} '{script}'; podman rmi shell-{image}", project)
    assert done.returncode == 0, done.stderr
    assert "1 file checked" in done.stdout


def test_the_base_is_pinned_and_kept_current() -> None:
    text = (CHECKOUT / "Dockerfile").read_text()
    base = BASE.partition(":")[2]
    assert re.search(
        rf"^FROM docker\.io/library/python:{re.escape(base)}@sha256:[0-9a-f]{{64}} AS python$", text, re.MULTILINE
    )
    assert "package-ecosystem: docker" in (CHECKOUT / ".github" / "dependabot.yml").read_text()
    assert BASE in (CHECKOUT / ".ci" / "base-image").read_text()
    assert f"ARG VERSION={VERSION}\n" in text


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
    (command,) = blocks("container.md", "sh buildah")
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
