"""transformers.integrations: other ways to compute the same."""

from transformers.utils.import_utils import kept

use_kernel_forward_from_hub = kept
use_kernel_func_from_hub = kept
use_kernelized_func = kept
use_experts_implementation = kept


def is_deepspeed_zero3_enabled():
    return False


def is_fsdp_managed_module(module):
    return False
