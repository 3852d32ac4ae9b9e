"""absl.flags: https://abseil.io/docs/python/guides/flags

A flag has its default unless the command line says other; one that must be given is unknown, and so is one that code out of
sight defines.
"""

from _elsewhere import asked


class FlagHolder:
    """What a `DEFINE_` gives: the flag's value, by its name."""

    def __init__(self, values, name, default):
        self._values = values
        self.name = name
        self.default = default

    @property
    def value(self):
        return getattr(self._values, self.name)

    @property
    def present(self):
        return asked(self.name)


class FlagValues:
    """FLAGS: the values of all flags, as attributes."""

    def __init__(self):
        object.__setattr__(self, "_held", {"": None})

    def __getattr__(self, name):
        return self._held[name] if name in self._held else asked(name)

    def __setattr__(self, name, value):
        self._held[name] = value

    def __getitem__(self, name):
        return FlagHolder(self, name, self._held[name] if name in self._held else asked(name))

    def __contains__(self, name):
        return True if name in self._held else bool(asked(name))

    def __call__(self, argv, known_only=False):
        return argv

    def set_default(self, name, value):
        self._held[name] = value

    def get_flag_value(self, name, default):
        return getattr(self, name)

    def is_parsed(self):
        return bool(asked("parsed"))

    def mark_as_parsed(self):
        return None


FLAGS = FlagValues()


def _defined(name, default, options):
    values = options.get("flag_values", FLAGS)
    if options.get("required", False):
        default = asked(name)
    setattr(values, name, default)
    return FlagHolder(values, name, default)


def _as(kind, value):
    return value if value is None else kind(value)


def DEFINE_integer(name, default, help="", *bounds, **options):
    return _defined(name, _as(int, default), options)


def DEFINE_float(name, default, help="", *bounds, **options):
    return _defined(name, _as(float, default), options)


def _truth(value):
    if isinstance(value, str):
        return value.lower() in ("true", "t", "1")
    return bool(value)


def DEFINE_boolean(name, default, help="", **options):
    return _defined(name, _as(_truth, default), options)


DEFINE_bool = DEFINE_boolean


def DEFINE_string(name, default, help="", **options):
    return _defined(name, default, options)


def DEFINE_enum(name, default, enum_values, help="", **options):
    return _defined(name, default, options)


def DEFINE_enum_class(name, default, enum_class, help="", **options):
    return _defined(name, asked(name) if isinstance(default, str) else default, options)


def _listed(value, separator):
    if isinstance(value, str):
        return [each.strip() for each in value.split(separator)] if value else []
    return list(value)


def DEFINE_list(name, default, help="", **options):
    return _defined(name, None if default is None else _listed(default, ","), options)


def DEFINE_spaceseplist(name, default, help="", comma_compat=False, **options):
    return _defined(name, None if default is None else _listed(default, None), options)


def _several(kind, default):
    if default is None:
        return None
    return [kind(each) for each in default] if isinstance(default, (list, tuple)) else [kind(default)]


def DEFINE_multi_integer(name, default, help="", *bounds, **options):
    return _defined(name, _several(int, default), options)


def DEFINE_multi_float(name, default, help="", *bounds, **options):
    return _defined(name, _several(float, default), options)


def DEFINE_multi_string(name, default, help="", **options):
    return _defined(name, _several(str, default), options)


def DEFINE_multi_enum(name, default, enum_values, help="", **options):
    return _defined(name, _several(str, default), options)


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    name = flag_name.name if isinstance(flag_name, FlagHolder) else flag_name
    setattr(flag_values, name, asked(name))


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    for each in flag_names:
        mark_flag_as_required(each, flag_values)


def set_default(flag_holder, value):
    setattr(FLAGS, flag_holder.name, value)


def register_validator(flag_name, checker, message="", flag_values=FLAGS):
    return None
