"""What calls a model once with inputs given to it: summaries, counters of operations, tracing and export."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """import torch, thop, torchinfo, torchsummary
from torch import nn
class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.BatchNorm1d(3)
        self.head = nn.Linear(features, 4)
    def forward(self, x, y=None):
        return self.head(self.scale(x).flatten(1))
"""
CALLS = (
    "torchsummary.summary(net, (3, 8))",
    "torchsummary.summary(net, input_size=[(3, 8)], device='cpu')",
    "torchinfo.summary(net, (1, 3, 8))",
    "torchinfo.summary(net, input_size=[1, 3, 8], depth=2)",
    "torchinfo.summary(net, input_size=[(1, 3, 8)], verbose=0)",
    "torchinfo.summary(net, (3, 8), batch_dim=0)",
    "torchinfo.summary(net, input_data=torch.rand(1, 3, 8))",
    "torchinfo.summary(net, input_data=[torch.rand(1, 3, 8)], mode='train')",
    "torchinfo.summary(net, input_data={'x': torch.rand(1, 3, 8)})",
    "thop.profile(net, inputs=(torch.rand(1, 3, 8),))",
    "torch.jit.trace(net, torch.rand(1, 3, 8))",
    "torch.jit.trace(net, (torch.rand(1, 3, 8),))",
    "torch.export.export(net, (torch.rand(1, 3, 8),))",
    "torch.onnx.export(net, torch.rand(1, 3, 8), 'net.onnx')",
    "torch.onnx.export(net, (torch.rand(1, 3, 8),), 'net.onnx', opset_version=17)",
)
UNKNOWN = (
    "torchinfo.summary(net)",
    "torch.onnx.export(net, (torch.rand(1, 3, 8), {'y': None}), 'net.onnx')",
    "torch.onnx.export(net, kwargs={'x': torch.rand(1, 3, 8)}, f='net.onnx')",
    "torch.jit.trace(net, example_kwarg_inputs={'x': torch.rand(1, 3, 8)})",
)
"""Calls whose inputs are not looked into."""


@pytest.mark.parametrize("call", CALLS)
def test_a_model_is_called_with_what_it_is_given(call: str) -> None:
    assert not errors_of(f"{HEAD}net = Net(24)\n{call}\n")
    found = errors_of(f"{HEAD}net = Net(25)\n{call}\n")
    assert [(each.code, each.span.line) for each in found] == [("SHP401", 9)]


@pytest.mark.parametrize("call", UNKNOWN)
def test_nothing_is_said_of_inputs_that_are_not_known(call: str) -> None:
    assert not errors_of(f"{HEAD}net = Net(25)\n{call}\n")


def test_a_model_is_put_back_into_the_mode_it_was_in() -> None:
    only_evaluated = HEAD.replace("return", "return x @ torch.zeros(5, 5) if self.training else")
    for call in ("torchinfo.summary(net, (1, 3, 8))", "torch.onnx.export(net, torch.rand(1, 3, 8), 'net.onnx')"):
        program = f"{only_evaluated}net = Net(24)\n{call}\n"
        assert not errors_of(program)
        assert [each.code for each in errors_of(f"{program}net(torch.rand(1, 3, 8))\n")] == ["SHP101"]
