"""Every rank uses the group it is in, of groups that all ranks made."""

import torch
import torch.distributed as dist


def make_groups(world_size, size):
    mine = None
    for start in range(0, world_size, size):
        members = list(range(start, start + size))
        group = dist.new_group(members)
        if dist.get_rank() in members:
            mine = group
    return mine


def main():
    dist.init_process_group("gloo")
    group = make_groups(dist.get_world_size(), 1)
    value = torch.ones(1)
    if dist.get_rank(group) == 0:
        dist.broadcast(value, src=dist.get_rank(), group=group)
    dist.all_reduce(value, group=group)
    print(value.item())
    dist.barrier()  # who leaves before the others are connected fails them
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
