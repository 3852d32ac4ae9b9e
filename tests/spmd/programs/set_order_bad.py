"""Metrics are reduced in the order of a set of strings, which differs from process to process.

Fails: wrong values.
"""

import torch
import torch.distributed as dist


def collect(rank):
    return {"loss": 1.0 + rank, "accuracy": 10.0, "examples": 100.0, "tokens": 1000.0}


def main():
    dist.init_process_group("gloo")
    metrics = collect(dist.get_rank())
    wanted = {"loss", "accuracy", "examples", "tokens"}
    summed = {}
    for name in wanted:  # error: SPM?
        value = torch.tensor([metrics[name]])
        dist.all_reduce(value)  # error: SPM?
        summed[name] = value.item()
    print(sorted(summed.items()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
