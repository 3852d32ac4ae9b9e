"""torch.nn: Fold and Unfold, windows as columns.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Unfold.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import ONE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules import resample as rules
from distml.ops.rules.layers import given

if TYPE_CHECKING:
    from distml.values import Value


@op("torch.nn.functional.unfold")
def unfold(
    call: Call,
    input: Value,
    kernel_size: Value,
    dilation: Value = ONE,
    padding: Value = ZERO,
    stride: Value = ONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html"""
    return rules.unfold(call, input, (kernel_size, dilation, padding, stride))


@op("torch.nn.functional.fold")
def fold(
    call: Call,
    input: Value,
    output_size: Value,
    kernel_size: Value,
    dilation: Value = ONE,
    padding: Value = ZERO,
    stride: Value = ONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fold.html"""
    return rules.fold(call, input, output_size, (kernel_size, dilation, padding, stride))


@layer("torch.nn.Unfold")
class Unfold:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Unfold.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call, kernel_size: Value, dilation: Value = ONE, padding: Value = ZERO, stride: Value = ONE
    ) -> dict[str, Value]:
        """The window."""
        return {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """One column a place of the window."""
        return unfold(call, input, *(given(call, attrs, n) for n in ("kernel_size", "dilation", "padding", "stride")))


@layer("torch.nn.Fold")
class Fold:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Fold.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        output_size: Value,
        kernel_size: Value,
        dilation: Value = ONE,
        padding: Value = ZERO,
        stride: Value = ONE,
    ) -> dict[str, Value]:
        """The window, and the size to build."""
        attrs = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
        return {"output_size": output_size, **attrs}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The columns added up in place."""
        names = ("output_size", "kernel_size", "dilation", "padding", "stride")
        return fold(call, input, *(given(call, attrs, n) for n in names))
