"""Horovod, first hundred: training loops of a single process that can be made distributed."""

from distml.diagnostics.rule import Rule, Severity


class GradientTapeLoop(Rule):
    """A TensorFlow 2 `GradientTape` loop runs in a single process and can be distributed.

    ## What it finds
    A training loop in which the gradients of a `tf.GradientTape` reach an optimizer's `apply_gradients`, in a
    program that does not use several processes. `distml horovod --diff` shows the change, `--write` applies it.

    ## Why it matters
    The program uses one GPU, however many the machine has. When it is distributed by hand, the initial broadcast,
    the sharding of the data and the number of steps are easy to get wrong, and none of these mistakes raises an
    error.

    ## Example
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    data = tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8)

    for x, y in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Instead
    ```py
    import tensorflow as tf
    import horovod.tensorflow as hvd

    hvd.init()

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01 * hvd.size())
    data = tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).shard(hvd.size(), hvd.rank()).batch(8)

    for batch, (x, y) in enumerate(data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        if batch == 0:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables, root_rank=0)
    ```
    """

    code = "HVD101"
    name = "gradient-tape-loop"
    severity = Severity.WARNING


class KerasFit(Rule):
    """A Keras model is trained in a single process and training can be distributed.

    ## What it finds
    A compiled model trained with `fit`, `fit_generator` or `train_on_batch`, in a program that does not use several
    processes. `distml horovod --diff` shows the change, `--write` applies it.

    ## Why it matters
    The program uses one GPU, however many the machine has. When it is distributed by hand, callbacks are easy to
    put on the wrong ranks: a callback that stops training on rank 0 only leaves all other ranks deadlocked.

    ## Example
    ```py
    import numpy as np
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]), epochs=2)
    ```

    ## Instead
    ```py
    import numpy as np
    import tensorflow as tf
    from tensorflow import keras
    import horovod.tensorflow.keras as hvd

    hvd.init()

    model = keras.Sequential([keras.layers.Dense(1)])
    optimizer = hvd.DistributedOptimizer(keras.optimizers.Adam(0.001 * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    model.fit(
        np.ones([64, 4])[hvd.rank() :: hvd.size()],
        np.ones([64, 1])[hvd.rank() :: hvd.size()],
        epochs=2,
        callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)],
        verbose=1 if hvd.rank() == 0 else 0,
    )
    ```
    """

    code = "HVD102"
    name = "keras-fit"
    severity = Severity.WARNING


class SessionLoop(Rule):
    """A TensorFlow 1 session trains in a single process and training can be distributed.

    ## What it finds
    A `tf.Session` that runs the training operation of a `tf.train` optimizer, in a program that does not use
    several processes. `distml horovod --diff` shows the change, `--write` applies it.

    ## Why it matters
    The program uses one GPU, however many the machine has. Without a broadcast after the initializer every process
    trains different weights, and no error is raised.

    ## Example
    ```py
    import numpy as np
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(100):
            session.run(step, feed_dict={x: np.random.rand(8, 4)})
    ```

    ## Instead
    ```py
    import numpy as np
    import tensorflow.compat.v1 as tf
    import horovod.tensorflow as hvd

    hvd.init()
    tf.disable_v2_behavior()
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
    step = optimizer.minimize(loss)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(hvd.broadcast_global_variables(0))
        for _ in range(100 // hvd.size()):
            session.run(step, feed_dict={x: np.random.rand(8, 4)})
    ```
    """

    code = "HVD103"
    name = "session-loop"
    severity = Severity.WARNING


class MonitoredSessionLoop(Rule):
    """A `MonitoredTrainingSession` trains in a single process and training can be distributed.

    ## What it finds
    A `tf.train.MonitoredTrainingSession` that runs the training operation of an optimizer, in a program that does
    not use several processes. `distml horovod --diff` shows the change, `--write` applies it.

    ## Why it matters
    The program uses one GPU, however many the machine has. When it is distributed by hand, all processes easily end
    up writing checkpoints to the same folder.

    ## Example
    ```py
    import numpy as np
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    count = tf.train.get_or_create_global_step()
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=count)

    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=100)]) as session:
        while not session.should_stop():
            session.run(step, feed_dict={x: np.random.rand(8, 4)})
    ```

    ## Instead
    ```py
    import numpy as np
    import tensorflow.compat.v1 as tf
    import horovod.tensorflow as hvd

    hvd.init()
    tf.disable_v2_behavior()
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    count = tf.train.get_or_create_global_step()
    optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
    step = optimizer.minimize(loss, global_step=count)

    hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=100 // hvd.size())]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(step, feed_dict={x: np.random.rand(8, 4)})
    ```
    """

    code = "HVD104"
    name = "monitored-session-loop"
    severity = Severity.WARNING


class EstimatorTraining(Rule):
    """A `tf.estimator.Estimator` trains in a single process and training can be distributed.

    ## What it finds
    An Estimator whose `train` or `train_and_evaluate` is called, in a program that does not use several processes.
    `distml horovod --diff` shows the change, `--write` applies it.

    ## Why it matters
    The program uses one GPU, however many the machine has. The optimizer is created inside the `model_fn` and every
    process writes checkpoints: both must change together.

    ## Example
    ```py
    import tensorflow.compat.v1 as tf


    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.square(tf.layers.dense(features["x"], 1)))
        step = tf.train.AdamOptimizer(0.001).minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({"x": tf.ones([64, 4])}, tf.ones([64, 1]))).repeat().batch(8)


    tf.estimator.Estimator(model_fn, model_dir="run").train(input_fn, steps=100)
    ```

    ## Instead
    ```py
    import tensorflow.compat.v1 as tf
    import horovod.tensorflow as hvd

    hvd.init()


    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.square(tf.layers.dense(features["x"], 1)))
        optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001 * hvd.size()))
        step = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


    def input_fn():
        data = tf.data.Dataset.from_tensor_slices(({"x": tf.ones([64, 4])}, tf.ones([64, 1])))
        return data.shard(hvd.size(), hvd.rank()).repeat().batch(8)


    model = tf.estimator.Estimator(model_fn, model_dir="run" if hvd.rank() == 0 else None)
    model.train(input_fn, steps=100 // hvd.size(), hooks=[hvd.BroadcastGlobalVariablesHook(0)])
    ```
    """

    code = "HVD105"
    name = "estimator-training"
    severity = Severity.WARNING


class PyTorchLoop(Rule):
    """A PyTorch training loop runs in a single process and can be distributed.

    ## What it finds
    A loop in which `backward` computes gradients and a `torch.optim` optimizer steps, in a program that does not
    use several processes. `distml horovod --diff` shows the change, `--write` applies it; `--backend ddp` uses
    `torch.distributed` instead of Horovod, `--backend accelerate` Hugging Face accelerate.

    ## Why it matters
    The program uses one GPU, however many the machine has. When it is distributed by hand, a sampler without
    `set_epoch` repeats the same order in every epoch, and a metric that differs between ranks lets one rank leave
    the loop before the others.

    ## Example
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8, shuffle=True)

    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    ```

    ## Instead
    ```py
    import torch
    import horovod.torch as hvd
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    hvd.init()

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size())
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    data = TensorDataset(torch.ones(64, 4), torch.ones(64, 1))
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
    loader = DataLoader(data, batch_size=8, sampler=sampler)

    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    ```
    """

    code = "HVD106"
    name = "pytorch-loop"
    severity = Severity.WARNING
