"""Ranks, second hundred: collectives that meet, but do not fit."""

from distml.diagnostics.rule import Rule


class CollectivesInDifferentOrder(Rule):
    """Ranks come to different collectives at the same time.

    ## What it finds
    Branches of a condition on the rank that call other collectives, or the same ones in another order.

    ## Why it matters
    Collectives of a group are matched by their order: the ranks wait for each other for ever, or take one for the
    other and end with wrong values.

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
    """Ranks name different roots in one collective.

    ## What it finds
    `src`, `dst` or `root_rank` of a broadcast, gather, scatter or reduce that follows from the rank of the caller.

    ## Why it matters
    The root is the one rank whose data all get, or that gets the data of all. Where every rank names itself, nobody
    sends, or everybody does.

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
    """A collective gets tensors of different shapes or types on different ranks.

    ## What it finds
    Tensors whose sizes or type follow from the rank, given to a collective that needs the same on all ranks.

    ## Why it matters
    The collective hangs, fails, or reads beyond the smaller tensor.

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
