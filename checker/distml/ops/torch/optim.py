"""torch.optim: optimizers and schedulers, which change no shape.

https://docs.pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import layer, op
from distml.values import DictRecord, Many

if TYPE_CHECKING:
    from distml.values import Value

OPTIMIZERS = (
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
)
SCHEDULERS = (
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
)


@layer("torch.optim.Optimizer", "torch.optim.optimizer.Optimizer")
class Optimizer:
    """https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer"""

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Groups of parameters with their settings."""
        group = call.world.allocate(DictRecord({}, exact=False))
        return {"param_groups": Many(group, "list"), "state": call.unknown("state")}


@layer(*(f"torch.optim.{name}" for name in OPTIMIZERS))
class AnyOptimizer:
    """https://docs.pytorch.org/docs/stable/optim.html#algorithms"""

    bases = ("torch.optim.Optimizer",)
    init = Optimizer.init


@layer(*(f"torch.optim.lr_scheduler.{name}" for name in ("LRScheduler", *SCHEDULERS)))
class Scheduler:
    """https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"""

    bases = ("torch.optim.Optimizer",)

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Nothing that shapes depend on."""
        return {}


@op("torch.optim.Optimizer.zero_grad", "torch.optim.Optimizer.load_state_dict")
def silent(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods that give nothing."""
    return NONE


@op("torch.optim.Optimizer.add_param_group")
def add_param_group(call: Call, self: Value, param_group: Value) -> Value:
    """Another group."""
    return NONE


@op("torch.optim.Optimizer.step")
def step(call: Call, self: Value, *args: Value, closure: Value = NONE, **kwargs: Value) -> Value:
    """A step; with a closure, the loss it gives. A scheduler takes a number instead."""
    given = args[0] if args else closure
    if call.is_none(given) is not False or call.dim(given) is not None:
        return NONE
    return call.unknown("loss")


@op("torch.optim.Optimizer.state_dict")
def state_dict(call: Call, self: Value) -> Value:
    """A dict of state."""
    return call.world.allocate(DictRecord({}, exact=False))


@op("torch.optim.Optimizer.get_last_lr")
def get_last_lr(call: Call, self: Value) -> Value:
    """A list of rates."""
    return Many(call.unknown("rate"), "list")
