"""What a loop fills under a condition alone, and what that condition alone has set: it is combined under the same condition.

Each program runs with the condition both ways. What a loop sets anew in each turn is no container that it fills.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten, told_alone, told_by_first

pytestmark = pytest.mark.requires("torch")

STEP = """
loader = DataLoader(TensorDataset(x, y), batch_size=8)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)


class Meter:
    def __init__(self):
        self.total, self.values = 0.0, []

    def add(self, value):
        self.total += value
        self.values.append(value)


def step(a, b):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(a), b)
    loss.backward()
    optimizer.step()
    return loss.item()


flag = {flag}
"""
WAYS = {
    "a list": """
if flag:
    losses = []
for a, b in loader:
    loss = step(a, b)
    if flag:
        losses.append(loss)
if flag:
    print(sum(losses) / len(losses))
""",
    "a sum": """
if flag:
    total = 0.0
for a, b in loader:
    loss = step(a, b)
    if flag:
        total += loss
if flag:
    print(total / len(loader))
""",
    "the other arm": """
if not flag:
    shown = 1
else:
    losses = []
for a, b in loader:
    loss = step(a, b)
    if not flag:
        pass
    else:
        losses.append(loss)
if flag:
    print(sum(losses) / len(losses))
""",
    "an object of all functions": """
if flag:
    meter = Meter()


def train():
    for a, b in loader:
        loss = step(a, b)
        if flag:
            meter.add(loss)


train()
if flag:
    print(meter.total / len(loader), sum(meter.values) / len(meter.values))
""",
    "a dict": """
if flag:
    found = {{"loss": 0.0}}
for a, b in loader:
    loss = step(a, b)
    if flag:
        found["loss"] += loss
if flag:
    print(found["loss"] / len(loader))
""",
    "always": """
losses = []
for a, b in loader:
    loss = step(a, b)
    if flag:
        losses.append(loss)
if flag:
    print(sum(losses) / len(losses))
""",
}
ANEW = {
    "in both arms": "if flag:\n    loss = step(a, b)\n    loss += 1\nelse:\n    loss = step(a, b)",
    "in front": "loss = 0.0\nloss += step(a, b)",
    "of several": "loss = 0.0\nfor part in (a, a):\n    loss += step(part, b)",
    "under a with": "with torch.enable_grad():\n    loss = step(a, b)\nloss += 1",
}
TOLD = """
for i, (a, b) in enumerate(loader):
{way}
    if i % 4 == 0:
        print(loss)
"""


def programs() -> list[tuple[str, str]]:
    """Each with the words that tell it apart."""
    return [
        (f"{name}, {flag}", (HEAD + STEP + text).format(flag=flag)) for name, text in WAYS.items() for flag in (1, 0)
    ]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(programs(), tmp_path_factory.mktemp("sometimes"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_it_is_of_all_ranks_where_it_is_there(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    """As one process tells it."""
    assert printed[name] == pytest.approx(told_alone(text, capsys), rel=1e-4)


@pytest.mark.parametrize("name", ANEW)
def test_what_each_turn_sets_anew_is_combined_once(name: str) -> None:
    """Where it is told."""
    way = "\n".join(f"    {line}" for line in ANEW[name].splitlines())
    text = rewritten((HEAD + STEP).format(flag=1) + TOLD.format(way=way), "ddp")
    combined = [line.strip() for line in text.splitlines() if line.strip().startswith("loss = mean_of")]
    assert combined == ["loss = mean_of_ranks(loss)"]
