"""optax: optimizers: their state is not followed; updates have the shapes of the gradients.

https://optax.readthedocs.io/en/latest/api/optimizers.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.registry import op
from distml.ops.semantics.transforms import traced
from distml.values import NONE, Lib, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_KIND = "optax.GradientTransformation"
_MAKERS = """
    adabelief adadelta adafactor adagrad adam adamax adamaxw adamw adan amsgrad apply_if_finite chain clip
    clip_by_block_rms clip_by_global_norm add_decayed_weights add_noise ema fromage identity lamb lars lion masked
    multi_transform nadam nadamw noisy_sgd novograd optimistic_gradient_descent polyak_sgd radam rmsprop rprop scale
    scale_by_adam scale_by_learning_rate scale_by_rms scale_by_schedule set_to_zero sgd sign_sgd sm3 trace yogi
    adaptive_grad_clip apply_every centralize freeze keep_params_nonnegative named_chain normalize_by_update_norm
    optimistic_adam partition scale_by_adadelta scale_by_adamax scale_by_adan scale_by_amsgrad scale_by_belief
    scale_by_factored_rms scale_by_lion scale_by_novograd scale_by_radam scale_by_rss scale_by_sm3 scale_by_stddev
    scale_by_trust_ratio scale_by_yogi signum zero_nans MultiSteps
"""


@op(*(f"optax.{name}" for name in _MAKERS.split()))
def optimizer(call: Call, *args: Value, **options: Value) -> Value:
    """optax.adam(...): a pair of functions."""
    return Tup((Lib(f"{_KIND}.init"), Lib(f"{_KIND}.update")), _KIND, ("init", "update"))


@op(f"{_KIND}.init")
def begun(call: Call, params: Value) -> Value:
    """tx.init(params)"""
    return call.unknown("state")


@op(f"{_KIND}.update")
def changes(call: Call, updates: Value, state: Value, params: Value = NONE, **options: Value) -> Value:
    """tx.update(gradients, state, params)"""
    return Tup((traced(call, updates), call.unknown("state")))


bind(traced, "params -updates", "optax.apply_updates")
bind(traced, "new_tensors -old_tensors -step_size", "optax.incremental_update")
bind(traced, "new_tensors -old_tensors -steps -update_period", "optax.periodic_update")


def norm(call: Call) -> Value:
    """optax.global_norm(tree): one number."""
    return call.tensor([], "float")


bind(norm, "-updates", "optax.global_norm")
