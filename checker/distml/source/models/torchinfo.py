"""torchinfo: https://github.com/TylerYep/torchinfo; a model is called in evaluation mode, or as `mode` says."""

import torch
from _elsewhere import resolved


def _sizes(input_size):
    """One size, or one for each input."""
    return list(input_size) if isinstance(input_size[0], (list, tuple)) else [input_size]


def _inputs(input_size, batch_dim):
    """A tensor of each size; with `batch_dim` a batch of one sample is made of it."""
    made = [torch.rand(*each) for each in _sizes(input_size)]
    return made if batch_dim is None else [each.unsqueeze(batch_dim) for each in made]


def summary(model, input_size=None, input_data=None, batch_dim=None, *rest, mode="eval", **kwargs):
    """summary(model, input_size=None, input_data=None): without either nothing is called"""
    if rest or kwargs.get("cache_forward_pass") or not isinstance(mode, str):
        return resolved(model, input_data, rest, kwargs)
    options = {name: value for name, value in kwargs.items() if name not in OWN}
    training = model.training
    model.train(mode == "train")
    if input_data is not None:
        if isinstance(input_data, dict):
            model(**input_data, **options)
        elif isinstance(input_data, (list, tuple)):
            model(*input_data, **options)
        else:
            model(input_data, **options)
    elif input_size is not None:
        model(*_inputs(input_size, batch_dim), **options)
    model.train(training)
    return resolved(mode)


OWN = ("cache_forward_pass", "col_names", "col_width", "depth", "device", "dtypes", "row_settings", "verbose")
"""Options of the summary; others are the model's."""
