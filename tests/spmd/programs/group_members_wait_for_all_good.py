"""Members of a sub-group wait for each other in it."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    members = [0]
    group = dist.new_group(members)
    value = torch.ones(1)
    if rank in members:
        dist.all_reduce(value, group=group)
        dist.barrier(group=group)
        print("members are done")
    dist.all_reduce(value)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
