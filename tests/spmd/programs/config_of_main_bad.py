"""Whether this is the main process was noted in a configuration long before.

Fails: hang.
"""

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
    dist.all_gather(pieces, tensor)  # error: SPM?
    return torch.cat(pieces)


def main():
    config = Config(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), save=True)
    dist.init_process_group("gloo", rank=config.rank, world_size=config.world_size)
    shard = torch.full((2,), float(config.rank))
    if config.save and config.is_master:
        torch.save(gather_state(config, shard), "full.pt")  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
