"""The last of a list, as many as there are batches in a pass: a rank adds fewer in each, so they are of several passes."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD
    + """
import numpy as np

number = 12
loader = DataLoader(TensorDataset(x, y), batch_size=8)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for epoch in range(3):
    {anew}
    for i, (a, b) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if (i + 1) % 4 == 0:
            print({within})
    print({told})
"""
)
WINDOWS = ["np.mean(losses[-number:])", "sum(losses[-number:]) / number", "min(losses[-number:])"]
WHOLE = ["np.mean(losses[-len(loader):])", "np.mean(losses)", "losses[-1]", "np.mean(losses[-4:])"]


def named(told: str, within: str = "i", anew: str = "pass") -> bool:
    made = outcome(PROGRAM.format(told=told, within=within, anew=anew), "ddp")
    assert made.files
    return "HVD312" in {each.code for each in made.plan.warnings}


@pytest.mark.parametrize("told", WINDOWS)
def test_what_is_of_more_than_one_pass_is_named(told: str) -> None:
    assert named(told)


@pytest.mark.parametrize("told", WHOLE)
def test_what_is_not_is_not(told: str) -> None:
    assert not named(told)


@pytest.mark.parametrize("told", WINDOWS)
def test_of_a_list_that_begins_anew_all_is_taken(told: str) -> None:
    assert not named(told, anew="losses = []")


@pytest.mark.parametrize("told", WINDOWS)
def test_what_is_told_within_a_pass_stays(told: str) -> None:
    assert not named("epoch", within=told)
