"""load_state_dict is refused exactly where PyTorch finds a parameter of another size."""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import errors_of

torch = pytest.importorskip("torch", reason="not run: needs torch")

HEAD = """import copy
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width, inner=4):
        super().__init__()
        self.first = nn.Linear(width, inner)
        self.scale = nn.Parameter(torch.ones(inner))
        self.one = nn.Parameter(torch.tensor(1.0))

class Net(nn.Module):
    def __init__(self, width=8, depth=2, classes=3, bias=True, kernel=3):
        super().__init__()
        self.stem = nn.Conv2d(3, width, kernel, bias=bias)
        self.norm = nn.BatchNorm2d(width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(width, classes, bias=bias))
        self.table = nn.Embedding(7, width)
        self.rnn = nn.LSTM(width, width)

class Own(Net):
    def _load_from_state_dict(self, state_dict, *args, **kwargs):
        for name in [name for name in state_dict if "head" in name]:
            del state_dict[name]
        super()._load_from_state_dict(state_dict, *args, **kwargs)
        args[4].clear()
        args[-1].clear()
"""
MODULES = [
    *("Net()", "Net(8, 2, 5)", "Net(16)", "Net(8, 1)", "Net(bias=False)"),
    *("Block(8)", "nn.Linear(8, 3)", "nn.Linear(3, 8)"),
]
WAYS = [
    "target.load_state_dict(source.state_dict(), strict=False)\n",
    "state = source.state_dict()\ntarget.load_state_dict(state, False)\n",
    (
        "state = source.state_dict()\nstate.pop('head.1.weight', None)\nstate.pop('head.1.bias', None)\n"
        "target.load_state_dict(state, strict=False)\n"
    ),
    (
        "state = source.state_dict()\nstate['stem.weight'] = torch.zeros(8, 3, 3, 3)\n"
        "target.load_state_dict(state, strict=False)\n"
    ),
    "target.load_state_dict({k: v for k, v in source.state_dict().items() if 'rnn' in k}, strict=False)\n",
    "target.load_state_dict(copy.deepcopy(source).state_dict(), strict=False)\n",
    (
        "own = target.state_dict()\nkept = {}\nfor k, v in source.state_dict().items():\n"
        "    if k in own and k.endswith('weight'):\n        kept[k] = v\nown.update(kept)\ntarget.load_state_dict(own)\n"
    ),
    (
        "own, given = target.state_dict(), source.state_dict()\n"
        "kept = {k: v for k, v in given.items() if k in own and v.shape == own[k].shape}\n"
        "target.load_state_dict(kept, strict=False)\n"
    ),
    (
        "state = {'body.' + k: v for k, v in source.state_dict().items()}\n"
        "target.load_state_dict({k[5:]: state[k] for k in state}, strict=False)\n"
    ),
]


def refused(text: str) -> bool:
    """Whether PyTorch raises."""
    try:
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
    except RuntimeError as error:
        assert "size mismatch" in str(error), error
        return True
    return False


@pytest.mark.parametrize("source", MODULES)
def test_parameters_of_other_sizes_are_found(source: str) -> None:
    for target, way in product(MODULES, WAYS):
        text = f"{HEAD}source, target = {source}, {target}\n{way}"
        assert [each.code for each in errors_of(text)] == ["SHP305"] * refused(text), (target, way)


PARAMETRIZED = [
    *("{}(nn.Linear(8, {}))".format(f"nn.utils.{name}", "{}") for name in ("weight_norm", "spectral_norm")),
    *(
        f"nn.utils.parametrizations.{name}(nn.Linear(8, {{}}))"
        for name in ("weight_norm", "spectral_norm", "orthogonal")
    ),
    "nn.utils.parametrizations.weight_norm(nn.LSTM(8, {}), 'weight_hh_l0')",
    "nn.utils.parametrize.register_parametrization(nn.Linear(8, {}, False), 'weight', nn.Tanh())",
    "nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(8, {}, bias=False)))",
    "nn.utils.weight_norm(nn.Linear(8, {}, bias=False), name='weight')",
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("module", PARAMETRIZED)
def test_a_tensor_that_is_computed_from_others_is_not_in_the_state_dict(module: str) -> None:
    plain = "nn.LSTM(8, {})" if "LSTM" in module else "nn.Linear(8, {}, False)"
    for (target, source), way in product(product((module, plain), repeat=2), WAYS[:2]):
        for size in (4, 6):
            text = f"{HEAD}source, target = {source.format(4)}, {target.format(size)}\n{way}"
            findings = [each.code for each in errors_of(text)]
            assert findings in ([], ["SHP305"]), text
            assert refused(text) or not findings, text
            if source == target == plain or ("remove" in module and size == 6):
                assert bool(findings) is (size == 6), text


@pytest.mark.parametrize(
    "lines",
    [
        "Own(8, 2, 5).load_state_dict(Net().state_dict(), strict=False)",
        "net = Net()\nnet.head[1] = nn.Linear(8, 5)\nnet.load_state_dict(Net(8, 2, 5).state_dict())",
        "net = Net()\nother = Net(8, 2, 5)\nother.head[1] = nn.Linear(8, 3)\nnet.load_state_dict(other.state_dict())",
        "net = Net()\nnet.head = nn.Identity()\nnet.load_state_dict(Net(8, 2, 5).state_dict(), strict=False)",
        (
            "net = Net()\nnet.table.weight = nn.Parameter(torch.zeros(9, 8))\nbig = Net()\nbig.table = nn.Embedding(9, 8)\n"
            "net.load_state_dict(big.state_dict())"
        ),
        "try:\n    Net().load_state_dict(Net(16).state_dict())\nexcept RuntimeError:\n    pass",
    ],
)
def test_what_pytorch_takes_is_none(lines: str) -> None:
    text = f"{HEAD}{lines}\n"
    with torch.no_grad():
        assert not refused(text)
    assert errors_of(text) == []


LISTED = [
    *MODULES,
    *(
        f"nn.{kind}(8, 4, {rest})"
        for kind in ("RNN", "GRU", "LSTM")
        for rest in ("num_layers=2", "bias=False", "bidirectional=True")
    ),
    *("nn.LSTM(8, 4, proj_size=3)", "nn.LSTM(8, 4, 2, bidirectional=True, proj_size=2)"),
    *("nn.InstanceNorm2d(3, affine=True, track_running_stats=True)", "nn.LayerNorm(4)"),
    *("nn.PReLU()", "nn.Bilinear(3, 4, 5)", "nn.ConvTranspose1d(3, 4, 2, groups=1)", "nn.EmbeddingBag(4, 5)"),
    "nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), nn.ReLU(), nn.Dropout(0.5))",
    "nn.ModuleDict({'a': nn.Linear(3, 4), 'b': nn.ModuleList([nn.Conv1d(3, 4, 2), nn.GroupNorm(2, 4)])})",
]


@pytest.mark.parametrize("module", LISTED)
def test_all_that_a_state_dict_holds_is_known(module: str) -> None:
    text = f"{HEAD}state = {module}.state_dict()\nshapes = [(k, tuple(v.shape)) for k, v in state.items()]\n"
    names: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    exec(compile(text, "program.py", "exec"), names)
    text += f"for k, size in {names['shapes']}:\n    torch.zeros(size).view(state[k].shape)\n"
    wrong = "torch.zeros(3) + torch.zeros(5)"
    text += f"if [(k, tuple(v.shape)) for k, v in state.items()] == {names['shapes']}:\n    {wrong}\n"
    assert [each.code for each in errors_of(text)] == ["SHP102"]


@pytest.mark.parametrize(
    "program",
    [
        "a = nn.Linear(3, 4)\nnet = nn.Sequential(a, nn.ReLU(), a)",
        "net = nn.Linear(3, 4)\nnet.register_buffer('scale', torch.zeros(5))",
        "net = nn.Linear(3, 4)\nnet.scale = torch.zeros(5)",
        "net = Net()\nnet.stem.weight = net.stem.weight",
        "net = Net()\nnet.extra = Own()",
        "net = nn.MultiheadAttention(8, 2)",
        "net = nn.utils.weight_norm(nn.Linear(3, 4))",
        (
            "class Plain(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(3, 4)\n"
            "        self.b = torch.zeros(3)\nnet = Plain()"
        ),
        "net = nn.Sequential(nn.Linear(3, 4))\nnet.head = net[0]",
        "a = nn.Linear(3, 4)\nnet = nn.ModuleDict({'a': a, 'b': a})",
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_no_name_that_is_not_there_is_counted(program: str) -> None:
    text = f"{HEAD}{program}\nstate = net.state_dict()\n"
    names: dict[str, dict[str, object]] = {}
    exec(compile(text, "program.py", "exec"), names)
    found = errors_of(f"{text}torch.zeros(len(state)) + torch.zeros({len(names['state'])})\n")
    assert found == []
