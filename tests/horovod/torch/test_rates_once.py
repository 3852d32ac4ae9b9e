"""A rate is multiplied by the number of ranks once, wherever the program keeps it: in settings, or in groups of parameters."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten

BODY = """

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.lines = nn.ModuleList([nn.Linear(4, config["width"]), nn.Linear(config["width"], 1)])

    def forward(self, x):
        return self.lines[1](self.lines[0](x))


{settings}
model = Net(config)
optimizer = torch.optim.SGD({given})
for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
    optimizer.zero_grad()
    ((model(a) - b) ** 2).mean().backward()
    optimizer.step()
"""
SETTINGS = {
    "a dict": "config = {{'width': 4, 'lr': {rate}}}",
    "a call": "config = dict(width=4, lr={rate})",
    "a dict in one": "config = {{'width': 4, **{{'lr': {rate}}}}}",
    "another merged": "config = dict(width=4)\nconfig = {{**config, **dict(lr={rate})}}",
}
RATES = {"a number": ("0.1", "config['lr']"), "one of several": ("[0.1, 0.01]", "config['lr'][0]")}
GROUPS = {
    "a group": ("[{'params': model.parameters(), 'lr': 0.1}]", ["0.1"]),
    "a call": ("[dict(params=model.parameters(), lr=0.1)]", ["0.1"]),
    "two": (
        "[{'params': model.lines[0].parameters(), 'lr': 0.1}, {'params': model.lines[1].parameters(), 'lr': 0.2}]",
        ["0.1", "0.2"],
    ),
    "one of two": (
        "[{'params': model.lines[0].parameters()}, {'params': model.lines[1].parameters(), 'lr': 0.2}], lr=0.3",
        ["0.2", "0.3"],
    ),
    "by name": ("groups", ["0.1"]),
}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_one_in_settings_is_scaled_where_it_is_used(settings: str, rate: str) -> None:
    value, used = RATES[rate]
    kept = SETTINGS[settings].format(rate=value)
    text = rewritten(HEAD + BODY.format(settings=kept, given=f"model.parameters(), lr={used}"), "ddp")
    assert kept in text and f"lr={used} * dist.get_world_size()" in text


@pytest.mark.parametrize("groups", GROUPS)
def test_one_in_a_group_is_scaled_there(groups: str) -> None:
    given, rates = GROUPS[groups]
    program = HEAD + BODY.format(settings="config = {'width': 4, 'lr': 0.7}", given=given)
    text = rewritten(
        program.replace("optimizer = ", "groups = [{'params': model.parameters(), 'lr': 0.1}]\noptimizer = ", 1), "ddp"
    )
    times = " * dist.get_world_size()"
    made = text.partition("optimizer = ")[0].rpartition("groups")[2] if given == "groups" else text
    assert all(f"{rate}{times}" in made for rate in rates) and f"0.7{times}" not in text


BY_HAND = """
base = 0.1
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=base)
for epoch in range(8):
    {change}
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        ((model(a) - b) ** 2).mean().backward()
        optimizer.step()
"""
ADDED = {
    "taken off": ("optimizer.param_groups[0]['lr'] -= base / 8", "-= (base / 8) * hvd.size()"),
    "added": ("for group in optimizer.param_groups:\n        group['lr'] += 0.01", "+= 0.01 * hvd.size()"),
    "a part of it": (
        "for group in optimizer.param_groups:\n        group['lr'] -= group['lr'] / 8",
        "-= group['lr'] / 8\n",
    ),
    "multiplied": ("optimizer.param_groups[0]['lr'] *= 0.9", "*= 0.9\n"),
}


@pytest.mark.parametrize("way", ADDED)
def test_what_is_added_to_a_rate_is_multiplied_with_it(way: str) -> None:
    change, becomes = ADDED[way]
    assert becomes in rewritten(HEAD + BY_HAND.replace("{change}", change))


PLATEAUS = {
    "patience=2000": "patience=2000 // hvd.size()",
    "patience=2000, cooldown=400": "patience=2000 // hvd.size(), cooldown=400 // hvd.size()",
    "cooldown=0": "cooldown=0, patience=max(1, 10 // hvd.size())",
    "'min', 0.5, 2000": "'min', 0.5, 2000 // hvd.size()",
}


@pytest.mark.parametrize("by_batch", [True, False])
@pytest.mark.parametrize("given", PLATEAUS)
def test_patience_counts_batches_where_a_schedule_takes_a_step_for_each(given: str, *, by_batch: bool) -> None:
    made = f"torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {given})"
    text = HEAD + BY_HAND.replace("{change}", "loss = torch.zeros(())").replace(
        "for epoch", f"plateau = {made}\nfor epoch"
    )
    text += "    " * (1 + by_batch) + "plateau.step(loss)\n"
    assert (PLATEAUS[given] if by_batch else made) in rewritten(text)
