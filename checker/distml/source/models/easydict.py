"""easydict: a dict whose items are attributes, in depth. https://github.com/makinacorpus/easydict"""


def _held(value):
    if isinstance(value, dict):
        return EasyDict(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_held(each) for each in value])
    return value


class EasyDict(dict):
    """EasyDict(mapping, **items)."""

    def __init__(self, d=None, **kwargs):
        super().__init__()
        for name, value in {**(d or {}), **kwargs}.items():
            self[name] = value

    def __setitem__(self, name, value):
        super().__setitem__(name, _held(value))

    def __setattr__(self, name, value):
        self[name] = value

    def __getattr__(self, name):
        return self[name]
