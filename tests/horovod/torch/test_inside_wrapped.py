"""What is inside a wrapped model is the model: what its methods do is followed."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)
{more}
    def save(self, path):
        torch.save(self.state_dict(), path)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(torch.ones(8, 4)):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
model.save("model.pt")
"""
LEFT = """
    def backward(self, x):
        optimizer.zero_grad()
        loss = self.forward(x).mean()
        loss.backward()
        optimizer.step()
"""


def test_a_method_of_it_writes_on_rank_0() -> None:
    found = outcome(PROGRAM.format(more=""), "ddp")
    (file,) = found.files.values()
    assert "model.module.save(" in file.source and not found.plan.warnings


@pytest.mark.parametrize("name", ["backward", "learn"])
def test_a_step_in_a_method_that_nobody_calls_is_none(name: str) -> None:
    """Its data is not looked for, though it may be called as what computes gradients is."""
    assert not outcome(PROGRAM.format(more=LEFT.replace("backward(self", f"{name}(self")), "ddp").plan.warnings
