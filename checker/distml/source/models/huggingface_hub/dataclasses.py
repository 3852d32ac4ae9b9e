"""huggingface_hub.dataclasses: what is given is held against annotations."""


def strict(cls=None, *, accept_kwargs=False):
    if cls is not None:
        return cls
    return _kept


def _kept(cls):
    return cls


def validated_field(validator=None, **kwargs):
    return kwargs.get("default")


def as_validated_field(validator):
    return validator
