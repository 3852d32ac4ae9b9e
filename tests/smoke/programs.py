"""Small training programs as they are and as they should be rewritten; broken twins are made of them by one edit."""

from __future__ import annotations

TORCH_HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
"""
TORCH_DATA = """
numbers = torch.Generator().manual_seed(3)
x = torch.randn(64, 6, generator=numbers)
y = x @ torch.randn(6, 1, generator=numbers) + 0.1
data = TensorDataset(x, y)
"""
TORCH_MODEL = """
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
"""
TORCH_LOOP = """
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
"""

TORCH = f"""{TORCH_HEAD}{TORCH_DATA}
loader = DataLoader(data, batch_size=4, shuffle=True)
{TORCH_MODEL}
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(2):
{TORCH_LOOP}
"""

DDP = f"""{TORCH_HEAD}
import torch.distributed as dist
from torch.utils.data import DistributedSampler
dist.init_process_group("gloo")
{TORCH_DATA}
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=4, sampler=sampler)
{TORCH_MODEL}
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02 * dist.get_world_size(), momentum=0.9)
for epoch in range(2):
    sampler.set_epoch(epoch)
{TORCH_LOOP}
dist.destroy_process_group()
"""

HOROVOD_TORCH = f"""{TORCH_HEAD}
import horovod.torch as hvd
from torch.utils.data import DistributedSampler
hvd.init()
{TORCH_DATA}
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
loader = DataLoader(data, batch_size=4, sampler=sampler)
{TORCH_MODEL}
optimizer = torch.optim.SGD(model.parameters(), lr=0.02 * hvd.size(), momentum=0.9)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
for epoch in range(2):
    sampler.set_epoch(epoch)
{TORCH_LOOP}
"""

ARRAYS = """
random = np.random.RandomState(0)
x = random.randn(64, 6).astype("float32")
y = (x @ random.randn(6, 1)).astype("float32")
"""
KERAS_MODEL = """
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(1),
    ]
)
"""

REBUILDS = """
class Rebuilds(tf.keras.Sequential):
    def train_step(self, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(images - self(images, training=True)))
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return {"loss": loss}


model = Rebuilds([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(6)])
"""

FIT = f"""\
import numpy as np
import tensorflow as tf
{ARRAYS}{KERAS_MODEL}
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
model.fit(x, y, batch_size=4, epochs=2, verbose=2)
"""

HOROVOD_FIT = f"""\
import numpy as np
import tensorflow as tf
import horovod.tensorflow.keras as hvd
hvd.init()
{ARRAYS}{KERAS_MODEL}
optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.01 * hvd.size()))
model.compile(optimizer=optimizer, loss="mse", metrics=["mae"])
x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
callbacks = [
    hvd.callbacks.BroadcastGlobalVariablesCallback(0),
    hvd.callbacks.MetricAverageCallback(),
    hvd.callbacks.LearningRateWarmupCallback(0.01 * hvd.size(), warmup_epochs=1),
]
model.fit(x, y, batch_size=4, epochs=2, verbose=2 * (hvd.rank() == 0), callbacks=callbacks)
"""

TAPE = f"""\
import numpy as np
import tensorflow as tf
{ARRAYS}{KERAS_MODEL}
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(4)
optimizer = tf.keras.optimizers.Adam(0.01)
mean_squared = tf.keras.losses.MeanSquaredError()


@tf.function
def train(a, b):
    with tf.GradientTape() as tape:
        loss = mean_squared(b, model(a, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(2):
    for a, b in batches:
        train(a, b)
"""

HOROVOD_TAPE = f"""\
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd
hvd.init()
{ARRAYS}{KERAS_MODEL}
batches = tf.data.Dataset.from_tensor_slices((x, y)).shard(hvd.size(), hvd.rank()).shuffle(64).batch(4)
optimizer = tf.keras.optimizers.Adam(0.01 * hvd.size())
mean_squared = tf.keras.losses.MeanSquaredError()


@tf.function
def train(a, b):
    with tf.GradientTape() as tape:
        loss = mean_squared(b, model(a, training=True))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


first = True
for epoch in range(2):
    for a, b in batches:
        train(a, b)
        if first:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables, root_rank=0)
            first = False
"""

GRAPH = """
a, b = tf.data.make_one_shot_iterator(batches).get_next()
hidden = tf.layers.dense(a, 16, activation=tf.nn.relu)
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.nn.dropout(hidden, 0.9), 1) - b))
"""

SESSION = f"""\
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
{ARRAYS}
batches = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(4)
{GRAPH}
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(20):
        session.run([train, loss])
"""

HOROVOD_SESSION = f"""\
import numpy as np
import tensorflow.compat.v1 as tf
import horovod.tensorflow as hvd
hvd.init()
tf.disable_eager_execution()
{ARRAYS}
batches = tf.data.Dataset.from_tensor_slices((x, y)).shard(hvd.size(), hvd.rank()).repeat().batch(4)
{GRAPH}
train = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.01 * hvd.size())).minimize(loss)
broadcast = hvd.broadcast_global_variables(0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(broadcast)
    for step in range(20 // hvd.size()):
        session.run([train, loss])
"""

FLOWS = {
    "keras fit": ("tensorflow", FIT, HOROVOD_FIT),
    "tape": ("tensorflow", TAPE, HOROVOD_TAPE),
    "session": ("tensorflow", SESSION, HOROVOD_SESSION),
    "torch": ("torch", TORCH, HOROVOD_TORCH),
}


def edited(text: str, before: str, after: str) -> str:
    """`text` with one edit, which must have something to edit."""
    assert before in text
    return text.replace(before, after)
