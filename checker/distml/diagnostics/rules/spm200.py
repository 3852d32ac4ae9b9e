"""Ranks, second hundred: collectives that meet, but do not fit."""

from distml.diagnostics.rule import Rule


class CollectivesInDifferentOrder(Rule):
    """Different ranks reach different collectives at the same point.

    ## What it finds
    Branches of a condition on the rank that call different collectives, or the same collectives in a different
    order.

    ## Why it matters
    Collectives of a group are matched by their order: the ranks deadlock, or one collective is taken for another
    and the values are wrong.

    ## Example
    ```py
    import torch.distributed as dist

    def share(x, y, rank):
        if rank == 0:
            dist.broadcast(x, src=0)
            dist.all_reduce(y)
        else:
            dist.all_reduce(y)
            dist.broadcast(x, src=0)
    ```

    ## Instead
    ```py
    import torch.distributed as dist

    def share(x, y, rank):
        dist.broadcast(x, src=0)
        dist.all_reduce(y)
    ```
    """

    code = "SPM201"
    name = "collectives-in-different-order"


class RootDiffersByRank(Rule):
    """The root of a collective differs between ranks.

    ## What it finds
    `src`, `dst` or `root_rank` of a broadcast, gather, scatter or reduce that depends on the rank of the caller.

    ## Why it matters
    The root is the one rank that sends to all others or receives from them. If every rank names itself, no rank
    sends, or all do.

    ## Example
    ```py
    import torch.distributed as dist

    def share(weights):
        dist.broadcast(weights, src=dist.get_rank())
    ```

    ## Instead
    ```py
    import torch.distributed as dist

    def share(weights):
        dist.broadcast(weights, src=0)
    ```
    """

    code = "SPM202"
    name = "root-differs-by-rank"


class ShapeDiffersByRank(Rule):
    """The shape or dtype of a collective's tensor differs between ranks.

    ## What it finds
    Tensors whose sizes or dtype depend on the rank, passed to a collective that needs the same on all ranks.

    ## Why it matters
    The collective hangs, fails, or reads beyond the end of the smaller tensor.

    ## Example
    ```py
    import torch
    import torch.distributed as dist

    def total():
        counts = torch.ones(dist.get_rank() + 1)
        dist.all_reduce(counts)
        return counts
    ```

    ## Instead
    ```py
    import torch
    import torch.distributed as dist

    def total():
        counts = torch.ones(dist.get_world_size())
        dist.all_reduce(counts)
        return counts
    ```
    """

    code = "SPM203"
    name = "shape-differs-by-rank"
