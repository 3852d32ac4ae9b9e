"""Programs that place parts of themselves on several GPUs are refused, whatever names these (HVD202)."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=8, shuffle=True)
devices = ["cuda:0", "cuda:1"]
{made}
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        {used}.mean().backward()
        optimizer.step()
"""
USED = "model(x.to(next(model.parameters()).device))"
TOWERS = {
    "a text": ('towers = [nn.Linear(4, 1).to(f"cuda:{i}") for i in range(2)]\nmodel = towers[0]', USED),
    "a text of old": ('towers = [nn.Linear(4, 1).to("cuda:%d" % i) for i in range(2)]\nmodel = towers[0]', USED),
    "a number": ("towers = [nn.Linear(4, 1).cuda(i) for i in range(2)]\nmodel = towers[0]", USED),
    "a device": (
        """towers = []
for i in range(2):
    device = torch.device("cuda:{}".format(i))
    towers.append(nn.Linear(4, 1).to(device))
model = towers[0]""",
        USED,
    ),
    "a keyword": ('weights = [torch.ones(4, device=f"cuda:{i}") for i in range(2)]\nmodel = nn.Linear(4, 1)', USED),
    "a list": (
        "towers = []\nfor device in devices:\n    towers.append(nn.Linear(4, 1).to(device))\nmodel = towers[0]",
        USED,
    ),
    "copies": (
        "model = nn.Linear(4, 1).cuda()",
        "nn.parallel.gather(nn.parallel.parallel_apply(nn.parallel.replicate(model, [0, 1]), nn.parallel.scatter(x, [0, 1])), 0)",
    ),
}
ONE = {
    "one device": 'device = torch.device("cuda:0")\nfor kind in (torch.double, torch.float):\n'
    "    model = nn.Linear(4, 1).to(kind).to(device)",
    "what GPUs there are": "model = nn.Linear(4, 1).cuda()\nfor i in range(torch.cuda.device_count()):\n"
    "    name = torch.cuda.get_device_name(i)",
}


@pytest.mark.parametrize("towers", TOWERS)
def test_parts_on_several_gpus_are_refused(towers: str) -> None:
    made, used = TOWERS[towers]
    refused = outcome(PROGRAM.format(made=made, used=used)).plan.refusals
    assert [each.code for each in refused] == ["HVD202"]


@pytest.mark.parametrize("one", ONE)
def test_one_gpu_is_not(one: str) -> None:
    assert not outcome(PROGRAM.format(made=ONE[one], used=USED)).plan.refusals
