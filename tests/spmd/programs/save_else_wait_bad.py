"""Rank 0 saves while the others wait for it, and it never comes.

Fails: hang.
"""

import torch
import torch.distributed as dist


def save(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    else:
        dist.barrier()  # error: SPM


def train(model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).pow(2).mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, 2)
    save(model, "model.pt")
    train(model, optimizer, 2)
    dist.destroy_process_group()
