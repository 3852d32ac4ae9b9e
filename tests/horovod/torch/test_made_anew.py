"""Functions that are called for the files alone that they write anew each time: one process of a machine runs them.

The others wait, and read what is whole. Files of HDF5 could not even be opened by two.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten

IMPORTS = "import json\nimport pickle\n\nimport h5py\nimport numpy as np\nimport pandas as pd\n"
TRAIN = """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
"""
WRITTEN = {
    "HDF5": ("file = h5py.File('kept', 'w')\n    file['a'] = x.numpy()\n    file.close()", "h5py.File('kept', 'r')"),
    "HDF5 in a block": ("with h5py.File('kept', 'w') as file:\n        file['a'] = x.numpy()", "h5py.File('kept')"),
    "an array": ("np.save('kept.npy', x.numpy())", "np.load('kept.npy')"),
    "a table": ("pd.DataFrame(x.numpy()).to_csv('kept')", "pd.read_csv('kept')"),
    "a text": ("with open('kept', 'w') as file:\n        json.dump([1], file)", "json.load(open('kept'))"),
    "lines": ("with open('kept', 'w') as file:\n        print('a', file=file)", "open('kept').read()"),
    "tensors": ("torch.save(x, 'kept')", "torch.load('kept')"),
}
CALLED = {
    "in the script": ("{}\n", "{}\n"),
    "under a choice": ("if len(x) > 3:\n    {}\n", "    {}\n"),
    "by a function": ("def main():\n    {}\n\n\nmain()\n", "    {}\n"),
}
KEPT = {
    "what it gives is used": "return x",
    "it sets something of the module": "global found\n    found = x",
    "it sets something of an object": "model.found = x",
}
GUARD = 'if int(os.environ["LOCAL_RANK"]) == 0:\n{0}    prepare()\n{0}dist.barrier()\n'


def program(write: str, read: str, calling: str, more: str = "pass") -> str:
    """A program that reads what one of its functions has written."""
    function = f"\n\ndef prepare():\n    {write}\n    {more}\n\n\n"
    return rewritten(f"{IMPORTS}{HEAD}model = nn.Linear(1, 1)\n{function}{calling}data = {read}\n{TRAIN}", "ddp")


@pytest.mark.parametrize("what", WRITTEN)
@pytest.mark.parametrize("place", CALLED)
def test_files_that_are_written_anew_are_written_once(what: str, place: str) -> None:
    write, read = WRITTEN[what]
    calling, becomes = CALLED[place]
    indent = becomes.removesuffix("{}\n")
    text = program(write, read, calling.format("prepare()"))
    assert indent + GUARD.format(indent) in text
    assert "    file = h5py" in text or write.splitlines()[0] in text


@pytest.mark.parametrize("why", KEPT)
def test_what_all_ranks_need_of_it_they_all_do(why: str) -> None:
    text = program(*WRITTEN["HDF5"], "prepare()\n", KEPT[why])
    assert GUARD.format("") not in text


def test_so_do_they_what_is_written_behind_training() -> None:
    write, read = WRITTEN["an array"]
    text = rewritten(f"{IMPORTS}{HEAD}\n\ndef prepare():\n    {write}\n\n{TRAIN}\nprepare()\ndata = {read}\n", "ddp")
    assert GUARD.format("") not in text and "if dist.get_rank() == 0:\n        np.save(" in text
