"""A loader of which a training loop only shows samples now and then stays whole, also where its batches have the same names."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten

PROGRAM = (
    HEAD
    + """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
held = DataLoader(TensorDataset(x + 1, y))
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches, others = iter(loader), iter(held)


def test():
    for number, (a, b) in enumerate(held):
        torch.save(model(a), f"{{number}}.pt")


for step in range(100):
    try:
        a, b = next(batches)
    except StopIteration:
        batches = iter(loader)
        a, b = next(batches)
    optimizer.zero_grad()
    out = model(a)
    loss = nn.functional.mse_loss(out, b)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        shown = []
        for _ in range(3):
            {draw}
            {turn}
        {behind}
test()
"""
)
WHOLE = "held = DataLoader(TensorDataset(x + 1, y))\n"
SHOWN = [
    ("a, b = next(others)", "out = model(a)\n            shown.append(out)", "torch.save(shown, 'shown.pt')"),
    ("a, b = next(others)", "loss = nn.functional.mse_loss(model(a), b)\n            print(loss.item())", "pass"),
    ("c, d = next(others)", "torch.save(model(c), 'shown.pt')", "pass"),
]
TRAINED = [
    ("c, d = next(others)", "loss = nn.functional.mse_loss(model(c), d)", "loss.backward()\n        optimizer.step()"),
    ("c, d = next(others)", "nn.functional.mse_loss(model(c), d).backward()", "optimizer.step()"),
]


@pytest.mark.parametrize(("draw", "turn", "behind"), SHOWN)
def test_what_is_only_shown_is_whole(draw: str, turn: str, behind: str) -> None:
    assert WHOLE in rewritten(PROGRAM.format(draw=draw, turn=turn, behind=behind), "ddp")


@pytest.mark.parametrize(("draw", "turn", "behind"), TRAINED)
def test_what_is_trained_on_is_divided(draw: str, turn: str, behind: str) -> None:
    assert WHOLE not in rewritten(PROGRAM.format(draw=draw, turn=turn, behind=behind), "ddp")


JUDGED = """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
held = DataLoader(TensorDataset(x + 1, y))
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
others = iter(held)


{mark}def judge():
    global others
    try:
        a, b = next(others)
    except StopIteration:
        others = iter(held)
        a, b = next(others)
    {body}


for epoch in range(2):
    for i, (a, b) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        if i % 4 == 0:
            judge()
"""
LOSS = "nn.functional.mse_loss(model(a), b)"
WITHOUT = {
    "in a block": ("", f"with torch.no_grad():\n        print({LOSS}.item())"),
    "in a function": ("@torch.no_grad()\n", f"print({LOSS}.item())"),
    "without inference": ("@torch.inference_mode()\n", f"loss = {LOSS}\n    print(loss.item())"),
}


@pytest.mark.parametrize(("mark", "body"), WITHOUT.values(), ids=WITHOUT)
def test_what_a_function_draws_and_computes_without_gradients_is_whole(mark: str, body: str) -> None:
    assert WHOLE in rewritten(HEAD + JUDGED.format(mark=mark, body=body), "ddp")
