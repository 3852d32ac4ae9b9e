"""The state of the optimizer travels as one object from rank 0 to everybody."""

import torch
import torch.distributed as dist


def sync_optimizer(optimizer):
    box = [optimizer.state_dict()]
    dist.broadcast_object_list(box, src=0)
    optimizer.load_state_dict(box[0])


def checkpoint():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if dist.get_rank() == 0:
        optimizer.load_state_dict(checkpoint())
    sync_optimizer(optimizer)
    dist.barrier()
    print(len(optimizer.state))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
