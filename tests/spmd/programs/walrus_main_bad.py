"""The guard names itself on the way; the collective under it is for one rank.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    counts = torch.tensor([5 + dist.get_rank()])
    if is_main := dist.get_rank() == 0:
        dist.all_reduce(counts)  # error: SPM
    dist.barrier()
    print(is_main, counts.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
