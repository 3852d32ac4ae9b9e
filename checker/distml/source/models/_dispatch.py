"""functools.singledispatch and singledispatchmethod: the function that is registered for the class of the first argument.

https://docs.python.org/3/library/functools.html#functools.singledispatch
"""

from inspect import signature

from _elsewhere import asked


class _Registered:
    def __init__(self, func, place):
        self._known = [(object, func)]
        self._place = place

    def register(self, cls, func=None):
        if func is None and isinstance(cls, type):
            return lambda func: self.register(cls, func)
        if func is None:
            cls, func = [*signature(cls).parameters.values()][self._place].annotation, cls
        self._known.append((cls, func))
        return func

    def _for(self, given):
        best, found = self._known[0]
        for kind, func in self._known[1:]:
            if isinstance(given, kind) and issubclass(kind, best):
                best, found = kind, func
        return found

    def __getattr__(self, name):
        return asked(name)


class singledispatch(_Registered):
    """singledispatch(func)."""

    def __init__(self, func):
        super().__init__(func, 0)

    def __call__(self, *args, **kwargs):
        return self._for(args[0])(*args, **kwargs)


class singledispatchmethod(_Registered):
    """singledispatchmethod(func)."""

    def __init__(self, func):
        super().__init__(func, 1)

    def __get__(self, obj, cls=None):
        return lambda *args, **kwargs: self._for(args[0])(obj, *args, **kwargs)
