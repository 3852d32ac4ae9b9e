"""What a program writes during training or behind it is rank 0's, in whichever file; what all ranks read they wait for.

Archives are unpacked, and data sets that a library has made when their files are missing, by one process of a machine.
"""

from __future__ import annotations

import re

import pytest
from horovod.torch.programs import HEAD
from horovod.torch.programs import rewritten_files as rewritten

FIRST = 'if os.environ.get("RANK", "0") == "0":\n'
LOCAL = 'if int(os.environ["LOCAL_RANK"])'
MODEL = """
loader = DataLoader({data}, batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(a, b):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()


def train():
    for epoch in range(2):
        for a, b in loader:
            step(a, b)
"""
WRITES = {
    "a picture": ("import matplotlib.pyplot as plt\n", "plt.savefig(name)"),
    "images": ("import torchvision\n", "torchvision.utils.save_image(1, name)"),
}
PLACES = {
    "behind it": "if __name__ == '__main__':\n    train()\n    keep('a')\n",
    "behind it in a function": "def main():\n    train()\n    finish()\n\n\ndef finish():\n    keep('a')\n\n\nmain()\n",
    "behind a choice": "def main(fast=False):\n    if fast:\n        train()\n    else:\n        train()\n"
    "    for i in range(3):\n        keep(str(i))\n\n\nmain()\n",
}
BEFORE = {
    "in front of it": "keep('a')\ntrain()\n",
    "in front of it and behind it": "keep('a')\ntrain()\nkeep('b')\n",
}


def whole(what: str, place: str) -> dict[str, str]:
    """A program that writes by a function in another file."""
    imports, call = WRITES[what]
    head = HEAD.replace("import torch\n", "import torch\nfrom beside import keep\n", 1)
    return {
        "beside.py": f"{imports}\n\ndef keep(name):\n    {call}\n",
        "train.py": head + MODEL.format(data="TensorDataset(x, y)") + f"\n\n{place}",
    }


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_written_since_training_is_rank_0s(what: str, place: str) -> None:
    assert f"{FIRST}        {WRITES[what][1]}" in rewritten(whole(what, PLACES[place]))["beside.py"]


EXAMPLES = {
    "an example": "if __name__ == '__main__':\n    keep('b')\n",
    "a function that nothing calls": "def example():\n    keep('b')\n",
    "a function of an example": "def example():\n    keep('b')\n\n\nif __name__ == '__main__':\n    example()\n",
}


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_in_the_other_file_change_nothing(what: str, example: str) -> None:
    files = whole(what, PLACES["behind it"])
    files["beside.py"] += f"\n\n{EXAMPLES[example]}"
    assert f"{FIRST}        {WRITES[what][1]}" in rewritten(files)["beside.py"]


@pytest.mark.parametrize("place", BEFORE)
def test_what_may_be_data_is_written_by_all(place: str) -> None:
    assert FIRST not in rewritten(whole("a picture", BEFORE[place])).get("beside.py", "")


READS = {
    "what it has saved": ("torch.save(model.state_dict(), 'a.pth')", "model.load_state_dict(torch.load('a.pth'))"),
    "a copy of it": (
        "torch.save(model.state_dict(), 'b.pth')\n    shutil.copy('b.pth', 'a.pth')",
        "model.load_state_dict(torch.load('a.pth'))",
    ),
}


@pytest.mark.parametrize("what", READS)
def test_what_rank_0_has_written_is_waited_for_also_where_a_function_takes_the_steps(what: str) -> None:
    saves, loads = READS[what]
    body = f"\n\ndef save():\n    {saves}\n\n\ndef main():\n    train()\n    save()\n    {loads}\n\n\nmain()\n"
    text = rewritten({"train.py": "import shutil\n" + HEAD + MODEL.format(data="TensorDataset(x, y)") + body})[
        "train.py"
    ]
    assert re.search(r"save\(\)\n    dist\.barrier\(\)\n    model\S*\.load_state_dict", text)


BLOCKS = {
    "a choice": "if len(x) > 3:\n{}",
    "the other side of one": "if len(x) < 3:\n    pass\nelse:\n{}",
    "a try": "try:\n{}except KeyboardInterrupt:\n    pass\n",
    "a block": "with open('a.log', 'a') as log:\n{}",
    "a block of another kind": "with torch.autograd.detect_anomaly():\n{}",
}
LISTED = ["kept = glob.glob('*.pth')", "kept = os.listdir('.')", "kept = list(Path('.').glob('*.pth'))"]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("listed", LISTED)
def test_it_is_waited_for_in_the_block_that_trains(block: str, listed: str) -> None:
    saves, loads = "torch.save(model.state_dict(), 'a.pth')", "model.load_state_dict(torch.load(kept[0]))"
    lines = "".join(f"    {line}\n" for line in ("train()", saves, listed, loads))
    head = "import glob\nimport os\nfrom pathlib import Path\n" + HEAD + MODEL.format(data="TensorDataset(x, y)")
    text = rewritten({"train.py": f"{head}\n\n{BLOCKS[block].format(lines)}"})["train.py"]
    assert text.count("dist.barrier()") == 1 and f"    dist.barrier()\n    {listed}\n" in text


UNPACKED = {
    "an archive": "archive = zipfile.ZipFile('a.zip')\narchive.extractall('data')\n",
    "an archive by tar": "tarfile.open('a.tar').extractall('data')\n",
    "an archive by its name": "shutil.unpack_archive('a.zip', 'data')\n",
}


@pytest.mark.parametrize("what", UNPACKED)
def test_an_archive_is_unpacked_once(what: str) -> None:
    head = "import shutil\nimport tarfile\nimport zipfile\n" + HEAD
    text = rewritten({"train.py": head + UNPACKED[what] + MODEL.format(data="TensorDataset(x, y)") + "\n\ntrain()\n"})
    line = UNPACKED[what].splitlines()[-1]
    assert f"{LOCAL} == 0:\n    {line}\ndist.barrier()\n" in text["train.py"]


MADE = """
class Graphs({base}):
    def __init__(self, root):
        super().__init__(root)
        self.data = torch.load(self.processed_paths[0])

    def process(self):
        torch.save([1], self.processed_paths[0])


"""


@pytest.mark.parametrize("base", ["torch_geometric.data.InMemoryDataset", "torch_geometric.data.Dataset"])
def test_data_that_a_library_has_made_when_it_is_missing_is_made_once(base: str) -> None:
    head = "import torch_geometric\n" + HEAD + MADE.format(base=base) + "data = Graphs('a')\n"
    text = rewritten({"train.py": head + MODEL.format(data="data") + "\n\ntrain()\n"})["train.py"]
    assert f"{LOCAL} != 0:\n    dist.barrier()\ndata = Graphs('a')\n{LOCAL} == 0:\n    dist.barrier()\n" in text
    assert "        torch.save([1], self.processed_paths[0])\n" in text
    assert text.count(LOCAL) == 2


@pytest.mark.parametrize("call", ["kagglehub.dataset_download('a')", "huggingface_hub.snapshot_download('a')"])
def test_what_a_library_downloads_is_downloaded_once(call: str) -> None:
    head = f"import {call.partition('.')[0]}\n{HEAD}path = {call}\n"
    text = rewritten({"train.py": head + MODEL.format(data="TensorDataset(x, y)") + "\n\ntrain()\n"})["train.py"]
    assert f"    dist.barrier()\npath = {call}\n{LOCAL} == 0:\n    dist.barrier()\n" in text
