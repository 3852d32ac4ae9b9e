"""A dictionary keeps the order of insertion, the same on all ranks."""

import torch
import torch.distributed as dist


def reduce_dict(values, average=True):
    world_size = dist.get_world_size()
    if world_size < 2:
        return values
    with torch.no_grad():
        names = sorted(values.keys())
        stacked = torch.stack([values[name] for name in names])
        dist.all_reduce(stacked)
        if average:
            stacked /= world_size
    return dict(zip(names, stacked))


def main():
    dist.init_process_group("gloo")
    losses = {"boxes": torch.tensor(1.0), "classes": torch.tensor(2.0)}
    losses["masks"] = torch.tensor(3.0 + dist.get_rank())
    for value in losses.values():
        dist.all_reduce(value.clone())
    reduced = reduce_dict(losses)
    if dist.get_rank() == 0:
        print({name: value.item() for name, value in reduced.items()})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
