"""A sum that an object keeps is told as one of all the data, whatever its own methods divide it by.

Two processes tell what one process does.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import HEAD, told_alone, told_by_first

pytestmark = pytest.mark.requires("torch")

PROGRAM = (
    HEAD
    + """

class Run:
    def __init__(self, loader):
        self.loader, self.loss, self.seen = loader, 0.0, 0

    def begin(self):
        self.loss, self.seen = 0.0, 0

    def track(self, loss, n):
        self.loss += loss{times}
        self.seen += n

    def end(self):
        print(self.loss / {count})


loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
run = Run(loader)
for epoch in range(2):
    run.begin()
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        run.track(loss.item(), len(a))
    run.end()
"""
)
COUNTS = {
    "all samples": (" * n", "len(self.loader.dataset)"),
    "all batches": ("", "(len(self.loader.dataset) / self.loader.batch_size)"),
    "a number": (" * n", "96"),
    "batches of a rank": ("", "len(self.loader)"),
    "counted": (" * n", "self.seen"),
}
TEXTS = {name: PROGRAM.format(times=times, count=count) for name, (times, count) in COUNTS.items()}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """What rank 0 of two prints."""
    folder: Path = tmp_path_factory.mktemp("objects")
    return told_by_first(TEXTS.items(), folder)


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_told_of_all_the_data(
    name: str, told: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert told[name] == pytest.approx(told_alone(TEXTS[name], capsys), rel=1e-4)
