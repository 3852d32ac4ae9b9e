"""What modules hold beside what a program uses is left as it is."""

from __future__ import annotations

import ast

import pytest
from horovod.torch.programs import rewritten_files

from distml.rewrites.horovod.options import Backend, Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program
from distml.training.syntax import nodes_in

SCRIPT = """import torch
from tools import Log, save
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = Log("log.csv")
for x, y in torch.utils.data.DataLoader([(torch.ones(4), torch.ones(1))] * 8):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    save(model)
"""
TOOLS = """import csv
import torch
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
def parts(folder):
    write(folder, "a")
def prepared(folder):
    parts(folder)
    torch.save(folder, "prepared.pt")
def save(model):
    torch.save(model.state_dict(), "model.pt")
class Log:
    def __init__(self, path):
        self.file = open(path + ".txt", "w")
        self.table = csv.writer(self.file)
        self.table.writerow(["loss"])
if __name__ == "__main__":
    print("tools")
"""


def test_functions_that_nothing_names_read_nothing() -> None:
    tools = TOOLS.replace(
        "def save(model):", "def again(path):\n    return open(path + '.txt').read()\n\n\ndef save(model):"
    )
    after = rewritten_files({"run.py": SCRIPT, "tools.py": tools}, "horovod")["tools.py"]
    assert 'open((path + ".txt") if not hvd.is_initialized() or hvd.rank() == 0 else os.devnull, "w")' in after


def test_functions_that_nothing_names_are_left_alone() -> None:
    texts = {"/nowhere/run.py": SCRIPT, "/nowhere/tools.py": TOOLS}
    project = Project("/nowhere", overlay={path: text.encode() for path, text in texts.items()})
    program = Program([project.open("run.py")], project)
    after = rewrite(program, Options(), texts, texts).files["/nowhere/tools.py"].source
    assert 'with open(path, "w") as file:' in after
    assert '    parts(folder)\n    torch.save(folder, "prepared.pt")' in after
    assert (
        '    if not hvd.is_initialized() or hvd.rank() == 0:\n        torch.save(model.state_dict(), "model.pt")'
        in after
    )
    assert 'open((path + ".txt") if not hvd.is_initialized() or hvd.rank() == 0 else os.devnull, "w")' in after
    assert '        self.table.writerow(["loss"])' in after
    assert after.endswith('    print("tools")\n')


PREPARES = """import os
import urllib.request
import torch


def load():
    {load}


if __name__ == "__main__":
    {guarded}
"""
DOWNLOAD = 'urllib.request.urlretrieve("a", "b")'
MISSING = f'if not os.path.exists("b"):\n        {DOWNLOAD}'
ALONE = {
    "a download": DOWNLOAD,
    "a download of what is missing": MISSING,
    "a model": 'torch.hub.load("a", "b")',
    "a file": 'if not os.path.exists("b"):\n        torch.save([1], "b")\n    torch.load("b")',
    "a file that is opened": 'with open("b", "w") as file:\n        file.write("a")',
    "a folder": 'os.mkdir("b")',
    "a line": 'print("a")',
}


@pytest.mark.parametrize("backend", ["horovod", "ddp", "accelerate"])
@pytest.mark.parametrize("what", ALONE)
def test_what_only_a_script_does_is_left_alone(what: str, backend: Backend) -> None:
    """Files that a script imports hold scripts of their own: what these do is no part of the program."""
    script = SCRIPT.replace("from tools import Log, save", "from tools import load").replace(
        'log = Log("log.csv")', "load()"
    )
    before = PREPARES.format(load=MISSING, guarded=ALONE[what])
    after = rewritten_files({"run.py": script.replace("    save(model)\n", ""), "tools.py": before}, backend)
    guard = 'if __name__ == "__main__":\n'
    assert after.get("tools.py", before).partition(guard)[2] == before.partition(guard)[2]


def test_what_a_module_does_where_it_is_no_script_runs() -> None:
    tools = TOOLS.replace('    print("tools")\n', '    print("tools")\nelse:\n    print("imported")\n')
    texts = {"/nowhere/run.py": SCRIPT, "/nowhere/tools.py": tools}
    project = Project("/nowhere", overlay={path: text.encode() for path, text in texts.items()})
    program = Program([project.open("run.py")], project)
    shown = {
        ast.unparse(each): each not in program.idle
        for unit in program.units.values()
        for each in nodes_in(unit.tree, ast.Call)
        if ast.unparse(each.func) == "print"
    }
    assert shown == {"print('tools')": False, "print('imported')": True}


TENSORFLOW = """import tensorflow as tf
from tools import batches, session

x = tf.placeholder(tf.float32, [None, 8])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 8) - x))
step = tf.train.AdamOptimizer(0.01).minimize(loss)


def main():
    with session() as sess:
        sess.run(tf.global_variables_initializer())
        for batch in batches():
            sess.run(step, {x: batch})


if __name__ == "__main__":
    main()
"""
KERAS = """import tensorflow as tf
from tools import batches, session

model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
model.compile("adam", "mse")
for batch in batches():
    model.fit(batch, batch)
"""
USED = """import os
import numpy as np
import tensorflow as tf


def session():
    return tf.Session()


def batches():
    print("batches")
    for _ in range(100):
        yield np.ones([8, 8])


"""
OF_ITS_OWN = {
    "a session": "    with tf.Session() as sess:\n        print(sess.run(tf.constant(1)))\n",
    "variables": "    sess = tf.Session()\n    sess.run(tf.global_variables_initializer())\n",
    "a tensor": "    print(tf.constant(1))\n",
    "a model": "    print(tf.keras.Sequential([tf.keras.layers.Dense(1)])(tf.ones([1, 1])))\n",
    "a choice of devices": '    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    print(tf.constant(1))\n',
    "a session of a function with the script's name": "    main()\n",
}
MAIN = "def main():\n    with tf.Session() as sess:\n        sess.run(tf.global_variables_initializer())\n\n\n"


@pytest.mark.parametrize("script", [TENSORFLOW, KERAS], ids=["session", "Keras"])
@pytest.mark.parametrize("what", OF_ITS_OWN)
def test_what_only_a_script_does_starts_nothing(what: str, script: str) -> None:
    """A module that is tried out under its `__main__` guard neither starts Horovod where it is imported, nor has that changed."""
    guarded = f'{MAIN}if __name__ == "__main__":\n{OF_ITS_OWN[what]}'
    after = rewritten_files({"run.py": script, "tools.py": USED + guarded}, "horovod")["tools.py"]
    assert after.endswith(guarded)
    assert "\nhvd.init()" not in after


OLDER = """
def older(net, data, opt):
    for x, y in data:
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        print("older", loss.item())
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), "older.pt")


class Older:
    def train(self):
        torch.save(model.state_dict(), "oldest.pt")


"""
TRAINS = """import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([(torch.ones(4), torch.ones(1))] * 8)
{older}{script}"""
SCRIPT_OF_ITS_OWN = """for x, y in loader:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
"""
NAMED = {
    "called": "older(model, loader, optimizer)\n",
    "handed on": "import runner\nrunner.run(older)\n",
    "looked up": "globals()['older'](model, loader, optimizer)\n",
    "in a table": "WAYS = {'older': older}\n",
}


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
def test_what_nothing_names_in_a_script_is_no_part_of_it(backend: Backend) -> None:
    """The rest becomes what it would be alone."""
    whole = rewritten_files({"run.py": TRAINS.format(older=OLDER, script=SCRIPT_OF_ITS_OWN)}, backend)["run.py"]
    alone = rewritten_files({"run.py": TRAINS.format(older="", script=SCRIPT_OF_ITS_OWN)}, backend)["run.py"]
    assert OLDER.strip() in whole
    assert [each for each in whole.replace(OLDER, "").split("\n") if each] == [
        each for each in alone.split("\n") if each
    ]


@pytest.mark.parametrize("way", NAMED)
def test_what_something_names_is(way: str) -> None:
    text = TRAINS.format(older=OLDER, script=SCRIPT_OF_ITS_OWN + NAMED[way])
    after = rewritten_files({"run.py": text})["run.py"]
    assert "    if dist.get_rank() == 0:\n        torch.save(net." in after
    assert ('    def train(self):\n        torch.save(model.state_dict(), "oldest.pt")' in after) is (
        way != "looked up"
    )


def test_a_script_that_trains_nothing_itself_is_there_for_others() -> None:
    """All that it defines counts."""
    script = "def train():\n" + "".join(f"    {line}\n" for line in SCRIPT_OF_ITS_OWN.splitlines())
    (after,) = rewritten_files({"run.py": TRAINS.format(older="", script=script)}).values()
    assert "set_epoch" in after or "DistributedSampler" in after
    assert "if dist.get_rank() == 0:\n        torch.save(" in after


MODELS = """import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        print("a net")
    def forward(self, x):
        return self.one(x) if x.sum() > 3 else self.two(x)
"""
LOOKED_UP = {
    "getattr": "getattr(models, sys.argv[1])()",
    "by its dictionary": "models.__dict__[sys.argv[1]]()",
    "by a dotted name": "make('models.Net')",
    "imported": "importlib.import_module(sys.argv[1]).make()",
    "by hydra": "hydra.utils.instantiate(sys.argv[1])",
    "not": "torch.nn.Linear(4, 1)",
}


@pytest.mark.parametrize("way", LOOKED_UP)
def test_classes_that_are_looked_up_are_named(way: str) -> None:
    text = TRAINS.format(older="", script=SCRIPT_OF_ITS_OWN).replace("torch.nn.Linear(4, 1)", LOOKED_UP[way])
    head = "import sys, importlib\nimport hydra\nimport models\nfrom store import make\n"
    after = rewritten_files({"run.py": head + text, "models.py": MODELS})
    assert ("models.py" in after) is (way != "not")


TOOLS_UNDER_A_STAR = "def test():\n    print('a test')\n\n\ndef helper():\n    pass\n"
STARS = {
    "a function of the script": ("", "def test():\n    return 1\n\n\ntest()\n", False),
    "a variable": ("", "test = 3\nprint(test)\n", False),
    "a parameter": ("", "def show(test):\n    return test\n\n\nshow(1)\n", False),
    "a local variable": ("", "def show():\n    test = 1\n    return test\n\n\nshow()\n", False),
    "a variable of a loop": ("", "for test in range(2):\n    print(test)\n", False),
    "a name of an import": ("", "from elsewhere import other as test\ntest()\n", False),
    "what the star gives": ("", "test()\n", True),
    "what the star gives to a function": ("", "def show():\n    test()\n\n\nshow()\n", True),
    "by its own import": ("from tools import test\n", "test()\n", True),
    "by another name": ("from tools import test as check\n", "check()\n", True),
    "handed on": ("", "import runner\nrunner.run(test)\n", True),
}


@pytest.mark.parametrize("row", STARS)
def test_names_under_a_star_are_those_of_the_scope_that_binds_them(row: str) -> None:
    """`from tools import *` gives a script only what no scope of its own binds."""
    imported, more, used = STARS[row]
    text = f"from tools import *\n{imported}" + TRAINS.format(older="", script=SCRIPT_OF_ITS_OWN + more)
    after = rewritten_files({"run.py": text, "tools.py": TOOLS_UNDER_A_STAR})
    assert ("tools.py" in after) is used
