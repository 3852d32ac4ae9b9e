"""What a script imports starts no processes: other scripts import it too, and so do the processes that load data."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from horovod.torch.programs import rewritten_files

from distml.rewrites.horovod.options import Backend

from smoke.environments import horovod_python
from spmd.running import together

BACKENDS: tuple[Backend, ...] = ("horovod", "ddp", "accelerate")
RANK = 'os.environ.get("RANK", "0") == "0"'
ASKS = {"horovod": "not hvd.is_initialized() or hvd.rank() == 0", "ddp": RANK, "accelerate": RANK}
"""How a file that is imported asks whether it runs on rank 0."""
AGAIN = {
    "horovod": "if not hvd.is_initialized():\n        hvd.init()\n",
    "accelerate": 'accelerator = Accelerator(device_placement=False, mixed_precision="no")\n',
}
"""How a function of it starts the back end where it needs more."""
START = {
    "horovod": "\n\nhvd.init()\n",
    "ddp": "    dist.init_process_group(",
    "accelerate": "\n\naccelerator = Accelerator(",
}
"""How a file starts it while it is imported."""
SCRIPT = """import torch
from torch import nn
from torch.utils.data import DataLoader

import beside

DEVICE = torch.device("cpu")


def main():
    torch.manual_seed(3)
    x = torch.randn(96, 4)
    data = beside.Data(x, x.sum(1, keepdim=True))
    loader = DataLoader(data, batch_size=8, shuffle=True, num_workers=1, multiprocessing_context="spawn")
    model = nn.Linear(4, 1).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for a, b in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(a), b).backward()
            optimizer.step()
    beside.finish(model)


if __name__ == "__main__":
    main()
"""
BESIDE = """import os
import urllib.request
import torch
{head}

class Data(torch.utils.data.Dataset):
    def __init__(self, x, y):
        {made}
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def finish(model):
    {end}
"""
PLAIN = "return model"
MADE = {
    "a line": ("print('made')", "if {first}:\n            print('made')\n", False),
    "a folder": ("os.mkdir('logs')", "os.makedirs('logs', exist_ok=True)\n", False),
    "a download": (
        "urllib.request.urlretrieve('a', 'b')",
        ":\n            urllib.request.urlretrieve('a', 'b')\n",
        True,
    ),
    "a file": ("torch.save([1], 'a.pth')", "", False),
}
"""What a constructor there does, what becomes of it, and whether it takes more than to know the rank."""
ENDS = {
    "a line": ("print('end')", dict.fromkeys(BACKENDS, "if {first}:\n        print('end')\n")),
    "weights": (
        "torch.save(model.state_dict(), 'a.pth')",
        {
            "horovod": "if {first}:\n        torch.save(model.state_dict(), 'a.pth')\n",
            "ddp": "if {first}:\n        torch.save(model.module.state_dict(), 'a.pth')\n",
            "accelerate": AGAIN["accelerate"] + "    accelerator.save(accelerator.get_state_dict(model), 'a.pth')\n",
        },
    ),
}
AT_IMPORT = {
    "a download": "urllib.request.urlretrieve('a', 'b')\n",
    "the other branch of a guard": "if __name__ == '__main__':\n    pass\nelse:\n    urllib.request.urlretrieve('a', 'b')\n",
}
LOAD = "def load():\n    urllib.request.urlretrieve('a', 'b')\n\n\n"
ALONE = {
    "a download": "if __name__ == '__main__':\n    urllib.request.urlretrieve('a', 'b')\n",
    "a download in a function": LOAD + "if __name__ == '__main__':\n    load()\n",
    "in a function of a function": LOAD
    + "def look():\n    return [load() for _ in range(2)]\n\n\nif '__main__' == __name__:\n    look()\n",
    "with more": LOAD + "if __name__ == '__main__' and len(os.environ) > 0:\n    for _ in range(2):\n        load()\n",
}
SAID_AT_IMPORT = {"a line": "print('imported')\n", "a line in a function": "def say():\n    print('a')\n\n\nsay()\n"}
SHARED = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data():
    return TensorDataset(torch.randn(64, 4), torch.randn(64, 1))


def validate(model, loader):
    with torch.no_grad():
        total = sum(((model(x) - y) ** 2).mean().item() for x, y in loader)
    print("loss", type(total))


def one_pass(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    print("pass")


def main():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    one_pass(model, DataLoader(data(), batch_size=8, shuffle=True), optimizer)
    validate(model, DataLoader(data(), batch_size=8))


if __name__ == "__main__":
    main()
"""
JUDGE = """import torch
from torch.utils.data import DataLoader

from train import data, validate

validate(torch.nn.Linear(4, 1), DataLoader(data(), batch_size=8))
"""


def beside(backend: Backend, head: str = "", made: str = "pass", end: str = PLAIN) -> str:
    """The file that the script imports, as it becomes."""
    files = {"train.py": SCRIPT, "beside.py": BESIDE.format(head=head, made=made, end=end)}
    return rewritten_files(files, backend).get("beside.py", "")


def starts(text: str, backend: Backend) -> bool:
    """Whether a file starts the back end while it is imported."""
    return START[backend] in text


@pytest.mark.parametrize("what", MADE)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_file_that_a_script_imports_starts_nothing(backend: Backend, what: str) -> None:
    made, becomes, more = MADE[what]
    text, end = beside(backend, made=made).split("def finish(model):\n")
    assert becomes.format(first=ASKS[backend]) in text
    assert not starts(text, backend) and "destroy_process_group" not in text and "end_training" not in end
    if backend == "ddp":
        assert ("import torch.distributed as dist\n" in text) is ("dist.barrier()" in text) is more
    else:
        assert (AGAIN[backend].replace("    hvd", "        hvd") in text) is more


@pytest.mark.parametrize("what", ENDS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_nor_does_one_that_writes_behind_training(backend: Backend, what: str) -> None:
    end, becomes = ENDS[what]
    text = beside(backend, end=end)
    assert becomes[backend].format(first=ASKS[backend]) in text and not starts(text, backend)
    assert "distributed" not in text


@pytest.mark.parametrize("what", AT_IMPORT)
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_that_communicates_while_it_is_imported_starts_the_processes(backend: Backend, what: str) -> None:
    assert starts(beside(backend, head=AT_IMPORT[what]), backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_whose_function_communicates_then_starts_them_there_or_before(backend: Backend) -> None:
    text = beside(backend, head=LOAD + "load()\n")
    assert starts(text, backend) if backend == "ddp" else f"def load():\n    {AGAIN[backend]}" in text


@pytest.mark.parametrize("what", ALONE)
@pytest.mark.parametrize("backend", ["ddp"])
def test_one_that_communicates_where_it_is_the_script_does_not(backend: Backend, what: str) -> None:
    text = beside(backend, head=ALONE[what])
    assert not starts(text, backend) and "destroy_process_group" not in text


@pytest.mark.parametrize("what", SAID_AT_IMPORT)
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_that_asks_for_its_rank_then_does_not_where_a_variable_has_it(backend: Backend, what: str) -> None:
    text = beside(backend, head=SAID_AT_IMPORT[what], made=MADE["a download"][0])
    if backend != "horovod":
        assert f"if {RANK}:\n" in text and not starts(text, backend)
    else:
        assert "if hvd.rank() == 0:\n" in text and (
            starts(text, backend) or f"def say():\n    {AGAIN[backend]}" in text
        )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_script_starts_under_its_guard_and_what_others_take_from_it_runs_there(backend: Backend) -> None:
    becomes = rewritten_files({"train.py": SHARED, "judge.py": JUDGE}, backend)
    (text,) = becomes.values()
    before, guard = text.split('if __name__ == "__main__":\n')
    assert not starts(before, backend) and {"accelerate": "Accelerator("}.get(backend, "init") in guard
    first = {"horovod": "hvd.rank() == 0", "ddp": "dist.get_rank() == 0", "accelerate": "accelerator.is_main_process"}
    assert f'if {first[backend]}:\n        print("pass")' in text
    assert f'if {ASKS[backend]}:\n        print("loss", type(total))' in text
    only = rewritten_files({"train.py": SHARED}, backend)["train.py"]
    assert f'if {first[backend]}:\n        print("loss", type(total))' in only


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_runs_alone_and_in_the_processes_that_load_data(backend: Backend, tmp_path: Path) -> None:
    if backend == "accelerate":
        pytest.importorskip("accelerate")
    python = horovod_python("torch") if backend == "horovod" else sys.executable
    made = "print('made')\n        if not os.path.exists('b'):\n            urllib.request.urlretrieve('a', 'b')"
    becomes = rewritten_files(
        {"train.py": SCRIPT, "beside.py": BESIDE.format(head="", made=made, end="print('end')")}, backend
    )
    shared = rewritten_files({"train.py": SHARED, "judge.py": JUDGE}, backend)["train.py"]
    texts = {**becomes, "shared.py": shared, "judge.py": JUDGE.replace("train", "shared"), "b": ""}
    texts["look.py"] = "import beside\n\nprint(len(beside.Data([1, 2], [3, 4])))\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for script, says in {"look.py": "made\n2\n", "judge.py": "loss <class 'float'>\n"}.items():
        assert together([script], tmp_path, python, alone=True, ACCELERATE_USE_CPU="1") == [says]
    for script, words in {"train.py": ["made", "end"], "shared.py": ["pass", "loss"]}.items():
        said = "".join(together([script], tmp_path, python, ACCELERATE_USE_CPU="1")).splitlines()
        assert [line.split()[0] for line in said] == words, said
