"""Whether a rank resumes depends on its own files; a resumed rank takes part in a broadcast more.

Fails: hang.
"""

import os

import torch
import torch.distributed as dist


def local_path(rank):
    return f"node{rank}-last.pt"


def resume(model):
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)  # error: SPM?


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.Linear(2, 1)
    if rank == 0:
        torch.save(model.state_dict(), local_path(0))
    if os.path.exists(local_path(rank)):
        model.load_state_dict(torch.load(local_path(rank)))
        resume(model)  # error: SPM?
    gradient = torch.ones(5)
    dist.barrier()
    dist.all_reduce(gradient)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
