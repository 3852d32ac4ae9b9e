"""If the loss of any rank is not finite, all ranks skip the batch."""

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
        broken = (~torch.isfinite(loss)).float()
        dist.all_reduce(broken, op=dist.ReduceOp.MAX)
        if broken.item() > 0:
            print(f"rank {rank} skips step {step}")
            continue
        loss.backward()
        dist.all_reduce(loss.grad)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
