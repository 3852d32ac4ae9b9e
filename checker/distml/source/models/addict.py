"""addict: a dict whose items are attributes, in depth; what is missing is an empty one. https://github.com/mewwts/addict"""


def _held(value):
    if isinstance(value, dict):
        return Dict(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_held(each) for each in value])
    return value


class Dict(dict):
    """Dict(mapping, **items)."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        for name, value in dict(*args, **kwargs).items():
            self[name] = _held(value)

    def __setattr__(self, name, value):
        self[name] = value

    def __getattr__(self, name):
        if name not in self:
            self[name] = Dict()
        return self[name]

    def to_dict(self):
        return {name: value.to_dict() if isinstance(value, Dict) else value for name, value in self.items()}
