"""Only rank 0 restores the optimizer, so only rank 0 has states to broadcast.

Fails: hang.
"""

import torch
import torch.distributed as dist


def sync_optimizer(optimizer):
    for state in optimizer.state.values():
        for value in state.values():
            if torch.is_tensor(value):
                dist.broadcast(value, src=0)  # error: SPM


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
