"""omegaconf: https://omegaconf.readthedocs.io/en/latest/

Text that refers to another value (`${width}`) or says that one is missing (`???`) is unknown, and so is what classes
hold. Files are read where they are the project's. `from_cli` has nothing: a script that is run plainly gets no arguments.
"""

import contextlib
import dataclasses

from _elsewhere import resolved, yaml_file


def _held(value):
    if isinstance(value, str):
        return resolved(value) if "${" in value or value == "???" else value
    if isinstance(value, DictConfig):
        return value
    if isinstance(value, dict):
        return DictConfig(value)
    if isinstance(value, (list, tuple)):
        return [_held(each) for each in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return resolved(value)


class DictConfig(dict):
    """DictConfig(content): a dict whose items are attributes, in depth."""

    def __init__(self, content=None, **options):
        super().__init__()
        for name, value in (content or {}).items():
            self[name] = value

    def __setitem__(self, name, value):
        super().__setitem__(name, _held(value))

    def __setattr__(self, name, value):
        self[name] = value

    def __getattr__(self, name):
        return self[name]


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


def _merged(left, right):
    found = dict(left)
    for name, value in right.items():
        if isinstance(value, dict) and isinstance(found.get(name), dict):
            value = _merged(found[name], value)
        found[name] = value
    return found


class OmegaConf:
    """The functions of omegaconf."""

    @staticmethod
    def create(obj=None, parent=None, flags=None):
        return DictConfig({}) if obj is None else _held(obj)

    @staticmethod
    def load(file_):
        found = yaml_file(file_)
        return _held({} if found is None else found)

    @staticmethod
    def merge(*configs):
        made = {}
        for config in configs:
            if not isinstance(config, dict):
                return resolved(configs)
            made = _merged(made, config)
        return DictConfig(made)

    @staticmethod
    def from_cli(args_list=None):
        return DictConfig({}) if args_list is None else resolved(args_list)

    @staticmethod
    def to_container(cfg, **options):
        return _plain(cfg)

    @staticmethod
    def to_object(cfg):
        return _plain(cfg)

    @staticmethod
    def to_yaml(cfg, **options):
        return str(resolved())

    @staticmethod
    def save(config, f, resolve=False):
        return None

    @staticmethod
    def structured(obj, **options):
        return _held(dataclasses.asdict(obj() if isinstance(obj, type) else obj))

    @staticmethod
    def select(cfg, key, default=None, **options):
        found = cfg
        for name in key.split("."):
            if not isinstance(found, dict) or name not in found:
                return default
            found = found[name]
        return found

    @staticmethod
    def register_new_resolver(name, resolver, **options):
        return None

    @staticmethod
    def set_struct(conf, value):
        return None

    @staticmethod
    def set_readonly(conf, value):
        return None

    @staticmethod
    def resolve(cfg):
        return None

    @staticmethod
    def is_config(obj):
        return isinstance(obj, DictConfig)

    @staticmethod
    def is_dict(obj):
        return isinstance(obj, DictConfig)


@contextlib.contextmanager
def open_dict(config):
    yield config


@contextlib.contextmanager
def read_write(config):
    yield config


MISSING = "???"
