"""Ranks, fourth hundred: messages between two of them."""

from distml.diagnostics.rule import Rule


class BothWait(Rule):
    """Two ranks wait for each other's message.

    ## What it finds
    Two ranks that both send before they receive, or both receive before they send, with blocking calls.

    ## Why it matters
    `send` returns when the other side has received: with NCCL, and with Gloo for messages larger than its buffers,
    neither rank ever reaches its `recv`.

    ## Example
    ```py
    import torch.distributed as dist

    def swap(mine, theirs):
        other = 1 - dist.get_rank()
        dist.recv(theirs, src=other)
        dist.send(mine, dst=other)
    ```

    ## Instead
    ```py
    import torch.distributed as dist

    def swap(mine, theirs):
        other = 1 - dist.get_rank()
        if dist.get_rank() == 0:
            dist.send(mine, dst=other)
            dist.recv(theirs, src=other)
        else:
            dist.recv(theirs, src=other)
            dist.send(mine, dst=other)
    ```
    """

    code = "SPM401"
    name = "both-wait"
