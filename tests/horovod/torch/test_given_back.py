"""What functions give back of a pass over the data, and what they fill, is of the data of all ranks behind it.

Steps and epochs are functions, methods and generators that give back numbers, tuples, dicts and lists, or are given a container.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

import pytest
from horovod.torch.programs import outcome, told_alone, told_by_first
from horovod.torch.test_containers import ABOVE, IMPORTS
from horovod.torch.test_means import HEAD, LOADERS, STEP

pytestmark = pytest.mark.requires("torch")

STEPPING = """
def step(a, b):
    optimizer.zero_grad()
    out = model(a)
    loss = nn.functional.mse_loss(out, b)
    loss.backward()
    optimizer.step()
    return {given}

"""
GIVEN = {
    "a tuple given back": (
        "loss.item(), right(out, b)",
        "total = hits = 0.0\nfor a, b in loader:\n    one, other = step(a, b)\n    total += one\n    hits += other",
        "print(total / len(loader), hits / len(loader))",
    ),
    "an item of what is given back": (
        "loss.item(), right(out, b)",
        "total = 0.0\nfor a, b in loader:\n    found = step(a, b)\n    total += found[0]",
        "print(total / len(loader))",
    ),
    "a list of what is given back": (
        "loss.item(), right(out, b)",
        "kept = []\nfor a, b in loader:\n    kept.append(step(a, b))",
        "print(*np.mean(kept, axis=0))",
    ),
    "a dict given back": (
        "{'loss': loss.item(), 'right': right(out, b)}",
        "total = 0.0\nfor a, b in loader:\n    total += step(a, b)['loss']",
        "print(total / len(loader))",
    ),
    "a dict given back by name": (
        "{'loss': loss.item(), 'right': right(out, b)}",
        "log = defaultdict(float)\nfor a, b in loader:\n    for name, value in step(a, b).items():\n        log[name] += value",
        "print(*(value / len(loader) for value in log.values()))",
    ),
    "a list of all": (
        "loss.item()",
        "kept = [step(a, b) for a, b in loader]",
        "print(sum(kept) / len(kept), np.mean(kept))",
    ),
    "a list of all pairs": (
        "loss.item(), right(out, b)",
        "kept = [step(a, b) for a, b in loader]",
        "print(*np.mean(kept, axis=0))",
    ),
    "a dict of all": (
        "loss.item()",
        "kept = {at: step(*batch) for at, batch in enumerate(loader)}",
        "print(sum(kept.values()) / len(kept))",
    ),
    "a list of all, over a count": (
        "loss.item()",
        "kept = [step(a, b) for a, b in loader]",
        "print(sum(kept) / batches)",
    ),
    "a sum of all": ("loss.item()", "total = sum(step(a, b) for a, b in loader)", "print(total / len(loader))"),
    "a mean of all": ("loss.item()", "mean = np.mean([step(a, b) for a, b in loader])", "print(mean)"),
    "a map": ("loss.item()", "kept = list(map(lambda batch: step(*batch), loader))", "print(np.mean(kept))"),
    "tuples of all": (
        "loss.item(), right(out, b)",
        "losses, hits = zip(*[step(a, b) for a, b in loader])",
        "print(np.mean(losses), np.mean(hits))",
    ),
    "tensors given back": (
        "loss.detach(), out.detach()",
        "total = 0.0\nfor a, b in loader:\n    one, _ = step(a, b)\n    total += one.item()",
        "print(total / len(loader))",
    ),
}
WHOLE = {
    "lists given back": """
def train(loader):
    losses = []
    for a, b in loader:
{step}        losses.append(loss.item())
    return losses


for epoch in range(2):
    print(np.mean(train(loader)))
""",
    "lists that are added": """
def train(loader):
    losses, hits = [], []
    for a, b in loader:
{step}        losses.append(loss.item())
        hits.append(right(out, b))
    return losses, hits


every = []
for epoch in range(2):
    losses, hits = train(loader)
    every += losses
    print(sum(losses) / len(losses), sum(hits) / len(hits))
print(sum(every) / len(every))
""",
    "a dict given back whole": """
def train(loader):
    stats = {{"loss": 0.0, "right": 0.0}}
    for a, b in loader:
{step}        stats["loss"] += loss.item()
        stats["right"] += right(out, b)
    return {{name: value / len(loader) for name, value in stats.items()}}


for epoch in range(2):
    found = train(loader)
    print(found["loss"], found["right"])
""",
    "a dict that is given": """
def train(loader, log):
    for a, b in loader:
{step}        log["loss"].append(loss.item())
        log["n"] += 1


log = {{"loss": [], "n": 0}}
for epoch in range(2):
    train(loader, log)
    print(sum(log["loss"]) / log["n"])
""",
    "a dict that a step is given": """
def step(a, b, log):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(a), b)
    loss.backward()
    optimizer.step()
    log["loss"] += loss.item()


for epoch in range(2):
    log = {{"loss": 0.0}}
    for a, b in loader:
        step(a, b, log)
    print(log["loss"] / len(loader))
""",
    "a list that a step fills": """
losses = []


def step(a, b):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(a), b)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())


for epoch in range(2):
    for a, b in loader:
        step(a, b)
    print(sum(losses) / len(losses))
""",
    "a generator": """
def train(loader):
    for a, b in loader:
{step}        yield loss.item()


for epoch in range(2):
    total = 0.0
    for value in train(loader):
        total += value
    print(total / len(loader))
""",
    "a trainer with lists": """
class Trainer:
    def __init__(self):
        self.log = {{"loss": [], "right": []}}

    def step(self, a, b):
        optimizer.zero_grad()
        out = model(a)
        loss = nn.functional.mse_loss(out, b)
        loss.backward()
        optimizer.step()
        self.log["loss"].append(loss.item())
        return right(out, b)

    def epoch(self):
        for a, b in loader:
            self.log["right"].append(self.step(a, b))


trainer = Trainer()
for epoch in range(2):
    trainer.epoch()
    print(np.mean(trainer.log["loss"]), np.mean(trainer.log["right"]))
""",
    "a trainer of its own epochs": """
class Trainer:
    def __init__(self):
        self.history = []

    def train(self, loader):
        stats = dict(loss=0.0, n=0)
        for a, b in loader:
{step}            stats["loss"] += loss.item() * len(a)
            stats["n"] += len(a)
        self.history.append(stats)
        return stats


trainer = Trainer()
for epoch in range(2):
    stats = trainer.train(loader)
    print(stats["loss"] / stats["n"])
print(trainer.history[0]["loss"] / trainer.history[0]["n"])
""",
}


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    for number, (name, (given, body, end)) in enumerate(GIVEN.items()):
        head = IMPORTS + HEAD.format(loader=LOADERS[list(LOADERS)[number % 2]]) + ABOVE + STEPPING.format(given=given)
        yield name, f"{head}\nfor epoch in range(2):\n{indent(body, ' ' * 4)}\n{indent(end, ' ' * 4)}\n"
    for number, (name, text) in enumerate(WHOLE.items()):
        head = IMPORTS + HEAD.format(loader=LOADERS[list(LOADERS)[number % 2]]) + ABOVE
        yield name, head + text.format(step=STEP.format(" " * (12 if "Trainer" in text else 8)))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(programs(), tmp_path_factory.mktemp("given"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_what_is_kept_is_of_all_the_data(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = told_alone(text, capsys)
    assert len(alone) >= 1
    assert printed[name] == pytest.approx(alone, rel=1e-4)


def test_what_a_generator_yields_is_warned_of_where_no_loop_goes_through_it() -> None:
    text = "def train():\n    for a, b in loader:\n{step}        yield loss.item()\n\n\nprint(np.mean(list(train())))\n"
    plan = outcome(HEAD.format(loader=LOADERS["in order"]) + text.format(step=STEP.format(" " * 8)), "ddp").plan
    assert [each.code for each in plan.warnings] == ["HVD312"]
