"""Horovod, third hundred: what a person should look at after a rewrite."""

from distml.diagnostics.rule import Rule, Severity


class DownloadRace(Rule):
    """Several processes may download to the same place at the same time.

    ## What it finds
    A call that downloads data or weights on first use, where the other processes cannot be made to wait for the
    first.

    ## Why it matters
    All processes start the download and read each other's half-written files. The next run works, which makes the
    failure hard to find.

    ## Example
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    for x, y in [tf.keras.datasets.mnist.load_data()[0]]:
        model.fit(x, y)
    ```

    ## Instead
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    model.fit(x, y)
    ```
    """

    code = "HVD307"
    name = "download-race"
    severity = Severity.WARNING


class DataNotSharded(Rule):
    """Every rank processes all of the data.

    ## What it finds
    A loop whose input batches cannot be followed to a dataset, or that uses all of the data in every step.

    ## Why it matters
    Ranks that compute the gradient of the same batch repeat the same work. The weights stay equal and correct, but
    training is not faster.

    ## Example
    ```py
    import tensorflow as tf

    x, y = tf.random.normal([64, 4]), tf.random.normal([64, 1])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for step in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```

    ## Instead
    ```py
    import tensorflow as tf

    x, y = tf.random.normal([64, 4]), tf.random.normal([64, 1])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x_batch, y_batch in tf.data.Dataset.from_tensor_slices((x, y)).repeat(100).batch(16):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x_batch) - y_batch) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```
    """

    code = "HVD302"
    name = "data-not-sharded"
    severity = Severity.WARNING


class StepsNotEqualized(Rule):
    """Ranks may take different numbers of steps.

    ## What it finds
    Data whose length is not known in advance and cannot be divided evenly (a filter that draws at random, an input
    pipeline in a session's graph), or a loop with its own exit condition. Also a number of steps that was left as it was,
    because more depends on it than the length of the loop.

    ## Why it matters
    Every step is a collective. A rank with one batch more than the others blocks indefinitely. Where the number of steps
    stays, all ranks together take that many times as many batches.

    ## Example
    ```py
    import tensorflow as tf

    data = tf.data.Dataset.range(64).map(lambda x: tf.cast(x, tf.float32)[None])
    data = data.filter(lambda x: tf.random.uniform([]) < 0.5).batch(4)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```

    ## Instead
    ```py
    import tensorflow as tf

    data = tf.data.Dataset.range(64).map(lambda x: tf.cast(x, tf.float32)[None])
    data = data.filter(lambda x: tf.random.uniform([]) < 0.5).repeat().batch(4).take(100)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```
    """

    code = "HVD303"
    name = "steps-not-equalized"
    severity = Severity.WARNING


class RateNotFound(Rule):
    """Cannot determine the learning rate; it was not scaled.

    ## What it finds
    An optimizer that is created outside the program, or whose arguments are passed as `*args` or `**kwargs`.

    ## Why it matters
    The global batch grows with the number of ranks. Without a learning rate that grows with it, training takes
    longer to converge.

    ## Example
    ```py
    import tensorflow as tf

    settings = {"learning_rate": 0.1}
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(**settings)
    for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```

    ## Instead
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
    for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```
    """

    code = "HVD304"
    name = "rate-not-found"
    severity = Severity.WARNING


class OutputNotMoved(Rule):
    """Every rank writes a file, because the program uses its path afterwards.

    ## What it finds
    A checkpoint whose path is used for more than being printed. Any other file that all ranks write at once after they
    have trained. A question (`input`) in a program of TensorFlow that not all ranks come to: each asks it for itself.

    ## Why it matters
    All ranks write to the same place at the same time, and the file may be corrupted.

    ## Example
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    checkpoint = tf.train.Checkpoint(model=model)
    for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    path = checkpoint.save("here")
    checkpoint.restore(path)
    ```

    ## Instead
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    checkpoint = tf.train.Checkpoint(model=model)
    for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    checkpoint.save("here")
    checkpoint.restore(tf.train.latest_checkpoint("."))
    ```
    """

    code = "HVD306"
    name = "output-not-moved"
    severity = Severity.WARNING


class UnknownCallback(Rule):
    """Cannot determine what a callback does.

    ## What it finds
    A callback passed to Keras' `fit` that is neither a Keras callback nor a class of the program. It runs on every
    rank.

    ## Why it matters
    A callback that writes files must run on rank 0 only; one that stops training or changes the model must run on
    every rank. The wrong choice overwrites files or deadlocks.

    ## Example
    ```py
    import numpy as np
    from tensorflow import keras

    from monitoring import Reporter

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]), callbacks=[Reporter()])
    ```

    ## Instead
    ```py
    import numpy as np
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]), callbacks=[keras.callbacks.CSVLogger("log.csv")])
    ```
    """

    code = "HVD301"
    name = "unknown-callback"
    severity = Severity.WARNING


class OneRankStops(Rule):
    """A callback stops training based on the metrics of a single rank.

    ## What it finds
    A Keras callback that sets `stop_training` in the middle of an epoch, in a method that may be left before its end,
    where all ranks would agree; a hook of a TensorFlow session that calls `request_stop` by what one rank computes.

    ## Why it matters
    Metrics are averaged over the ranks at the end of an epoch. Before that they differ between ranks: one rank
    stops, and the others wait for it.

    ## Example
    ```py
    import numpy as np
    from tensorflow import keras


    class Stop(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            if logs["loss"] > 0.1:
                return
            self.model.stop_training = True


    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]), callbacks=[Stop()])
    ```

    ## Instead
    ```py
    import numpy as np
    from tensorflow import keras


    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if logs["loss"] < 0.1:
                self.model.stop_training = True


    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]), callbacks=[Stop()])
    ```
    """

    code = "HVD308"
    name = "one-rank-stops"
    severity = Severity.WARNING


class WeightsNotBroadcast(Rule):
    """The initial weights may differ between ranks.

    ## What it finds
    A model that cannot be found, or whose weights are not created yet, where training begins, so that rank 0 cannot
    broadcast its weights.

    ## Why it matters
    Ranks that start from different weights never agree: the average of their gradients belongs to no model.

    ## Example
    ```py
    import numpy as np
    from tensorflow import keras


    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = keras.layers.Dense(1)

        def call(self, x):
            return self.layer(x)


    model = Net()
    model.compile(optimizer="adam", loss="mse")
    model.train_on_batch(np.random.rand(8, 4), np.ones([8, 1]))
    ```

    ## Instead
    ```py
    import numpy as np
    from tensorflow import keras


    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = keras.layers.Dense(1)

        def call(self, x):
            return self.layer(x)


    model = Net()
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]))
    ```
    """

    code = "HVD309"
    name = "weights-not-broadcast"
    severity = Severity.WARNING


class GpuNotChosen(Rule):
    """Every process may allocate all GPUs.

    ## What it finds
    A TensorFlow 1 session whose configuration cannot be followed.

    ## Why it matters
    If every process allocates the memory of all GPUs, the second process fails at start.

    ## Example
    ```py
    import numpy as np
    import tensorflow.compat.v1 as tf
    from settings import session_config

    tf.disable_v2_behavior()
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    with tf.Session(config=session_config()) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(100):
            session.run(step, feed_dict={x: np.random.rand(8, 4)})
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

    code = "HVD310"
    name = "gpu-not-chosen"
    severity = Severity.WARNING


class ScheduleNotScaled(Rule):
    """A learning-rate schedule counts batches and was not shortened.

    ## What it finds
    A schedule that steps once per batch of sharded data and whose length cannot be determined: a schedule defined
    in the program, one whose arguments come from elsewhere, or a rate that a loop sets for each batch.

    ## Why it matters
    Each rank processes only its share of the batches. A schedule of the original length is still near its beginning
    when training ends.

    ## Example
    ```py
    import torch
    from settings import options
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, **options)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
        schedule.step()
    ```

    ## Instead
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1000)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
        schedule.step()
    ```
    """

    code = "HVD311"
    name = "schedule-not-scaled"
    severity = Severity.WARNING


class SameSeed(Rule):
    """Every rank draws the same random numbers.

    ## What it finds
    A seed that the program sets, and training steps that draw noise, as in generative models. In PyTorch, noise and
    dropout where batches are dealt out whose order may be drawn from the same generator.

    ## Why it matters
    All ranks draw the same noise, so the global batch is less diverse than one large batch. This is not an error,
    and the seed also keeps random data uniform across ranks, which is why it is kept.

    ## Example
    ```py
    import tensorflow as tf

    tf.random.set_seed(22)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x + tf.random.normal([4, 4])) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```

    ## Instead
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x + tf.random.normal([4, 4])) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```
    """

    code = "HVD305"
    name = "same-seed"
    severity = Severity.WARNING
