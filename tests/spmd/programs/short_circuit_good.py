"""All ranks ask whether all is well, before rank 0 decides to print."""

import torch
import torch.distributed as dist


def everybody(flag):
    vote = torch.tensor([float(flag)])
    dist.all_reduce(vote, op=dist.ReduceOp.MIN)
    return vote.item() == 1.0


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    converged = True
    if everybody(converged) and rank == 0:
        print("all ranks converged")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
