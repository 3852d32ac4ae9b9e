"""What of a program is left as it is: a mode that optimizes single tensors, and what each turn makes anew."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome, rewritten

HEAD = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=8, shuffle=True)


"""
TENSOR = """
def paint(model):
    image = torch.randn(1, 4, requires_grad=True)
    optimizer = torch.optim.Adam([image], lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        model(image).sum().backward()
        optimizer.step()
    return image


"""
TRAIN = """
def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in loader:
            {inside}
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()


"""
MODES = "if len(sys.argv) > 1:\n    paint(nn.Linear(4, 1))\nelse:\n    train(nn.Linear(4, 1))\n"
HOOKED = """
class Watched(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        {there}

    def forward(self, x):
        {anew}
        self.seen.append(x)
        return self.layer(x)


"""
MADE = {
    "by branches": "if kind == 'a':\n    model = nn.Linear(4, 1)\nelif kind == 'b':\n    model = nn.Linear(4, 1, bias=False)",
    "by a branch": "if kind:\n    model = nn.Linear(4, 1)",
    "by a loop": "for size in range(1, 2):\n    model = nn.Linear(4, size)",
    "by a try": "try:\n    model = torch.load(kind)\nexcept OSError:\n    print('none')",
    "first None": "model = None\nif kind:\n    model = nn.Linear(4, 1)",
    "at once": "model = nn.Linear(4, 1)",
}
LOOP = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
DERIVED = """
class Base(torch.optim.{base}):
    def __init__(self, params, rate):
        super().__init__(params, lr=rate)
        self.turns = 0

    def step(self, closure=None):
        self.turns += 1
        super().step()


class Warm(Base):
    pass


optimizer = {made}(model.parameters(), 0.1) if kind else torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize("base", ["Adam", "SGD", "Optimizer"])
@pytest.mark.parametrize("made", ["Base", "Warm"])
def test_an_optimizer_that_the_program_derives_is_averaged_as_one_of_the_library(base: str, made: str) -> None:
    begin = f"kind = sys.argv[1:]\n{MADE['at once']}\n{DERIVED.format(base=base, made=made)}"
    source = rewritten(HEAD + begin + LOOP.partition("\n")[2].partition("\n")[2])
    assert "grouped_allreduce_" in source and "DistributedOptimizer" not in source


def test_a_mode_that_optimizes_single_tensors_is_left() -> None:
    source = rewritten(HEAD + TENSOR + TRAIN.format(inside="pass") + MODES)
    before, _, after = source.partition("def train(")
    assert TENSOR.strip() in before
    assert "broadcast_parameters(model" in after and "DistributedOptimizer" in after


@pytest.mark.parametrize(
    "text",
    [TENSOR + "paint(nn.Linear(4, 1))\n", TENSOR + TRAIN.format(inside="paint(model)") + "train(nn.Linear(4, 1))\n"],
)
def test_what_only_optimizes_those_and_what_does_so_in_each_turn_is_refused(text: str) -> None:
    assert [each.code for each in outcome(HEAD + text).plan.refusals] == ["HVD213"]


@pytest.mark.parametrize(("there", "anew"), [("pass", "self.seen = []"), ("self.seen = []", "self.seen = list()")])
def test_what_each_turn_makes_anew_is_not_gathered(there: str, anew: str) -> None:
    text = HEAD + HOOKED.format(there=there, anew=anew) + TRAIN.format(inside="pass")
    source = rewritten(text + "model = Watched()\ntrain(model)\nprint(len(model.seen))\n")
    assert "from_all_ranks" not in source and "kept_before" not in source


@pytest.mark.parametrize("made", MADE)
def test_weights_are_broadcast_before_training_however_the_model_is_made(made: str) -> None:
    source = rewritten(HEAD + "kind = sys.argv[1]\n" + MADE[made] + LOOP)
    assert source.index("broadcast_parameters(model") < source.index("for epoch in")


ASKED = """
def load(path, model, optimizer=None, schedule=None):
    kept = torch.load(path)
    model.load_state_dict(kept["model"])
    {asked}
        optimizer.load_state_dict(kept["optimizer"])


def main(path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    load(path, model, optimizer, schedule)
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        schedule.step()


main(sys.argv[1])
"""


@pytest.mark.parametrize(
    "asked",
    [
        "if optimizer:",
        "if optimizer is not None:",
        "if optimizer and schedule:",
        "if not (schedule is None) and optimizer:",
    ],
)
def test_whether_there_is_an_optimizer_is_known_to_all_ranks(asked: str) -> None:
    assert f"    {asked}\n" in rewritten(HEAD + ASKED.format(asked=asked), "ddp")


UNREAD = """
def run(model, optimizer):
    total, found = 0.0, []
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        found.append(loss.item())
    {behind}


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    {call}
"""
READ = {
    "nothing": ("pass", "run(model, optimizer)", 0),
    "what nothing reads": ("mean = total / len(loader)\n    most = max(found)", "run(model, optimizer)", 0),
    "what is given back, and dropped": ("return total / len(loader), found", "run(model, optimizer)", 0),
    "what is given back": ("return total / len(loader)", "print(run(model, optimizer))", 1),
    "what is told": ("mean = total / len(loader)\n    print(mean)", "run(model, optimizer)", 1),
    "what is told later": (
        "mean = total / len(loader)\n    best = mean / 2\n    print(best)",
        "run(model, optimizer)",
        1,
    ),
}


@pytest.mark.parametrize("what", READ)
def test_what_nothing_reads_is_not_averaged(what: str) -> None:
    behind, call, means = READ[what]
    source = rewritten(HEAD + UNREAD.format(behind=behind, call=call), "ddp")
    assert source.count(" = mean_of_ranks(") == means
