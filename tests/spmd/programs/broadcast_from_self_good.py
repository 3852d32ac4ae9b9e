"""Rank 0 is the source for everybody."""

import torch
import torch.distributed as dist


def sync_weights(model, source):
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=source)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = torch.nn.Linear(2, 1, bias=False)
    sync_weights(model, 0)
    print([round(value, 4) for value in model.weight.flatten().tolist()])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
