"""A batch that fails is skipped by the rank that has it, with its reductions.

Fails: hang.
"""

import torch
import torch.distributed as dist


def sync(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)  # error: SPM?


def make_batches(rank):
    sizes = [3, 3, 3] if rank == 0 else [3, 4, 3]
    return [torch.randn(2, size) for size in sizes]


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in make_batches(dist.get_rank()):
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        try:
            model(batch).sum().backward()
        except RuntimeError as error:
            print("skipping a batch:", error)
            continue
        sync(model)  # error: SPM?
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
