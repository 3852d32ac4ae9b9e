"""The loop that a rank leaves early holds no collective, the one around it does."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for epoch in range(2):
        correct = torch.zeros(1)
        for index in range(10):
            if index > 3 + 2 * rank:
                break
            correct += 1
        else:
            correct -= 1
        dist.all_reduce(correct)
        print(epoch, correct.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
