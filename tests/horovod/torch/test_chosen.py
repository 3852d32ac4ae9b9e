"""How many samples of a batch something holds for is each rank's own: a step that hangs on it is taken by all ranks, or by none.

Sizes that no data decides stay as they are written.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, Backend, outcome

PROGRAM = (
    HEAD
    + """import numpy as np

loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for a, b in loader:
        apart = (model(a) - b).abs().flatten()
        kept = {kept}
        if {asked}:
            continue
        loss = ((model(a) - b) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
)
BY_DATA = {
    "where": "np.where(apart.detach().numpy() < 0.5)[0]",
    "where of a variable": "np.where((apart < 0.5).numpy() == 1)[0]",
    "where of torch": "torch.where(apart < 0.5)[0]",
    "nonzero": "(apart < 0.5).nonzero()",
    "argwhere": "torch.argwhere(apart < 0.5)",
    "a mask": "apart[apart < 0.5]",
    "a mask by name": "apart[small]",
    "masked_select": "torch.masked_select(apart, apart < 0.5)",
    "unique": "torch.unique(b.long())",
    "filter": "list(filter(lambda each: each < 0.5, apart))",
    "a comprehension": "[each for each in apart if each < 0.5]",
}
BY_SIZE = {
    "the batch": "apart",
    "a part": "apart[:4]",
    "two by two": "apart.reshape(-1, 2)",
    "one of two": "torch.where(apart < 0.5, apart, 0.5)",
    "all of them": "[each for each in apart]",
    "of a list": "[n for n in range(9) if n % 2]",
}
ASKED = ["len(kept) == 0", "not len(kept)", "len(kept) < 2", "kept.shape[0] == 0", "kept.size(0) == 0"]


def condition(kept: str, asked: str, backend: Backend) -> str:
    small = "        small = apart < 0.5\n        kept ="
    text = PROGRAM.format(kept=kept, asked=asked).replace("        kept =", small)
    (made,) = outcome(text, backend).files.values()
    return next(line.strip() for line in made.source.splitlines() if line.endswith(":") and asked in line)


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("way", BY_DATA)
def test_what_data_decides_is_asked_of_all(way: str, asked: str, backend: Backend) -> None:
    all_asked = {"ddp": f"any_rank({asked})", "horovod": f"any(hvd.allgather_object(bool({asked})))"}
    assert condition(BY_DATA[way], asked, backend) == f"if {all_asked[backend]}:"


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("way", BY_SIZE)
def test_what_none_decides_is_not(way: str, asked: str) -> None:
    assert condition(BY_SIZE[way], asked, "ddp") == f"if {asked}:"
