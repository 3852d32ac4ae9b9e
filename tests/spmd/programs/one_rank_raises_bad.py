"""One rank raises for its shard of the data, and the other waits for it.

Fails: error.
"""

import torch
import torch.distributed as dist


def load_shard(rank):
    return torch.ones(4 if rank == 0 else 0, 2)


def main():
    dist.init_process_group("gloo")
    shard = load_shard(dist.get_rank())
    if len(shard) == 0:
        raise ValueError("empty shard")
    total = shard.sum(dim=0)
    dist.all_reduce(total)  # error: SPM
    print(total.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
