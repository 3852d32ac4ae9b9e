"""The rank goes into names, messages, seeds and comparisons that only print."""

import logging
import os
import random

import torch
import torch.distributed as dist

LOGGER = logging.getLogger(__name__)


def setup_logging(rank):
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.ERROR, format=f"[{rank}] %(message)s")


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    setup_logging(rank)
    random.seed(rank)
    noise = torch.tensor([random.random()])
    LOGGER.info("starting with %d ranks", world)
    dist.all_reduce(noise)
    level = "info" if rank == 0 else "error"
    if LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info("noise %.3f at level %s", noise.item(), level)
    os.environ["NAME"] = f"worker-{rank:02d}"
    dist.barrier()
    print(os.environ["NAME"].endswith(str(rank)))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
