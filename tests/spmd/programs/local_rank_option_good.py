"""Behind the guard of the launcher's option `--local-rank` stands nothing that communicates."""

import argparse
import os

import torch
import torch.distributed as dist


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local-rank", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    seen = torch.tensor([64])
    dist.all_reduce(seen)
    if args.local_rank == 0:
        print("examples seen:", seen.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
