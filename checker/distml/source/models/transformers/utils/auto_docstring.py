"""transformers.utils.auto_docstring: decorators that write documentation."""


def auto_docstring(obj=None, *, custom_intro=None, custom_args=None, checkpoint=None):
    if obj is not None:
        return obj
    return _kept


def _kept(obj):
    return obj


def auto_class_docstring(cls, custom_intro=None, custom_args=None, checkpoint=None):
    return cls


def auto_method_docstring(func, parent_class=None, custom_intro=None, custom_args=None, checkpoint=None):
    return func
