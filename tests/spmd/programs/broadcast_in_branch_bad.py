"""Rank 0 broadcasts the run's name where the others do not listen.

Fails: hang.
"""

import argparse
import os

import torch.distributed as dist


def run_name(prefix):
    return f"{prefix}-{2026:04d}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", default="run")
    args = parser.parse_args()
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    dist.init_process_group("gloo")
    names = [None]
    if local_rank == 0:
        names = [run_name(args.prefix)]
        dist.broadcast_object_list(names, src=0)  # error: SPM
    dist.barrier()
    print(names[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
