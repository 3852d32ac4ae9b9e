"""A script of torchrun: the first process of the node waits for nobody.

Fails: hang.
"""

import os
import pathlib

import torch
import torch.distributed as dist

LOCAL_RANK = int(os.getenv("LOCAL_RANK", "-1"))
RANK = int(os.getenv("RANK", "-1"))
WORLD_SIZE = int(os.getenv("WORLD_SIZE", "1"))


def download(folder):
    folder.mkdir(exist_ok=True)
    (folder / "data.txt").write_text("3 4")


if WORLD_SIZE > 1:
    dist.init_process_group("gloo")
folder = pathlib.Path("data")
if LOCAL_RANK in (-1, 0):
    download(folder)
elif WORLD_SIZE > 1:
    dist.barrier()  # error: SPM
numbers = torch.tensor([float(word) for word in (folder / "data.txt").read_text().split()])
if WORLD_SIZE > 1:
    dist.all_reduce(numbers)
    dist.destroy_process_group()
