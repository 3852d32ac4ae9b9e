"""The last batch of a loader: what does not fit it is found where the real program fails, and nowhere else."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, fails

SETUP = """import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split


class Indexed(Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        return torch.zeros(6), i


class Drawn(IterableDataset):
    def __len__(self):
        return COUNT

    def __iter__(self):
        return iter([(torch.zeros(6), 0)] * 32)


tensors = TensorDataset(torch.zeros(COUNT, 6), torch.zeros(COUNT))
part, rest = random_split(tensors, [COUNT - 1, 1])
loader = LOADER
"""
LOADERS = (
    "DataLoader(tensors, SIZE)",
    "DataLoader(tensors, batch_size=SIZE, shuffle=True)",
    "DataLoader(tensors, SIZE, drop_last=True)",
    "DataLoader(Indexed(), SIZE)",
    "DataLoader(Drawn(), SIZE)",
    "DataLoader(part, SIZE)",
    "DataLoader(tensors, SIZE, sampler=torch.utils.data.RandomSampler(tensors, True, SIZE))",
)
LOOPS = (
    "for x, y in loader:\n    x.view(SIZE, 2, 3)",
    "for i, (x, y) in enumerate(loader):\n    x.reshape(SIZE, -1) + torch.zeros(SIZE, 6)",
    "for x, y in loader:\n    if len(x) == SIZE:\n        x.view(SIZE, 2, 3)",
    "for x, y in loader:\n    torch.zeros(SIZE, 6) + x\n    break",
    "for i, (x, y) in enumerate(loader):\n    if i >= 1:\n        break\n    torch.zeros(SIZE, 6) + x",
    "for x, y in loader:\n    x.view(x.size(0), 2, 3)",
    "for x, y in iter(loader):\n    x.view(SIZE, 6)",
    "def first():\n    for x, y in loader:\n        return x.view(SIZE, 6)\nfirst()",
    "seen = []\nfor x, y in loader:\n    seen.append(x)\nif seen:\n    torch.cat(seen).view(-1, 2, 3)",
    "kept = None\nfor x, y in loader:\n    kept = x if kept is None else kept + x",
    "kept = torch.zeros(SIZE, 6)\nfor i, (x, y) in enumerate(loader):\n    kept = 0.9 * kept.detach() + x",
    "kept = torch.zeros(SIZE, 6)\nfor x, y in loader:\n    if len(kept) != len(x):\n        continue\n    kept = kept + x",
    "kept = torch.zeros(1, 6)\nfor x, y in loader:\n    kept = kept.mean(0, keepdim=True) + x",
    (
        "step, state = torch.nn.LSTMCell(6, 5), (torch.zeros(SIZE, 5), torch.zeros(SIZE, 5))\n"
        "for x, y in loader:\n    state = step(x, tuple(s.detach() for s in state))"
    ),
    "step, h = torch.nn.GRU(6, 5), None\nfor turn in range(2):\n    for x, y in loader:\n        _, h = step(x[None], h)",
    "before = {}\nfor x, y in loader:\n    if 'x' in before:\n        before['x'] + x\n    before['x'] = x",
    "total = 0\nfor x, y in loader:\n    total = total + x.sum(0)\ntorch.as_tensor(total).expand(6).view(2, 3)",
)


@pytest.mark.requires("torch")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [64, 70, 30])
@pytest.mark.parametrize("loader", LOADERS)
def test_what_does_not_fit_the_last_batch_is_found(count: int, loader: str) -> None:
    for loop in LOOPS:
        program = (SETUP.replace("LOADER", loader) + loop + "\n").replace("COUNT", str(count)).replace("SIZE", "32")
        found, failed = bool(errors_of(program)), fails(program)
        known = "Drawn" not in loader and "sampler" not in loader
        assert found == failed if known else not found or failed, program


@pytest.mark.requires("torch")
def test_the_finding_names_the_sizes_of_the_batches() -> None:
    program = (SETUP.replace("LOADER", LOADERS[0]) + LOOPS[0]).replace("COUNT", "70").replace("SIZE", "32")
    (finding,) = errors_of(program)
    assert finding.message.endswith("; the last batch has 6, the others 32")
    assert finding.hint is not None and "drop_last=True" in finding.hint
