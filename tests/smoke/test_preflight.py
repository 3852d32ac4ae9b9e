"""What is wrong with GPUs is named; what is missing is one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from distml.cli.main import main
from distml.smoke import preflight as checks
from distml.smoke.launch import Start, command, launcher_for
from distml.smoke.model import Options, SmokeError
from distml.smoke.preflight import preflight
from distml.smoke.run import smoke

ROOT = Path(__file__).parents[2]


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with two GPUs, until a test says otherwise."""
    program(tmp_path, "nvidia-smi", "echo 'A GPU, 100'; echo 'A GPU, 100'")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    program(tmp_path, "python", """echo noise; echo 'FOUND {"built": true, "nccl": true, "gpus": 2}'""")
    return tmp_path


def troubles(folder: Path, processes: int = 2) -> list[str]:
    return preflight(str(folder / "python"), "torch", "torchrun", processes)


def test_nothing_is_wrong(answers: Path) -> None:
    assert troubles(answers) == []


def test_too_few_gpus(answers: Path) -> None:
    found = troubles(answers, 3)
    assert found == ["2 GPUs for 3 processes", "torch sees 2 GPUs, 3 processes need one each"]


def test_a_driver_that_does_not_work(answers: Path) -> None:
    program(answers, "nvidia-smi", "echo 'Driver/library version mismatch'; exit 18")
    assert troubles(answers) == ["the NVIDIA driver does not work: Driver/library version mismatch"]


def test_no_driver(answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.shutil, "which", lambda name: None)
    assert troubles(answers) == ["no NVIDIA driver: nvidia-smi is not on the path"]


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        ("""echo 'FOUND {"built": false, "nccl": false, "gpus": 0}'""", "torch of PYTHON was built without CUDA"),
        ("""echo 'FOUND {"built": true, "nccl": false, "gpus": 2}'""", "torch of PYTHON was built without NCCL"),
        ("echo 'ImportError: libcudart.so' >&2; exit 1", "torch of PYTHON cannot be asked: ImportError: libcudart.so"),
    ],
)
def test_a_library_that_cannot(answers: Path, answer: str, trouble: str) -> None:
    python = program(answers, "python", answer)
    assert troubles(answers) == [trouble.replace("PYTHON", str(python))]


def test_shared_memory(answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = checks.shutil.disk_usage("/")
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda path: usage._replace(free=1 << 20))
    assert troubles(answers)[0].startswith("/dev/shm has 1 MiB free, NCCL needs 64")


def test_gpus_are_looked_at_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distml.smoke.launch.check", lambda python, launcher: None)
    monkeypatch.setattr("distml.smoke.run.preflight", lambda *args: ["no GPU"])
    script = tmp_path / "a.py"
    script.touch()
    with pytest.raises(SmokeError, match="no GPU"):
        smoke(script, "import torch.distributed", options=Options(backend="nccl"))


@pytest.mark.parametrize("library", ["torch.distributed", "horovod.torch", "horovod.tensorflow"])
@pytest.mark.parametrize(("share_gpu", "gpus"), [(False, 2), (True, 1)])
def test_processes_that_share_a_gpu_need_one(
    share_gpu: bool, gpus: int, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distml.smoke.launch.check", lambda python, launcher: None)
    monkeypatch.setattr("distml.smoke.run.preflight", lambda *args: [f"{args[-1]} needed"])
    script = tmp_path / "a.py"
    script.touch()
    options = Options(backend="nccl", share_gpu=share_gpu)
    with pytest.raises(SmokeError, match=f"{gpus} needed"):
        smoke(script, f"import {library}", options=options)


def test_the_launcher_follows_the_program() -> None:
    assert launcher_for("import horovod.torch as hvd", "auto") == "horovodrun"
    assert launcher_for("from torch.distributed import init_process_group", "auto") == "torchrun"
    assert launcher_for("from accelerate import Accelerator", "auto") == "accelerate"
    assert launcher_for("", "torchrun") == "torchrun"
    with pytest.raises(SmokeError, match="neither Horovod nor torch"):
        launcher_for("import torch", "auto")


def test_no_argument_is_split() -> None:
    start = Start("/py", Path("/a b/c d.py"), Path("/"), ("x y", "--z=;rm"))
    for launcher in ("", "torchrun", "horovodrun", "accelerate"):
        assert command(start, launcher, 2)[-3:] == ["/a b/c d.py", "x y", "--z=;rm"]


def test_without_horovod_one_line_says_how_to_get_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distml.smoke.launch.FIND", "raise SystemExit(1)")
    (folder / "a.py").touch()
    (folder / "b.py").write_text("import horovod.torch")
    assert main(["smoke", "a.py", "--rewritten", "b.py"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("distml smoke runs a.py and its distributed version, in copies of its folder\n")
    assert "Horovod is not installed for" in error
    assert "pip install --no-build-isolation horovod" in error
    assert error.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.py"], "absent.py is not a file"),
        (["a.py", "--rewritten", "absent.py"], "No such file"),
        (["a.py", "--rewritten", "a.py", "--np", "0"], "--np must be at least 1"),
        (["a.py", "--rewritten", "a.py", "--cwd", "absent"], "absent is not a folder"),
        (["a.py", "--rewritten", "a.py", "--python", "/absent", "--launcher", "torchrun"], "/absent does not run"),
        (["a.py"], "a.py is not rewritten"),
        (["a.py", "--rewritten", "a.py", "--launcher", "torchrun", "--share-gpu"], "--share-gpu needs --backend nccl"),
    ],
)
def test_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    (folder / "a.py").write_text("x = 1\n")
    assert main(["smoke", *arguments]) == 2
    assert message in capsys.readouterr().err


def horovod_script(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / ".ci" / "horovod", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_environments_are_kept_by_version(tmp_path: Path) -> None:
    found = horovod_script("--where", DISTML_CACHE=str(tmp_path))
    first, second = found.stdout.splitlines()
    assert first.startswith(f"{tmp_path}/horovod/environments/tensorflow-2.15.1-horovod-0.28.1-cp3")
    assert second.startswith(f"{tmp_path}/horovod/environments/torch-2.13.0-horovod-0.28.1-cp3")
    assert not any(tmp_path.iterdir())


def test_a_complete_environment_is_not_made_again(tmp_path: Path) -> None:
    python = Path(horovod_script("--where", "torch", DISTML_CACHE=str(tmp_path)).stdout.strip())
    python.parent.mkdir(parents=True)
    (python.parent.parent / ".complete").touch()
    found = horovod_script("torch", DISTML_CACHE=str(tmp_path))
    assert (found.returncode, found.stdout.strip()) == (0, str(python))


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    assert horovod_script("jax").returncode == 2
    without = program(tmp_path, "python3.11", "exit 1")
    text = "import runpy, sys; sys.executable = ''; sys.argv[1:] = ['--where']; "
    text += f"runpy.run_path({str(ROOT / '.ci' / 'horovod')!r}, run_name='__main__')"
    found = subprocess.run(
        [sys.executable, "-c", text],
        env={"PATH": str(without.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert found.returncode == 2
    assert found.stderr == ".ci/horovod: needs a Python of 3.11, 3.10, 3.9: set DISTML_HOROVOD_PYTHON\n"
