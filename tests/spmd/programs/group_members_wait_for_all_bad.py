"""Members of a sub-group wait in the group of everybody, since `group` was forgotten.

Fails: hang.
"""

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
        dist.barrier()  # error: SPM
        print("members are done")
    dist.all_reduce(value)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
