"""Meters in a file of their own are the program's, though the file names no framework: what they tell is of all the data."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten, rewritten_files

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


METER_IN_PLACE = """
class Meter:
    def __init__(self):
        self.total = self.count = self.mean = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n
        self.mean = self.total / self.count


"""
TEXTS = {
    "format": 'text = "{meter.mean:.3f}".format(meter=meter)',
    "format by place": 'text = "{0.mean:.3f}".format(meter)',
    "a text that is put together": 'text = "loss " + "{0.mean:.3f}".format(meter)',
    "an f-string": 'text = f"{meter.mean:.3f}"',
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_meter_that_a_text_is_made_of_is_told(text: str) -> None:
    told = f"if i % 4 == 0:\n            {TEXTS[text]}\n            print(text)"
    train = TRAIN.replace("for a, b in loader", "for i, (a, b) in enumerate(loader)").format(told="0")
    source = (
        HEAD
        + METER_IN_PLACE
        + train.replace("meter.update(loss.item(), len(a))", "meter.update(loss.item(), len(a))\n        " + told)
    )
    assert "            meter.mean = mean_of_ranks(meter.mean)\n            text =" in rewritten(source, "ddp")


ADDED = {
    "to itself": "total = total + wrong",
    "to itself, behind": "total = wrong + total",
    "in place": "total += wrong",
    "of a tensor": "total = total + wrong.detach()",
}


@pytest.mark.parametrize("added", ADDED)
def test_what_is_added_to_a_sum_is_a_number_however_that_is_written(added: str) -> None:
    train = TRAIN.format(told="total / len(loader)").replace("    meter = Meter()", "    total = 0")
    wrong = f"wrong = torch.mean((model(a) > b).float())\n        {ADDED[added]}"
    source = HEAD + train.replace("meter.update(loss.item(), len(a))", wrong)
    assert "    total = mean_of_ranks(total)" in rewritten(source, "ddp")
