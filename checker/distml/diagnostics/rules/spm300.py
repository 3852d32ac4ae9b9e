"""Ranks, third hundred: collectives that depend on what every rank knows by itself."""

from distml.diagnostics.rule import Rule, Severity


class CollectiveOnLocalValue(Rule):
    """Whether a collective is reached depends on a rank-local value.

    ## What it finds
    A collective under a condition on a clock, or on batches that a `DistributedSampler` gives to this rank and what
    is computed from them. After an `all_reduce` or a broadcast the value is the same on all ranks.

    ## Why it matters
    Sooner or later the condition is true on one rank and false on another, and the job deadlocks.

    ## Example
    ```py
    import time

    import torch.distributed as dist

    def maybe_save(started, save):
        if time.time() - started > 3600:
            save()
            dist.barrier()
    ```

    ## Instead
    ```py
    import time

    import torch
    import torch.distributed as dist

    def maybe_save(started, save):
        late = torch.tensor(float(time.time() - started > 3600))
        dist.broadcast(late, src=0)
        if late:
            save()
            dist.barrier()
    ```
    """

    code = "SPM301"
    name = "collective-on-local-value"
    severity = Severity.WARNING


class CollectiveInHandler(Rule):
    """An exception handler calls a collective.

    ## What it finds
    Collectives in `except` blocks for exceptions that one rank alone may raise.

    ## Why it matters
    The ranks without the exception do not reach the collective: they wait somewhere else.

    ## Example
    ```py
    import torch.distributed as dist

    def step(model, batch):
        try:
            model(batch)
        except RuntimeError:
            dist.barrier()
    ```

    ## Instead
    ```py
    import torch
    import torch.distributed as dist

    def step(model, batch):
        failed = torch.zeros(1)
        try:
            model(batch)
        except RuntimeError:
            failed += 1
        dist.all_reduce(failed)
        return bool(failed)
    ```
    """

    code = "SPM302"
    name = "collective-in-handler"
    severity = Severity.WARNING


class CollectivesInOrderOfSet(Rule):
    """Collectives are called in the iteration order of a set of strings.

    ## What it finds
    Loops over sets of strings with a collective in them.

    ## Why it matters
    Python randomizes string hashes in every process, so the order differs: one rank reduces the loss while another
    reduces the accuracy, and both results are wrong.

    ## Example
    ```py
    import torch.distributed as dist

    def reduce_all(metrics):
        for name in {"loss", "accuracy"}:
            dist.all_reduce(metrics[name])
    ```

    ## Instead
    ```py
    import torch.distributed as dist

    def reduce_all(metrics):
        for name in ("loss", "accuracy"):
            dist.all_reduce(metrics[name])
    ```
    """

    code = "SPM303"
    name = "collectives-in-order-of-set"
    severity = Severity.WARNING


class UnevenTurns(Rule):
    """A loop over rank-local data calls a collective.

    ## What it finds
    Loops over `data[rank::size]`, and loops that a clock ends, with a collective in them.

    ## Why it matters
    The parts have equal length only if the number of ranks divides the length of the data. Otherwise one rank runs
    one more iteration and blocks in it indefinitely.

    ## Example
    ```py
    import torch.distributed as dist

    def evaluate(files, score):
        for file in files[dist.get_rank() :: dist.get_world_size()]:
            dist.all_reduce(score(file))
    ```

    ## Instead
    ```py
    import torch
    import torch.distributed as dist

    def evaluate(files, score):
        total = torch.zeros(1)
        for file in files[dist.get_rank() :: dist.get_world_size()]:
            total += score(file)
        dist.all_reduce(total)
    ```
    """

    code = "SPM304"
    name = "uneven-turns"
    severity = Severity.WARNING
