"""transformers.utils"""

from _elsewhere import resolved
from transformers.utils.auto_docstring import auto_class_docstring, auto_docstring, auto_method_docstring
from transformers.utils.generic import ModelOutput, TransformersKwargs, can_return_tuple, torch_int
from transformers.utils.import_utils import (
    is_flash_attn_2_available,
    is_torch_available,
    is_torch_flex_attn_available,
    is_torchdynamo_compiling,
    kept,
    requires,
)


class _Logger:
    def __getattr__(self, name):
        return resolved(name)


class logging:
    """transformers.utils.logging"""

    @staticmethod
    def get_logger(name=None):
        return _Logger()


add_start_docstrings = kept
add_start_docstrings_to_model_forward = kept
add_end_docstrings = kept
add_code_sample_docstrings = kept
replace_return_docstrings = kept
copy_func = resolved
