"""Scripts that other scripts import are programs too."""

from __future__ import annotations

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project

TRAIN = """import torch


class Net(torch.nn.Linear):
    pass


def train():
    net = Net(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader([(torch.ones(4), torch.ones(1))] * 8):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
"""
TRY = """import torch
from train import Net

if __name__ == "__main__":
    data = torch.utils.data.DataLoader([torch.ones(4)] * 8)
    print([Net(4, 1)(x) for x in data])
"""


def test_a_script_that_only_tries_the_model_hides_no_training() -> None:
    texts = {"/nowhere/train.py": TRAIN.encode(), "/nowhere/attempt.py": TRY.encode()}
    project = Project("/nowhere", overlay=texts)
    found = survey([*texts], Options(), project, texts, texts=False)
    changed = {location for outcome in found.outcomes for location in outcome.plan.changed}
    assert changed == {"/nowhere/train.py"}


STEPS = """import torch


class Net(torch.nn.Linear):
    def trainer(self, optimizer):
        def train(x, y):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(self(x), y).backward()
            optimizer.step()

        return train

"""
DATA = """import torch


def load(path):
    print("loading", path)
    return [(torch.ones(4), torch.ones(1))] * 8
"""
STEPPED = """import torch
from data import load
from steps import Net

net = Net(4, 1)
train = net.trainer(torch.optim.SGD(net.parameters(), lr=0.1))
for x, y in torch.utils.data.DataLoader(load("a")):
    train(x, y)
"""
LOOKED = """from data import load
from steps import Net

net = Net(4, 1)
print([net(x) for x, _ in load("a")])
"""


def test_a_script_that_only_uses_what_trains_goes_on_alone() -> None:
    programs = {"steps": STEPS, "data": DATA, "train": STEPPED, "look": LOOKED}
    texts = {f"/nowhere/{name}.py": text.encode() for name, text in programs.items()}
    found = survey([*texts], Options(backend="ddp"), Project("/nowhere", overlay=texts), texts)
    changed = {location: file.source for outcome in found.outcomes for location, file in outcome.files.items()}
    assert {*changed} == {*texts} - {"/nowhere/look.py"}
    assert 'if os.environ.get("RANK", "0") == "0":\n        print' in changed["/nowhere/data.py"]
    assert "init_process_group" not in changed["/nowhere/data.py"] + changed["/nowhere/steps.py"]


MODEL = """from tensorflow.keras import Sequential, layers


def build():
    return Sequential([layers.Dense(1)])
"""
FIT = """import numpy as np
from made import build

network = build()
network.compile("sgd", "mse")
for start in range(0, 64, 8):
    network.train_on_batch(np.ones((8, 4)), np.ones((8, 1)))
"""


def test_a_script_trains_what_it_imports_without_naming_the_framework() -> None:
    texts = {"/nowhere/made.py": MODEL.encode(), "/nowhere/start.py": FIT.encode()}
    found = survey([*texts], Options(), Project("/nowhere", overlay=texts), texts, texts=False)
    assert {location for outcome in found.outcomes for location in outcome.plan.changed} == {"/nowhere/start.py"}


def test_a_script_that_imports_no_framework_is_left_alone() -> None:
    texts = {"/nowhere/made.py": b"def build():\n    return 1\n", "/nowhere/start.py": FIT.encode()}
    found = survey([*texts], Options(), Project("/nowhere", overlay=texts), texts, texts=False)
    assert not found.outcomes and found.skipped == 2


GRAPH = """import tensorflow as tf


class Net:
    def __init__(self, rate):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.out = tf.layers.dense(self.x, 1)
        self.cost = tf.reduce_mean(self.out)
        self.update = tf.train.AdamOptimizer(rate).minimize(self.cost)

    def step(self, session, data, train=False):
        return session.run([self.cost, self.update] if train else [self.cost], {self.x: data})

    def predict(self, session, data):
        return session.run(self.out, {self.x: data})
"""
SESSION = """import numpy as np
import tensorflow as tf
from net import Net

data = np.ones([64, 4])
with tf.Session() as session:
    net = Net(0.1)
    session.run(tf.global_variables_initializer())
    for i in range(8):
        {step}
"""
IN_CONSTRUCTOR = """import numpy as np
import tensorflow as tf
from net import Net


class Trainer:
    def __init__(self):
        with tf.Session() as session:
            net = Net(0.1)
            session.run(tf.global_variables_initializer())
            for i in range(8):
                net.step(session, np.ones([8, 4]), train=True)


Trainer()
"""


def test_a_script_that_only_evaluates_a_graph_goes_on_alone() -> None:
    trains = SESSION.format(step="net.step(session, data[i * 8 : i * 8 + 8], train=True)")
    evaluates = SESSION.format(step="print(net.predict(session, data[i * 8 : i * 8 + 8]))")
    for script in (trains, IN_CONSTRUCTOR):
        texts = {"net.py": GRAPH, "train.py": script, "predict.py": evaluates}
        overlay = {f"/nowhere/{name}": text.encode() for name, text in texts.items()}
        found = survey([*overlay], Options(), Project("/nowhere", overlay=overlay), overlay, texts=False)
        changed = {location for outcome in found.outcomes for location in outcome.plan.changed}
        assert changed == {"/nowhere/train.py", "/nowhere/net.py"}


GPUS = """import torch
from train import Net, train

if __name__ == "__main__":
    torch.distributed.init_process_group("nccl")
    train()
"""
KERAS = """import numpy as np
from tensorflow import keras


def made():
    net = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
    net.compile("sgd", "mse")
    return net


def train(net):
    net.fit(np.ones((64, 4)), np.ones((64, 1)))


if __name__ == "__main__":
    train(made())
"""
TOWERS = """import numpy as np
from tensorflow import keras
from train import made

if __name__ == "__main__":
    net = keras.utils.multi_gpu_model(made(), gpus=2)
    net.compile("sgd", "mse")
    net.fit(np.ones((64, 4)), np.ones((64, 1)))
"""


@pytest.mark.parametrize(("script", "other"), [(TRAIN, GPUS), (KERAS, TOWERS)])
def test_what_is_refused_of_one_script_hides_no_training_of_another(script: str, other: str) -> None:
    texts = {"/nowhere/train.py": script.encode(), "/nowhere/several.py": other.encode()}
    project = Project("/nowhere", overlay=texts)
    found = survey([*texts], Options(), project, texts, texts=False)
    changed = {location for outcome in found.outcomes for location in outcome.plan.changed}
    assert changed == {"/nowhere/train.py"}
    assert [each.code for outcome in found.outcomes for each in outcome.plan.refusals] == ["HVD201"]
