"""Rank 0 asserts what it alone knows, and leaves the others at the barrier.

Fails: error.
"""

import torch
import torch.distributed as dist


def check_vocabulary(size):
    return size == 32000


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        assert check_vocabulary(31999), "vocabulary has the wrong size"
    dist.barrier()  # error: SPM
    table = torch.zeros(8)
    dist.broadcast(table, src=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
