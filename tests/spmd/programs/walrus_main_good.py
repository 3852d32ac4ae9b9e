"""The guard names itself on the way; what is under it only prints."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    counts = torch.tensor([5 + dist.get_rank()])
    dist.all_reduce(counts)
    if is_main := dist.get_rank() == 0:
        print("counted")
    dist.barrier()
    print(is_main, counts.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
