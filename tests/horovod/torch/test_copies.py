"""Copies of weights that are made before training are the same on all ranks, however they are made and wherever they are kept."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

HEAD = """\
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.arange(64.0).reshape(16, 4) / 64, torch.zeros(16, 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, given):
        return self.two(torch.tanh(self.one(given)))

{above}

def main():
    loader = DataLoader(TensorDataset(x, y), batch_size=4)
    model = {made}
    {ahead}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    {behind}
    for epoch in range(2):
        for a, b in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(a), b).backward()
            optimizer.step()
            {turn}
    return {given}


if __name__ == "__main__":
    found = main()
"""
AVERAGE = """
class Average:
    def __init__(self, model):
        {kept}

    def update(self, model):
        with torch.no_grad():
            {moved}
"""
BY_NAME = AVERAGE.format(
    kept="self.kept = {k: v.clone().detach() for k, v in model.state_dict().items()}",
    moved="for k, v in model.state_dict().items():\n                self.kept[k].mul_(0.5).add_(v, alpha=0.5)",
)
REGISTERED = """
class Average:
    def __init__(self):
        self.kept = {}

    def register(self, name, value):
        self.kept[name] = value.clone()

    def __call__(self, name, value):
        self.kept[name] = 0.5 * self.kept[name] + 0.5 * value.detach()
"""
SYNC = """
def sync(target, source, tau=1.0):
    for one, other in zip(target.parameters(), source.parameters()):
        one.data.copy_(tau * other.data + (1 - tau) * one.data)
"""
STATE = "list({}.state_dict().values())"
WAYS = {
    "a deep copy": {"ahead": "target = copy.deepcopy(model)", "given": STATE.format("target")},
    "a deep copy behind the optimizer": {"behind": "target = copy.deepcopy(model)", "given": STATE.format("target")},
    "of a stack of layers": {
        "made": "nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))",
        "behind": "target = copy.deepcopy(model).eval()",
        "given": STATE.format("target"),
    },
    "a deep copy of the state": {
        "behind": "first = copy.deepcopy(model.state_dict())",
        "given": "list(first.values())",
    },
    "another model that is given the state": {
        "ahead": "target = Net()\n    target.load_state_dict(model.state_dict())",
        "given": STATE.format("target"),
    },
    "the state by a name": {
        "ahead": "target, state = Net(), model.state_dict()\n    target.load_state_dict(state)",
        "given": STATE.format("target"),
    },
    "copied one by one": {
        "behind": "target = Net()\n    for a, b in zip(target.parameters(), model.parameters()):\n        a.data.copy_(b.data)",
        "given": STATE.format("target"),
    },
    "by a function": {
        "above": SYNC,
        "behind": "target = Net()\n    sync(target, model)",
        "turn": "sync(target, model, 0.1)",
        "given": STATE.format("target"),
    },
    "a target that begins elsewhere": {
        "above": SYNC,
        "behind": "target = Net()",
        "turn": "sync(target, model, 0.1)",
        "given": STATE.format("target"),
    },
    "clones in a dict": {
        "behind": "first = {n: p.detach().clone() for n, p in model.named_parameters()}",
        "given": "list(first.values())",
    },
    "clones in a list": {"behind": "first = [p.data.clone() for p in model.parameters()]", "given": "first"},
    "clones that are collected": {
        "behind": "first = []\n    for p in model.parameters():\n        first.append(p.detach().clone())",
        "given": "first",
    },
    "all in one vector": {
        "behind": "first = nn.utils.parameters_to_vector(model.parameters()).detach().clone()",
        "given": "[first]",
    },
    "joined": {"behind": "first = torch.cat([p.detach().flatten() for p in model.parameters()])", "given": "[first]"},
    "one weight": {"behind": "first = model.one.weight.detach().clone()", "given": "[first]"},
    "an average by name": {
        "above": BY_NAME,
        "behind": "average = Average(model)",
        "turn": "average.update(model)",
        "given": "list(average.kept.values())",
    },
    "an average of a copy": {
        "above": AVERAGE.format(
            kept="self.kept = copy.deepcopy(model)",
            moved="for a, b in zip(self.kept.parameters(), model.parameters()):\n                a.lerp_(b, 0.5)",
        ),
        "behind": "average = Average(model)",
        "turn": "average.update(model)",
        "given": STATE.format("average.kept"),
    },
    "an average that is given each weight": {
        "above": REGISTERED,
        "behind": "average = Average()\n    for n, p in model.named_parameters():\n        average.register(n, p.data)",
        "turn": "for n, p in model.named_parameters():\n                average(n, p)",
        "given": "list(average.kept.values())",
    },
    "PyTorch's own average": {
        "behind": "average = torch.optim.swa_utils.AveragedModel(model)",
        "turn": "average.update_parameters(model)",
        "given": STATE.format("average.module"),
    },
    "the parameters of a layer": {
        "ahead": "first = [p.data.clone() for p in model.two.parameters()]",
        "given": "first",
    },
    "what the model gives": {
        "ahead": "with torch.no_grad():\n        first = model(x)",
        "given": "[first]",
    },
    "two that are made apart": {"ahead": "frozen = Net().eval()", "turn": "frozen(a)", "given": STATE.format("frozen")},
    "a frozen one in the loss": {
        "ahead": "frozen = Net()",
        "turn": "difference = (frozen(x) - model(x)).detach()",
        "given": "[difference]",
    },
    "in a class": {
        "above": "\nclass Agent:\n    def __init__(self, model):\n        self.net = model\n"
        "        self.target = type(model)()\n        self.target.load_state_dict(self.net.state_dict())\n",
        "ahead": "agent = Agent(model)",
        "given": STATE.format("agent.target"),
    },
}
PLAIN = {"above": "", "made": "Net()", "ahead": "pass", "behind": "pass", "turn": "pass"}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """The copies that each of two ranks has in the end."""
    texts = {}
    for name, way in WAYS.items():
        program = HEAD
        for key, text in {**PLAIN, **way}.items():
            program = program.replace(f"{{{key}}}", text)
        found = outcome(program, "ddp")
        assert not (found.plan.refusals or found.plan.warnings), name
        (file,) = found.files.values()
        begun = "import torch\ntorch.manual_seed(torch.distributed.get_rank())\n"
        texts[name] = f"{begun}{file.source}\nprint([round(float(v), 6) for t in found for v in t.flatten()])\n"
    return said_by_two(texts, tmp_path_factory.mktemp("copies"))


@pytest.mark.parametrize("name", WAYS)
def test_copies_are_the_same_on_all_ranks(name: str, said: dict[str, tuple[str, str]]) -> None:
    one, other = said[name]
    assert one == other
    assert len(one) > 10


MOVED = ["model.cuda()", "model = model.to('cpu')", "model.apply(print)", "model.train().float()", "pass"]


@pytest.mark.parametrize("ahead", MOVED)
def test_a_model_that_is_moved_or_initialized_needs_no_seed(ahead: str) -> None:
    """It is sent to all ranks, and no copy of it is kept."""
    program = HEAD
    for key, text in {**PLAIN, "ahead": ahead, "given": "1"}.items():
        program = program.replace(f"{{{key}}}", text)
    (file,) = outcome(program, "ddp").files.values()
    assert "manual_seed" not in file.source


LOADED = {
    "from a file": ("frozen = Net()\n    frozen.load_state_dict(torch.load('net.pt'))", False),
    "from a checkpoint": (
        "state = torch.load('net.pt')\n    frozen = Net()\n    frozen.load_state_dict(state['net'])",
        False,
    ),
    "some of it": ("frozen = Net()\n    frozen.load_state_dict(torch.load('net.pt'), strict=False)", True),
    "what is drawn": ("frozen = Net()\n    frozen.load_state_dict({'one': torch.randn(4)})", True),
    "another": ("frozen, other = Net(), Net()\n    other.load_state_dict(torch.load('net.pt'))", True),
}


@pytest.mark.parametrize("way", LOADED)
def test_a_model_that_a_file_fills_needs_no_seed(way: str) -> None:
    """All ranks read the same."""
    ahead, seeded = LOADED[way]
    program = HEAD
    for key, text in {**PLAIN, "ahead": ahead, "turn": "frozen(a)", "given": "1"}.items():
        program = program.replace(f"{{{key}}}", text)
    (file,) = outcome(program, "ddp").files.values()
    assert ("manual_seed" in file.source) is seeded
