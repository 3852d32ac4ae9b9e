"""A graph or model with parts on several GPUs of one process is refused, however the GPUs are named."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
{parts}
step = tf.train.AdamOptimizer(0.1).minimize(cost)
data = np.ones([64, 4])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run(step, {{x: data[i * 8 : (i + 1) * 8]}})
"""
DENSE = "tf.reduce_mean(tf.layers.dense(x, 1))"
COST_ON = f"""\
def cost_on(number):
    with tf.device("/gpu:%d" % number):
        return {DENSE}
"""
NET = f"""\
class Net:
    def __init__(self, names=("0", "1")):
        self.names, self.costs = names, []
        for each in self.names:
            with tf.device("/gpu:{{}}".format(each)):
                self.costs.append({DENSE})
        self.cost = tf.add_n(self.costs)
"""
ONE_NET = f"class One:\n    def __init__(self):\n        with tf.device('/gpu:0'):\n            self.cost = {DENSE}\n"
SEVERAL = {
    "by a loop that counts": f"{COST_ON}cost = 0\nfor i in range(2):\n    cost += cost_on(i)",
    "by a comprehension": f"{COST_ON}cost = tf.add_n([cost_on(i) for i in range(2)])",
    "in a constructor": f"{NET}cost = Net().cost",
    "by names": f"names = ['/gpu:0', '/gpu:1']\ncost = 0\nfor name in names:\n    with tf.device(name):\n        cost += {DENSE}",
    "by names from elsewhere": f"cost = 0\nfor name in open('gpus'):\n    with tf.device(name):\n        cost += {DENSE}",
    "by a name in a variable": (
        f"cost = 0\nfor i in range(2):\n    name = '/device:GPU:' + str(i)\n    with tf.device(name):\n        cost += {DENSE}"
    ),
    "by a number": "with tf.device('/gpu:0'):\n    below = tf.layers.dense(x, 4)\nwith tf.device('/gpu:1'):\n"
    "    cost = tf.reduce_mean(tf.layers.dense(below, 1))",
}
ONE = {
    "no device": f"cost = {DENSE}",
    "in a constructor": f"{ONE_NET}cost = One().cost",
    "beside a CPU": f"with tf.device('/cpu:0'):\n    z = x * 2\nwith tf.device('/gpu:0'):\n    cost = {DENSE}",
    "by two spellings": f"with tf.device('/gpu:0'):\n    z = x * 2\nwith tf.device('/device:GPU:0'):\n    cost = {DENSE}",
    "in a loop": f"cost = 0\nfor i in range(2):\n    with tf.device('/gpu:0'):\n        cost += i * {DENSE}",
    "CPUs": f"cost = 0\nfor i in range(2):\n    with tf.device('/cpu:%d' % i):\n        cost += {DENSE}",
}


@pytest.mark.parametrize("parts", SEVERAL)
def test_parts_on_several_gpus_are_refused(parts: str) -> None:
    refused = outcome(PROGRAM.format(parts=SEVERAL[parts])).plan.refusals
    assert [each.code for each in refused] == ["HVD202"]
    assert "among the GPUs of one process" in refused[0].message


@pytest.mark.parametrize("parts", ONE)
def test_one_gpu_is_that_of_the_process(parts: str) -> None:
    found = outcome(PROGRAM.format(parts=ONE[parts]))
    assert not found.plan.refusals and "DistributedOptimizer" in next(iter(found.files.values())).source
