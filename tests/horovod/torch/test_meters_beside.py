"""Meters in a file of their own are the program's, though the file names no framework: what they tell is of all the data."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten_files

METERS = {
    "a sum and a mean": "        self.total += value * n\n        self.count += n\n        self.mean = self.total / self.count\n",
    "a sum": "        self.total += value\n        self.count += 1\n",
    "a list": "        self.values.append(value)\n",
    "a list that is extended": "        self.values.extend([value] * n)\n",
}
TOLD = {
    "a sum and a mean": "meter.mean",
    "a sum": "meter.total / meter.count",
    "a list": "sum(meter.values) / len(meter.values)",
    "a list that is extended": "sum(meter.values) / len(meter.values)",
}
METER = """class Meter:
    def __init__(self):
        self.total = self.count = self.mean = 0
        self.values = []

    def update(self, value, n=1):
{update}"""
TRAIN = """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    meter = Meter()
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), len(a))
    print({told})
"""


@pytest.mark.parametrize("kind", METERS)
def test_what_a_meter_tells_is_of_all_the_data(kind: str) -> None:
    head = HEAD.replace("import torch\n", "import torch\nfrom meters import Meter\n", 1)
    files = {"meters.py": METER.format(update=METERS[kind]), "train.py": head + TRAIN.format(told=TOLD[kind])}
    (text,) = rewritten_files(files).values()
    behind = text[text.index("meter.update(") :]
    assert "    meter." in behind and ("mean_of_" in behind or "from_all_ranks(" in behind)
