"""Files and folders that a run makes beside its loops: named once for all ranks, and written once."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD
    + """import datetime
import os
import subprocess
import time
import uuid
from datetime import datetime as when
from pathlib import Path

import lmdb
import tensorboard_logger
import visdom


class Cached:
    def __init__(self, path):
        {cached}
        self.data = lmdb.open(path, readonly=True)

    def build(self, path):
        with lmdb.open(path, map_size=1000) as data:
            with data.begin(write=True) as writing:
                writing.put(b"a", b"b")


{before}
viz = visdom.Visdom()
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
window = None
for epoch in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
    {turn}
"""
)
NAMED = {
    "a text of the time": (
        "run = os.path.join('runs', time.strftime('%Y%m%d-%H%M%S'))\nos.makedirs(run)",
        "agreed(time.strftime('%Y%m%d-%H%M%S'))",
    ),
    "a text of now": (
        "run = Path('runs') / when.now().strftime('%Y')\nrun.mkdir(parents=True)",
        "agreed(when.now().strftime('%Y'))",
    ),
    "in a format": (
        "run = 'runs/{:%Y}'.format(datetime.datetime.now())\nos.makedirs(run)",
        "agreed(datetime.datetime.now())",
    ),
    "in a text": ("os.makedirs(f'runs/{time.time()}')", "agreed(time.time())"),
    "of a local time": (
        "run = f'runs/{time.strftime(chr(37), time.localtime())}'\nos.mkdir(run)",
        "agreed(time.strftime(chr(37), time.localtime()))",
    ),
    "a number of its own": ("run = 'runs/' + str(uuid.uuid4())\nos.makedirs(run)", "agreed(uuid.uuid4())"),
}
NAMED |= {
    "the first that is free": (
        "number = 0\nwhile os.path.exists(f'runs/{number}'):\n    number += 1\nos.makedirs(f'runs/{number}')",
        "\nnumber = agreed(number)\n",
    ),
    "the first that a function finds": (
        """\
def free(path):
    number = 1
    while Path(f'{path}{number}').exists():
        number += 1
    return f'{path}{number}'


os.makedirs(free('runs'))""",
        "\n    number = agreed(number)\n",
    ),
    "a longer name": (
        "run = 'run'\nwhile os.path.isdir(run):\n    run = run + '_'\nos.mkdir(run)",
        "\nrun = agreed(run)\n",
    ),
    "how many there are": (
        "run = 'runs/' + str(len(os.listdir('runs')))\nos.makedirs(run)",
        "agreed(len(os.listdir('runs')))",
    ),
}
COMMANDS = {
    "one text": "os.system('cp main.py kept')",
    "a sum": "os.system('cp main.py kept' + '/' + 'a.py')",
    "a format": "os.system('rm -r %s' % 'kept')",
    "a list": "subprocess.run(['mv', 'a', 'b'])",
    "a text that is filled in": "subprocess.call(f'convert {x} out.gif', shell=True)",
}
LEFT = ["os.system('nvidia-smi')", "os.system('unzip data.zip')", "subprocess.run(['mkdir', '-p', 'kept'])"]


def made(before: str = "pass", turn: str = "pass", cached: str = "pass") -> str:
    found = outcome(PROGRAM.replace("{before}", before).replace("{turn}", turn).replace("{cached}", cached), "ddp")
    (file,) = found.files.values()
    return file.source


@pytest.mark.parametrize(("before", "wanted"), NAMED.values(), ids=NAMED)
def test_a_folder_has_one_name_on_all_ranks(before: str, wanted: str) -> None:
    assert wanted in made(before)


def test_a_time_that_names_nothing_stays() -> None:
    assert "agreed(time" not in made("begin = time.time()\nprint(time.strftime('%Y'), time.time() - begin)")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands_that_write_are_run_by_rank_0(command: str) -> None:
    assert f"if dist.get_rank() == 0:\n    {command}" in made(command)


@pytest.mark.parametrize("command", LEFT)
def test_commands_that_all_need_are_run_by_all(command: str) -> None:
    assert f"\n{command}" in made(command)


def test_a_cache_is_built_by_one_process_of_a_machine() -> None:
    after = made("data = Cached('kept')", cached="if not os.path.exists(path):\n            self.build(path)")
    assert "!= 0:\n            dist.barrier()\n        if not os.path.exists(path):" in after
    assert "dist.barrier()\n        self.data = lmdb.open(path, readonly=True)" in after


def test_a_logger_of_events_has_its_folder_on_rank_0() -> None:
    after = made("log = tensorboard_logger.Logger(logdir='runs')")
    assert "logdir='runs' if dist.get_rank() == 0 else tempfile.mkdtemp()" in after


EVENTS = {
    "given on": "class Log(SummaryWriter):\n    def __init__(self, folder):\n        super().__init__({})\n\n\nlog = Log('runs')",
    "by its class": "class Log(SummaryWriter):\n    def __init__(self, folder):\n        super(Log, self).__init__(log_dir={})"
    "\n\n\nlog = Log('runs')",
}


@pytest.mark.parametrize("made_by", EVENTS.values(), ids=EVENTS)
def test_a_class_of_the_programs_records_events_as_the_librarys_does(made_by: str) -> None:
    after = made("from tensorboardX import SummaryWriter\n\n\n" + made_by.format("folder"))
    assert made_by.format("folder if dist.get_rank() == 0 else tempfile.mkdtemp()") in after


@pytest.mark.parametrize("body", ["pass", "def note(self, value):\n        self.add_scalar('a', value)"])
def test_so_does_one_without_a_constructor(body: str) -> None:
    after = made(
        f"from tensorboardX import SummaryWriter\n\n\nclass Log(SummaryWriter):\n    {body}\n\n\nlog = Log('a')"
    )
    assert "Log('a' if dist.get_rank() == 0 else tempfile.mkdtemp())" in after


@pytest.mark.parametrize("writer", ["SummaryWriter(log_dir={})", "open({}, 'w')", "logging.FileHandler({})"])
def test_what_rank_0_alone_opens_needs_no_name_on_the_others(writer: str) -> None:
    path = "'runs/' + time.strftime('%Y')"
    made_of = f"log = {writer.format(path)}\nos.makedirs(log.name)"
    found = outcome(
        PROGRAM.format(
            before=f"import logging\nfrom tensorboardX import SummaryWriter\n{made_of}", turn="pass", cached="pass"
        ),
        "ddp",
    )
    (file,) = found.files.values()
    assert not found.plan.refusals and "agreed(time" not in file.source


def test_a_window_is_drawn_by_rank_0() -> None:
    after = made(turn="window = viz.line(X=[epoch], Y=[epoch], win=window)")
    assert "window = on_rank_zero(viz.line)(X=[epoch]" in after
