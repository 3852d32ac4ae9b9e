"""Files that all ranks look for and write where they are missing: one process writes them, or HVD307 says so."""

from __future__ import annotations

import re

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    "import os\nimport numpy as np\nimport soundfile\nimport torchaudio\nfrom pathlib import Path\n"
    + HEAD
    + """
{made}
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in DataLoader(TensorDataset(x, y), batch_size=16):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()
"""
)
WRITES = {
    "sound": "soundfile.write({path}, x.numpy(), 16000)",
    "torchaudio": "torchaudio.save({path}, x, 16000)",
    "arrays": "np.save({path}, x.numpy())",
    "tensors": "torch.save(x, {path})",
    "text": "with open({path}, 'w') as file:\n    file.write('a')",
    "Path": "Path({path}).write_text('a')",
}
PLACES = {
    "a question": "if not os.path.exists('a'):\n    {write}",
    "a question for each": "for name in ['a', 'b', 'c', 'd']:\n    if not os.path.isfile(name):\n        {write}",
    "what is there is left out": "for name in os.listdir('.'):\n    if os.path.exists(name + '.x'):\n"
    "        continue\n    {write}",
    "a function": "def put(name):\n    {write}\n\n\nif not os.path.exists('a'):\n    put('a')",
    "a class": "class Maker:\n    def __init__(self, name):\n        self.name = name\n\n    def make(self):\n"
    "        if not os.path.exists(self.name):\n            {write}\n\n\nMaker('a').make()",
}
PATHS = {
    "a question": "'a'",
    "a question for each": "name",
    "what is there is left out": "name + '.x'",
    "a function": "name",
    "a class": "self.name",
}


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WRITES)
def test_one_process_makes_what_is_missing_or_it_is_said(way: str, place: str, backend: str) -> None:
    write = WRITES[way].format(path=PATHS[place])
    line = next(each for each in PLACES[place].splitlines() if "{write}" in each)
    write = write.replace("\n", "\n" + " " * (len(line) - len(line.lstrip())))
    made = outcome(PROGRAM.format(made=PLACES[place].format(write=write)), backend)  # type: ignore[arg-type]
    (file,) = made.files.values()
    assert by_one(file.source) != ("HVD307" in {each.code for each in made.plan.warnings})


def by_one(text: str) -> bool:
    """Whether one process writes, alone or before the others."""
    _, _, behind = text.partition("torch.manual_seed(3)")
    return re.search(r"(rank\(\)|LOCAL_RANK\"\]\)) [!=]= 0|get_rank\(\) == 0 else os\.devnull", behind) is not None


NONE = {
    "a folder": "if not os.path.exists('a'):\n    os.makedirs('a')",
    "what is not looked for": "np.save('a', x.numpy())",
    "another file": "if os.path.exists('b'):\n    np.save('a', x.numpy())",
    "a folder of its own": "import tempfile\nplace = tempfile.mkdtemp()\nif not os.path.exists(place + '/a'):\n"
    "    np.save(place + '/a', x.numpy())",
}


@pytest.mark.parametrize("name", NONE)
def test_what_does_no_harm_is_not_said(name: str) -> None:
    assert "HVD307" not in {each.code for each in outcome(PROGRAM.format(made=NONE[name]), "ddp").plan.warnings}
