"""All ranks wrap the model."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def build(rank):
    model = torch.nn.Linear(3, 3)
    if rank == 0:
        print(sum(parameter.numel() for parameter in model.parameters()), "parameters")
    return DistributedDataParallel(model)


def main():
    dist.init_process_group("gloo")
    model = build(dist.get_rank())
    dist.barrier()
    model(torch.ones(1, 3)).sum().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
