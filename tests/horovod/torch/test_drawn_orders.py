"""Optimizers that are chosen by name, and loops that go through an order of samples which each rank draws for itself."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD.replace("import torch\n", "import argparse\nimport random\nimport numpy as np\nimport torch\n", 1)
    + """
parser = argparse.ArgumentParser()
parser.add_argument("--optim", default="SGD")
parser.add_argument("--turns", type=int, default=4)
args = parser.parse_args()
rows = [(one, other) for one, other in zip(x, y)]
model = nn.Linear(4, 1)
optimizer = {made}(model.parameters(), lr=0.1)


def train():
    total, begin = 0.0, 0
    {order}
    for turn in range(args.turns):
        picked = [rows[i] for i in order[begin : begin + 8]]
        begin += 8
        optimizer.zero_grad()
        loss = sum(nn.functional.mse_loss(model(a), b) for a, b in picked)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total / {count})


for epoch in range(3):
    train()
"""
)
MADE = {
    "a class": "torch.optim.SGD",
    "a name that is given": "getattr(torch.optim, args.optim)",
    "an entry": "torch.optim.__dict__[args.optim]",
}
ORDERS = {
    "NumPy": "order = np.random.permutation(len(rows))",
    "Python": "order = random.sample(range(len(rows)), len(rows))",
    "PyTorch": "order = torch.randperm(len(rows)).tolist()",
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("order", ORDERS)
def test_the_turns_of_a_drawn_order_are_divided_or_named(made: str, order: str) -> None:
    for count, warned in (("args.turns", False), ("(args.turns * 8)", True)):
        found = outcome(PROGRAM.format(made=MADE[made], order=ORDERS[order], count=count), "ddp")
        assert not found.plan.refusals
        assert [each.code for each in found.plan.warnings] == ["HVD303"] * warned
        (file,) = found.files.values()
        assert "lr=0.1 * dist.get_world_size()" in file.source
        assert ("range(args.turns // dist.get_world_size())" in file.source) is not warned
        assert ("total / (args.turns // dist.get_world_size())" in file.source) is not warned
        assert "    total = mean_of_ranks(total)\n" in file.source
