"""Small functions that a program gets where ranks combine what their containers hold, in the words of any back end."""

from __future__ import annotations

MEAN_OF_EACH = '''

def {name}(value):
    """The mean over all ranks of each number in a container, which stays the same object."""

    def put(each, change):
        if isinstance(each, dict):
            for key, item in each.items():
                each[key] = put(item, change)
        elif isinstance(each, tuple):
            return tuple(put(item, change) for item in each)
        elif isinstance(each, list) or hasattr(each, "popleft"):
            for i, item in enumerate(each):
                each[i] = put(item, change)
        elif hasattr(each, "dtype") or (isinstance(each, (int, float)) and not isinstance(each, bool)):
            return change(each)
        elif hasattr(each, "__dict__"):
            put(vars(each), change)
        return each

    def mean(each):
        found = next(means)
        if getattr(each, "ndim", 0) and "float" in str(each.dtype) and hasattr(each, "__setitem__"):
            each[...] = found
            return each
        {tensor}return each if getattr(each, "ndim", 0) == 0 and each == found else found

    numbers = []
    put(value, lambda each: numbers.append({plain}) or each)
    {parts}
    means = iter([sum(same) / len(same) for same in zip(*parts)])
    return put(value, mean)
'''
FROM_ALL = '''

def {name}(value):
    """What the lists or arrays of all ranks hold, lists in the order of their batches."""
    {parts}
    {joined}
    return [each for i in range(max(map(len, parts))) for part in parts for each in part[i : i + 1]]
'''
SUM_OF_EACH = '''

def {name}(value):
    """The sum over all ranks of each count in a dict, a list or an array, which stays the same object."""
    {parts}
    if isinstance(value, dict):
        for key in [key for part in parts for key in part]:
            value[key] = sum(part.get(key, 0) for part in parts)
    elif isinstance(value, list):
        value[:] = map(sum, zip(*parts))
    else:
        value[...] = sum(parts)
    return value
'''
EXTREME = '''

def {name}(value):
    """The {kind} number of all ranks."""
    {parts}
    return {choose}(parts)
'''
