"""Every process has to take part in making every group; here only the members do.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging_ranks = [0]
    if rank in logging_ranks:
        group = dist.new_group(logging_ranks)  # error: SPM
        value = torch.ones(1)
        dist.all_reduce(value, group=group)
        print("logging group", value.item())
    everybody = dist.new_group([0, 1])
    total = torch.ones(1)
    dist.all_reduce(total, group=everybody)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
