"""Rank 0 gathers predictions of ranks that were not asked to send any.

Fails: hang.
"""

import os

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
world_size = int(os.environ["WORLD_SIZE"])


def evaluate(model, batches):
    predictions = []
    for batch in batches:
        with torch.no_grad():
            predictions.append(model(batch).argmax(dim=1).tolist())
    return predictions


dist.init_process_group("gloo", rank=rank, world_size=world_size)
model = torch.nn.Linear(3, 2)
predictions = evaluate(model, [torch.randn(4, 3) for _ in range(2)])
if rank == 0:
    gathered = [None] * world_size
    dist.all_gather_object(gathered, predictions)  # error: SPM
    print(len(gathered))
dist.barrier()
dist.destroy_process_group()
