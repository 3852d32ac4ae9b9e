"""Rank 0 hands out tasks and a sign that there are no more."""

import torch
import torch.distributed as dist

TASKS = [1.0, 2.0, 3.0]


def serve():
    for task in TASKS:
        dist.send(torch.tensor([task]), dst=1)
    dist.send(torch.tensor([-1.0]), dst=1)


def work():
    done = 0
    while True:
        task = torch.zeros(1)
        dist.recv(task, src=0)
        if task.item() < 0:
            break
        done += 1
    return done


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        serve()
    else:
        print(work(), "tasks done")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
