"""Programs with accelerate on two processes: they tell what one process does with the batches of both.

Prepared loaders repeat samples where batches do not come out even; sums and means leave these out or count them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from horovod.torch.programs import outcome, said_by_two

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program

HEAD = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn({amount}, 4)
y = torch.arange(float({amount})).reshape({amount}, 1) / 16 - 2
data = TensorDataset(x, y)
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.{optimizer}(model.parameters(), lr={rate})
loader = DataLoader(data, batch_size={batch}{drop})
"""
LOOPS = {
    "a step for each batch": """
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
""",
    "a schedule by batch": """
schedule = torch.optim.lr_scheduler.StepLR(optimizer, {every}, gamma=0.5)
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        schedule.step()
""",
    "a schedule by epoch": """
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
for epoch in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    schedule.step()
""",
    "gradients by hand": """
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        for p in model.parameters():
            p.grad.mul_(0.5)
        optimizer.step()
""",
}
END = """
print([round(value, 5) for p in model.parameters() for value in p.flatten().tolist()])
"""
TOLD = """
for epoch in range(2):
    total, hits, seen = 0.0, 0, 0
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(a)
        hits += (a[:, :1] > -9).sum().item()
        seen += len(a)
    print({told})
"""
WHOLE = {"hits": "{amount}", "hits / len(data)": "1.0", "hits / len(loader.dataset)": "1.0", "hits / seen": "1.0"}


def programs() -> Iterator[tuple[str, str, str]]:
    """Each with a name, and the program that one process runs to tell the same."""
    for (name, loop), optimizer in product(LOOPS.items(), ("SGD", "Adam")):
        here, there = (
            (HEAD + loop + END).format(amount=64, optimizer=optimizer, rate=rate, batch=batch, drop="", every=every)
            for rate, batch, every in ((0.05, 8, 4), (0.1, 16, 2))
        )
        yield f"{name}, {optimizer}", here, there


def uneven() -> Iterator[tuple[str, str, float]]:
    """Programs that tell numbers of samples which do not come out even, and these numbers."""
    for (told, whole), amount, drop in product(WHOLE.items(), (20, 50, 100), ("", ", shuffle=True")):
        text = (HEAD + TOLD).format(amount=amount, optimizer="SGD", rate=1e-9, batch=16, drop=drop, told=told)
        yield f"{told} of {amount}{drop}", text, float(whole.format(amount=amount))


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What two processes print in each program."""
    texts = {}
    for name, text, _ in [*programs(), *uneven()]:
        (file,) = outcome(text, "accelerate").files.values()
        texts[name] = file.source
    return said_by_two(texts, tmp_path_factory.mktemp("accelerate"))


@pytest.mark.requires("torch", "accelerate")
@pytest.mark.parametrize(("name", "alone"), [pytest.param(name, alone, id=name) for name, _, alone in programs()])
def test_two_processes_end_with_the_weights_of_one(
    name: str, alone: str, said: dict[str, tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(alone, "script.py", "exec"), {"__name__": "__main__"})  # the text is made here
    wanted, (first, second) = eval(capsys.readouterr().out), said[name]
    assert not second
    assert eval(first) == pytest.approx(wanted, abs=2e-4)


@pytest.mark.requires("torch", "accelerate")
@pytest.mark.parametrize(("name", "wanted"), [pytest.param(name, wanted, id=name) for name, _, wanted in uneven()])
def test_repeated_samples_are_not_counted(name: str, wanted: float, said: dict[str, tuple[str, str]]) -> None:
    assert [float(each) for each in said[name][0].split()] == pytest.approx([wanted, wanted])


TRAINER = """import torch
from torch import nn


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.1)

    def fit(self):
        for epoch in range(2):
            for x, y in self.loader:
                self.optimizer.zero_grad()
                nn.functional.mse_loss(self.model(x), y).backward()
                self.optimizer.step()
"""
SCRIPT = """import torch
from torch.utils.data import DataLoader
from trainer import Trainer

data = torch.utils.data.TensorDataset(torch.ones(8, 4), torch.ones(8, 1))
trainer = Trainer(torch.nn.Linear(4, 1), DataLoader(data, batch_size=2))
trainer.fit()
"""


def test_an_optimizer_of_another_file_is_prepared_with_the_model() -> None:
    texts = {"/nowhere/trainer.py": TRAINER, "/nowhere/script.py": SCRIPT}
    project = Project("/nowhere", overlay={path: text.encode() for path, text in texts.items()})
    program = Program([project.open("/nowhere/script.py")], project)
    found = rewrite(program, Options(backend="accelerate"), [*texts], texts).files
    script, trainer = (found[path].source for path in ("/nowhere/script.py", "/nowhere/trainer.py"))
    assert "trainer.model, trainer.optimizer = accelerator.prepare(trainer.model, trainer.optimizer)\n" in script
    assert "accelerator.prepare(torch.optim" not in trainer
    assert all('Accelerator(cpu=True, mixed_precision="no")' in text for text in (script, trainer))
