"""In whatever way a program draws the order of its samples: no two ranks train on one sample in the same epoch.

The rewritten programs are run for each of two ranks in turn, with generators that begin at random as those of two processes
do; what rank 0 broadcasts reaches rank 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from horovod.torch.programs import outcome

pytestmark = pytest.mark.requires("torch")

HEAD = """\
import random
import numpy as np
import torch
from torch.utils.data import (
    BatchSampler, DataLoader, IterableDataset, RandomSampler, Sampler, Subset, SubsetRandomSampler, TensorDataset,
    WeightedRandomSampler,
)

ids = torch.arange(96.0).reshape(-1, 1)
data = TensorDataset(ids, ids / 96)
kept = np.arange(64)
"""
LOOP = """
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for epoch in range(2):
    for x, y in {loader}:
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
"""
OWN = """
class Own(Sampler):
    def __init__(self, size):
        self.size = size
        {made}

    def __iter__(self):
        {drawn}

    def __len__(self):
        return self.size

"""
LIBRARY = [
    "SubsetRandomSampler(kept)",
    "SubsetRandomSampler(kept.tolist())",
    "SubsetRandomSampler([i for i in range(64)])",
    "SubsetRandomSampler(indices=kept)",
    "SubsetRandomSampler(range(64), generator=None)",
    "RandomSampler(data)",
    "RandomSampler(data, False)",
    "RandomSampler(data_source=data)",
    "RandomSampler(Subset(data, range(64)))",
    "RandomSampler(data, num_samples=64)",
    "WeightedRandomSampler([1.0] * 96, 64, replacement=False)",
    "WeightedRandomSampler(torch.ones(96), 64, False)",
    "torch.utils.data.sampler.SubsetRandomSampler(kept[:48])",
]
PLACES = {
    "at the loader": "loader = DataLoader(data, batch_size=8, sampler={made})\n",
    "in a variable": "order = {made}\nloader = DataLoader(data, 8, sampler=order, drop_last=True)\n",
    "in a function": "def order():\n    return {made}\n\nloader = DataLoader(data, batch_size=8, sampler=order())\n",
    "on an object": "class Kept:\n    def __init__(self):\n        self.order = {made}\n\nkeeps = Kept()\n"
    "loader = DataLoader(data, batch_size=8, sampler=keeps.order)\n",
    "in batches": "loader = DataLoader(data, batch_sampler=BatchSampler({made}, 8, True))\n",
    "in batches apart": "order = {made}\nbatches = BatchSampler(order, batch_size=8, drop_last=True)\n"
    "loader = DataLoader(data, batch_sampler=batches)\n",
    "by settings": "settings = dict(batch_size=8, sampler={made})\nloader = DataLoader(data, **settings)\n",
}
DRAWN = {
    "torch": ("pass", "return iter(torch.randperm(self.size).tolist())"),
    "numpy": ("pass", "return iter(np.random.permutation(self.size).tolist())"),
    "python": ("pass", "return iter(random.sample(range(self.size), self.size))"),
    "python in place": (
        "self.order = list(range(size))",
        "random.shuffle(self.order)\n        return iter(self.order)",
    ),
    "numpy, one for the object": (
        "self.rng = np.random.default_rng()",
        "return iter(self.rng.permutation(self.size).tolist())",
    ),
    "numpy, the older one": (
        "self.rng = np.random.RandomState()",
        "return iter(self.rng.permutation(self.size).tolist())",
    ),
    "numpy, one each time": ("pass", "return iter(np.random.default_rng().permutation(self.size).tolist())"),
    "python, one for the object": (
        "self.rng = random.Random()",
        "return iter(self.rng.sample(range(self.size), self.size))",
    ),
    "seeded": (
        "self.rng = np.random.default_rng(3)",
        "return iter(self.rng.permutation(self.size).tolist())",
    ),
    "another sampler": (
        "self.inner = RandomSampler(range(size))",
        "return iter(self.inner)",
    ),
    "by yield": ("pass", "for each in torch.randperm(self.size):\n            yield int(each)"),
}
STREAMS = {
    "python": "order = list(range(96))\n        random.shuffle(order)\n"
    "        for i in order:\n            yield ids[i], ids[i] / 96",
    "numpy": "for i in np.random.permutation(96):\n            yield ids[i], ids[i] / 96",
    "torch": "for i in torch.randperm(96):\n            yield ids[i], ids[i] / 96",
    "own": "for i in np.random.default_rng().permutation(96):\n            yield ids[i], ids[i] / 96",
    "nothing": "for i in range(96):\n            yield ids[i], ids[i] / 96",
}
ITERABLES = {
    "a permutation": ("order = torch.randperm(96)", "order.split(8)"),
    "a permutation in place": ("pass", "torch.randperm(96).split(8)"),
    "parts of NumPy's": ("order = np.random.permutation(96)", "np.array_split(order, 12)"),
    "a shuffled list": ("order = random.sample(range(96), 96)", "[order[i : i + 8] for i in range(0, 96, 8)]"),
    "a generator of torch": ("pass", "parts(torch.randperm(96))"),
    "a generator that draws": ("pass", "drawn(96)"),
    "a generator with its own": ("pass", "own(96)"),
}
SETTINGS = {
    "known": '{"num_workers": 0}',
    "of two kinds": '{"num_workers": 0, "pin_memory": True} if torch.cuda.is_available() else {}',
    "not known": 'json.loads("{}")',
    "a generator": '{"generator": torch.Generator()}',
}
BY_SETTINGS = """
import json
settings = {settings}
loaders = [
    DataLoader(data, batch_size=8, shuffle=True, **settings),
    DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 8, True), **settings),
]
loader = loaders[0]
"""
GENERATORS = """
def parts(order):
    for start in range(0, len(order), 8):
        yield order[start : start + 8]

def drawn(size):
    order = np.random.permutation(size)
    for start in range(0, size, 8):
        yield order[start : start + 8]

def own(size):
    yield from np.array_split(np.random.default_rng().permutation(size), 12)
"""
BY_HAND = """
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for epoch in range(2):
    {order}
    for rows in {iterable}:
        x = ids[rows]
        optimizer.zero_grad()
        ((model(x) - x / 96) ** 2).mean().backward()
        optimizer.step()
"""


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    places = list(PLACES.items())
    for number, made in enumerate(LIBRARY):
        for place, text in (places * 2)[number % len(places) :][:3]:
            yield f"{made} {place}", HEAD + text.format(made=made) + LOOP.format(loader="loader")
    for name, (made, drawn) in DRAWN.items():
        for place in ("at the loader", "on an object", "in batches"):
            text = OWN.format(made=made, drawn=drawn) + PLACES[place].format(made="Own(96)")
            yield f"{name} {place}", HEAD + text + LOOP.format(loader="loader")
    for name, settings in SETTINGS.items():
        text = BY_SETTINGS.replace("{settings}", settings)
        yield f"settings, {name}", HEAD + text + LOOP.format(loader="loader")
    for name, body in STREAMS.items():
        text = f"\nclass Stream(IterableDataset):\n    def __iter__(self):\n        {body}\n\n"
        text += "loader = DataLoader(Stream(), batch_size=8)\n"
        yield f"a stream by {name}", HEAD + text + LOOP.format(loader="loader")
    for name, (order, iterable) in ITERABLES.items():
        yield f"by hand, {name}", HEAD + GENERATORS + BY_HAND.format(order=order, iterable=iterable)
    text = "\nclass Random(RandomSampler):\n    def __len__(self):\n        return 96\n\n"
    yield (
        "a sampler of the library, changed",
        HEAD + text + PLACES["at the loader"].format(made="Random(data)") + LOOP.format(loader="loader"),
    )
    yield (
        "a loader for each epoch",
        HEAD + LOOP.format(loader="DataLoader(data, 8, sampler=SubsetRandomSampler(kept.tolist()))"),
    )


def trained(text: str, rank: int, told: list[Any]) -> list[list[float]]:
    """The samples that a rank trains on, batch by batch; what is broadcast is kept in `told` by rank 0."""
    import numpy as np
    import torch
    import torch.distributed
    import torch.distributed.nn

    seen: list[list[float]] = []
    waiting = iter(told[:])

    def objects(values: list[Any], src: int = 0, **_: Any) -> None:
        if rank == 0:
            told.append(list(values))
        else:
            values[:] = next(waiting)

    def tensor(value: Any, src: int = 0, **_: Any) -> None:
        if rank == 0:
            told.append(value.clone())
        else:
            value.copy_(next(waiting))

    class Noted(torch.nn.Linear):
        def forward(self, given: Any) -> Any:
            seen.append(given.flatten().tolist())
            return super().forward(given)

    class Wrapped(torch.nn.Module):
        def __init__(self, module: Any, **_: Any) -> None:
            super().__init__()
            self.module = module

        def forward(self, given: Any) -> Any:
            return self.module(given)

    fakes = {
        "init_process_group": lambda *_, **__: None,
        "destroy_process_group": lambda *_, **__: None,
        "get_rank": lambda *_: rank,
        "get_world_size": lambda *_: 2,
        "all_reduce": lambda *_, **__: None,
        "barrier": lambda *_, **__: None,
        "broadcast": tensor,
        "broadcast_object_list": objects,
    }
    with (
        mock.patch.multiple(torch.distributed, **fakes),
        mock.patch.object(torch.nn, "Linear", Noted),
        mock.patch.object(torch.nn.parallel, "DistributedDataParallel", Wrapped),
        generators_apart(),
    ):
        np.random.seed(None)
        random.seed()
        torch.seed()
        exec(compile(text, "script", "exec"), {"__name__": "__main__"})  # the text is made here
    return seen


@contextmanager
def generators_apart() -> Iterator[None]:
    """The global generators are afterwards what they were."""
    import numpy as np
    import torch

    states = np.random.get_state(), random.getstate(), torch.get_rng_state()
    try:
        yield
    finally:
        np.random.set_state(states[0])
        random.setstate(states[1])
        torch.set_rng_state(states[2])


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in programs()])
def test_no_two_ranks_train_on_one_sample_in_an_epoch(program: str) -> None:
    found = outcome(program, "ddp")
    assert not found.plan.refusals
    (file,) = found.files.values()
    told: list[Any] = []
    ranks = [trained(file.source, rank, told) for rank in range(2)]
    alone = trained(program, 0, [])
    assert len(ranks[0]) == len(ranks[1]) > 0
    assert len(ranks[0]) >= len(alone) // 2 - 2
    turns = len(ranks[0]) // 2
    for epoch in (slice(turns), slice(turns, None)):
        samples = [each for rank in ranks for batch in rank[epoch] for each in batch]
        assert len(samples) == len(set(samples))
    epochs = [[sorted(batch) for batch in ranks[0][epoch]] for epoch in (slice(turns), slice(turns, None))]
    if "random" in program.lower().partition("ids =")[2]:
        assert epochs[0] != epochs[1]


@pytest.mark.parametrize(
    "made",
    [
        "WeightedRandomSampler([1.0] * 96, 64)",
        "RandomSampler(data, replacement=True)",
        "RandomSampler(data, True, 64)",
    ],
)
def test_samples_that_are_put_back_are_drawn_apart(made: str) -> None:
    text = HEAD + PLACES["at the loader"].format(made=made) + LOOP.format(loader="loader")
    (file,) = outcome(text, "ddp").files.values()
    told: list[Any] = []
    first, second = (trained(file.source, rank, told) for rank in range(2))
    assert len(first) == len(second) > 0
    assert not [each for each in first if each in second]


@pytest.mark.parametrize("made", ["WeightedRandomSampler(torch.ones(96), 64)", "RandomSampler(data, True, 64)"])
@pytest.mark.parametrize("in_a_function", [False, True])
def test_a_sampler_that_is_made_for_each_epoch_draws_others(made: str, in_a_function: bool) -> None:
    make = f"DataLoader(data, batch_size=8, sampler={made})"
    text = f"def fresh():\n    return {make}\n\n\n" if in_a_function else ""
    loop = "for epoch in range(2):\n    loader = " + ("fresh()" if in_a_function else make) + "\n"
    (file,) = outcome(
        HEAD + text + loop + "".join(f"    {line}\n" for line in LOOP.format(loader="loader").splitlines()), "ddp"
    ).files.values()
    told: list[Any] = []
    epochs = trained(file.source, 0, told)
    assert not [each for each in epochs[: len(epochs) // 2] if each in epochs[len(epochs) // 2 :]]


@pytest.mark.parametrize(
    "drawn", ["random.SystemRandom().sample(range(self.size), self.size)", "own.sample(self.size)"]
)
def test_what_no_seed_makes_alike_is_refused(drawn: str) -> None:
    made = "own = random.SystemRandom()\n" if drawn.startswith("own") else ""
    drawn = drawn.replace("own.sample(self.size)", "own.sample(range(self.size), self.size)")
    text = OWN.format(made="pass", drawn=f"return iter({drawn})") + PLACES["at the loader"].format(made="Own(96)")
    found = outcome(HEAD + made + text + LOOP.format(loader="loader"), "ddp")
    assert [each.code for each in found.plan.refusals] == ["HVD213"]


def test_a_sampler_of_an_unknown_library_draws_from_any_generator() -> None:
    text = "from elsewhere import Grouped\n" + HEAD + PLACES["at the loader"].format(made="Grouped(data)")
    (file,) = outcome(text + LOOP.format(loader="loader"), "ddp").files.values()
    assert all(seed in file.source for seed in ("torch.manual_seed(", "np.random.seed(", "random.seed("))
