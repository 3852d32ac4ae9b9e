"""What `@rank_zero_only` decorates writes; what waits for all is not decorated."""

import functools

import torch
import torch.distributed as dist


def rank_zero_only(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        if dist.get_rank() == 0:
            return function(*args, **kwargs)
        return None

    return wrapped


@rank_zero_only
def write(model, path):
    torch.save(model.state_dict(), path)


def save(model, path):
    write(model, path)
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 2)
    save(model, "model.pt")
    total = torch.ones(1)
    dist.all_reduce(total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
