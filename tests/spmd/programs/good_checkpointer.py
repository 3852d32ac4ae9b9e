"""A method that waits for all, called by all, in an object that only rank 0 prints."""

import functools

import torch
import torch.distributed as dist


@functools.cache
def is_main():
    return dist.get_rank() == 0


class Checkpointer:
    def __init__(self, model, keep=2):
        self.model, self.keep, self.saved = model, keep, []

    def __repr__(self):
        return f"Checkpointer({len(self.saved)})"

    def save(self, step):
        name = f"step{step}.pt"
        if is_main():
            torch.save(self.model.state_dict(), name)
        self.saved.append(name)
        if len(self.saved) > self.keep:
            self.saved.pop(0)
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    checkpointer = Checkpointer(torch.nn.Linear(2, 2))
    for step in range(4):
        if step % 2 == 1:
            checkpointer.save(step)
    if is_main():
        print(checkpointer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
