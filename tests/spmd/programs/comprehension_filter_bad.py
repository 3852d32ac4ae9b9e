"""A comprehension reduces the metrics that a rank is responsible for.

Fails: hang.
"""

import torch
import torch.distributed as dist


def total(value):
    tensor = torch.tensor([value])
    dist.all_reduce(tensor)  # error: SPM?
    return tensor.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    metrics = {"loss": 1.0, "accuracy": 0.5, "f1": 0.4}
    owner = {"loss": 0, "accuracy": 0, "f1": 0}
    totals = {name: total(value) for name, value in metrics.items() if owner[name] == rank}  # error: SPM?
    dist.barrier()
    print(sorted(totals))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
