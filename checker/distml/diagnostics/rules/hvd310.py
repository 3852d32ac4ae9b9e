"""Horovod, third hundred from 310 on: what a person should look at in what a rewritten program reports."""

from distml.diagnostics.rule import Rule, Severity


class PartReported(Rule):
    """What is reported comes from one rank's part of the data.

    ## What it finds
    A container that a loop over sharded data fills with what its batches give, and whose contents cannot be combined
    across ranks where the loop ends: counts by class that begin before an outer loop, or results at positions that the
    batch decides. The last of a list (`losses[-n:]`) that are read behind the loop, where the list goes on over several
    passes: a rank adds fewer items in each.

    ## Why it matters
    What is reported, compared or saved from it is of the share of rank 0, not of all the data. Training itself is the
    same.

    ## Example
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = {}
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            (model(x) - y).square().mean().backward()
            optimizer.step()
            for label in y[:, 0].tolist():
                seen[label] = seen.get(label, 0) + 1
    print(seen)
    ```

    ## Instead
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        seen = {}
        for x, y in loader:
            optimizer.zero_grad()
            (model(x) - y).square().mean().backward()
            optimizer.step()
            for label in y[:, 0].tolist():
                seen[label] = seen.get(label, 0) + 1
        print(seen)
    ```
    """

    code = "HVD312"
    name = "part-of-data-reported"
    severity = Severity.WARNING


class RankNumberReported(Rule):
    """A number is reported that rank 0 alone has.

    ## What it finds
    The result is followed as two ranks. This is told of what prints, logs, writes into a file, draws, or shows beside a
    progress bar what comes from the rank's own part of the data and was not averaged, summed or gathered over all ranks: in
    each iteration, where that costs a collective each time, or where nobody found how. A text that is put on an object of a
    library (`bar.desc = f"{loss}"`, `label.setText(f"{loss}")`) is shown, too. Pictures and sounds of examples are not
    named.

    ## Why it matters
    The number is of the batches of rank 0. It is taken for one of the global batch, or of all the data. Training itself is
    the same.

    ## Example
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
    ```

    ## Instead
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8)):
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        if i % 100 == 0:
            print(loss.item())
    ```
    """

    code = "HVD313"
    name = "rank-number-reported"
    severity = Severity.WARNING


class NamedByOwnSteps(Rule):
    """A file is looked up by the number of a step, and saved under another one.

    ## What it finds
    A file, such as a checkpoint, whose name has the number of a step in a loop of which each rank takes fewer iterations, and
    a name that the program writes out elsewhere with a number in that place.

    ## Why it matters
    The same state is reached after as many times fewer steps as there are ranks, and is saved under that number. A name that is
    written out finds another file than before, or none.

    ## Example
    ```py
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices((tf.ones([640, 4]), tf.ones([640, 1]))).batch(8)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for step, (x, y) in enumerate(dataset):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        if step % 20 == 0:
            model.save_weights(f"weights-{step}.h5")
    model.load_weights("weights-60.h5")
    ```

    ## Instead
    ```py
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices((tf.ones([640, 4]), tf.ones([640, 1]))).batch(8)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for step, (x, y) in enumerate(dataset):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        if step % 20 == 0:
            model.save_weights("weights-last.h5")
    model.load_weights("weights-last.h5")
    ```
    """

    code = "HVD314"
    name = "named-by-rank-steps"
    severity = Severity.WARNING


class FileNotWaitedFor(Rule):
    """A rank may look for a file before rank 0 has written it.

    ## What it finds
    The result is followed as two ranks. This is told of what looks for a file or a folder, or reads it, where rank 0
    alone has written, made or removed it since the ranks communicated last, and no place was found where all ranks can
    wait.

    ## Why it matters
    The other ranks may find nothing, the file of an earlier run, or half of the new one: they fail, or go on with other
    values than rank 0.

    ## Example
    ```py
    import os
    import time

    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()


    def kept(path):
        torch.save(model.state_dict(), path)
        return os.path.exists(path)


    if time.localtime().tm_sec > 30 and kept("model.pt"):
        print("kept")
    ```

    ## Instead
    ```py
    import os

    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")
    if os.path.exists("model.pt"):
        print("kept")
    ```
    """

    code = "HVD315"
    name = "file-not-waited-for"
    severity = Severity.WARNING
