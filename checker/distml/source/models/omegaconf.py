"""omegaconf: https://omegaconf.readthedocs.io/en/latest/

Text that refers to another value (`${model.width}`, `${..width}`) is that value when it is read. Text that refers to one within
other text, or calls a resolver, is unknown, and so are what is missing (`???`) and what classes hold. Files are read where they
are the project's. `from_cli` has nothing: a script that is run plainly gets no arguments.
"""

import contextlib
import dataclasses

import yaml
from _elsewhere import resolved, yaml_file


def _refers(value):
    """Whether a value, or an item of a list, is text that refers to another."""
    if isinstance(value, list):
        return any([_refers(each) for each in value])
    return isinstance(value, str) and "${" in value


def _held(value, parent=None):
    if isinstance(value, str):
        return resolved(value) if "${" in value or value == "???" else value
    if isinstance(value, dict):
        return DictConfig(value, parent)
    if isinstance(value, (list, tuple)):
        return [_held(each, parent) for each in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return resolved(value)


class DictConfig(dict):
    """DictConfig(content): a dict whose items are attributes, in depth. Items that refer to others are kept as they are
    written too, in `_refers`.
    """

    def __init__(self, content=None, parent=None, **options):
        super().__init__()
        object.__setattr__(self, "_refers", {})
        object.__setattr__(self, "_above", (parent,) if isinstance(parent, DictConfig) else ())
        held = content._own() if isinstance(content, DictConfig) else content or {}
        for name, value in held.items():
            self[name] = value

    def __setitem__(self, name, value):
        if _refers(value):
            self._refers[name] = value
        elif name in self._refers:
            del self._refers[name]
        super().__setitem__(name, _held(value, self))

    def __getitem__(self, name):
        if name in self._refers:
            return _referred(self._refers[name], self)
        return super().__getitem__(name)

    def __setattr__(self, name, value):
        self[name] = value

    def __getattr__(self, name):
        return self[name]

    def __iter__(self):
        return iter(super().keys())

    def get(self, key, default_value=None):
        if key not in self:
            return default_value
        return self[key]

    def items(self):
        return [(name, self[name]) for name in self]

    def values(self):
        return [self[name] for name in self]

    def _own(self):
        """What it holds, with references as they are written."""
        found = dict(super().items())
        found.update(self._refers)
        return found

    def _written(self):
        """The same, in depth, as plain dicts."""
        return {
            name: value._written() if isinstance(value, DictConfig) else value for name, value in self._own().items()
        }


def _referred(text, config):
    """The value that text in a configuration refers to."""
    if isinstance(text, list):
        return [_referred(each, config) for each in text]
    if not _refers(text):
        return _held(text, config)
    path = text[2:-1].strip()
    if not text.startswith("${") or not text.endswith("}") or any([sign in path for sign in "${}:[]"]):
        return resolved(text)
    if not path.startswith("."):
        while config._above:
            config = config._above[0]
    while path.startswith(".."):
        if not config._above:
            return resolved(text)
        config = config._above[0]
        path = path[1:]
    found = config
    for name in path.removeprefix(".").split("."):
        if not isinstance(found, dict) or name not in found:
            return resolved(text)
        found = found[name]
    return found


def _plain(value, resolve):
    if isinstance(value, dict):
        if isinstance(value, DictConfig) and not resolve:
            value = value._written()
        return {name: _plain(each, resolve) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, resolve) for each in value]
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
        if isinstance(obj, str):
            found = yaml.safe_load(obj)
            return _held(found) if isinstance(found, (dict, list)) else resolved(obj)
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
            made = _merged(made, config._written() if isinstance(config, DictConfig) else config)
        return DictConfig(made)

    @staticmethod
    def from_cli(args_list=None):
        return OmegaConf.from_dotlist(args_list or [])

    @staticmethod
    def from_dotlist(dotlist):
        made = {}
        for each in dotlist:
            path, given, text = each.partition("=")
            value = yaml.safe_load(text) if given else None
            for name in reversed(path.split(".")):
                value = {name: value}
            made = _merged(made, value)
        return DictConfig(made)

    @staticmethod
    def to_container(cfg, resolve=False, **options):
        return _plain(cfg, resolve)

    @staticmethod
    def to_object(cfg):
        return _plain(cfg, True)

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
