"""munch: a dict whose items are attributes; only what goes through `munchify` is changed in depth.
https://github.com/Infinidat/munch"""


class Munch(dict):
    """Munch(mapping, **items)."""

    def __setattr__(self, name, value):
        self[name] = value

    def __getattr__(self, name):
        return self[name]

    def copy(self):
        return munchify(self)

    def toDict(self):
        return unmunchify(self)


Bunch = Munch


def munchify(x):
    """A copy whose dicts are Munches."""
    if isinstance(x, dict):
        return Munch({name: munchify(value) for name, value in x.items()})
    if isinstance(x, (list, tuple)):
        return type(x)([munchify(each) for each in x])
    return x


def unmunchify(x):
    """A copy whose Munches are dicts."""
    if isinstance(x, dict):
        return {name: unmunchify(value) for name, value in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)([unmunchify(each) for each in x])
    return x
