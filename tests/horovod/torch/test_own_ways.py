"""What each rank does in its own way is not made one decision, and what may be left out is not relied on."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome, rewritten

from distml.rewrites.horovod.options import Backend

PLAYED = """
import torch
from torch import nn
from game import Game

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
game = Game()
state, memory = game.reset(), []
for i in range(1000):
    reward, following, over = game.play(model(state).argmax().item())
    memory.append((state, reward))
{decided}
    loss = nn.functional.mse_loss(model(torch.stack([each for each, _ in memory])).max(1).values, torch.ones(len(memory)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OWN = {
    "goes on, or begins anew": ("over", "state = game.reset()", "state = following\n        continue"),
    "the other way round": ("not over", "state = following\n        continue", "state = game.reset()"),
    "behind a comparison": ("reward < 0", "state = game.reset()", "state = following\n        continue"),
}
OF_ALL = {
    "skips a step": "    state = following\n    if over:\n        continue",
    "counts what it skips": (
        "    state, skipped = following, 0\n    if over:\n        skipped += 1\n        continue\n    else:\n        print(i)"
    ),
}


@pytest.mark.parametrize("decided", OWN)
def test_branches_from_which_each_rank_goes_on_in_its_own_way_are_refused(decided: str) -> None:
    test, one, other = OWN[decided]
    branches = f"    if {test}:\n        {one}\n    else:\n        {other}"
    (refusal,) = outcome(PLAYED.replace("{decided}", branches)).plan.refusals
    assert refusal.code == "HVD214"


@pytest.mark.parametrize("decided", OF_ALL)
def test_what_all_may_leave_is_agreed_on(decided: str) -> None:
    assert not outcome(PLAYED.replace("{decided}", OF_ALL[decided])).plan.refusals


LEFT_OUT = """
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--train", action="store_true")


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)
        self.base = torch.distributions.Normal(0, 1)

    def forward(self, x):
        return self.net(x)


def draw(model):
    return model.base.sample((3,)).sum().item()


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    print(draw(model))


def run(args):
    model = Flow()
    loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
{trained}
    {shown}


run(parser.parse_args())
"""
MADE = "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
EPOCHS = MADE + "{0}for epoch in range(3):\n{0}    train(model, loader, optimizer)"
TRAINED = {
    "if asked for": ("    if args.train:\n        " + EPOCHS.format("        "), False),
    "if not left": ("    if not args.train:\n        return\n    " + EPOCHS.format("    "), True),
    "else left": (
        "    if args.train:\n        " + EPOCHS.format("        ") + "\n    else:\n        return",
        True,
    ),
    "always": ("    " + EPOCHS.format("    "), True),
}
SHOWN = ("print(draw(model))", "torch.save(model.state_dict(), 'm.pt')", "print(model.base)")


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("trained", TRAINED)
@pytest.mark.parametrize("backend", ["ddp", "accelerate"])
def test_the_model_inside_is_asked_for_only_where_there_is_a_wrapper(
    trained: str, shown: str, backend: Backend
) -> None:
    code, sure = TRAINED[trained]
    text = rewritten(LEFT_OUT.replace("{trained}", code).replace("{shown}", shown), backend)
    wraps = "DistributedDataParallel(model" in text or "accelerator.prepare(model" in text
    assert wraps == sure
