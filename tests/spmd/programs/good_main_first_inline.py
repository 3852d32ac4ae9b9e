"""The main process goes first, written out: two conditions, one barrier for each rank."""

import os
import pathlib

import torch.distributed as dist


def prepare_vocabulary(path, local_rank):
    if local_rank != 0:
        dist.barrier()  # the main process builds the vocabulary first
    if not path.exists():
        path.write_text("a b c")
    words = path.read_text().split()
    if local_rank == 0:
        dist.barrier()
    return words


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(prepare_vocabulary(pathlib.Path("vocabulary.txt"), int(os.environ["LOCAL_RANK"])))
    dist.destroy_process_group()
