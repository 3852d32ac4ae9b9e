"""Stands for matplotlib."""


def use(*_: object, **__: object) -> None:
    """Nothing is drawn."""
