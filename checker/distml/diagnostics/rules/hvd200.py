"""Horovod, second hundred: why a program is left as it is."""

from distml.diagnostics.rule import Rule, Severity


class AlreadyDistributed(Rule):
    """The program is already distributed.

    ## What it finds
    A program that imports Horovod or another library for distributed training, or uses `torch.distributed`,
    `tf.distribute` or similar. This is not an error, and `distml horovod --check` does not report it.

    ## Why it matters
    Distributing it twice would average gradients twice and shard the data twice.

    ## Example
    ```py
    import torch
    import horovod.torch as hvd

    hvd.init()
    model = torch.nn.Linear(4, 1)
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))

    for _ in range(10):
        optimizer.zero_grad()
        model(torch.ones(8, 4)).sum().backward()
        optimizer.step()
    ```

    ## Instead
    Nothing needs to be done. To switch to another library, remove the current one first.
    """

    code = "HVD201"
    name = "already-distributed"
    severity = Severity.WARNING


class OtherTrainer(Rule):
    """Training is done by a library that handles several processes itself.

    ## What it finds
    The `Trainer` of Lightning or Transformers, an `Accelerator`, a fastai `Learner` and similar. With `--backend ddp`
    or `accelerate`, which are for PyTorch, also a loop of TensorFlow or Keras; and a program that uses several GPUs in
    one process. This is not an error, and `distml horovod --check` does not report it.

    ## Why it matters
    The program has no training loop to rewrite, and these libraries are distributed by an argument. A process that is
    started several times has one GPU.

    ## Example
    ```py
    import torch
    import lightning


    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, number):
            return self.layer(batch).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)


    lightning.Trainer(max_epochs=2).fit(Model(), torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=8))
    ```

    ## Instead
    Tell the library how many devices to use: `lightning.Trainer(max_epochs=2, devices=4, strategy="ddp")`.
    """

    code = "HVD202"
    name = "other-trainer"
    severity = Severity.WARNING


class OtherFile(Rule):
    """The rewrite needs to change a file that is not among the given paths.

    ## What it finds
    A training loop whose optimizer, data or model is created in a module that was not given to `distml horovod`.

    ## Why it matters
    A partial rewrite breaks the program, and files that were not given are never written.

    ## Example
    `train.py` imports `make_optimizer` from `parts.py`, and only `train.py` is given:

    ```
    distml horovod train.py --diff
    ```

    ## Instead
    ```
    distml horovod train.py parts.py --diff
    ```
    """

    code = "HVD207"
    name = "other-file"
    severity = Severity.WARNING


class ManualUpdate(Rule):
    """Variables are updated by hand, without an optimizer.

    ## What it finds
    A training step that subtracts gradients from variables itself, or passes them to an optimizer that is defined
    in the program.

    ## Why it matters
    Ranks average the gradients that an optimizer applies. In a manual update the gradients cannot be identified.

    ## Example
    ```py
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0])
    for x in tf.data.Dataset.range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * tf.cast(x, tf.float32))
        w.assign_sub(0.1 * tape.gradient(loss, w))
    ```

    ## Instead
    ```py
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x in tf.data.Dataset.range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * tf.cast(x, tf.float32))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    ```
    """

    code = "HVD203"
    name = "manual-update"
    severity = Severity.WARNING


class GradientNotFollowed(Rule):
    """Cannot determine which tape computed the gradients of an update.

    ## What it finds
    `apply_gradients` whose gradients pass through a library or a data structure that cannot be followed.

    ## Why it matters
    The tape must be wrapped so that it averages gradients over all ranks. If the wrong tape or none is wrapped, the
    models of the ranks diverge.

    ## Example
    ```py
    import pickle
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x in tf.data.Dataset.range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * tf.cast(x, tf.float32))
        pickle.dump(tape.gradient(loss, w).numpy(), open("gradient", "wb"))
        optimizer.apply_gradients([(pickle.load(open("gradient", "rb")), w)])
    ```

    ## Instead
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)

    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.ones([8, 4])) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```
    """

    code = "HVD209"
    name = "gradient-not-followed"
    severity = Severity.WARNING


class ClosureOptimizer(Rule):
    """The optimizer decides when gradients are computed.

    ## What it finds
    `optimizer.step(closure)`, as LBFGS needs it.

    ## Why it matters
    The optimizer calls the closure as often as its own loss requires. Ranks with different data would compute
    gradients a different number of times, and deadlock.

    ## Example
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.LBFGS(model.parameters())
    loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8, shuffle=True)

    for x, y in loader:

        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
    ```

    ## Instead
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8, shuffle=True)

    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    ```
    """

    code = "HVD204"
    name = "closure-optimizer"
    severity = Severity.WARNING


class OptimizerNotVisible(Rule):
    """Cannot determine where the optimizer of a training loop is created.

    ## What it finds
    A step of an optimizer that cannot be followed to its constructor: an argument that no file passes, a library
    that builds it, a name that is known only at run time.

    ## Why it matters
    The optimizer holds the learning rate and averages the gradients. Without it only half of the program would be
    distributed.

    ## Example
    ```py
    import numpy as np
    from tensorflow import keras
    from settings import compile_options

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(**compile_options())
    model.fit(np.ones([64, 4]), np.ones([64, 1]))
    ```

    ## Instead
    ```py
    import numpy as np
    from tensorflow import keras
    from settings import compile_options

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(0.01), **compile_options())
    model.fit(np.ones([64, 4]), np.ones([64, 1]))
    ```
    """

    code = "HVD205"
    name = "optimizer-not-visible"
    severity = Severity.WARNING


class OneRankDecides(Rule):
    """Each rank would decide on its own whether there is another step.

    ## What it finds
    A session loop that exits on a value computed from one batch that cannot be averaged, or in which some
    iterations skip the step.

    ## Why it matters
    One rank would leave the loop, or skip a step, while the others wait for its gradients indefinitely.

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
        while session.run([step, loss], feed_dict={x: np.random.rand(8, 4)})[1] > 0.01:
            pass
    ```

    ## Instead
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
    """

    code = "HVD206"
    name = "one-rank-decides"
    severity = Severity.WARNING
