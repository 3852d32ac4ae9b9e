"""Pretraining in one file: distributed if the environment says so, rank 0 is the master."""

import math
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

eval_interval, max_iters, gradient_accumulation_steps, always_save = 2, 4, 4, False
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    dist.init_process_group(backend="gloo")
    ddp_rank = int(os.environ["RANK"])
    ddp_world_size = int(os.environ["WORLD_SIZE"])
    master_process = ddp_rank == 0
    seed_offset = ddp_rank
    assert gradient_accumulation_steps % ddp_world_size == 0
    gradient_accumulation_steps //= ddp_world_size
else:
    master_process, seed_offset, ddp_world_size = True, 0, 1
if master_process:
    os.makedirs("out", exist_ok=True)
torch.manual_seed(1337 + seed_offset)
model = torch.nn.Linear(4, 4)
if ddp:
    model = DDP(model)
raw_model = model.module if ddp else model
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best_loss, iteration = math.inf, 0
while True:
    if iteration % eval_interval == 0 and master_process:
        with torch.no_grad():
            loss = raw_model(torch.ones(2, 4)).pow(2).mean().item()
        if loss < best_loss or always_save:
            best_loss = loss
            if iteration > 0:
                torch.save({"model": raw_model.state_dict(), "iteration": iteration}, "out/ckpt.pt")
    for micro_step in range(gradient_accumulation_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        (model(torch.randn(2, 4)).pow(2).mean() / gradient_accumulation_steps).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iteration += 1
    if iteration > max_iters:
        break
if ddp:
    dist.destroy_process_group()
