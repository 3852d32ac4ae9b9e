"""`@rank_zero_only` hides that the body, which waits for all, runs on rank 0 alone.

Fails: hang.
"""

import functools

import torch
import torch.distributed as dist


def rank_zero_only(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        if dist.get_rank() == 0:
            return function(*args, **kwargs)  # error: SPM?
        return None

    return wrapped


@rank_zero_only
def write(model, path):
    torch.save(model.state_dict(), path)
    dist.barrier()  # error: SPM?


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 2)
    write(model, "model.pt")  # error: SPM?
    total = torch.ones(1)
    dist.all_reduce(total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
