"""`and` keeps other ranks from asking everybody whether all is well.

Fails: hang.
"""

import torch
import torch.distributed as dist


def everybody(flag):
    vote = torch.tensor([float(flag)])
    dist.all_reduce(vote, op=dist.ReduceOp.MIN)  # error: SPM?
    return vote.item() == 1.0


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    converged = True
    if rank == 0 and everybody(converged):  # error: SPM?
        print("all ranks converged")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
