"""A callback that reduces is registered on rank 0 only.

Fails: hang.
"""

import torch
import torch.distributed as dist


class AverageMetric:
    def on_epoch_end(self, epoch, metric):
        value = torch.tensor([metric])
        dist.all_reduce(value)  # error: SPM?
        self.mean = value.item() / dist.get_world_size()


class Print:
    def on_epoch_end(self, epoch, metric):
        print(f"epoch {epoch}: {metric:.2f}")


def main():
    dist.init_process_group("gloo")
    callbacks = []
    if dist.get_rank() == 0:
        callbacks.append(Print())
        callbacks.append(AverageMetric())
    for epoch in range(2):
        for callback in callbacks:
            callback.on_epoch_end(epoch, 0.5 * epoch)  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
