"""Rank 0 reduces the accuracy before the loss, the others after it.

Fails: wrong values.
"""

import torch
import torch.distributed as dist


def reduced(value):
    result = torch.tensor([value])
    dist.all_reduce(result)  # error: SPM?
    return result.item() / dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    loss, accuracy = 2.5, 0.75
    if dist.get_rank() == 0:
        mean_accuracy = reduced(accuracy)  # error: SPM?
        mean_loss = reduced(loss)  # error: SPM?
    else:
        mean_loss = reduced(loss)  # error: SPM?
        mean_accuracy = reduced(accuracy)  # error: SPM?
    print(f"loss {mean_loss:.2f}, accuracy {mean_accuracy:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
