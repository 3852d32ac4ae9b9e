"""ml_collections: ConfigDict. https://ml-collections.readthedocs.io/en/latest/"""

import contextlib

from _elsewhere import referred


def _held(value):
    if isinstance(value, ConfigDict):
        return value
    if isinstance(value, dict):
        return ConfigDict(value)
    if isinstance(value, FieldReference):
        return value.get()
    return value


class FieldReference:
    """FieldReference(value): what it refers to may be set through another field later."""

    def __init__(self, default, field_type=None, op=None, required=False):
        self._default = default

    def get(self):
        return referred(self._default)


class ConfigDict:
    """ConfigDict(mapping): fields by name or as attributes, mappings in it are ConfigDicts too."""

    def __init__(self, initial_dictionary=None, type_safe=True, convert_dict=True, **options):
        object.__setattr__(self, "_fields", {})
        for name, value in (initial_dictionary or {}).items():
            self[name] = value

    def __setattr__(self, name, value):
        self[name] = value

    def __setitem__(self, name, value):
        self._fields[name] = _held(value)

    def __getattr__(self, name):
        return self._fields[name]

    def __getitem__(self, name):
        return self._fields[name]

    def __delattr__(self, name):
        del self._fields[name]

    def __contains__(self, name):
        return name in self._fields

    def __iter__(self):
        return iter(self._fields)

    def __len__(self):
        return len(self._fields)

    def get(self, name, default=None):
        return self._fields.get(name, default)

    def keys(self):
        return self._fields.keys()

    def values(self):
        return self._fields.values()

    def items(self):
        return self._fields.items()

    def get_ref(self, name):
        return referred(self._fields[name])

    def get_oneway_ref(self, name):
        return referred(self._fields[name])

    def update(self, *other, **kwargs):
        for mapping in (*other, kwargs):
            for name, value in mapping.items():
                if name in self._fields and isinstance(self._fields[name], ConfigDict):
                    self._fields[name].update(value)
                else:
                    self[name] = value

    def to_dict(self, **options):
        return {n: v.to_dict() if isinstance(v, ConfigDict) else v for n, v in self._fields.items()}

    def copy_and_resolve_references(self, **options):
        return ConfigDict(self.to_dict())

    def lock(self):
        return self

    def unlock(self):
        return self

    @contextlib.contextmanager
    def unlocked(self):
        yield self

    ignore_type = unlocked


class FrozenConfigDict(ConfigDict):
    """FrozenConfigDict(mapping): one that does not change."""


class config_dict:
    """The module ml_collections.config_dict."""

    ConfigDict = ConfigDict
    FrozenConfigDict = FrozenConfigDict
    FieldReference = FieldReference

    @staticmethod
    def create(**kwargs):
        return ConfigDict(kwargs)

    @staticmethod
    def placeholder(field_type, required=False):
        return referred(field_type)


def required_placeholder(field_type):
    """A field that must be given before it is read."""
    return referred(field_type)
