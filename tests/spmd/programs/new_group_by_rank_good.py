"""All processes make the group, its members use it."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging_ranks = [0]
    group = dist.new_group(logging_ranks)
    if rank in logging_ranks:
        value = torch.ones(1)
        dist.all_reduce(value, group=group)
        print("logging group", value.item())
    everybody = dist.new_group([0, 1])
    total = torch.ones(1)
    dist.all_reduce(total, group=everybody)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
