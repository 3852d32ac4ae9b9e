"""Going through the parts of one batch is no pass over the data: nothing is combined across the ranks there."""

from __future__ import annotations

import re

import pytest
from horovod.torch.programs import HEAD, outcome

from distml.rewrites.horovod.options import Backend

PROGRAM = (
    HEAD
    + """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def halves(a, b):
    kept, sums = [], 0.0
    for one, other in zip(a, b):
        kept.append(one * 2)
        sums += other.sum().item()
    return torch.stack(kept) + 0 * sums


def longest(rows):
    return max([len(each) for each in rows])


def moved(parts):
    return {{name: part.to("cpu") for name, part in parts.items()}}


for epoch in range(2):
    seen = []
    for i, batch in enumerate({through}):
        {given}
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        {kept}
    print({told})
"""
)
PARTS = {
    "moved by a generator": "a, b = (part.to('cpu') for part in batch)",
    "moved by a list": "a, b = [part.to('cpu') for part in batch]",
    "moved by name": "held = moved({'a': batch[0], 'b': batch[1]})\n        a, b = held['a'], held['b']",
    "row by row in a function": "a, b = batch\n        a = halves(a, b)",
    "counted in a function": "a, b = batch\n        a = a[:, : longest(a)]",
    "counted and told": "a, b = batch\n        wide = [len(each) for each in a]\n        rows = torch.ones(max(wide))",
    "a loop of its own": "a, b = batch\n        rows = []\n        for row in a:\n            rows.append(row * 2)\n"
    "        a = torch.stack(rows)",
    "a loop of rows that were made": "a, b = batch\n        rows = [each * 2 for each in a]\n        more = []\n"
    "        for row in rows:\n            more.append(row)\n        a = torch.stack(more)",
    "parts that are put together": "a, b = batch\n        total = 0.0\n        for part in (a, b):\n"
    "            total += part.sum().item()",
}
MOVED = ("self.mean.to(x.device)", "self.mean.type_as(x)", "self.mean.float().to(x)")
SCALED = """

class Scaled:
    def __init__(self, mean):
        self.mean = mean

    def __call__(self, x):
        self.mean = {moved}
        return x - self.mean


scaled = Scaled(x[:1])
loader"""
PASSES = {
    "the loader": "loader",
    "batches that are kept": "list(loader)",
    "batches as they come": "(batch for batch in loader)",
    "batches that are prepared": "[(a * 1, b) for a, b in loader]",
    "a generator": "forward(loader)",
}


@pytest.mark.parametrize("given", PARTS)
@pytest.mark.parametrize("backend", ["ddp", "horovod"])
def test_parts_of_a_batch_are_no_pass(given: str, backend: Backend) -> None:
    program = PROGRAM.format(
        through="loader", given=PARTS[given], kept="seen.append(loss.item())", told="sum(seen) / len(seen)"
    )
    found = outcome(program, backend)
    assert not found.plan.warnings and not found.plan.refusals
    (file,) = found.files.values()
    within = file.source[file.source.index("for i, batch") : file.source.index("seen[:] = ")]
    functions = file.source[file.source.index("def halves") : file.source.index("for epoch")]
    assert not re.search(r"mean_of|from_all|sum_of|allreduce|allgather|all_reduce", within + functions)


@pytest.mark.parametrize("through", PASSES)
def test_what_gives_batches_is_a_pass(through: str) -> None:
    generator = "def forward(source):\n    for a, b in source:\n        yield a * 1, b\n\n\ndef halves"
    program = PROGRAM.format(
        through=PASSES[through], given="a, b = batch", kept="seen.append(loss.item())", told="sum(seen) / len(seen)"
    ).replace("def halves", generator)
    (file,) = outcome(program, "ddp").files.values()
    assert "DistributedSampler" in file.source
    assert re.search(r"seen(\[:\])? = mean_of", file.source)


@pytest.mark.parametrize("moved", MOVED)
def test_what_only_moves_to_where_a_batch_is_holds_nothing_of_it(moved: str) -> None:
    given = "a, b = batch\n        a = scaled(a)"
    program = PROGRAM.format(through="loader", given=given, kept="pass", told="scaled.mean")
    for one, warned in ((moved, False), (f"{moved} + x.mean()", True)):
        found = outcome(program.replace("\nloader", SCALED.format(moved=one), 1), "ddp")
        assert any(each.code == "HVD312" for each in found.plan.warnings) is warned


STEPS = """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        for {parts}:
            optimizer.zero_grad()
            nn.functional.mse_loss(model({one}), {other}).backward()
            optimizer.step()
"""
TAKEN = {
    "rows": ("one, other in zip(a, b)", "one", "other", True),
    "rows of what is made of them": ("one, other in zip(a.transpose(0, 1), b)", "one", "other", True),
    "those that were chosen": ("one in a[a.sum(1) > 0]", "one", "b[0]", True),
    "a number": ("_ in range(3)", "a", "b", False),
    "settings": ("factor in (1.0, 0.5)", "a * factor", "b", False),
}


@pytest.mark.parametrize("parts", TAKEN)
def test_steps_for_each_part_of_a_batch_are_named(parts: str) -> None:
    """Ranks whose batches have fewer parts leave the others waiting."""
    through, one, other, named = TAKEN[parts]
    found = outcome(HEAD + STEPS.format(parts=through, one=one, other=other), "ddp")
    assert [each.code for each in found.plan.warnings] == ["HVD303"] * named
