"""An exception that is caught around steps is one rank's: that the others would block is said."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

from distml.rewrites.horovod.options import Backend

PROGRAM = (
    HEAD
    + """
import sys

loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(a, b):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()


for epoch in range(2):
    for a, b in loader:
        try:
            {body}
        except {caught}:
            {handled}
"""
)
GOES_ON = {
    "passes": ("step(a, b)", "RuntimeError", "pass"),
    "goes on to the next": ("step(a, b)", "Exception", "continue"),
    "tells": ("step(a, b)", "(ValueError, RuntimeError) as error", "print(error)"),
    "raises some": (
        "step(a, b)",
        "RuntimeError as error",
        "if 'memory' in str(error):\n                pass\n            else:\n                raise",
    ),
    "of a library": ("step(a, b)", "torch.cuda.OutOfMemoryError", "torch.cuda.empty_cache()"),
}
ENDS = {
    "raises": ("step(a, b)", "RuntimeError", "print(epoch)\n            raise"),
    "exits": ("step(a, b)", "Exception", "sys.exit(1)"),
    "is stopped": ("step(a, b)", "KeyboardInterrupt", "break"),
    "is no step": ("a = a.clone()", "RuntimeError", "pass\n        step(a, b)"),
}


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
@pytest.mark.parametrize("way", [*GOES_ON, *ENDS])
def test_what_one_rank_catches_is_named(way: str, backend: Backend) -> None:
    body, caught, handled = (GOES_ON | ENDS)[way]
    found = outcome(PROGRAM.format(body=body, caught=caught, handled=handled), backend)
    assert not found.plan.refusals
    assert [each.code for each in found.plan.warnings] == ["HVD303"] * (way in GOES_ON)


WHOLE = (
    PROGRAM[: PROGRAM.index("for epoch")]
    + """
def train(rate=1):
    for epoch in range(2):
        for a, b in loader:
            step(a, b)


try:
    train()
except {caught}:
    {handled}
"""
)
AROUND = {
    "begins again": ("RuntimeError", "train(2)"),
    "tells": ("Exception as error", "print(error)"),
    "passes": ("(OSError, RuntimeError)", "pass"),
    "of a library": ("torch.cuda.OutOfMemoryError", "torch.cuda.empty_cache()\n    train(2)"),
}
LEFT = {"raises": ("RuntimeError", "print(x)\n    raise"), "is stopped": ("KeyboardInterrupt", "print('stopped')")}


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
@pytest.mark.parametrize("way", [*AROUND, *LEFT])
def test_so_is_what_one_rank_catches_around_all_of_training(way: str, backend: Backend) -> None:
    caught, handled = (AROUND | LEFT)[way]
    found = outcome(WHOLE.format(caught=caught, handled=handled), backend)
    told = ["a rank that catches an exception here leaves training: the other ranks block"] * (way in AROUND)
    assert [each.message for each in found.plan.warnings] == told and not found.plan.refusals
