"""Members of a group communicate in it; all ranks made it."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    ranks = [1]
    group = dist.new_group(ranks)
    value = torch.tensor([float(rank)])
    if rank in ranks:
        dist.all_reduce(value, group=group)
        dist.barrier(group)
    dist.all_reduce(value)
    print(value.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
