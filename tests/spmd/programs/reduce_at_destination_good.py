"""The sum is wanted on rank 0 only; all ranks contribute."""

from torch import tensor
from torch.distributed import barrier, destroy_process_group, get_rank, init_process_group, reduce


def count_errors(rank):
    return tensor([float(rank * 3)])


init_process_group("gloo")
rank = get_rank()
errors = count_errors(rank)
reduce(errors, dst=0)
if not rank:
    print("errors:", errors.item())
barrier()
destroy_process_group()
