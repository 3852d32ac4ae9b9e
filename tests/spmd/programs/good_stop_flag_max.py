"""If any rank wants to stop, all do: the largest flag decides."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    step, done = 0, False
    while not done:
        step += 1
        flag = torch.tensor([1 if step > 3 + rank else 0])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        done = flag.item() == 1
        if not done:
            work = torch.full((2,), float(step))
            dist.all_reduce(work)
    print("steps", step)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
