"""omegaconf: https://omegaconf.readthedocs.io/en/latest/

Text that refers to another value (`${model.width}`, `${..width}`, `${sizes[0]}`) is that value when it is read. Text that
refers to one within other text, or calls a resolver, is unknown, and so is what is missing (`???`). What is made of a class of
fields is an object of it again by `to_object`. Files are read where they are the project's. `from_cli` has nothing: a script
that is run plainly gets no arguments.
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
    if dataclasses.is_dataclass(value):
        return _of_class(value() if isinstance(value, type) else value, parent)
    return resolved(value)


def _of_class(value, parent=None):
    """The configuration that an object of a class with fields is."""
    made = DictConfig({each.name: getattr(value, each.name) for each in dataclasses.fields(value)}, parent)
    object.__setattr__(made, "_class", type(value))
    return made


class DictConfig(dict):
    """DictConfig(content): a dict whose items are attributes, in depth. Items that refer to others are kept as they are
    written too, in `_refers`.
    """

    def __init__(self, content=None, parent=None, **options):
        super().__init__()
        object.__setattr__(self, "_refers", {})
        object.__setattr__(self, "_above", (parent,) if isinstance(parent, DictConfig) else ())
        object.__setattr__(self, "_class", content._class if isinstance(content, DictConfig) else None)
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

    def _take(self, other):
        """Set what another one has, in depth."""
        for name, value in (other._own() if isinstance(other, DictConfig) else other).items():
            inner = super().__getitem__(name) if name in self and name not in self._refers else None
            if isinstance(inner, DictConfig) and isinstance(value, dict):
                inner._take(value)
            else:
                self[name] = value

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
    if not text.startswith("${") or not text.endswith("}") or any([sign in path for sign in "${}:"]):
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
    for name in path.removeprefix(".").replace("[", ".").replace("]", "").split("."):
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            return resolved(text)
    return found


def _plain(value, resolve, objects=False):
    if isinstance(value, dict):
        made = value._class if objects and isinstance(value, DictConfig) else None
        if isinstance(value, DictConfig) and not resolve:
            value = value._written()
        items = {name: _plain(each, resolve, objects) for name, each in value.items()}
        return items if made is None else made(**items)
    if isinstance(value, list):
        return [_plain(each, resolve, objects) for each in value]
    return value


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
        held = [config if isinstance(config, dict) else _held(config) for config in configs]
        if not all([isinstance(config, dict) for config in held]):
            return resolved(configs)
        made = DictConfig(held[0])
        for config in held[1:]:
            made._take(config)
        return made

    @staticmethod
    def from_cli(args_list=None):
        return OmegaConf.from_dotlist(args_list or [])

    @staticmethod
    def from_dotlist(dotlist):
        made = DictConfig({})
        for each in dotlist:
            path, given, text = each.partition("=")
            value = yaml.safe_load(text) if given else None
            for name in reversed(path.split(".")):
                value = {name: value}
            made._take(value)
        return made

    @staticmethod
    def to_container(cfg, resolve=False, **options):
        return _plain(cfg, resolve)

    @staticmethod
    def to_object(cfg):
        return _plain(cfg, True, True)

    @staticmethod
    def to_yaml(cfg, **options):
        return str(resolved())

    @staticmethod
    def save(config, f, resolve=False):
        return None

    @staticmethod
    def structured(obj, **options):
        return _held(obj)

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


def II(interpolation):
    return "${" + interpolation + "}"


def SI(interpolation):
    return interpolation
