"""contextvars: https://docs.python.org/3/library/contextvars.html

A variable as a program sees it that makes no other context.
"""


class Token:
    """What `set` gives."""

    def __init__(self, var, held):
        self.var = var
        self._held = held


class ContextVar:
    """ContextVar(name, *, default)."""

    def __init__(self, name, **options):
        self.name = name
        self._default = tuple(options.values())
        self._held = ()

    def get(self, *default):
        found = self._held or default or self._default
        if not found:
            raise LookupError(self.name)
        return found[0]

    def set(self, value):
        token = Token(self, self._held)
        self._held = (value,)
        return token

    def reset(self, token):
        self._held = token._held
