"""Reductions run in the background and are waited for; rank 0 prints in between."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
    model(torch.ones(2, 3)).sum().backward()
    handles = [dist.all_reduce(parameter.grad, async_op=True) for parameter in model.parameters()]
    if dist.get_rank() == 0:
        print(len(handles), "reductions under way")
    for handle in handles:
        handle.wait()
    for parameter in model.parameters():
        parameter.grad.div_(dist.get_world_size())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
