"""Rates and lengths of schedules: scaled one by one where there are several, and left where a schedule is told its epoch."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome, rewritten

LOOP = """
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
groups = [{{"params": each.parameters()}} for each in model]
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
{before}
schedule = torch.optim.lr_scheduler.{made}
for epoch in range(4):
    for i, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        schedule.step({told})
"""
SEVERAL = ["[0.2, 0.1]", "(0.2, 0.1)", "rates", "[each for each in rates]"]


@pytest.mark.parametrize("given", SEVERAL)
@pytest.mark.parametrize("by", ["max_lr={}", "{}"])
def test_each_of_several_rates_is_scaled(by: str, given: str) -> None:
    """As many rates as before, each twice what it was."""
    text = LOOP.format(
        before="rates = [0.2, 0.1]", made=f"OneCycleLR(optimizer, {by.format(given)}, total_steps=48)", told=""
    )
    after = rewritten(HEAD + text, "ddp")
    call = next(line for line in after.splitlines() if "OneCycleLR(" in line)
    space = {"rates": [0.2, 0.1], "optimizer": None, "dist": Two(), "torch": Taken()}
    exec(call, space)  # the line is made here
    assert list(space["schedule"]) == [0.4, 0.2]


class Two:
    """Two ranks."""

    def get_world_size(self) -> int:
        return 2


class Taken:
    """Gives the rates that a schedule is made with."""

    optim = lr_scheduler = property(lambda self: self)

    def OneCycleLR(self, optimizer: object, max_lr: object, **_: object) -> object:
        return max_lr


@pytest.mark.parametrize(
    ("told", "length"),
    [
        ("epoch + i / len(loader)", "T_0=6"),
        ("epoch=epoch + i / len(loader)", "T_0=6"),
        ("", "T_0=max(1, 6 // dist.get_world_size())"),
    ],
)
def test_a_schedule_that_is_told_its_epoch_keeps_its_length(told: str, length: str) -> None:
    text = LOOP.format(before="", made="CosineAnnealingWarmRestarts(optimizer, T_0=6)", told=told)
    assert length in rewritten(HEAD + text, "ddp")


LIMITED = """
if most > 0:
    steps = most
    epochs = most // len(loader) + 1
else:
    epochs = 4
    steps = epochs * len(loader)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.5, {given})
done = 0
for epoch in range(epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        schedule.step()
        done += 1
        if 0 < most <= done:
            break
    if 0 < most <= done:
        break
"""


@pytest.mark.parametrize("given", ["steps", "total_iters=steps"])
def test_a_length_that_is_a_limit_or_counts_batches_is_divided_where_it_is_a_limit(given: str) -> None:
    before, loop = (
        LOOP.split("{before}", maxsplit=1)[0].replace("{{", "{").replace("}}", "}"),
        LIMITED.format(given=given),
    )
    after = rewritten(HEAD + "most = 20\n" + before + loop, "ddp")
    assert "    steps = most // dist.get_world_size()\n" in after and "    steps = epochs * len(loader)\n" in after
    assert "    epochs = (most // dist.get_world_size()) // len(loader) + 1\n" in after
    assert f"0.5, {given})" in after and after.count("if 0 < most // dist.get_world_size() <= done:") == 2


PUT_BACK = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
for epoch in range(2):
    for inputs, targets in loader:
        {kept}
        optimizer.param_groups[0]["lr"] = {rate}
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        {back}
"""
KEPT, BACK = 'kept = optimizer.param_groups[0]["lr"]', 'optimizer.param_groups[0]["lr"] = kept'
RATES = {
    "for the one batch": (KEPT, "kept * len(inputs) / 8", BACK, False),
    "for all that follow": (KEPT, "kept * len(inputs) / 8", "pass", True),
    "to another one": ("kept = 0.05", 'optimizer.param_groups[0]["lr"] * 0.9', BACK, True),
}


@pytest.mark.parametrize("what", RATES)
def test_a_rate_that_is_put_back_in_the_same_iteration_has_no_length(what: str) -> None:
    kept, rate, back, warned = RATES[what]
    found = outcome(HEAD + PUT_BACK.format(kept=kept, rate=rate, back=back)).plan.warnings
    assert ("HVD311" in [each.code for each in found]) is warned


FROM_FILES = {
    "JSON": ("import json", 'json.load(open("rates.json"))'),
    "YAML": ("import yaml", 'yaml.safe_load(open("rates.yaml"))'),
    "a dict": ("", '{"lr": 0.01}'),
}


@pytest.mark.parametrize("what", FROM_FILES)
def test_a_rate_that_a_file_says_is_scaled(what: str) -> None:
    imported, read = FROM_FILES[what]
    put = PUT_BACK.format(kept="pass", rate='control["lr"]', back="pass").replace(
        "for inputs", f"control = {read}\n    for inputs"
    )
    assert 'control["lr"] * hvd.size()' in rewritten(f"{imported}\n{HEAD}{put}")


TIMM = """
from timm.scheduler import {kind}
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = {kind}(optimizer, {first}{count}, warmup_t=20, warmup_lr_init=1e-4{more})
step = 0
for epoch in range(4):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
        step += 1
        {told}
    schedule.step(epoch + 1)
"""
OF_TIMM = {
    "CosineLRScheduler": ("t_initial=", "100"),
    "TanhLRScheduler": ("", "100"),
    "PolyLRScheduler": ("t_initial=", "100"),
    "StepLRScheduler": ("decay_t=", "100"),
    "MultiStepLRScheduler": ("", "[100, 200]"),
}
TOLD_BY_TIMM = {
    "updates": (", t_in_epochs=False", "schedule.step_update(num_updates=step)", True),
    "updates of an epoch": (", t_in_epochs=False", "schedule.step_update(step)", True),
    "epochs": (", t_in_epochs=True", "schedule.step_update(step)", False),
    "epochs if nothing is said": ("", "schedule.step_update(num_updates=step)", False),
    "none in the loop": (", t_in_epochs=False", "pass", False),
}


@pytest.mark.parametrize("kind", OF_TIMM)
@pytest.mark.parametrize("way", TOLD_BY_TIMM)
def test_schedules_of_timm_count_the_steps_of_a_rank(kind: str, way: str) -> None:
    """Where they count steps, their warm-up does too."""
    more, told, counts = TOLD_BY_TIMM[way]
    first, count = OF_TIMM[kind]
    after = rewritten(HEAD + TIMM.format(kind=kind, first=first, count=count, more=more, told=told), "ddp")
    line = next(each for each in after.splitlines() if each.startswith("schedule = "))
    assert ("warmup_t=max(1, 20 // dist.get_world_size())" in line) is counts
    assert ("100 // dist.get_world_size()" in line) is counts
