"""What stops training on one rank stops it on all, however the number that decides is handed to what decides by it."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten

STOPPER = """

class Stopper:
    def __init__(self):
        self.stop, self.best = False, 9.0

    def on_epoch_end(self, epoch, logs):
        if logs["loss"] > self.best:
            self.stop = True
        self.best = logs["loss"]

    def on_loss(self, loss=0.0):
        self.stop = loss > 1.0


stopper = Stopper()
handlers = {"end": [stopper.on_epoch_end]}


def fire(name, *given, **named):
    for each in [stopper]:
        getattr(each, name)(*given, **named)


def event(when, *given):
    getattr(stopper, f"on_{when}_end")(*given)


def hook(when, *given):
    method = getattr(stopper, "on_" + when + "_end", None)
    if method is not None:
        method(*given)


def call(function, *given, **named):
    return function(*given, **named)


def settings(**named):
    stopper.on_loss(**named)

"""
WAYS = {
    "by name": "stopper.on_epoch_end(epoch, logs)",
    "by a name that is given": "fire('on_epoch_end', epoch, logs)",
    "by a keyword": "fire('on_loss', loss=logs['loss'])",
    "by a computed name": "event('epoch', epoch, logs)",
    "by a joined name": "hook('epoch', epoch, logs)",
    "by a function that is given": "call(stopper.on_epoch_end, epoch, logs)",
    "by a list": "stopper.on_epoch_end(*[epoch, logs])",
    "by a dict": "stopper.on_loss(**logs)",
    "by two": "settings(**logs)",
    "by a table": "for each in handlers['end']:\n        each(epoch, logs)",
    "by a lambda": "(lambda *given: stopper.on_epoch_end(*given))(epoch, logs)",
    "by a keyword of another": "call(stopper.on_loss, loss=logs['loss'])",
}
BODY = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(9):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        loss = nn.functional.mse_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    logs = {{"loss": loss.item()}}
    {way}
    if stopper.stop:
        break
"""


@pytest.mark.parametrize("way", WAYS)
def test_all_ranks_stop(way: str) -> None:
    assert "if any_rank(stopper.stop):" in rewritten(HEAD + STOPPER + BODY.format(way=WAYS[way]), "ddp")


def test_what_is_given_alike_is_left() -> None:
    assert "if stopper.stop:" in rewritten(HEAD + STOPPER + BODY.format(way="fire('on_loss', epoch)"), "ddp")
