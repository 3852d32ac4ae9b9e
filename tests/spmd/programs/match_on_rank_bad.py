"""A `match` statement gives one rank a collective that the other has not.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    weights = torch.zeros(3)
    match dist.get_rank():
        case 0:
            weights += 1
            dist.broadcast(weights, src=0)  # error: SPM
        case _:
            weights -= 1
    dist.barrier()
    print(weights.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
