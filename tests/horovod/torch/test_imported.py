"""What a script imports starts no processes: other scripts import it too, and so do the processes that load data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from horovod.torch.programs import rewritten_files

FIRST = 'if os.environ.get("RANK", "0") == "0":\n'
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
    "a line": ("print('made')", FIRST + "            print('made')\n"),
    "a folder": ("os.mkdir('logs')", "os.makedirs('logs', exist_ok=True)\n"),
    "a download": ("urllib.request.urlretrieve('a', 'b')", 'if int(os.environ.get("LOCAL_RANK", 0)) == 0:\n'),
    "a file": ("torch.save([1], 'a.pth')", ""),
}
ENDS = {
    "a line": ("print('end')", FIRST + "        print('end')\n"),
    "weights": (
        "torch.save(model.state_dict(), 'a.pth')",
        FIRST + "        torch.save(model.module.state_dict(), 'a.pth')\n",
    ),
}
AT_IMPORT = {
    "a download": "urllib.request.urlretrieve('a', 'b')\n",
    "a download in a function": "def load():\n    urllib.request.urlretrieve('a', 'b')\n\n\nload()\n",
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


def beside(head: str = "", made: str = "pass", end: str = PLAIN) -> str:
    """The file that the script imports, as it becomes."""
    files = {"train.py": SCRIPT, "beside.py": BESIDE.format(head=head, made=made, end=end)}
    return rewritten_files(files).get("beside.py", "")


@pytest.mark.parametrize("what", MADE)
def test_a_file_that_a_script_imports_starts_nothing(what: str) -> None:
    made, becomes = MADE[what]
    text = beside(made=made)
    assert becomes in text
    assert "init_process_group" not in text and "destroy_process_group" not in text
    assert ("import torch.distributed as dist\n" in text) == ("dist.barrier()" in text)


@pytest.mark.parametrize("what", ENDS)
def test_nor_does_one_that_writes_behind_training(what: str) -> None:
    end, becomes = ENDS[what]
    text = beside(end=end)
    assert becomes in text and "distributed" not in text


@pytest.mark.parametrize("what", AT_IMPORT)
def test_one_that_communicates_while_it_is_imported_starts_the_processes(what: str) -> None:
    assert "if not dist.is_initialized():\n    dist.init_process_group(" in beside(head=AT_IMPORT[what])


@pytest.mark.parametrize("what", ALONE)
def test_one_that_communicates_where_it_is_the_script_does_not(what: str) -> None:
    text = beside(head=ALONE[what])
    assert "init_process_group" not in text and "destroy_process_group" not in text


@pytest.mark.parametrize("what", SAID_AT_IMPORT)
def test_one_that_asks_for_its_rank_only_does_not(what: str) -> None:
    assert FIRST in beside(head=SAID_AT_IMPORT[what]) and "distributed" not in beside(head=SAID_AT_IMPORT[what])


def test_it_runs_alone_and_in_the_processes_that_load_data(tmp_path: Path) -> None:
    made = "print('made')\n        if not os.path.exists('b'):\n            urllib.request.urlretrieve('a', 'b')"
    files = {"train.py": SCRIPT, "beside.py": BESIDE.format(head="", made=made, end="print('end')")}
    becomes = rewritten_files(files)
    assert "dist.barrier()" in becomes["beside.py"]
    for name, text in becomes.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "b").write_text("")
    (tmp_path / "look.py").write_text("import beside\n\nprint(len(beside.Data([1, 2], [3, 4])))\n")
    alone = {name: value for name, value in os.environ.items() if "RANK" not in name}
    looked = subprocess.run([sys.executable, "look.py"], cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert looked.stdout == "made\n2\n", looked.stderr
    place = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    ran = subprocess.run([*place, "train.py"], cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and ran.stdout == "made\nend\n", ran.stderr
