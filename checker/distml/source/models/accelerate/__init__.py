"""accelerate: https://huggingface.co/docs/accelerate/package_reference/accelerator

What is prepared is what it was. How many processes there are is unknown, so what is gathered from all of them is too.
"""

import contextlib

import torch
from _elsewhere import resolved


class Accelerator:
    """Accelerator(...): a training loop on whatever there is"""

    def __init__(self, *args, **options):
        self.gradient_accumulation_steps = options.get("gradient_accumulation_steps", 1)

    def __getattr__(self, name):
        return resolved(name)

    @property
    def device(self):
        """Where this process computes."""
        return torch.device("cpu")

    def prepare(self, *args, device_placement=None):
        """One of them, or all."""
        return args[0] if len(args) == 1 else args

    def prepare_model(self, model, *args, **options):
        """The same."""
        return model

    def prepare_data_loader(self, data_loader, *args, **options):
        """The same."""
        return data_loader

    def prepare_optimizer(self, optimizer, *args, **options):
        """The same."""
        return optimizer

    def prepare_scheduler(self, scheduler):
        """The same."""
        return scheduler

    def unwrap_model(self, model, *args, **options):
        """The same."""
        return model

    @contextlib.contextmanager
    def accumulate(self, *models):
        """Gradients of some batches add up."""
        yield

    @contextlib.contextmanager
    def autocast(self, *args, **options):
        """Other kinds of numbers, of the same sizes."""
        yield

    @contextlib.contextmanager
    def no_sync(self, model):
        """Each process keeps its gradients."""
        yield

    @contextlib.contextmanager
    def main_process_first(self):
        """One process before the others."""
        yield

    local_main_process_first = main_process_first

    def backward(self, loss, **options):
        """Gradients of a number."""
        loss.backward()

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        """The norm of all gradients."""
        return torch.zeros(())

    def clip_grad_value_(self, parameters, clip_value):
        return None

    def reduce(self, tensor, *args, **options):
        """Of the same size."""
        return tensor

    def get_state_dict(self, model, unwrap=True):
        """The parameters of a model by name."""
        return model.state_dict()

    def print(self, *args, **options):
        return None

    def log(self, values, *args, **options):
        return None

    def wait_for_everyone(self):
        return None

    def init_trackers(self, *args, **options):
        return None

    def end_training(self):
        return None

    def save_state(self, *args, **options):
        return resolved(self)

    def save_model(self, model, *args, **options):
        return None
