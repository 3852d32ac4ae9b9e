"""Real buildah and podman, without a registry or a daemon; the base image is made from Debian's packages once, by CI."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
BASE = "docker.io/library/python:3.13-slim-trixie"
"""What stands in for the base image, which no registry gives here."""
BUILD = f"buildah bud --quiet --pull-never --network=host --volume {CERTIFICATES}:{CERTIFICATES}:ro --build-arg PYTHON={BASE}"
DOCKER = f"""#!/bin/sh
what=$1
shift
for word; do
    shift
    [ "$word" != distml ] || word=$IMAGE
    set -- "$@" "$word"
done
case $what in
build) exec {BUILD} --timestamp 0 "$@" ;;
*) exec podman "$what" "$@" ;;
esac
"""
Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def storage() -> Path:
    """Where the base image is, and the configuration of both tools."""
    done = subprocess.run([str(CHECKOUT / ".ci" / "base-image")], capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the image is built from, as it stays while the tests run."""
    folder = tmp_path_factory.mktemp("context")
    for name in ("checker", "transforms"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(CHECKOUT / name, folder / name)
    shutil.copytree(CHECKOUT / ".ci" / "requirements", folder / ".ci" / "requirements")
    return folder


@pytest.fixture(scope="session")
def shell(storage: Path, context: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Runs commands in which `docker` means buildah and podman, and `distml` the image of this very source."""
    programs = tmp_path_factory.mktemp("programs")
    (programs / "docker").write_text(DOCKER)
    (programs / "docker").chmod(0o755)
    base = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "IMAGE": f"distml-{digest(context)}"}

    def run(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
        script = f'. "{storage}/env"; {commands}'
        return subprocess.run(
            ["bash", "-euc", script], cwd=folder, env=base, capture_output=True, text=True, timeout=580
        )

    return run


@pytest.fixture(scope="session")
def image(shell: Shell, context: Path, storage: Path) -> str:
    """The image, built as the page says unless that was done already; its name. Those of other sources go."""
    name = f"distml-{digest(context)}"
    with (storage / "image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if shell(f"podman image exists {name}", context).returncode:
            done = shell("docker build --tag distml .", context)
            assert done.returncode == 0, done.stderr[-3000:]
            others = "podman images --noheading --format '{{.Repository}}' | grep '^localhost/distml-' | grep -v"
            shell(f"podman rmi $({others} {name}) || true", context)
    return name


def digest(folder: Path) -> str:
    """A name for the content of a folder."""
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a model that is right, readable for all."""
    folder = tmp_path / "project"
    shutil.copytree(Path(__file__).parent / "project", folder)
    for path in (tmp_path, folder, *folder.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for parent in tmp_path.parents[:2]:
        parent.chmod(parent.stat().st_mode | 0o055)
    return folder
