"""hydra.utils: https://hydra.cc/docs/advanced/instantiate_objects/overview/"""

import functools
import os

from _elsewhere import asked, located
from omegaconf import DictConfig

_OPTIONS = ("_target_", "_partial_", "_recursive_", "_convert_", "_args_")


def _value(value, deep):
    if isinstance(value, dict):
        if deep and "_target_" in value:
            return instantiate(value)
        return DictConfig({name: _value(each, deep) for name, each in value.items()})
    if isinstance(value, list):
        return [_value(each, deep) for each in value]
    return value


def instantiate(config=None, *args, **kwargs):
    """instantiate(config): call what `_target_` names with the rest of the configuration."""
    if config is None:
        return None
    if not isinstance(config, dict) or "_target_" not in config or "_convert_" in config:
        return asked(kwargs)
    given = {**config, **kwargs}
    deep = given.get("_recursive_", True)
    named = {name: _value(value, deep) for name, value in given.items() if name not in _OPTIONS}
    target = given["_target_"]
    function = located(target) if isinstance(target, str) else target
    places = args or [_value(each, deep) for each in given.get("_args_", [])]
    if given.get("_partial_", False):
        return functools.partial(function, *places, **named)
    return function(*places, **named)


call = instantiate


def get_class(path):
    return located(path)


def get_method(path):
    return located(path)


def get_object(path):
    return located(path)


def get_original_cwd():
    return os.getcwd()


def to_absolute_path(path):
    return os.path.join(os.getcwd(), path)
