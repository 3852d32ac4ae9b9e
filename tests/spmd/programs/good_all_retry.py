"""A failed attempt of any rank makes all ranks try again: the vote stands outside of `try`."""

import torch
import torch.distributed as dist


def attempt(rank, number):
    if rank == 1 and number < 2:
        raise OSError("not yet")
    return torch.tensor([float(rank + number)])


def main():
    dist.init_process_group("gloo")
    rank, number = dist.get_rank(), 0
    while True:
        number += 1
        value, failed = torch.zeros(1), torch.zeros(1)
        try:
            value = attempt(rank, number)
        except OSError as error:
            failed += 1
            print(f"rank {rank}: {error}")
        dist.all_reduce(failed)
        if failed.item() == 0:
            break
    dist.all_reduce(value)
    print(number, value.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
