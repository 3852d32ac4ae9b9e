"""click.types: https://click.palletsprojects.com/en/stable/parameter-types/"""

from enum import Enum

from _elsewhere import asked


class ParamType:
    """A type that gives what it is given; one of the program converts by its own `convert`."""

    def convert(self, value, param, ctx):
        return value

    def fail(self, message, param=None, ctx=None):
        raise ValueError(message)


class _Plain(ParamType):
    def __init__(self, kind):
        self.kind = kind

    def convert(self, value, param, ctx):
        return self.kind(value)


INT = _Plain(int)
FLOAT = _Plain(float)
STRING = _Plain(str)


class _Bool(ParamType):
    def convert(self, value, param, ctx):
        return asked(value) if isinstance(value, str) else bool(value)


BOOL = _Bool()


class _Unknown(ParamType):
    def __init__(self, *args, **kwargs):
        pass

    def convert(self, value, param, ctx):
        return asked(value)


UUID = _Unknown()


class IntRange(_Plain):
    def __init__(self, min=None, max=None, min_open=False, max_open=False, clamp=False):
        super().__init__(asked if clamp else int)


class FloatRange(_Plain):
    def __init__(self, min=None, max=None, min_open=False, max_open=False, clamp=False):
        super().__init__(asked if clamp else float)


class Choice(ParamType):
    """Choice(choices): words, or members of an `Enum`, which are given by their names."""

    def __init__(self, choices, case_sensitive=True):
        self.choices = list(choices)

    def convert(self, value, param, ctx):
        for each in self.choices:
            if value == (each.name if isinstance(each, Enum) and isinstance(value, str) else each):
                return each
        return asked(value)


class Path(ParamType):
    def __init__(self, path_type=None, resolve_path=False, **options):
        self.changes = resolve_path or path_type is not None

    def convert(self, value, param, ctx):
        return asked(value) if self.changes else value


class File(_Unknown):
    pass


class DateTime(_Unknown):
    pass


class Tuple(ParamType):
    def __init__(self, types):
        self.types = types
