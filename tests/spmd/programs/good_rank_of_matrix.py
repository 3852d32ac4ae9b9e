"""The rank here is that of a matrix, equal on all processes."""

import torch
import torch.distributed as dist


def compress(matrix, rank):
    left, values, right = torch.linalg.svd(matrix)
    return left[:, :rank] * values[:rank] @ right[:rank]


def main():
    dist.init_process_group("gloo")
    matrix = torch.outer(torch.arange(3.0), torch.arange(3.0))
    rank = int(torch.linalg.matrix_rank(matrix))
    if rank == 1:
        approximation = compress(matrix, rank)
        dist.all_reduce(approximation)
        print(rank, approximation.sum().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
