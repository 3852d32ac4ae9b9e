"""A barrier for the ranks of a group is passed no group in one of two branches.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    readers, writers = dist.new_group([0]), dist.new_group([1])
    if rank == 0:
        data = torch.ones(2)
        dist.barrier(group=readers)
    else:
        data = torch.zeros(2)
        dist.barrier()  # error: SPM
    dist.broadcast(data, src=0)
    print(data.tolist(), writers is None)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
