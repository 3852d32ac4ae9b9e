"""Lightning: what keeps hyperparameters, and the trainer. What they do is the interpreter's (`interp/lightning`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.registry import op
from distml.ops.rules.widths import CHOSEN
from distml.values import NONE, InstanceRecord, Lib, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

MODULES = ("lightning", "lightning.pytorch", "pytorch_lightning")
DATA = frozenset(f"{module}.LightningDataModule" for module in MODULES)
HOLDERS = DATA | {f"{module}.LightningModule" for module in MODULES}
"""Classes whose objects keep hyperparameters."""
TRAINER = Lib("lightning.Trainer")
LIMITED = "__limited__"
"""The attribute of a trainer that has arguments which say how much of the data it runs."""

UNTRIED = "__untried__"
"""The attribute of a trainer that is told how many steps of validation it tries before it trains."""


@op(*(f"{holder}.save_hyperparameters" for holder in sorted(HOLDERS)))
def save_hyperparameters(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """save_hyperparameters(): https://lightning.ai/docs/pytorch/stable/common/hyperparameters.html"""
    return call.unknown()


@op(*(f"{module}.Trainer" for module in MODULES))
def trainer(call: Call, *args: Value, **options: Value) -> Value:
    """Trainer(): https://lightning.ai/docs/pytorch/stable/common/trainer.html"""
    limited = any(name.startswith(("limit_", "overfit_")) for name in options)
    told = {LIMITED: limited, UNTRIED: "num_sanity_val_steps" in options}
    if "precision" in options or "plugins" in options:
        call.world.put(CHOSEN, True)
    attrs: dict[str, Value] = {name: NONE for name, holds in told.items() if holds}
    return call.world.allocate(InstanceRecord(TRAINER, attrs, exact=False))


@op(*(f"lightning.Trainer.{name}" for name in ("fit", "validate", "test", "predict")))
def run(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """Trainer.fit(model): https://lightning.ai/docs/pytorch/stable/common/trainer.html#methods"""
    return call.unknown()
