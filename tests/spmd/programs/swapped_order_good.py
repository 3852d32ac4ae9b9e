"""All ranks reduce the loss, then the accuracy."""

import torch
import torch.distributed as dist


def reduced(value):
    result = torch.tensor([value])
    dist.all_reduce(result)
    return result.item() / dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    loss, accuracy = 2.5, 0.75
    mean_loss = reduced(loss)
    mean_accuracy = reduced(accuracy)
    print(f"loss {mean_loss:.2f}, accuracy {mean_accuracy:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
