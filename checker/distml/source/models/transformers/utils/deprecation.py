"""transformers.utils.deprecation: an argument may be given by a name that it had before."""

from functools import wraps


def deprecate_kwarg(old_name, version=None, new_name=None, *args, **kwargs):
    def decorate(function):
        @wraps(function)
        def renamed(*given, **named):
            if old_name in named and new_name is not None:
                named[new_name] = named.pop(old_name)
            return function(*given, **named)

        return renamed

    return decorate
