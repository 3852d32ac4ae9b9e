"""Arrays as the other programs here ask for them; a program that is checked has no such module."""

import numpy as np
from _elsewhere import resolved


def is_array(values):
    """Whether sizes are those of an array."""
    return isinstance(values, np.ndarray)


def as_array(values):
    """What `np.asarray` makes of an array or of a list that is written out."""
    return np.asarray(values) if isinstance(values, (np.ndarray, list, tuple, range)) else resolved(values)


def as_vector(values):
    """All numbers in a row; a single one as well. Which numbers is not known."""
    if isinstance(values, (int, float)):
        return numbers(1)
    values = as_array(values)
    return numbers(values.size) if is_array(values) else resolved(values)


def as_tuple(args):
    """Further arguments; one that is no tuple stands alone."""
    return args if isinstance(args, tuple) else (args,)


def numbers(*sizes):
    """An array of which only the size is known."""
    return np.empty(sizes, dtype=float)


def like(values):
    """Other numbers, of the same size."""
    values = as_array(values)
    return numbers(*values.shape) if is_array(values) else resolved(values)


def same_size(input, *args, **options):
    """Other numbers, of the same size; what is written into `out` is not followed."""
    return like(input)


def repeatedly(function, *args):
    """Call a function, and call it again nobody knows how often; what it gave first."""
    first = function(*args)
    while resolved(function):
        function(*args)
    return first


class Result:
    """What is known of a result by its names; it is asked by attribute and by item."""

    def __init__(self, **known):
        self.__dict__.update(known)

    def __getattr__(self, name):
        return resolved(name)

    def __getitem__(self, name):
        return resolved(name)
