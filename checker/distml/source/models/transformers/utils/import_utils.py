"""transformers.utils.import_utils: what is installed beside PyTorch is not known."""

from _elsewhere import resolved


def is_torch_available():
    return True


def is_torch_greater_or_equal(*args, **kwargs):
    return True


def is_flash_attn_2_available():
    return bool(resolved())


def is_torch_flex_attn_available():
    return bool(resolved())


def is_torchdynamo_compiling():
    return False


def is_tracing(tensor=None):
    return False


def kept(*args, **kwargs):
    """A decorator with arguments that leaves what it decorates."""

    def decorate(obj):
        return obj

    return decorate


requires = kept
