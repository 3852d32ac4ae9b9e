"""The callback that reduces is registered on all ranks; the one that prints on rank 0."""

import torch
import torch.distributed as dist


class AverageMetric:
    def on_epoch_end(self, epoch, metric):
        value = torch.tensor([metric])
        dist.all_reduce(value)
        self.mean = value.item() / dist.get_world_size()


class Print:
    def on_epoch_end(self, epoch, metric):
        print(f"epoch {epoch}: {metric:.2f}")


def main():
    dist.init_process_group("gloo")
    callbacks = [AverageMetric()]
    if dist.get_rank() == 0:
        callbacks.append(Print())
    for epoch in range(2):
        for callback in callbacks:
            callback.on_epoch_end(epoch, 0.5 * epoch)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
