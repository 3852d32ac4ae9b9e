"""Members wait in their group, others in none."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    readers, writers = dist.new_group([0]), dist.new_group([1])
    if rank == 0:
        data = torch.ones(2)
        dist.barrier(group=readers)
    else:
        data = torch.zeros(2)
        dist.barrier(group=writers)
    dist.broadcast(data, src=0)
    print(data.tolist(), writers is None)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
