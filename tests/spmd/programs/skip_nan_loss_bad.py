"""A rank whose loss is not finite goes on to the next batch, the others average gradients.

Fails: hang.
"""

import torch
import torch.distributed as dist


def loss_of(step, rank):
    value = float("nan") if (step, rank) == (1, 1) else 1.0 / (step + 1)
    return torch.tensor(value, requires_grad=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(4):
        loss = loss_of(step, rank)
        if not torch.isfinite(loss):
            print(f"rank {rank} skips step {step}")
            continue
        loss.backward()
        dist.all_reduce(loss.grad)  # error: SPM
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
