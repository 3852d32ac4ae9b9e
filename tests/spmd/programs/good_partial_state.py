"""A state object with `wait_for_everyone`, `main_process_first` and a decorator for the main process."""

import contextlib
import functools

import torch
import torch.distributed as dist


class State:
    def __init__(self):
        self.process_index = dist.get_rank()
        self.num_processes = dist.get_world_size()

    @property
    def is_main_process(self):
        return self.process_index == 0

    def wait_for_everyone(self):
        if self.num_processes > 1:
            dist.barrier()

    @contextlib.contextmanager
    def main_process_first(self):
        if not self.is_main_process:
            self.wait_for_everyone()
        yield
        if self.is_main_process:
            self.wait_for_everyone()

    def on_main_process(self, function):
        @functools.wraps(function)
        def execute(*args):
            return function(*args) if self.is_main_process else None

        return execute


def main():
    dist.init_process_group("gloo")
    state = State()
    with state.main_process_first():
        table = torch.arange(3.0)
    announce = state.on_main_process(print)
    announce("table", table.tolist())
    dist.all_reduce(table)
    state.wait_for_everyone()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
