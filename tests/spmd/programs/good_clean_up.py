"""Rank 0 makes a folder, all use it, rank 0 removes it; barriers stand between."""

import os
import pathlib
import shutil

import torch
import torch.distributed as dist

RANK = int(os.environ.get("SLURM_PROCID", os.environ.get("RANK", 0)))


def main():
    dist.init_process_group("gloo")
    folder = pathlib.Path("scratch")
    if RANK == 0:
        folder.mkdir(parents=True, exist_ok=True)
    dist.barrier()
    torch.save(torch.tensor([RANK]), folder / f"{RANK}.pt")
    dist.barrier()
    if RANK == 0:
        merged = [torch.load(path) for path in sorted(folder.glob("*.pt"))]
        print(torch.cat(merged).tolist())
        shutil.rmtree(folder)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
