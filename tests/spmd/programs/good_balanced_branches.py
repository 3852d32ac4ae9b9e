"""Both arms of a branch on the rank come to one barrier."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        torch.save({"step": 1}, "state.pt")
        dist.barrier()
    else:
        dist.barrier()
        state = torch.load("state.pt")
        print("read", state["step"])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
