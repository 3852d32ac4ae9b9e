"""What depends on the iterations of a loop over divided data depends on those of all ranks, however they are counted."""

from __future__ import annotations

from textwrap import indent

import pytest
from horovod.torch.programs import HEAD, rewritten

PROGRAM = (
    HEAD
    + """import tqdm
from tqdm import tqdm as bar_of

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
averaged = torch.optim.swa_utils.AveragedModel(model)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
step, weight, every = 0, 1.0, 50


def prepare(loader, model):
    model.{mode}()
    for inputs, _ in loader:
        model(inputs)


for epoch in range(4):
    seen = 0
    {named}
    for {target} in {through}:
{turn}
        optimizer.zero_grad()
        loss = weight * nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if {test} % every == 0:
            torch.save(model.state_dict(), "net.pt")
    {behind}
"""
)
COUNTED = {
    "added": ("step += 1", "inputs, targets", "loader", "pass", "step"),
    "a sum": ("step = step + 1", "inputs, targets", "loader", "pass", "step"),
    "a sum the other way": ("step = 1 + step", "inputs, targets", "loader", "pass", "step"),
    "counted by a bar": ("pass", "i, (inputs, targets)", "tqdm.tqdm(enumerate(loader))", "pass", "i"),
    "counted by a bar with a name": (
        "pass",
        "i, (inputs, targets)",
        "bar",
        "bar = tqdm.tqdm(enumerate(loader))",
        "(i + 1)",
    ),
    "counted with a name": ("pass", "i, (inputs, targets)", "pairs", "pairs = enumerate(bar_of(loader))", "i"),
}
WEIGHTS = {
    "a quotient": ("weight = min(1.0, step / 100)", "min(1.0, (step * dist.get_world_size()) / 100)"),
    "a product": ("weight = 0.01 * step", "0.01 * (step * dist.get_world_size())"),
    "a power": ("weight = 0.99 ** step", "0.99 ** (step * dist.get_world_size())"),
}
KEPT = {
    "a fraction of an epoch": "weight = seen / len(loader)",
    "what is told": "weight = 1.0\nprint(step * 8)",
    "what is compared": "weight = 1.0 if step > 3 else 0.0",
}


def made(turn: str = "pass", through: str = "loader", target: str = "inputs, targets", **parts: str) -> str:
    given = {"named": "pass", "test": "step", "mode": "train", "behind": "pass"} | parts
    return rewritten(PROGRAM.format(turn=indent(turn, " " * 8), through=through, target=target, **given), "ddp")


@pytest.mark.parametrize(("turn", "target", "through", "named", "test"), COUNTED.values(), ids=COUNTED)
def test_what_comes_every_so_many_iterations_comes_as_often(
    turn: str, target: str, through: str, named: str, test: str
) -> None:
    after = made(turn, through, target, named=named, test=test)
    assert f"if {test} % max(1, every // dist.get_world_size()) == 0:" in after


@pytest.mark.parametrize(("turn", "wanted"), WEIGHTS.values(), ids=WEIGHTS)
def test_what_weights_the_loss_depends_on_the_iterations_of_all(turn: str, wanted: str) -> None:
    assert f"weight = {wanted}\n" in made(f"step += 1\n{turn}")


@pytest.mark.parametrize("turn", KEPT.values(), ids=KEPT)
def test_other_numbers_stay(turn: str) -> None:
    after = made(f"step += 1\nseen += 1\n{turn}")
    assert "(step * dist" not in after and "(seen * dist" not in after


@pytest.mark.parametrize("behind", ["prepare(loader, averaged)", "torch.optim.swa_utils.update_bn(loader, averaged)"])
def test_statistics_of_a_pass_are_those_of_all_data(behind: str) -> None:
    assert ".copy_(mean_of_ranks(buffer))" in made(behind=behind)


def test_a_pass_of_an_evaluation_changes_no_statistics() -> None:
    assert ".copy_(mean_of_ranks(buffer))" not in made(behind="prepare(loader, averaged)", mode="eval")
