"""`migrate`: verdicts, ranks, annotations, constraints, and what forces Dyn."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.gradual.questions import QuestionError

from gradual.asking import migration, shown

TWO_CONVOLUTIONS = """
class ConvExample(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 2, kernel_size=2, stride=2)
        self.conv2 = nn.Conv2d(4, 2, kernel_size=2, stride=2)

    def forward(self, x{annotation}):
        self.conv1(x)
        return self.conv2(x)
"""


def test_two_layers_that_want_different_channels_leave_them_dyn(tmp_path: Path) -> None:
    found = migration(tmp_path, TWO_CONVOLUTIONS.format(annotation=""))
    assert found.verdict == "dynamic"
    assert found.ranks == {"x": [3, 4]}
    assert [(d.input, d.axis) for d in found.dyn_only] == [("x", 1)]
    assert found.annotations["x"].dims is not None
    assert found.annotations["x"].dims[1] is None
    lines = {conflict.line for conflict in found.dyn_only[0].related}
    assert {15, 16} <= lines, "both calls are named"
    assert found.model["x"] == [1, None, 2, 2]


def test_a_declared_rank_that_no_convolution_takes_is_empty(tmp_path: Path) -> None:
    found = migration(tmp_path, TWO_CONVOLUTIONS.format(annotation=": TensorType([Dyn, Dyn])"))
    assert found.verdict == "empty"
    assert found.ranks == {"x": []}
    assert any("axes" in conflict.message for conflict in found.conflicts)


def test_declared_dimensions_stay(tmp_path: Path) -> None:
    program = TWO_CONVOLUTIONS.format(annotation=": TensorType([Dyn, Dyn, Dyn, Dyn])").replace("self.conv1(x)", "pass")
    found = migration(tmp_path, program)
    assert found.verdict == "static"
    assert shown(found) == {"x": "b 4 h w"}
    assert found.constraints == ("h >= 2", "w >= 2")


def test_where_bounds_sizes(tmp_path: Path) -> None:
    program = TWO_CONVOLUTIONS.format(annotation="").replace("self.conv1(x)", "pass")
    where = "5 <= x.shape[0] <= 20 and 5 <= x.shape[2] <= 20 and 2 <= x.shape[3] <= 10 and len(x.shape) == 4"
    found = migration(tmp_path, program, where=where)
    assert found.verdict == "static"
    sizes = found.model["x"]
    assert 5 <= sizes[0] <= 20 and sizes[1] == 4 and 5 <= sizes[2] <= 20 and 2 <= sizes[3] <= 10  # type: ignore[operator]


def test_where_that_cannot_be_met(tmp_path: Path) -> None:
    program = TWO_CONVOLUTIONS.format(annotation="").replace("self.conv1(x)", "pass")
    assert migration(tmp_path, program, where="x.ndim == 4 and x.shape[1] == 3").verdict != "static"


def test_a_product_whose_operands_never_meet_is_empty(tmp_path: Path) -> None:
    program = """
def f(x: TensorType([Dyn, Dyn])):
    return torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 6)) + x
"""
    found = migration(tmp_path, program)
    assert found.verdict == "empty"
    assert found.conflicts[0].line == 9


def test_contraction_ties_two_inputs(tmp_path: Path) -> None:
    found = migration(tmp_path, "def f(x, y):\n    return torch.bmm(x, y)\n")
    assert found.verdict == "static"
    assert found.ranks == {"x": [3], "y": [3]}
    (left, right) = (found.annotations[name].dims for name in "xy")
    assert left is not None and right is not None
    assert left[0] == right[0] and left[2] == right[1]


def test_a_network_with_pooling_needs_room(tmp_path: Path) -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, kernel_size=5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 256, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
        )
        self.pool = nn.AdaptiveAvgPool2d((6, 6))
        self.fc = nn.Linear(256 * 6 * 6, 1000)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.features(x)), 1))
"""
    found = migration(tmp_path, program)
    assert found.verdict == "static"
    assert shown(found) == {"x": "b 3 h w"}
    assert found.constraints == ("h >= 63", "w >= 63")
    assert found.ranks == {"x": [4]}


def test_flattened_features_fix_the_image_size(tmp_path: Path) -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 26 * 26, 10)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))
"""
    found = migration(tmp_path, program, where="x.shape[2] == x.shape[3]")
    assert found.verdict == "static"
    assert found.model["x"] == [1, 1, 28, 28]
    assert shown(found) == {"x": "b 1 28 28"}


def test_an_input_of_any_rank(tmp_path: Path) -> None:
    found = migration(tmp_path, "def f(x):\n    return torch.relu(x)\n")
    assert found.verdict == "static"
    assert found.ranks == {"x": "any"}


def test_an_input_used_at_two_ranks(tmp_path: Path) -> None:
    found = migration(tmp_path, "def f(x):\n    return torch.bmm(x, x), torch.mm(x, x)\n")
    assert found.verdict == "dynamic"
    assert [(d.input, d.axis) for d in found.dyn_only] == [("x", None)]


def test_ranks_above_four(tmp_path: Path) -> None:
    found = migration(
        tmp_path, "def f(x):\n    a, b, c, d, e, g = x.shape\n    return x.reshape(a * b, c, d * e * g)\n"
    )
    assert found.ranks == {"x": [6]}
    assert found.verdict == "static"


def test_an_empty_batch_is_allowed_when_asked(tmp_path: Path) -> None:
    program = "def f(x):\n    a, b = x.shape\n    assert a * b == 0\n    return x\n"
    assert migration(tmp_path, program).verdict != "static"
    assert migration(tmp_path, program, least=0).verdict == "static"


def test_what_the_program_refuses_is_a_constraint(tmp_path: Path) -> None:
    program = """
def f(x):
    if x.dim() != 2:
        raise ValueError("two axes, please")
    if x.shape[1] < 7:
        raise ValueError("too narrow")
    return x.mean(1)
"""
    found = migration(tmp_path, program)
    assert found.ranks == {"x": [2]}
    assert found.constraints == ("n >= 7",)


def test_a_branch_that_fails_is_ruled_out(tmp_path: Path) -> None:
    program = """
def f(x):
    b, n = x.shape
    if b > 5:
        return x @ torch.ones(n + 1, 3)
    return x @ torch.ones(n, 3)
"""
    found = migration(tmp_path, program)
    assert found.verdict == "static"
    assert found.constraints == ("b <= 5",)
    assert migration(tmp_path, program, where="x.shape[0] > 5").verdict != "static"


@pytest.mark.parametrize(
    ("name", "where", "says"),
    [
        ("g", None, "no function or class 'g'; it has f"),
        (None, "y.shape[0] > 3", "has no input 'y'; it has x, n"),
        (None, "n.shape[0] > 3", "n of f is not a tensor"),
        (None, "x.shape[0] >", "--where"),
        (None, "__import__('os')", "--where"),
    ],
)
def test_a_wrong_question_is_one_line(tmp_path: Path, name: str | None, where: str | None, says: str) -> None:
    program = "def f(x, n):\n    return torch.relu(x).reshape(n, -1)\n"
    with pytest.raises(QuestionError) as error:
        migration(tmp_path, program, name or "f", where)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_assertion_that_is_a_call_is_a_demand(tmp_path: Path) -> None:
    found = migration(
        tmp_path, "def f(x):\n    b, n = x.shape\n    torch._assert(n == 7, 'seven')\n    return x.mean(1)\n"
    )
    assert shown(found) == {"x": "b 7"}
    assert found.constraints == ()


def test_what_depends_on_data_is_no_constraint_that_can_be_said(tmp_path: Path) -> None:
    program = "def f(x, flag):\n    assert flag or x.shape[0] > 3\n    return torch.relu(x)\n"
    assert migration(tmp_path, program, where="x.ndim == 2").constraints == ()


def test_an_unknown_size_that_divides_ends(tmp_path: Path) -> None:
    program = """
def f(x, patch, grid):
    b, c, h, w = x.shape
    table = torch.zeros((grid // patch) * (grid // patch) + 1, 4)
    tokens = x.reshape(b, c, (h // patch) * (w // patch), -1)
    return tokens[0, 0] + table[: tokens.shape[2]]
"""
    assert migration(tmp_path, program).verdict == "static"


def test_ranks_of_many_inputs_are_found_one_after_the_other(tmp_path: Path) -> None:
    program = """
def loss(q, action, target, done, reward):
    chosen = q.gather(-1, action.long().unsqueeze(-1)).squeeze(-1)
    best = target.gather(-1, target.argmax(-1).unsqueeze(-1)).squeeze(-1)
    return (chosen - reward - best * (1 - done)).mean()
"""
    found = migration(tmp_path, program)
    assert found.verdict == "static"
    ranks = {name: len(annotation.dims or ()) for name, annotation in found.annotations.items()}
    assert ranks["q"] == ranks["action"] + 1


def test_what_a_subclass_is_meant_to_write_is_open(tmp_path: Path) -> None:
    program = """
class Sampler:
    def __call__(self, x):
        raise NotImplementedError


class Top(nn.Module):
    def __init__(self, sampler: Sampler):
        super().__init__()
        self.sampler = sampler

    def forward(self, x):
        return self.sampler(torch.relu(x))
"""
    assert migration(tmp_path, program, "Top").verdict == "static"
