"""Rank 0 alone reads at which epoch to resume.

Fails: hang.
"""

import json
import pathlib

import torch
import torch.distributed as dist


def main(epochs=4):
    dist.init_process_group("gloo")
    rank, start_epoch = dist.get_rank(), 0
    path = pathlib.Path("state.json")
    if rank == 0:
        path.write_text(json.dumps({"epoch": 2}))
        start_epoch = json.loads(path.read_text())["epoch"]
    for epoch in range(start_epoch, epochs):
        loss = torch.tensor([1.0 / (epoch + 1)])
        dist.all_reduce(loss)  # error: SPM
        if rank == 0:
            print(f"epoch {epoch}: {loss.item():.3f}")
    dist.barrier()  # error: SPM?
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
