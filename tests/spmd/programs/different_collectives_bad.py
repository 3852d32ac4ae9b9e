"""The main process reduces where the others gather.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    main_process = dist.get_rank() == 0
    loss = torch.tensor([0.25])
    parts = [torch.empty(1) for _ in range(dist.get_world_size())]
    if main_process:
        dist.all_reduce(loss)  # error: SPM?
        dist.all_gather(parts, loss)  # error: SPM?
    else:
        dist.all_gather(parts, loss)  # error: SPM?
        dist.all_reduce(loss)  # error: SPM?
    if main_process:
        print(loss.item(), len(parts))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
