"""What is changed by a gradient is a weight, but for inputs that ask for gradients; what steps beside an optimizer is none."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD
    + """from torch.autograd import Variable
import json

settings = json.load(open("settings.json"))


def made(module, name, *given):
    return getattr(module, settings[name]["type"])(*given, **settings[name]["args"])


def attack(model, image):
    {begin}
    nn.functional.mse_loss(model(inputs), image[:, :1]).backward()
    {change}
    return inputs.detach()


loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = {optimizer}
schedule = {schedule}
for epoch in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(attack(model, a)), b).backward()
        optimizer.step()
    schedule.step()
"""
)
SGD = "torch.optim.SGD(model.parameters(), lr=0.1)"
STEP = "torch.optim.lr_scheduler.StepLR(optimizer, 2)"
INPUTS = [
    ("inputs = Variable(image, requires_grad=True)", "difference = 0\n    difference += inputs.grad.sign()"),
    ("inputs = Variable(image.clone(), requires_grad=True)", "inputs = inputs - 0.1 * inputs.grad"),
    ("inputs = Variable(image.data, requires_grad=True)", "inputs.data.add_(0.1 * inputs.grad.sign())"),
]
WEIGHTS = [
    ("inputs = Variable(torch.randn(8, 4), requires_grad=True)", "inputs.data -= 0.1 * inputs.grad"),
    ("first = torch.zeros(8, 4)\n    inputs = Variable(first, requires_grad=True)", "inputs.data -= 0.1 * inputs.grad"),
    ("inputs = torch.randn(8, 4, requires_grad=True)", "inputs.data.sub_(0.1 * inputs.grad)"),
]


def codes(begin: str = "inputs = image", change: str = "pass", optimizer: str = SGD, schedule: str = STEP) -> list[str]:
    plan = outcome(PROGRAM.format(begin=begin, change=change, optimizer=optimizer, schedule=schedule), "ddp").plan
    return [each.code for each in plan.refusals]


@pytest.mark.parametrize(("begin", "change"), INPUTS)
def test_inputs_may_be_changed_by_their_gradients(begin: str, change: str) -> None:
    assert codes(begin, change) == []


@pytest.mark.parametrize(("begin", "change"), WEIGHTS)
def test_weights_may_not(begin: str, change: str) -> None:
    assert codes(begin, change) == ["HVD203"]


def test_a_schedule_from_the_same_call_as_its_optimizer_is_none() -> None:
    text = PROGRAM.format(
        begin="inputs = image",
        change="pass",
        optimizer='made(torch.optim, "optimizer", model.parameters())',
        schedule='made(torch.optim.lr_scheduler, "schedule", optimizer)',
    )
    (file,) = outcome(text, "ddp").files.values()
    assert "average_gradients(schedule)" not in file.source and "average_gradients(optimizer)" in file.source


CLIPPING = """
class Clipped:
    def __init__(self, params, most):
        self.params, self.most = list(params), most
        self.optimizer = torch.optim.SGD(self.params, lr=0.1)

    def step(self):
        {measure}
        for p in self.params:
            if norm > self.most:
                p.grad.data.mul_(self.most / norm)
        self.optimizer.step()
        return norm


model = nn.Linear(4, 1)
clipped = Clipped(model.parameters(), 1.0)
for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
    model.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    clipped.step()
"""
MEASURES = {
    "a power": "norm = 0\n        for p in self.params:\n"
    "            norm += math.pow(p.grad.data.norm(), 2)\n        norm = norm**0.5",
    "an item": "norm = 0.0\n        for p in self.params:\n            norm += p.grad.norm(2).item() ** 2",
    "a sum": "norm = 0.0\n        for p in self.params:\n            norm = norm + (p.grad**2).sum()",
    "a number": "norm = 0.0\n        for p in self.params:\n            norm += float(torch.norm(p.grad))",
    "the largest": "norm = max(p.grad.abs().max() for p in self.params)",
    "how many": "norm = 0\n        for p in self.params:\n            norm += p.grad.numel()",
}


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
@pytest.mark.parametrize("way", MEASURES)
def test_gradients_are_clipped_by_hand_when_they_are_of_all_ranks(way: str, backend: str) -> None:
    text = HEAD.replace("import torch\n", "import math\nimport torch\n", 1) + CLIPPING.format(measure=MEASURES[way])
    found = outcome(text, backend)  # type: ignore[arg-type]
    assert not found.plan.refusals
    (file,) = found.files.values()
    begin = file.source.index("def step(self)")
    averaged = max(file.source.find(each, begin) for each in ("average_gradients(", "grouped_allreduce_("))
    assert 0 < averaged < file.source.index("for p in self.params", begin)
