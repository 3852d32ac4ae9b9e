"""Ranks, first hundred: collectives that not all of them reach."""

from distml.diagnostics.rule import Rule


class CollectiveOnSomeRanks(Rule):
    """A collective is called under a condition that is true on some ranks only.

    ## What it finds
    Calls of collectives (torch.distributed, Horovod, Accelerate, MPI and others), directly or in functions that are
    called, that depend on the rank, where the other ranks do not come to the same collective. Branches that call the
    same collectives are fine, and so is the pair of barriers in which the first rank goes ahead of the others.

    ## Why it matters
    A collective ends when all ranks have called it: those that did wait for ever, or meet a later collective of the
    others and mix up its data.

    ## Example
    ```py
    import torch
    import torch.distributed as dist

    def save(model):
        if dist.get_rank() == 0:
            torch.save(model.state_dict(), "model.pt")
            dist.barrier()
    ```

    ## Instead
    ```py
    import torch
    import torch.distributed as dist

    def save(model):
        if dist.get_rank() == 0:
            torch.save(model.state_dict(), "model.pt")
        dist.barrier()
    ```
    """

    code = "SPM101"
    name = "collective-on-some-ranks"


class LeftBeforeCollective(Rule):
    """Some ranks leave before a collective that the others wait in.

    ## What it finds
    `return`, `break`, `continue` or a clean end of the process under a condition that differs between ranks, with a
    collective after it. A rank that raises an exception is not reported: launchers end the others then.

    ## Why it matters
    The ranks that went on wait for ever for those that left.

    ## Example
    ```py
    import torch
    import torch.distributed as dist

    def export(model, rank):
        if rank != 0:
            return
        torch.save(model.state_dict(), "model.pt")
        dist.barrier()
    ```

    ## Instead
    ```py
    import torch
    import torch.distributed as dist

    def export(model, rank):
        if rank == 0:
            torch.save(model.state_dict(), "model.pt")
        dist.barrier()
    ```
    """

    code = "SPM102"
    name = "left-before-collective"


class TurnsDifferByRank(Rule):
    """A loop that communicates takes another number of turns on another rank.

    ## What it finds
    Loops whose number of turns follows from the rank, or that some ranks leave because of something that only they
    know, with a collective in them.

    ## Why it matters
    The rank with the most turns waits for ever in the first one that the others do not take.

    ## Example
    ```py
    import torch.distributed as dist

    def train(steps, step):
        done = False
        while not done:
            step()
            if dist.get_rank() == 0:
                done = steps.finished()
            dist.barrier()
    ```

    ## Instead
    ```py
    import torch.distributed as dist

    def train(steps, step):
        done = [False]
        while not done[0]:
            step()
            if dist.get_rank() == 0:
                done[0] = steps.finished()
            dist.broadcast_object_list(done, src=0)
    ```
    """

    code = "SPM103"
    name = "turns-differ-by-rank"


class GroupOnSomeRanks(Rule):
    """A group of processes is made on some ranks only.

    ## What it finds
    `new_group`, `init_process_group` and their like under a condition on the rank.

    ## Why it matters
    Making a group is a collective of all ranks, also of those that will not be in it.

    ## Example
    ```py
    import torch.distributed as dist

    def pair():
        if dist.get_rank() < 1:
            return dist.new_group([0])
        return None
    ```

    ## Instead
    ```py
    import torch.distributed as dist

    def pair():
        first = dist.new_group([0])
        return first if dist.get_rank() < 1 else None
    ```
    """

    code = "SPM104"
    name = "group-on-some-ranks"
