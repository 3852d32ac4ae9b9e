"""SHP311: normalizations over a single value, beside what PyTorch does."""

from __future__ import annotations

import itertools

import pytest

from interp.programs import errors_by_function, errors_of

LAYERS = {
    "nn.BatchNorm1d(4)": ((1, 4), (2, 4), (1, 4, 1), (1, 4, 2)),
    "nn.BatchNorm2d(4)": ((1, 4, 1, 1), (1, 4, 2, 1), (3, 4, 1, 1)),
    "nn.BatchNorm1d(4, track_running_stats=False)": ((1, 4), (2, 4)),
    "nn.LazyBatchNorm1d()": ((1, 4), (2, 4)),
    "nn.InstanceNorm1d(4)": ((2, 4, 1), (2, 4, 2), (4, 1)),
    "nn.InstanceNorm2d(4)": ((2, 4, 1, 1), (1, 4, 1, 2)),
    "nn.InstanceNorm2d(4, track_running_stats=True)": ((2, 4, 1, 1), (1, 4, 1, 2)),
    "nn.GroupNorm(4, 4)": ((1, 4), (2, 4), (1, 4, 2)),
    "nn.GroupNorm(2, 4)": ((1, 4), (1, 4, 1)),
    "nn.LayerNorm(1)": ((1, 1), (2, 1)),
    "nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))": ((1, 3, 8, 8), (2, 3, 8, 8)),
}
MODES = (
    "",
    "net.eval()",
    "net.train(False)",
    "net.eval().train()",
    "net.training = False",
    "[each.eval() for each in net.modules()]",
    "net = nn.Sequential(net).eval()",
)


@pytest.mark.requires("torch")
def test_layers_in_each_mode() -> None:
    import torch
    from torch import nn

    cases = [
        (layer, mode, shape) for layer, shapes in LAYERS.items() for mode, shape in itertools.product(MODES, shapes)
    ]
    bodies = [f"    net = {layer}\n    {mode or 'pass'}\n    net(torch.randn{shape})" for layer, mode, shape in cases]
    functions = [f"def f{place}():\n{body}\n" for place, body in enumerate(bodies)]
    names: dict[str, object] = {"torch": torch, "nn": nn}
    exec("\n".join(functions), names)
    failing = set()
    for place in range(len(cases)):
        try:
            names[f"f{place}"]()  # type: ignore[operator]
        except ValueError:
            failing.add(place)
    errors = errors_by_function("import torch\nfrom torch import nn\n\n" + "\n".join(functions))
    assert {error.code for each in errors.values() for error in each} == {"SHP311"}
    found = {int(name[1:]) for name in errors}
    assert found == failing, [cases[place] for place in found ^ failing]


def test_a_mode_that_is_not_known() -> None:
    program = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x)

    def one(self):
        return self.norm(torch.zeros(1, 4))


def f(net, flag, path, setup):
    net(torch.zeros(1, 4))
    mine = Net()
    mine.train(flag)
    mine(torch.zeros(1, 4))
    mine = Net()
    setup(mine)
    mine(torch.zeros(1, 4))
    nn.SyncBatchNorm(4)(torch.zeros(1, 4))
    torch.load(path)(torch.zeros(1, 4))
"""
    assert errors_of(program) == []
    assert [error.code for error in errors_of(program + "\n\nNet()(torch.zeros(1, 4))")] == ["SHP311"]
