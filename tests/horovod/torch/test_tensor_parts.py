"""Parts of a tensor are dealt out without a warning: all ranks see them in one order, as its order is drawn alike."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD.replace("import torch\n", "import torch\nimport numpy as np\nfrom elsewhere import parts\n", 1)
    + """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    order = torch.randperm(len(x))
    for part in {through}:
        optimizer.zero_grad()
        nn.functional.mse_loss(model({batch}), torch.ones(1)).backward()
        optimizer.step()
"""
)
KNOWN = {
    "x.split(8)": "part",
    "order.split(8)": "x[part]",
    "torch.chunk(x, 4)": "part",
    "torch.stack([x, x]).unbind()": "part",
    "np.array_split(order.numpy(), 4)": "x[part]",
}
UNKNOWN = {"parts(x)": "part", "torch.load('x.pt').split(8)": "part"}


@pytest.mark.parametrize("through", KNOWN)
def test_parts_of_tensors_need_no_warning(through: str) -> None:
    found = outcome(PROGRAM.format(through=through, batch=KNOWN[through]), "ddp")
    (file,) = found.files.values()
    assert not found.plan.warnings and "part[dist.get_rank()] for part in zip(" in file.source


@pytest.mark.parametrize("through", UNKNOWN)
def test_what_nobody_knows_does(through: str) -> None:
    found = outcome(PROGRAM.format(through=through, batch=UNKNOWN[through]), "ddp")
    assert [each.code for each in found.plan.warnings] == ["HVD302"]
