"""Only rank 0 knows when to stop; a broadcast makes its knowledge everybody's."""

import torch
import torch.distributed as dist


def should_stop(local_decision: bool) -> bool:
    flag = torch.tensor([int(local_decision)])
    dist.broadcast(flag, src=0)
    return bool(flag.item())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    losses = [3.0, 2.0, 2.5, 2.6, 2.7]
    best = float("inf")
    for epoch, loss in enumerate(losses):
        gradient = torch.ones(2)
        dist.all_reduce(gradient)
        worse = False
        if rank == 0:
            worse = loss > best
            best = min(best, loss)
        if should_stop(worse):
            print("stop after epoch", epoch)
            break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
