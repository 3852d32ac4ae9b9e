"""The configuration says who writes; all ranks gather."""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass
class Config:
    rank: int
    world_size: int
    save: bool

    @property
    def is_master(self):
        return self.rank == 0


def gather_state(config, tensor):
    pieces = [torch.empty_like(tensor) for _ in range(config.world_size)]
    dist.all_gather(pieces, tensor)
    return torch.cat(pieces)


def main():
    config = Config(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), save=True)
    dist.init_process_group("gloo", rank=config.rank, world_size=config.world_size)
    shard = torch.full((2,), float(config.rank))
    full = gather_state(config, shard)
    if config.save and config.is_master:
        torch.save(full, "full.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
