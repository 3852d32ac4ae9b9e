"""Rank 0 tells the others before it gives up, and all give up."""

import torch
import torch.distributed as dist


def check_vocabulary(size):
    return size == 32000


def main():
    dist.init_process_group("gloo")
    fine = torch.ones(1)
    if dist.get_rank() == 0:
        fine[0] = float(check_vocabulary(31999))
    dist.broadcast(fine, src=0)
    if not fine.item():
        print("vocabulary has the wrong size")
        return
    dist.barrier()
    table = torch.zeros(8)
    dist.broadcast(table, src=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
