"""Accuracy is reduced for each class of the data set, seen or not."""

import torch
import torch.distributed as dist

CLASSES = 4


def labels_of(rank):
    return torch.tensor([0, 1, 1]) if rank == 0 else torch.tensor([2, 3, 3])


def main():
    dist.init_process_group("gloo")
    labels = labels_of(dist.get_rank())
    correct = {}
    for label in range(CLASSES):
        hits = (labels == label).sum()
        dist.all_reduce(hits)
        correct[label] = int(hits)
    print(correct)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
