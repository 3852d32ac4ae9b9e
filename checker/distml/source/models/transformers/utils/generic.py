"""transformers.utils.generic"""

from functools import wraps


class ModelOutput:
    """What a model returns: fields, of which those that are set are also items, in order."""

    def to_tuple(self):
        return tuple([value for value in vars(self).values() if value is not None])

    def keys(self):
        return [name for name, value in vars(self).items() if value is not None]

    def values(self):
        return self.to_tuple()

    def items(self):
        return [(name, value) for name, value in vars(self).items() if value is not None]

    def get(self, name, default=None):
        value = getattr(self, name, None)
        return default if value is None else value

    def __getitem__(self, key):
        if isinstance(key, str):
            return getattr(self, key)
        return self.to_tuple()[key]

    def __setitem__(self, key, value):
        setattr(self, key, value)

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __contains__(self, key):
        return getattr(self, key, None) is not None


class TransformersKwargs:
    """Names of options."""


def as_asked(self, output, asked):
    """The output as a tuple where the caller or the configuration asks for one."""
    given = self.config.return_dict if asked is None and hasattr(self, "config") else asked
    if given is False and isinstance(output, ModelOutput):
        return output.to_tuple()
    return output


def can_return_tuple(func):
    @wraps(func)
    def wrapper(self, *args, **kwargs):
        asked = kwargs.pop("return_dict", None)
        return as_asked(self, func(self, *args, **kwargs), asked)

    return wrapper


def merge_with_config_defaults(func):
    return func


def check_model_inputs(func=None, **options):
    """An older name of what captures outputs."""
    from transformers.utils.output_capturing import capture_outputs

    return capture_outputs(func, **options)


def maybe_autocast(*args, **kwargs):
    return _Nothing()


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None


def torch_int(x):
    return int(x)


def torch_float(x):
    return float(x)
