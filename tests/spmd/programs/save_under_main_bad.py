"""Saving under `is_main_process()`, where saving itself blocks indefinitelyybody.

Fails: hang.
"""

import argparse

import torch
import torch.distributed as dist


def is_main_process():
    if not dist.is_available() or not dist.is_initialized():
        return True
    return dist.get_rank() == 0


def save_checkpoint(model, path):
    if is_main_process():
        torch.save(model.state_dict(), path)
    dist.barrier()  # error: SPM?


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    model = torch.nn.Linear(4, 2)
    for epoch in range(args.epochs):
        if is_main_process():
            save_checkpoint(model, f"epoch{epoch}.pt")  # error: SPM?
        loss = model(torch.ones(1, 4)).sum().detach()
        dist.all_reduce(loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
