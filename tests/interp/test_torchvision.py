"""torchvision's data sets and transforms, as `source/models/torchvision` says them, against recorded runs of the library."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from distml.source.project import MODELS

from interp.programs import errors_of, fits, revealed
from interp.torchvision_programs import HEAD, program

RECORDED = Path(__file__).parents[1] / "data" / "torchvision-0.29.2.jsonl"


def test_sizes_are_those_of_recorded_runs() -> None:
    kinds: Counter[str] = Counter()
    for line in RECORDED.read_text("utf-8").splitlines():
        real = json.loads(line)
        text = program(real["seed"])
        found = errors_of(text)
        if "error" in real:
            kinds["found" if found else "missed"] += 1
            continue
        assert not found, f"{text}\n{found[0].message}"
        if "other" in real:
            continue
        said = revealed(f"{text}reveal_shape(x)\nreveal_shape(b)\n")
        kinds["exact" if said == [f"Tensor{real[name]}" for name in "xb"] else "vague"] += 1
        assert all(fits(each, real[name]) for each, name in zip(said, "xb", strict=True)), f"{text}\n{said} {real}"
    assert kinds["exact"] > 80 and kinds["found"] >= 5, kinds


BATCHES = {
    "MNIST('data', train=True, download=True, transform=T.ToTensor())": "Tensor[batch, 1, 28, 28]",
    "FashionMNIST('data', train=False, transform=T.ToTensor())": "Tensor[batch, 1, 28, 28]",
    "USPS('data', transform=T.ToTensor())": "Tensor[batch, 1, 16, 16]",
    "CIFAR10(root='data', transform=T.Compose([T.Resize(64), T.ToTensor()]))": "Tensor[batch, 3, 64, 64]",
    "SVHN('data', split='test', transform=T.ToTensor())": "Tensor[batch, 3, 32, 32]",
    "STL10('data', transform=T.ToTensor())": "Tensor[batch, 3, 96, 96]",
    "ImageFolder('x', T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor()]))": "Tensor[batch, 3, 224, 224]",
    "Omniglot('data', transform=T.ToTensor())": "unknown",
}
"""Sizes as the pages of the data sets state them."""
IMPORTS = {
    "datasets": HEAD,
    "torchvision.datasets": "import torchvision\nimport torchvision.transforms as T\nfrom torch.utils.data import DataLoader\n",
    "D": "from torch.utils.data import DataLoader\nfrom torchvision import transforms as T\nimport torchvision.datasets as D\n",
}


@pytest.mark.parametrize("name", IMPORTS)
@pytest.mark.parametrize("made", BATCHES)
def test_batches_of_data_sets(made: str, name: str) -> None:
    text = f"{IMPORTS[name]}ds = {name}.{made}\nfor x, y in DataLoader(ds, batch_size=17):\n    reveal_shape(x)\n"
    assert revealed(text) == [BATCHES[made]]


def test_what_a_picture_is_to_others_stays_unknown() -> None:
    used = "import numpy as np\nimg, _ = datasets.MNIST('x')[0]\n"
    assert not errors_of(
        f"{HEAD}{used}w, h = img.size\nimg.filter(3) + np.ones(5)\nnp.array(img) @ np.zeros((28, 4))\n"
    )
    assert [each.code for each in errors_of(f"{HEAD}{used}np.array(img) @ np.zeros((3, 4))\n")] == ["SHP101"]


def test_a_mistake_is_told_at_the_call_of_the_program() -> None:
    plain = "ds = datasets.MNIST('x', transform=T.ToTensor())\n"
    used = "for x, y in DataLoader(ds, 4):\n    net(x)\n"
    found = errors_of(f"{HEAD}net = torch.nn.Linear(784, 10)\n{plain}{used}")
    assert [(each.code, each.span.line) for each in found] == [("SHP401", 7)]
    three = "T.Compose([T.ToTensor(), T.Normalize((0.5,) * 3, (0.5,) * 3)])"
    found = errors_of(f"{HEAD}ds = datasets.MNIST('x', transform={three})\nds[0]\n")
    assert [(each.code, each.span.line) for each in found] == [("SHP305", 5)]
    assert not found[0].span.path.startswith(MODELS)


NET = """import torch
from torch import nn
from torchvision.models.feature_extraction import create_feature_extractor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2)
        self.body = nn.Sequential(nn.Conv2d(8, 12, 3), nn.ReLU(), nn.Conv2d(12, 16, 3))
        self.head = nn.Linear(99, 5)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).flatten(1))


x = torch.zeros(2, 3, 19, 19)
"""
EXTRACTED = {
    "create_feature_extractor(Net(), {'stem': 'a', 'body': 'b'})(x)['a']": "Tensor[2, 8, 9, 9]",
    "create_feature_extractor(Net(), {'body': 'b', 'stem': 'a'})(x)['b']": "Tensor[2, 16, 5, 5]",
    "create_feature_extractor(Net(), return_nodes=['body.0', 'body.1'])(x)['body.1']": "Tensor[2, 12, 7, 7]",
    "create_feature_extractor(Net().eval(), ['body'])(x)['body'].mean((2, 3))": "Tensor[2, 16]",
    "len(create_feature_extractor(Net(), ['body', 'stem'])(x))": "2",
    "[name for name, _ in create_feature_extractor(Net(), ['body.0']).named_children()]": "['stem', 'body']",
}
"""As torchvision 0.28 gives them; the head of the net does not fit, and does not run."""


def test_layers_whose_output_is_asked_for() -> None:
    program = NET + "".join(f"reveal_shape({each})\n" for each in EXTRACTED)
    assert errors_of(program) == []
    assert revealed(program) == list(EXTRACTED.values())
    assert [each.code for each in errors_of(program.replace("2, 3, 19", "2, 4, 19"))] == ["SHP402"]
