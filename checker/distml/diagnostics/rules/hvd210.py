"""Horovod, second hundred from 210 on: what cannot be made distributed, further reasons."""

from distml.diagnostics.rule import Rule, Severity


class OwnProcesses(Rule):
    """The program starts training processes itself.

    ## What it finds
    `torch.multiprocessing.spawn` or `Process` in a training script.

    ## Why it matters
    The launcher starts one process for each GPU. Processes started by these would compete for the same GPUs and
    would not have a rank.

    ## Example
    ```py
    import torch
    import torch.multiprocessing as mp


    def train(model):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.ones(8, 4)).sum().backward()
            optimizer.step()


    if __name__ == "__main__":
        model = torch.nn.Linear(4, 1)
        model.share_memory()
        workers = [mp.Process(target=train, args=(model,)) for _ in range(4)]
        for worker in workers:
            worker.start()
    ```

    ## Instead
    ```py
    import torch


    def train(model):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.ones(8, 4)).sum().backward()
            optimizer.step()


    if __name__ == "__main__":
        train(torch.nn.Linear(4, 1))
    ```
    """

    code = "HVD211"
    name = "own-processes"
    severity = Severity.WARNING


class ProgramTooLarge(Rule):
    """The program is too large to analyze.

    ## What it finds
    A training loop in a program with so many modules that the analysis ended before it had found the optimizer, the
    data and the model.

    ## Why it matters
    A rewrite that is based on a partial analysis could be wrong.

    ## Example
    A script of a package in which every module imports every other.

    ## Instead
    Pass the script and its own modules only. Libraries need not be among the paths.
    """

    code = "HVD212"
    name = "program-too-large"
    severity = Severity.WARNING


class NothingToDivide(Rule):
    """A single variable is optimized and there is no data to shard.

    ## What it finds
    Style transfer and similar: an optimizer changes the pixels of one image, in steps that read no batches.

    ## Why it matters
    All ranks would take the same steps on the same image, with a learning rate that grows with the number of ranks.

    ## Example
    ```py
    import tensorflow as tf

    image = tf.Variable(tf.random.uniform([1, 8, 8, 3]))
    optimizer = tf.keras.optimizers.Adam(0.02)
    for step in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(image**2)
        optimizer.apply_gradients([(tape.gradient(loss, image), image)])
    ```

    ## Instead
    Run several of these independently, each with its own image. A training loop has data to shard:
    ```py
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.02)
    for x in tf.data.Dataset.from_tensor_slices(tf.random.uniform([64, 8])).batch(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    ```
    """

    code = "HVD213"
    name = "nothing-to-divide"
    severity = Severity.WARNING


class StepsOfAnEnvironment(Rule):
    """An environment decides how many steps a rank takes.

    ## What it finds
    A PyTorch loop that plays an episode of a Gym environment and steps the optimizer in each iteration, and one in which each
    rank goes on from a decision in its own way (`state = reset()`, else `state = following` without a step).

    ## Why it matters
    Every step needs all ranks. Episodes end at different times on different ranks, so some ranks would finish and
    the others would deadlock.

    ## Example
    ```py
    import gymnasium
    import torch

    env = gymnasium.make("CartPole-v1")
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

    for episode in range(100):
        state, _ = env.reset()
        done = False
        while not done:
            values = model(torch.as_tensor(state))
            state, reward, done, _, _ = env.step(int(values.argmax()))
            optimizer.zero_grad()
            ((reward - values.max()) ** 2).backward()
            optimizer.step()
    ```

    ## Instead
    Take one step per episode, so that all ranks take the same number of steps:
    ```py
    import gymnasium
    import torch

    env = gymnasium.make("CartPole-v1")
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

    for episode in range(100):
        state, _ = env.reset()
        done, losses = False, []
        while not done:
            values = model(torch.as_tensor(state))
            state, reward, done, _, _ = env.step(int(values.argmax()))
            losses.append((reward - values.max()) ** 2)
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()
    ```
    """

    code = "HVD214"
    name = "environment-steps"
    severity = Severity.WARNING


class RanksWouldBlock(Rule):
    """The rewritten program would deadlock.

    ## What it finds
    Each result is checked by the rules for ranks before it is written. This is told where they find an error in it, most
    often because the program has collectives of its own.

    ## Why it matters
    A rank that waits for a collective that another rank never reaches waits indefinitely. Nothing is written instead.

    ## Example
    ```py
    import os

    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if os.environ.get("RANK", "0") == "0":
            torch.distributed.barrier()
    ```

    ## Instead
    ```py
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.distributed.barrier()
    ```
    """

    code = "HVD215"
    name = "ranks-would-block"
    severity = Severity.WARNING
