"""A file that the program reads at the beginning, and all ranks write anew at the end: one rank does, or HVD306 says so."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    "import json\nimport os\nimport pickle\nfrom pathlib import Path\n"
    + HEAD
    + """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train():
    for a, b in DataLoader(TensorDataset(x, y), batch_size=16):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()


found = []
if os.path.exists("found"):
{reads}
train()
found.append(len(x))
{writes}
"""
)
READS = {
    "opened": "    file = open('found', 'rb')\n    found = pickle.load(file)\n    file.close()",
    "in a block": "    with open('found') as file:\n        found = json.load(file)",
    "loaded": "    found = torch.load('found')",
}
WRITES = {
    "opened": "file = open('found', 'wb')\npickle.dump(found, file)\nfile.close()",
    "in a block": "with open('found', 'w') as file:\n    json.dump(found, file)",
    "in a block that computes": "with open('found', 'w') as file:\n    found = sorted(found)\n"
    "    json.dump(found, file)\nprint(found)",
    "saved": "torch.save(found, 'found')",
    "a path": "Path('found').write_text(str(found))",
    "in a function": "def put(path):\n    file = open(path, 'wb')\n    pickle.dump(found, file)\n\n\nput('found')",
}
GUARD = "if dist.get_rank() == 0:\n    "


@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("writes", WRITES)
def test_one_rank_writes_or_it_is_said(writes: str, reads: str) -> None:
    made = outcome(PROGRAM.format(reads=READS[reads], writes=WRITES[writes]), "ddp")
    (file,) = made.files.values()
    behind = file.source.partition("found.append")[2]
    opens = next(
        line for line in behind.splitlines() if any(word in line for word in ("open(", "save(", "write_text("))
    )
    alone = f"{GUARD}{opens.strip()}" in behind or "devnull" in opens
    assert alone != ("HVD306" in {each.code for each in made.plan.warnings})
