"""What a factory asks of the classes it makes layers of: whether they can be called, their parameters, their enumerations."""

from __future__ import annotations

import inspect

import pytest
import torch

from distml.ops.registry import names

from interp.programs import errors_of, revealed

LAYERS = [name for name in names()[1] if name.startswith("torch.nn.") and name.count(".") == 2]


@pytest.mark.parametrize("name", LAYERS)
def test_parameters_of_a_layer(name: str) -> None:
    real = getattr(torch.nn, name.rpartition(".")[2], None)
    text = f"import inspect, torch\nfound = inspect.signature({name}).parameters\nreveal_shape(list(found))\n"
    (told,) = revealed(text)
    if real is None or told == "list of unknown":
        return
    assert told == repr(list(inspect.signature(real).parameters))


def test_a_third_of_the_layers_tell_their_parameters() -> None:
    text = "import inspect, torch\n" + "".join(
        f"reveal_shape(list(inspect.signature({n}).parameters))\n" for n in LAYERS
    )
    assert sum(told != "list of unknown" for told in revealed(text)) > len(LAYERS) // 3


@pytest.mark.parametrize(
    "asked",
    [
        "callable(torch.nn.Conv2d)",
        "callable(torch.nn.functional.relu)",
        "callable(torch.nn.modules.PReLU)",
        "callable(np.zeros)",
        "callable(len)",
        "isinstance(Mode, enum.EnumMeta)",
        "isinstance(Mode, type)",
        '"num_features" in inspect.signature(torch.nn.InstanceNorm3d).parameters',
        '"num_channels" not in inspect.signature(torch.nn.InstanceNorm3d).parameters',
    ],
)
def test_true_of_classes(asked: str) -> None:
    head = "import enum, inspect\nimport numpy as np\nimport torch\nclass Mode(str, enum.Enum):\n    CAT = 'cat'\n"
    assert eval(asked, _run(head)) is True
    assert revealed(f"{head}reveal_shape({asked})\n") == ["True"]


@pytest.mark.parametrize("asked", ["isinstance(Plain, enum.EnumMeta)", "isinstance(3, enum.EnumMeta)"])
def test_not_of_others(asked: str) -> None:
    head = "import enum\nclass Plain:\n    pass\n"
    assert revealed(f"{head}reveal_shape({asked})\n") != ["True"]


@pytest.mark.parametrize("name", ["PReLU", "Conv2d", "BatchNorm2d", "Linear"])
def test_names_of_modules(name: str) -> None:
    for path in (f"torch.nn.modules.{name}", f"torch.nn.{name}"):
        assert revealed(f"import torch\nreveal_shape(callable({path}))\n") == ["True"]
    text = "import torch\nreveal_shape(torch.nn.modules.Linear(3, 4)(torch.zeros(2, 3)))\n"
    assert revealed(text) == ["Tensor[2, 4]"]


FACTORY = """import enum
import inspect
import numpy as np
import torch
from torch import nn

class Mode(str, enum.Enum):
    CAT = "cat"
    ADD = "add"

def option(value, kind):
    if isinstance(kind, enum.EnumMeta) and value in {{each.value for each in kind}}:
        return kind(value)
    raise ValueError(value)

class Store:
    def __init__(self):
        self.made = {{}}

    def add(self, name, cls):
        self.made[name.upper()] = lambda dims=None: cls

    def __getitem__(self, args):
        if callable(args):
            return args
        name, *rest = (args,) if isinstance(args, str) else args
        return self.made[name.upper()](*rest)

act, norm = Store(), Store()
act.add("prelu", nn.modules.PReLU)
norm.add("instance", nn.InstanceNorm2d)

def norm_of(name, channels):
    cls, given = norm[name, 2], {{}}
    if "num_features" in inspect.signature(cls).parameters:
        given["num_features"] = channels
    return cls(**given)

def same(kernel, dilation=1):
    kernel, dilation = np.atleast_1d(kernel), np.atleast_1d(dilation)
    padding = tuple(int(p) for p in (kernel - 1) / 2 * dilation)
    return padding if len(padding) > 1 else padding[0]

class Block(nn.Sequential):
    def __init__(self, a, b, kernel, stride):
        super().__init__()
        for i in range(2):
            self.add_module(f"unit{{i:d}}", nn.Conv2d(a, b, kernel, stride, same(kernel)))
            self.add_module(f"norm{{i:d}}", norm_of("instance", b))
            self.add_module(f"act{{i:d}}", act["prelu"]())
            a, stride = b, 1

class Net(nn.Module):
    def __init__(self, stride, mode="cat"):
        super().__init__()
        self.down = Block(3, 8, 3, stride)
        self.skip = nn.Identity() if np.prod(stride) == 1 else nn.MaxPool2d(2)
        self.mode = option(mode, Mode).value

    def forward(self, x):
        if self.mode == "cat":
            return torch.cat([self.down(x), self.skip(x)], dim=1)
        if self.mode == "add":
            return self.down(x) + self.skip(x)
        raise NotImplementedError(self.mode)

out = Net({stride})(torch.zeros(2, 3, {side}, 32))
reveal_shape(out)
"""


@pytest.mark.parametrize(
    ("stride", "side", "told"), [(2, 32, "Tensor[2, 11, 16, 16]"), (1, 33, "Tensor[2, 11, 33, 32]"), (2, 33, "SHP203")]
)
def test_a_network_of_a_factory(stride: int, side: int, told: str) -> None:
    text = FACTORY.format(stride=stride, side=side)
    real = text.replace("reveal_shape(out)", "")
    if told == "SHP203":
        assert [each.code for each in errors_of(text)] == [told]
        with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
            exec(real, {})
        return
    assert errors_of(text) == []
    assert revealed(text) == [told]
    assert str(list(_run(real)["out"].shape)) == told.removeprefix("Tensor")


def _run(text: str) -> dict[str, object]:
    scope: dict[str, object] = {}
    exec(text, scope)
    return scope
