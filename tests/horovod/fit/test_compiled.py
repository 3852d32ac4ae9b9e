"""However an optimizer comes to `compile`, its gradients are averaged once, or the program is refused."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

HEAD = """import argparse
import json
import types
import numpy as np
import tensorflow as tf
import tensorflow_addons as tfa
from tensorflow import keras

x, y = np.ones((64, 4)), np.ones((64, 1))
model = keras.Sequential([keras.layers.Dense(1)])
"""
TAIL = "model.fit(x, y)\n"
PARSED = "parser = argparse.ArgumentParser()\nparser.add_argument('--optimizer', default='sgd')\nargs = parser.parse_args()\n"
WAYS = {
    "an option": PARSED + "model.compile(optimizer=args.optimizer, loss='mse')\n",
    "an option of a function": PARSED
    + "def main(options):\n    model.compile(options.optimizer, 'mse')\n\n\nmain(args)\n",
    "an option by getattr": PARSED + "model.compile(getattr(args, 'optimizer'), 'mse')\n",
    "an option that is looked up": PARSED + "model.compile(keras.optimizers.get(args.optimizer), 'mse')\n",
    "an option of other options": PARSED + "model.compile(vars(args)['optimizer'], 'mse')\n",
    "a setting of a file": "settings = json.load(open('settings.json'))\nmodel.compile(settings['optimizer'], 'mse')\n",
    "a setting of a library": "from hydra import compose\ncfg = compose('x')\nmodel.compile(cfg.train.optimizer, 'mse')\n",
    "a flag": "flags = tf.compat.v1.flags\nflags.DEFINE_string('optimizer', 'sgd', '')\nFLAGS = flags.FLAGS\n"
    "model.compile(FLAGS.optimizer, 'mse')\n",
    "an attribute of a namespace": "ns = types.SimpleNamespace(optimizer='adam')\nmodel.compile(ns.optimizer, 'mse')\n",
    "an attribute of an object": "class Settings:\n    optimizer = 'adam'\n\n\nmodel.compile(Settings().optimizer, 'mse')\n",
    "an attribute that is made": "class Trainer:\n    def __init__(self):\n        self.optimizer = keras.optimizers.SGD(0.1)\n"
    "        model.compile(self.optimizer, 'mse')\n\n\nTrainer()\n",
    "a name": "model.compile('sgd', 'mse')\n",
    "the optimizer of the model again": "model.compile('sgd', 'mse')\nmodel.compile(model.optimizer, 'mae')\n",
    "the optimizer of another model": "other = keras.Sequential([keras.layers.Dense(1)])\nother.compile('sgd', 'mse')\n"
    "model.compile(other.optimizer, 'mae')\n",
    "one that is wrapped now and then": "opt = keras.optimizers.SGD(0.1)\n"
    "if len(x) > 8:\n    opt = tfa.optimizers.Lookahead(opt)\n"
    "model.compile(opt, 'mse')\n",
    "one that functions wrap under the same name": "def plain():\n    return keras.optimizers.SGD(0.1)\n\n\n"
    "def kept(optimizer):\n    if len(x) > 8:\n        return tfa.optimizers.MovingAverage(optimizer)\n    return optimizer\n\n\n"
    "def made():\n    optimizer = plain()\n    if len(x) > 4:\n        optimizer = kept(optimizer)\n    return optimizer\n\n\n"
    "model.compile(optimizer=made(), loss='mse')\n",
    "one that is always wrapped": "opt = keras.optimizers.SGD(0.1)\nmodel.compile(tfa.optimizers.SWA(opt), 'mse')\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_gradients_are_averaged(way: str) -> None:
    found = outcome(HEAD + WAYS[way] + TAIL)
    if not found.plan.refusals:
        (file,) = found.files.values()
        assert file.source.count(".DistributedOptimizer(") == 1, file.source


CHOSEN = """\
import numpy as np
import tensorflow as tf

NAME = "sgd"
RATE = 0.1
optimizer = {chosen}
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer, "mse")
model.fit(np.ones((64, 4)), np.ones((64, 1)))
"""
TABLE = '{"adam": tf.keras.optimizers.Adam(RATE), "sgd": tf.keras.optimizers.SGD(RATE)}'


@pytest.mark.parametrize("chosen", [f"{TABLE}[NAME]", f"{TABLE}['sgd']", f"{TABLE}.get(NAME)"])
def test_each_optimizer_that_a_setting_may_choose_is_averaged(chosen: str) -> None:
    (file,) = outcome(CHOSEN.format(chosen=chosen)).files.values()
    text = file.source
    assert text.count("hvd.DistributedOptimizer(") == 2 and text.count("(RATE * hvd.size())") == 2


GIVEN = """\
import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self, model):
        self.model = model
        {compile}

    def train(self, data):
        for i in range(100):
            self.model.train_on_batch(data[np.random.randint(0, 64, 8)], np.ones((8, 1)))
"""
COMPILED = (
    'self.model.compile("adam", "mse")',
    'self.model.compile("adam", loss="mse")',
    'self.model.compile(optimizer="adam", loss="mse")',
    'self.model.compile(tf.keras.optimizers.Adam(), "mse")',
    'model.compile("adam", "mse")',
)


@pytest.mark.parametrize("compiled", COMPILED)
def test_a_model_that_a_class_is_given_averages(compiled: str) -> None:
    (file,) = outcome(GIVEN.format(compile=compiled)).files.values()
    assert "hvd.DistributedOptimizer(tf.keras.optimizers.Adam(" in file.source


@pytest.mark.parametrize("compiled", ["pass", "prepare(self.model)", "self.graph.compile()", "self.step.compile(1)"])
def test_one_of_which_nothing_is_averaged_is_refused(compiled: str) -> None:
    other = "\n\ndef rest(net):\n    net.fit(1, epochs=2)\n\n\nother = compile('1', '', 'eval')\nother.compile()\n"
    found = outcome(GIVEN.format(compile=compiled) + other)
    assert not [*found.files]
    assert {each.code for each in found.plan.refusals} == {"HVD205"}


AGAIN = """\
import numpy as np
import tensorflow as tf

x, y = np.ones((64, 4)), np.ones((64, 1))


class Net:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])

    def compile(self, optimizer="adam"):
        self.model.compile(optimizer, "mse")


net = Net()
{compiled}
net.model.fit(x, y)
"""
COMPILED = {
    "an object, again and again": "opt = tf.keras.optimizers.SGD(0.5)\nfor turn in range(3):\n    net.compile(opt)",
    "a name": 'for turn in range(3):\n    net.compile("sgd")',
    "either": 'opt = tf.keras.optimizers.SGD(0.5)\nnet.compile("sgd")\nnet.compile(opt)\nnet.compile(opt)',
    "made there": "net.compile()\nnet.compile(tf.keras.optimizers.SGD(0.5))\nnet.compile(tf.keras.optimizers.Adam(0.5))",
}


@pytest.mark.parametrize("way", COMPILED)
def test_a_rate_is_scaled_once_however_often_a_model_is_compiled(way: str) -> None:
    found = outcome(AGAIN.format(compiled=COMPILED[way]))
    assert not found.plan.warnings and not found.plan.refusals
    (file,) = found.files.values()
    made = COMPILED[way].count("(0.5)")
    assert file.source.count("(0.5 * hvd.size())") == made
    scaled = "    if isinstance(optimizer, str):\n            optimizer_2.learning_rate = optimizer_2.learning_rate * hvd.size()"
    assert (scaled in file.source) is (made > 0 or "if isinstance" in file.source)
    starred = outcome(
        "from keras.callbacks import *\nfrom keras.optimizers import *\n"
        + AGAIN.format(compiled=COMPILED[way].replace("tf.keras.optimizers.", ""))
    )
    (file,) = starred.files.values()
    assert file.source.count("(0.5 * hvd.size())") == made
    assert file.source.count("hvd.DistributedOptimizer") == 1
