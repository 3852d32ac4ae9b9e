"""What settings say is the same on every rank, however they are read and kept: nothing is asked of the ranks about it."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten

PROGRAM = (
    HEAD
    + """import argparse

import numpy as np


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--optimizer", default="SGD")
    parser.add_argument("--name")
    return parser.parse_args()


{settings}
model = nn.Linear(4, 1)
if {asked} == "SGD":
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(9):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        if {asked} == "SGD":
            optimizer.step()
"""
)
SAME = {
    "a namespace": ("config = parsed()", "config.optimizer"),
    "vars": ("config = vars(parsed())", "config['optimizer']"),
    "vars, filled": ("config = vars(parsed())\nconfig['name'] = '%s_a' % config['optimizer']", "config['optimizer']"),
    "vars, read by get": ("config = vars(parsed())", "config.get('optimizer')"),
    "a dict of vars": ("config = dict(vars(parsed()))", "config['optimizer']"),
    "a variable": ("config = vars(parsed())\nkind = config['optimizer']", "kind"),
}
OWN = {
    "drawn": (
        "config = vars(parsed())\nconfig['optimizer'] = np.random.choice(['SGD', 'Adam'])",
        "config['optimizer']",
    ),
}


def made(settings: str, asked: str) -> str:
    """What a program becomes for torch.distributed."""
    return rewritten(PROGRAM.format(settings=settings, asked=asked), "ddp")


@pytest.mark.parametrize("name", SAME)
def test_settings_are_asked_of_each_rank_alone(name: str) -> None:
    """No rank waits for another."""
    settings, asked = SAME[name]
    text = made(settings, asked)
    assert f'if {asked} == "SGD":' in text and "agreed(" not in text and "any_rank(" not in text


@pytest.mark.parametrize("name", OWN)
def test_what_is_drawn_is_asked_of_all(name: str) -> None:
    """Ranks would go their own ways."""
    assert "agreed(" in made(*OWN[name])


LOOP = (
    PROGRAM.partition("{settings}")[0]
    + """args = parsed()
config = vars(args)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(9):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        {put}
        if {read} == "SGD":
            continue
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
"""
)
PUT = {
    "args.optimizer = {}": "args.optimizer",
    "config['optimizer'] = {}": "config['optimizer']",
    "setattr(args, 'optimizer', {})": "args.optimizer",
    "args.optimizer += {}": "args.optimizer",
}


@pytest.mark.parametrize("put", PUT)
@pytest.mark.parametrize("value", ["str(a.max())", "str(args.name)", "str(epoch)"])
def test_settings_that_a_batch_overwrites_are_of_its_rank(put: str, value: str) -> None:
    """What the batch says is asked of all ranks, and what all ranks know is not."""
    text = rewritten(LOOP.format(put=put.format(value), read=PUT[put]), "ddp")
    assert ("any_rank(" in text) is (value == "str(a.max())")


def test_what_is_set_once_before_is_of_all() -> None:
    """No rank has a batch yet."""
    text = LOOP.replace("config = vars(args)", "args.optimizer = str(open('which').read())")
    assert "any_rank(" not in rewritten(text.format(put="pass", read="args.optimizer"), "ddp")


KINDS = ["isinstance(batch, dict)", "torch.is_tensor(batch[0])", "type(batch) is dict", "hasattr(batch, 'keys')"]
KINDS += ["callable(batch)", "issubclass(batch.__class__, dict)"]
BATCHES = (
    HEAD
    + """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(9):
    for batch in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        {before}
        if {asked}:
            continue
        optimizer.zero_grad()
        nn.functional.mse_loss(model(batch[0]), batch[1]).backward()
        optimizer.step()
"""
)


@pytest.mark.parametrize("asked", KINDS)
@pytest.mark.parametrize("before", ["pass", "if batch[0].max() > 3:\n            batch = {}"])
def test_batches_of_all_ranks_are_of_one_kind(asked: str, before: str) -> None:
    """Unless a rank makes another of its own."""
    text = rewritten(BATCHES.format(asked=asked, before=before), "ddp")
    own = before != "pass" and not asked.startswith("type")
    assert ("any_rank(" in text) is own


ALIKE = {
    "made one": "if not isinstance(batch, list):\n        batch = [batch]",
    "taken out": "if isinstance(batch, tuple):\n        batch = batch[0]",
    "again and again": "while isinstance(batch, tuple):\n        batch = batch[0]\n    if hasattr(batch, 'data'):\n"
    "        batch = batch.data",
    "by another": "one = batch\n    if callable(one):\n        batch = one()\n    if callable(batch):\n        one = batch",
    "unless there is none": "if batch is None:\n        batch = 0\n    elif isinstance(batch, dict):\n        batch = [*batch]",
}


@pytest.mark.parametrize("way", ALIKE)
def test_what_is_made_anew_by_its_kind_is_of_one_kind(way: str) -> None:
    """Where a variable is given another value under a question for what it is, the answer begins with itself."""
    function = f"\n\ndef alike(batch):\n    {ALIKE[way]}\n    return batch\n\n\nmodel = nn.Linear(4, 1)"
    text = BATCHES.replace("\nmodel = nn.Linear(4, 1)", function)
    asked = "isinstance(alike(batch), dict)"
    assert "dist.destroy_process_group()" in rewritten(text.format(asked=asked, before="pass"), "ddp")


@pytest.mark.parametrize(
    "read", ["torch.load(args.name)", "json.load(open(args.name))", "pickle.load(open(args.name, 'rb'))"]
)
def test_what_a_file_says_is_the_same_on_all_ranks(read: str) -> None:
    """A limit that a checkpoint says is reached by all together; the state of an optimizer is sent to nobody."""
    text = LOOP.replace("config = vars(args)", f"import json, pickle\nstate = {read}\ndone = state['step']")
    text = text.replace("nn.Linear(4, 1)\n", "nn.Linear(4, 1)\n", 1) + "        done += 1\n"
    text = text.replace("for epoch", "optimizer.load_state_dict(state['optimizer'])\nfor epoch")
    after = rewritten(text.format(put="pass", read="done > 99 or args.optimizer"), "ddp")
    assert "any_rank(" not in after and "agreed(optimizer" not in after


@pytest.mark.parametrize("asks", ["os.path.exists(args.name)", "os.path.isfile(args.name + '.pt')"])
@pytest.mark.parametrize("again", [True, False])
def test_files_are_looked_for_by_each_rank_where_that_is_done_once(asks: str, again: bool) -> None:
    """In a loop another rank may come before it is there."""
    lines = f"\nif {asks}:\n    model.load_state_dict(torch.load(args.name))\n"
    text = LOOP.replace("import numpy", "import os\nimport numpy").replace("\nfor epoch", lines + "for epoch")
    after = rewritten(text.format(put="pass", read=f"{asks} or args.optimizer" if again else "args.optimizer"), "ddp")
    assert ("any_rank(" in after) is again and "agreed(" not in after


FROZEN = (
    HEAD
    + """
model, teacher = nn.Linear(4, 1), nn.Linear(4, 1)
old = torch.optim.SGD(teacher.parameters(), lr=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{which}.load_state_dict(fetch()["state"])
for a, b in DataLoader(TensorDataset(x, y), batch_size=8):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), teacher(a)).backward()
    optimizer.step()
"""
)


@pytest.mark.parametrize("which", ["old", "optimizer"])
def test_only_optimizers_that_step_are_given_one_state(which: str) -> None:
    """Nobody reads that of a frozen model."""
    text = rewritten(
        FROZEN.replace("import torch\n", "import torch\nfrom store import fetch\n", 1).format(which=which), "ddp"
    )
    assert ("agreed(optimizer.state_dict())" in text) is (which == "optimizer") and "agreed(old" not in text


CHOOSES = """
def chosen(config, best):
    if config["name"] == "late":
        return epoch > best
    return config["optimizer"] == "SGD"


"""


@pytest.mark.parametrize(("best", "asked"), [("3", False), ("a.max()", True)])
def test_what_a_function_makes_of_what_all_know_is_known_to_all(best: str, asked: bool) -> None:
    text = LOOP.replace("args = parsed()", CHOOSES + "args = parsed()").replace(
        '{read} == "SGD"', f"chosen(config, {best})"
    )
    assert ("any_rank(" in rewritten(text.format(put="pass"), "ddp")) is asked


@pytest.mark.parametrize(("behind", "asked"), [("state = load(a)", False), ("state['step'] = a.max()", False)])
def test_only_what_has_set_a_variable_counts(behind: str, asked: bool) -> None:
    """What sets it behind does not."""
    head = "state = torch.load(args.name)\nfirst = state['step']"
    text = LOOP.replace("config = vars(args)", head) + f"    {behind}\n"
    after = rewritten(
        text.format(put="pass", read="first").replace("import numpy", "from store import load\nimport numpy"), "ddp"
    )
    assert ("any_rank(" in after) is asked


METER = (
    HEAD
    + """

class Meter:
    def __init__(self):
        self.sum, self.n, self.avg = 0.0, 0, 0.0

    def update(self, value, n):
        self.sum += value * n
        self.n += n
        self.avg = self.sum / self.n
{more}

def judge(model):
    meter = Meter()
    meter.update(nn.functional.mse_loss(model(x), y).item(), len(x))
    return meter.avg


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(9):
    meter = Meter()
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), len(a))
    print(meter.avg, judge(model){told})
"""
)
READ = {
    "nowhere": ("", "", False),
    "in its text": ("\n    def text(self):\n        return str(self.sum)\n", ", meter.text()", True),
    "as a property": ("\n    @property\n    def all(self):\n        return self.sum\n", ", meter.all", True),
    "beside": ("", ", meter.sum", True),
    "by the next update": ("", ", meter.update(0, 1)", True),
    "as a method of another": ("", ", x.sum()", False),
}


@pytest.mark.parametrize("name", READ)
def test_only_what_is_read_of_a_meter_is_averaged(name: str) -> None:
    more, told, whole = READ[name]
    after = rewritten(METER.format(more=more, told=told), "ddp")
    assert "    meter.avg = mean_of_ranks(meter.avg)" in after
    assert ("    meter.sum = " in after) is whole
