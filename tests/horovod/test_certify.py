"""Each result is followed as two ranks: what would block them is refused, what one of them alone reports is warned of."""

from __future__ import annotations

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project
from distml.training.program import followed

from .torch.programs import outcome

LOOP = """\
import logging
import os
import helpers
import torch
import wandb
from torchvision.utils import save_image
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

logger = logging.getLogger("run")
writer = SummaryWriter()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8)
bar = tqdm(loader)
for x, y in bar:
    optimizer.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    optimizer.step()
"""
OF_ONE = [
    'print("largest", x.max().item())',
    'print("largest {}".format(float(x.max())))',
    "logger.info('largest %s', x.abs().sum())",
    "writer.add_scalar('largest', x.max(), 1)",
    "bar.set_postfix(largest=x.max().item())",
    "wandb.log({'largest': x.max()})",
]
OF_ALL = ["print(len(loader))", "print(model.weight)", "writer.add_image('first', x[0])", "save_image(x, 'first.png')"]
BLOCKS = {
    "a condition on the rank": 'if os.environ.get("RANK", "0") == "0":\n        torch.distributed.barrier()',
    "one rank leaves": 'if int(os.environ.get("RANK", "0")):\n        break',
}


@pytest.mark.parametrize("backend", ["horovod", "ddp", "accelerate"])
@pytest.mark.parametrize("line", OF_ONE)
def test_a_number_of_one_rank_is_warned_of_where_it_is_told(line: str, backend: str) -> None:
    found = outcome(f"{LOOP}    {line}\n", backend)  # type: ignore[arg-type]
    assert found.files
    (warning,) = [each for each in found.plan.warnings if each.code == "HVD313"]
    assert warning.node.lineno == len(LOOP.splitlines()) + 1


@pytest.mark.parametrize("line", OF_ALL)
def test_what_is_the_same_or_an_example_is_not(line: str) -> None:
    found = outcome(f"{LOOP}    {line}\n", "ddp")
    assert found.files and not [each for each in found.plan.warnings if each.code == "HVD313"]


@pytest.mark.parametrize("what", BLOCKS)
def test_what_would_block_is_refused(what: str) -> None:
    found = outcome(f"{LOOP}    {BLOCKS[what]}\n", "ddp")
    assert not found.files
    (refusal,) = found.plan.refusals
    assert refusal.code == "HVD215" and "SPM" in refusal.message


def test_modules_beside_the_script_are_followed_too() -> None:
    files = {
        "/nowhere/helpers.py": "def show(x):\n    print('largest', x.max())\n",
        "/nowhere/script.py": f"{LOOP}    helpers.show(x)\n",
    }
    project = Project("/nowhere", overlay={name: text.encode() for name, text in files.items()})
    source = project.open("script.py")
    found = rewrite(followed([source], project), Options("ddp"), list(files), files)
    assert found.files
    assert [each.code for each in found.plan.warnings if each.code == "HVD313"] == ["HVD313"]


def test_a_survey_tells_what_the_result_is_refused_for() -> None:
    text = f"{LOOP}    {BLOCKS['one rank leaves']}\n"
    overlay = {"/nowhere/script.py": text.encode()}
    found = survey(["/nowhere/script.py"], Options(), Project("/nowhere", overlay=overlay), overlay)
    assert [each.code for each in found.outcomes[0].plan.refusals] == ["HVD215"]
    assert not found.outcomes[0].plan.changed
