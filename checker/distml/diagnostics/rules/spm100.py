"""Ranks, first hundred: collectives that not all of them reach."""

from distml.diagnostics.rule import Rule


class CollectiveOnSomeRanks(Rule):
    """A collective is called under a condition that is true on some ranks only.

    ## What it finds
    Calls of collectives (torch.distributed, Horovod, Accelerate, MPI and others), directly or in called functions,
    that depend on the rank, where the other ranks do not reach the same collective. Branches that call the same
    collectives are not reported, nor is the pair of barriers around work that rank 0 does first.

    ## Why it matters
    A collective completes when all ranks have called it. The ranks that called it block indefinitely, or are
    matched with a later collective of the other ranks and corrupt its data.

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
    """Some ranks leave before a collective that the other ranks wait in.

    ## What it finds
    `return`, `break`, `continue` or a clean exit under a condition that differs between ranks, with a collective
    after it. A rank that raises an exception is not reported: launchers then end the other ranks.

    ## Why it matters
    The other ranks block indefinitely in the collective.

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
    """A loop with a collective runs a different number of iterations on different ranks.

    ## What it finds
    Loops with a collective in them whose number of iterations depends on the rank, or that some ranks leave because
    of a rank-local value.

    ## Why it matters
    The rank with the most iterations blocks indefinitely in the first collective that the other ranks do not call.

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
    """A process group is created on some ranks only.

    ## What it finds
    `new_group`, `init_process_group` and similar under a condition on the rank.

    ## Why it matters
    Creating a group is a collective of all ranks, including those that are not members.

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
