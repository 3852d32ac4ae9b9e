"""Collectives behind a lambda and a partial function, called by all ranks."""

from functools import partial

import torch
import torch.distributed as dist

total = partial(dist.all_reduce, op=dist.ReduceOp.SUM)


def on_main(rank):
    return (lambda action: action()) if rank == 0 else (lambda action: None)


def main():
    dist.init_process_group("gloo")
    wait = lambda: dist.barrier()  # noqa: E731
    only_main = on_main(dist.get_rank())
    counts = torch.tensor([4.0])
    total(counts)
    only_main(lambda: print("sum", counts.item()))
    wait()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
