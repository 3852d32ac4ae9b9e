"""transformers.integrations: other ways to compute the same."""


def _kept(*args, **kwargs):
    def decorate(obj):
        return obj

    return decorate


use_kernel_forward_from_hub = _kept
use_kernel_func_from_hub = _kept
use_kernelized_func = _kept
use_experts_implementation = _kept


def is_deepspeed_zero3_enabled():
    return False


def is_fsdp_managed_module(module):
    return False
