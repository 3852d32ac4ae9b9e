"""A mean over ranks is asked for in one arm of a conditional expression.

Fails: hang.
"""

import torch
import torch.distributed as dist


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


def reduce_mean(tensor):
    result = tensor.clone()
    dist.all_reduce(result)  # error: SPM?
    return result / dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    accuracy = torch.tensor([0.25 + dist.get_rank()])
    summary = f"accuracy {reduce_mean(accuracy).item()}" if is_main_process() else ""  # error: SPM?
    print(summary)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
