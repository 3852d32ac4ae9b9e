"""fire: https://google.github.io/python-fire/guide/

A function that is run plainly gets its defaults. Of a class and of a dict the user chooses what is run.
"""

import inspect

from _elsewhere import asked, chosen


def _plainly(function):
    values = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is inspect.Parameter.empty and not parameter._takes_rest:
            values[name] = asked(name)
    return function(**values)


def Fire(component=None, command=None, name=None, serialize=None):
    """Fire(component): run what the command line says of a component."""
    if component is None or command is not None:
        return asked(component)
    if isinstance(component, dict):
        for each in component.values():
            chosen(each, each)
        return asked(name)
    if isinstance(component, (list, tuple)) or isinstance(component, type):
        chosen(component, component)
        return asked(name)
    if callable(component):
        return _plainly(component)
    return asked(name)
