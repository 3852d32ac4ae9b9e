"""A ring of non-blocking sends and receives, each rank with its neighbors."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    block = torch.full((3,), float(rank))
    incoming = torch.empty_like(block)
    for _ in range(world_size - 1):
        operations = [
            dist.P2POp(dist.isend, block, (rank + 1) % world_size),
            dist.P2POp(dist.irecv, incoming, (rank - 1) % world_size),
        ]
        for request in dist.batch_isend_irecv(operations):
            request.wait()
        block = incoming.clone()
    print(block.tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
