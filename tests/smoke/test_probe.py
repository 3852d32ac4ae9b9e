"""Scripts run under the probe as Python runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distml.smoke import launch
from distml.smoke.probe.plan import VARIABLE
from distml.smoke.records import Record, read


def probed(
    folder: Path, text: str, *arguments: str, parent: int | None = None, **asked: float
) -> tuple[int, str, Record]:
    """Exit code, output and record of a script."""
    script = folder / "a script.py"
    script.write_text(text)
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"folder": str(folder), "parent": parent or os.getpid(), **asked}))
    found = subprocess.run(
        [sys.executable, str(launch.PROBE), str(script), *arguments],
        env={**os.environ, VARIABLE: str(plan)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return found.returncode, found.stdout + found.stderr, read(folder, 0)


def test_a_script_is_the_main_module(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("here = 5\n")
    text = "import sys, beside\nprint(__name__, sys.argv[1:], beside.here, __file__ == sys.argv[0], sys.path[0])\n"
    code, output, record = probed(tmp_path, text, "--epochs", "3 4")
    assert code == 0
    assert output.strip() == f"__main__ ['--epochs', '3 4'] 5 True {tmp_path}"
    assert record.ending == "finished"


def test_its_classes_can_be_pickled(tmp_path: Path) -> None:
    text = "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n"
    assert probed(tmp_path, text)[1].strip() == "True"


def test_an_exception_is_noted_with_its_line(tmp_path: Path) -> None:
    code, output, record = probed(tmp_path, "def f():\n    raise ValueError('no \\x1b')\nf()\n")
    assert code == 1
    assert "ValueError" in output
    assert (record.ending, record.text, record.where) == ("error", "ValueError: no \x1b", "a script.py:2")


def test_exit_codes_are_kept(tmp_path: Path) -> None:
    assert probed(tmp_path, "import sys; sys.exit(3)")[0] == 3
    assert probed(tmp_path, "import sys; sys.exit()")[0] == 0
    assert probed(tmp_path, "raise SystemExit('why')")[:1] == (1,)


def test_a_syntax_error_is_an_error_of_the_script(tmp_path: Path) -> None:
    code, _, record = probed(tmp_path, "x = (\n")
    assert code == 1
    assert "SyntaxError" in record.text


def test_nothing_outlives_who_asked_for_it(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    began = time.monotonic()
    assert probed(tmp_path, "import time; time.sleep(50)", parent=gone.pid)[0] == 3
    assert time.monotonic() - began < 40


def test_stacks_on_request(tmp_path: Path) -> None:
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGUSR1)\n"
    assert 'a script.py", line 2 in <module>' in probed(tmp_path, text)[2].stacks


@pytest.mark.parametrize("first", ["", "import hooked_module\n"], ids=["later", "already"])
def test_hooks_run_after_their_module(first: str, tmp_path: Path) -> None:
    (tmp_path / "hooked_module.py").write_text("class A:\n    def f(self):\n        return 1\n")
    text = f"""
import sys
sys.path[:0] = {sys.path!r}
{first}from distml.smoke.probe.importing import install, wrap
trouble = []
def twice(module):
    wrap(module.A, "f", lambda original: lambda self: original(self) + 1)
    wrap(module.A, "absent", lambda original: 1)
def broken(module):
    1 // 0
install({{"hooked_module": [broken, twice]}}, lambda name, error: trouble.append((name, repr(error))))
import hooked_module
print(hooked_module.A().f(), hasattr(hooked_module.A, "absent"), trouble)
"""
    output = probed(tmp_path, text)[1]
    assert output.strip() == "2 False [('hooked_module', \"ZeroDivisionError('integer division or modulo by zero')\")]"


def test_the_probe_needs_nothing_but_the_standard_library() -> None:
    text = "import sys; sys.path = [p for p in sys.path if 'distml' not in p and 'site-packages' not in p]\n"
    text += f"import runpy; runpy.run_path({str(launch.PROBE / '__main__.py')!r})['load'](); print(sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-I", "-c", text], capture_output=True, text=True, check=True, timeout=60)
    assert "distml_smoke_probe.runner" in found.stdout
    assert not {"'distml'", "'numpy'", "'torch'", "'distml.smoke'"} & set(found.stdout.strip("[]\n").split(", "))


RATES = """
import torch
from torch.optim import lr_scheduler
ways = {
    "fixed": lambda o: None,
    "group": lambda o: [group.update(lr=0.25) for group in o.param_groups],
    "one cycle": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=8),
    "cyclic": lambda o: lr_scheduler.CyclicLR(o, base_lr=0.125, max_lr=0.5, step_size_up=2),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
}
for name, way in ways.items():
    weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.double))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    schedule = way(optimizer)
    for _ in range(4):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
        schedule.step() if hasattr(schedule, "step") else None
    print(name, weight.item(), sep="=")
"""


@pytest.mark.requires("torch")
def test_one_process_takes_as_many_times_the_rate_whoever_set_it(tmp_path: Path) -> None:
    plain, larger = (distances(probed(tmp_path, RATES, rate=rate)[1]) for rate in (1.0, 4.0))
    assert len(plain) == 5 and all(plain.values())
    assert larger == {name: 4 * distance for name, distance in plain.items()}


def distances(output: str) -> dict[str, float]:
    return {name: float(value) for name, _, value in (line.partition("=") for line in output.splitlines())}


PRECISION = """
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_device("meta")
print(torch.randn(2).device, torch.zeros(2).device)
torch.set_default_device("cpu")
loader = DataLoader(TensorDataset(torch.ones(8, 4, dtype=torch.bfloat16)), batch_size=4)
model = torch.nn.Linear(4, 1).to(torch.bfloat16)
torch.nn.init.ones_(model.weight), torch.nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=2 ** -20)
scaler = torch.amp.GradScaler("cpu")
for batch, in loader:
    scaler.scale(model(batch).float().mean()).backward()
    optimizer.step()
    with torch.no_grad():
        for more in loader:
            model(more[0])
"""


@pytest.mark.requires("torch")
def test_any_precision_is_read_and_the_program_keeps_its_devices(tmp_path: Path) -> None:
    code, output, record = probed(tmp_path, PRECISION)
    assert (code, output) == (0, "meta meta\n")
    assert set(record.losses[0]) == {4.0}, "the loss itself, before it is multiplied for half precision"
    assert [record.samples(step) for step in range(2)] == [4, 4], "what is read without gradients is not trained on"


def test_processes_that_share_a_gpu_are_each_the_first_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("RANK", "LOCAL_RANK", "NCCL_HOSTID", "NCCL_SOCKET_IFNAME")
    text = f"import os\nprint(*map(os.environ.get, {names}))\n"
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", "eth0")
    assert probed(tmp_path, text, share_gpu=True)[1] == "None None None eth0\n", "one process stays as it is"
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert probed(tmp_path, text, share_gpu=True)[1] == "1 0 distml-1 eth0\n"
    assert probed(tmp_path, text)[1] == "1 1 None eth0\n"


def test_processes_of_horovod_that_share_a_gpu_are_each_the_first_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")
    text = f"import os\nprint(*(os.environ['HOROVOD_' + name] for name in {names}), os.environ.get('NCCL_HOSTID'))\n"
    for name, value in {"RANK": "1", "SIZE": "2", **dict(zip(names, "1201", strict=True))}.items():
        monkeypatch.setenv(f"HOROVOD_{name}", value)
    assert probed(tmp_path, text, share_gpu=True)[1] == "0 1 1 2 distml-1\n"
    assert probed(tmp_path, text)[1] == "1 2 0 1 None\n"
