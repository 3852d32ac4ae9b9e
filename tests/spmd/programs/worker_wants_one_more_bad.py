"""Rank 0 hands out three tasks, the worker waits for a fourth.

Fails: hang.
"""

import torch
import torch.distributed as dist

TASKS = [1.0, 2.0, 3.0]


def serve():
    for task in TASKS:
        dist.send(torch.tensor([task]), dst=1)  # error: SPM?


def work():
    done = 0
    while True:
        task = torch.zeros(1)
        dist.recv(task, src=0)  # error: SPM?
        if task.item() < 0:
            break
        done += 1
    return done


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        serve()  # error: SPM?
    else:
        print(work(), "tasks done")  # error: SPM?
    dist.barrier()  # error: SPM?
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
