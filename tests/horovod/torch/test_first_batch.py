"""What a layer sets in itself from the batches that go through it, each rank would set to something else.

Weights are refused (HVD203), buffers are those of rank 0 behind each pass, and what no element of a batch decides is left alone.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        {made}
        self.ready = False

    def begin(self, given):
        {begin}

    def forward(self, x):
        if not self.ready:
            {sets}
            self.ready = True
        return x * self.scale


loader = DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=8, shuffle=True)
model = nn.Sequential(Layer(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
"""
MADE = {
    "a parameter": "self.scale = nn.Parameter(torch.ones(4))",
    "a registered parameter": 'self.register_parameter("scale", nn.Parameter(torch.ones(4)))',
    "a buffer": 'self.register_buffer("scale", torch.ones(4))',
}
SETS = {
    "copied": "self.scale.data.copy_(1 / x.std(0))",
    "given": "self.scale.data = 1 / x.std(0)",
    "filled": "with torch.no_grad():\n                self.scale[:] = x.std(0)",
    "multiplied": "self.scale.data.mul_(x.std(0))",
    "divided": "self.scale.data /= x.std(0)",
    "through a variable": "spread = x.std(0)\n            other = spread + 1\n            self.scale.data.copy_(other)",
    "by a method": "self.begin(x)",
}
LEFT = {
    "of its size": "self.scale.data.fill_(x.shape[0] / x.size(1))",
    "of itself": "self.scale.data.div_(self.scale.norm())",
    "zeros": "self.scale.data.copy_(torch.zeros_like(x[0]))",
}


def program(made: str, sets: str) -> str:
    """A model whose first layer sets its scale in the first pass."""
    return PROGRAM.format(made=MADE[made], sets=sets, begin="self.scale.data.copy_(1 / given.std(0))")


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("made", MADE)
def test_weights_that_a_batch_sets_are_refused_and_statistics_are_those_of_rank_zero(made: str, sets: str) -> None:
    found = outcome(program(made, SETS[sets]))
    if made == "a buffer":
        (file,) = found.files.values()
        assert "    hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)" in file.source
    else:
        assert [each.code for each in found.plan.refusals] == ["HVD203"]


@pytest.mark.parametrize("sets", LEFT)
@pytest.mark.parametrize("made", MADE)
def test_what_no_element_decides_is_left_alone(made: str, sets: str) -> None:
    found = outcome(program(made, LEFT[sets]).replace("given.std(0)", "given.shape[0]"))
    assert not found.plan.refusals
    (file,) = found.files.values()
    assert "named_buffers" not in file.source
