"""A reduction in the background is started by one rank.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    loss = torch.ones(1) * rank
    pending = None
    if rank == 0:
        pending = dist.all_reduce(loss, async_op=True)  # error: SPM
    activations = torch.ones(8).cumsum(0)
    if pending is not None:
        pending.wait()
    dist.barrier()
    print(loss.item(), activations[-1].item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
