"""The optimizer averages gradients in every step, and one process has a batch more.

Fails: hang.
"""

import horovod.torch as hvd
import torch


def batches():
    return [torch.ones(2, 3) for _ in range(2 + hvd.rank())]


def main():
    hvd.init()
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01 * hvd.size())
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for batch in batches():
        optimizer.zero_grad()
        loss = model(batch).pow(2).mean()
        loss.backward()  # error: SPM?
        optimizer.step()  # error: SPM?
    hvd.allreduce(torch.ones(1), name="end")  # error: SPM?
    hvd.shutdown()


if __name__ == "__main__":
    main()
