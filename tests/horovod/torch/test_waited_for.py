"""What rank 0 alone has written is there when another rank looks for it, wherever in the program that stands; else HVD315.

The programs are run on two processes, in which rank 0 takes its time to write.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from textwrap import indent

import pytest
from horovod.torch.programs import HEAD, outcome, rewritten_files, said_by_two

from distml.rewrites.horovod.options import Backend

IMPORTS = "import glob\nimport os\nimport time\nfrom pathlib import Path\n"
TRAIN = (
    IMPORTS
    + HEAD
    + """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, y), batch_size=16)


def train():
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()


"""
)
LOOKS = {
    "exists": "found = os.path.exists({path})",
    "isfile": "found = os.path.isfile({path})",
    "size": "found = os.path.getsize({path}) > 0",
    "Path": "found = Path({path}).exists()",
    "Path read": "found = len(Path({path}).read_bytes()) > 0",
    "open": "with open({path}, 'rb') as file:\n    found = len(file.read()) > 0",
    "load": "found = len(torch.load({path})) == 2",
    "a function that no table names": "import zipfile\nfound = len(zipfile.ZipFile({path}).namelist()) > 0",
    "a method that no table names": "import numpy\nfound = numpy.lib.npyio.DataSource().exists({path})",
    "a question": "found = False\nif os.path.exists({path}):\n    found = True",
}
FOLDERS = {
    "listdir": "found = len(os.listdir('{name}')) == 1",
    "glob": "found = len(glob.glob('{name}/*.pt')) == 1",
    "Path": "found = len(list(Path('{name}').glob('*.pt'))) == 1",
}
SAVE = "torch.save(model.state_dict(), {path})"
PLACES = {
    "in a row": "train()\n{save}\n{look}\nassert found\n",
    "in a function": "def keep():\n    {save}\n{look1}\n    return found\n\n\ntrain()\nassert keep()\n",
    "in a block": "def keep():\n    with torch.no_grad():\n        {save}\n{look2}\n    return found\n\n\n"
    "train()\nassert keep()\n",
    "in one of two functions": "def keep():\n    {save}\n\n\ndef found_by():\n{look1}\n    return found\n\n\n"
    "train()\nkeep()\nassert found_by()\n",
    "in methods": "class Keeper:\n    def keep(self):\n        {save}\n\n    def look(self):\n{look2}\n        return found\n\n\n"
    "keeper = Keeper()\nfor epoch in range(2):\n    train()\n    keeper.keep()\nassert keeper.look()\n",
    "in each epoch": "for epoch in range(2):\n    train()\n    if epoch > 0:\n        {save}\n{look2}\n        assert found\n",
    "behind a question": "def keep(again=False):\n    if again:\n        return False\n    {save}\n{look1}\n"
    "    return found\n\n\ntrain()\nassert keep()\n",
}
SLOW = """
import time as _time
import torch as _torch
if not hasattr(_torch, "_kept"):
    _torch._kept = _torch.save
    _torch.save = lambda *given: (_time.sleep(0.1), _torch._kept(*given))
"""


def program(place: str, look: str, path: str) -> str:
    """A program that writes a file and looks for it."""
    parts = {f"look{depth or ''}": indent(look, "    " * depth) for depth in range(3)}
    return TRAIN + PLACES[place].format(save=SAVE.format(path=path), **parts)


def programs() -> dict[str, str]:
    """All places with all ways to look for a file."""
    found = {}
    for place, (name, look) in product(PLACES, LOOKS.items()):
        path = f"'{place} {name}.pt'"
        found[f"{place}: {name}"] = program(place, look.format(path=path), path)
    for place, (name, look) in product(PLACES, FOLDERS.items()):
        folder = f"{place} {name}"
        text = program(place, look.format(name=folder), f"'{folder}/a.pt'")
        found[f"{place}: a folder by {name}"] = text.replace(
            "model =", f"os.makedirs('{folder}', exist_ok=True)\nmodel =", 1
        )
    return found


def waiting(program: str, backend: Backend = "ddp") -> str:
    """What a program becomes, in which all ranks wait once."""
    made = outcome(program, backend)
    (file,) = made.files.values()
    assert file.source.count("barrier()") + file.source.count("wait_for_everyone()") == 1
    assert "HVD315" not in {each.code for each in made.plan.warnings}
    return file.source


@pytest.mark.parametrize("backend", ["horovod", "accelerate"])
@pytest.mark.parametrize("place", PLACES)
def test_all_ranks_wait_once(place: str, backend: Backend) -> None:
    waiting(program(place, LOOKS["exists"].format(path="'a.pt'"), "'a.pt'"), backend)


def test_each_rank_finds_what_rank_0_has_written(tmp_path: Path) -> None:
    said_by_two({name: SLOW + waiting(text) for name, text in programs().items()}, tmp_path)


NONE = {
    "what was there before": "if os.path.exists('a.pt'):\n    model.load_state_dict(torch.load('a.pt'))\n"
    "for epoch in range(2):\n    train()\n    torch.save(model.state_dict(), 'a.pt')\n",
    "another file": "train()\ntorch.save(model.state_dict(), 'a.pt')\nassert not os.path.exists('b.pt')\n",
    "texts made of its name": "train()\ntorch.save(model.state_dict(), 'a.pt')\nwhole = os.path.join('.', 'a.pt')\n"
    "print('a.pt', whole, sorted(['a.pt']))\n",
    "a result that nobody uses": "import library\n\ntrain()\ntorch.save(model.state_dict(), 'a.pt')\nlibrary.note('a.pt')\n",
    "training in between": "train()\ntorch.save(model.state_dict(), 'a.pt')\ntrain()\nassert os.path.exists('a.pt')\n",
}


@pytest.mark.parametrize("name", NONE)
def test_no_rank_waits_for_nothing(name: str) -> None:
    made = outcome(TRAIN + NONE[name], "ddp")
    (file,) = made.files.values()
    assert "barrier()" not in file.source and "HVD315" not in {each.code for each in made.plan.warnings}


ALONE = {
    "a condition of one rank's data": "for a, b in loader:\n    if a.sum() > 0:\n        keep()\n    break\n",
}


@pytest.mark.parametrize("name", ALONE)
def test_where_not_all_ranks_come_it_is_said(name: str) -> None:
    keep = "def keep():\n    torch.save(model.state_dict(), 'a.pt')\n    return os.path.exists('a.pt')\n\n\n"
    made = outcome(f"{TRAIN}{keep}train()\n{ALONE[name]}", "ddp")
    (file,) = made.files.values()
    assert "HVD315" in {each.code for each in made.plan.warnings} and "barrier()" not in file.source


GRAPHS = {
    "read": "import onnx\nmodel_again = onnx.load('a.onnx')",
    "checked": "import onnx\nonnx.checker.check_model(onnx.load(f='a.onnx'))",
    "run": "import onnxruntime\nsession = onnxruntime.InferenceSession('a.onnx')",
}


@pytest.mark.parametrize("look", GRAPHS)
def test_graphs_that_are_exported_are_waited_for(look: str) -> None:
    """Rank 0 alone exports them."""
    text = f"{TRAIN}train()\ntorch.onnx.export(model, x, 'a.onnx')\n{GRAPHS[look]}\n"
    (file,) = outcome(text, "ddp").files.values()
    export, _, rest = file.source.partition("torch.onnx.export(")
    assert export.rstrip().endswith("if dist.get_rank() == 0:")
    assert "dist.barrier()" in rest.partition("onnx.load" if look != "run" else "InferenceSession(")[0]


OTHER_KINDS = {
    "a pickle": "import pickle\nimport numpy as np\nwith open(f'{folder}/a.pkl', 'wb') as file:\n    pickle.dump([1], file)",
    "JSON": "import json\nimport numpy as np\nwith open(f'{folder}/a.json', 'w') as file:\n    json.dump([1], file)",
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_what_reads_no_such_files_waits_for_none(kind: str) -> None:
    """Arrays are read by what reads arrays."""
    text = f"{TRAIN}folder = os.environ['F']\n{OTHER_KINDS[kind]}\nkept = np.load('kept.npy')\ntrain()\n"
    (file,) = outcome(text, "ddp").files.values()
    assert "barrier" not in file.source


IN_ANOTHER_FILE = """import torch


def keep(model):
    torch.save(model.state_dict(), "a.pt")
    found = torch.load("a.pt")
    return len(found) == 2
"""
STARTED = {
    "ddp": ("import torch.distributed as dist\n", "    if dist.is_initialized():\n        dist.barrier()\n"),
    "horovod": ("import horovod.torch as hvd\n", "    if not hvd.is_initialized():\n        hvd.init()\n"),
    "accelerate": ("from accelerate import Accelerator\n", "    accelerator = Accelerator("),
}


@pytest.mark.parametrize("backend", STARTED)
def test_a_file_that_waits_has_what_it_waits_by(backend: Backend) -> None:
    """Nothing else in it communicates."""
    script = TRAIN + "import keeps\n\ntrain()\nassert keeps.keep(model)\n"
    after = rewritten_files({"run.py": script, "keeps.py": IN_ANOTHER_FILE}, backend)["keeps.py"]
    imported, begun = STARTED[backend]
    assert after.count(imported) == after.count(begun) == 1
    assert after.index(imported) < after.index(begun) < after.index("found = torch.load")
