"""Horovod, third hundred: what a person should look at after a rewrite."""

from distml.diagnostics.rule import Rule, Severity


class DownloadRace(Rule):
    """Several processes may download to the same place at the same time.

    ## What it finds
    A call that downloads data or weights on first use, at a place where the other processes cannot be made to wait for one.

    ## Why it matters
    Processes that find nothing all begin to download, and read each other's half-written files. It works on the next run,
    which makes it hard to find.

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
