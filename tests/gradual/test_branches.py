"""`branches`: always, never, and exactly when."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.gradual.branches import find_branches
from distml.gradual.questions import Question, benches

from gradual.asking import ask, decisions


def verdicts(folder: Path, program: str, where: str | None = None) -> list[tuple[str, str, str]]:
    return [(d.kind, d.verdict, d.condition) for d in decisions(folder, program, where=where)]


def test_a_convolution_keeps_the_rank(tmp_path: Path) -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(512, 512, 3)

    def forward(self, x{annotation}):
        if self.conv(x).dim() == 4:
            return torch.relu(x)
        else:
            return torch.dropout(x, 0.5, False)
"""
    declared = program.format(annotation=": TensorType([Dyn, Dyn, Dyn, Dyn])")
    assert verdicts(tmp_path, declared) == [("if", "always", "")]
    assert verdicts(tmp_path, program.format(annotation="")) == [("if", "depends", "len(x.shape) == 4")]


def test_a_reshape_fixes_the_size(tmp_path: Path) -> None:
    program = """
def f(x):
    if x.reshape(100).size()[0] < 100:
        return torch.dropout(x, p=0.5, train=False)
    return torch.relu(x)
"""
    assert verdicts(tmp_path, program) == [("if", "never", "")]


def test_a_branch_on_a_size_depends_until_it_is_narrowed(tmp_path: Path) -> None:
    program = """
def f(x):
    b, n = x.shape
    if b > 5:
        return x + 1
    return x
"""
    assert verdicts(tmp_path, program) == [("if", "depends", "x.shape[0] >= 6")]
    assert verdicts(tmp_path, program, "x.shape[0] > 7") == [("if", "always", "")]
    assert verdicts(tmp_path, program, "x.shape[0] == 3") == [("if", "never", "")]


def test_earlier_branches_are_known_in_later_ones(tmp_path: Path) -> None:
    program = """
def f(x):
    b, n = x.shape
    if b > 5:
        return x.mean() if b > 3 else x
    elif b > 8:
        return x
    assert b <= 5
    return x
"""
    assert verdicts(tmp_path, program) == [
        ("if", "depends", "x.shape[0] >= 6"),
        ("ternary", "always", ""),
        ("elif", "never", ""),
        ("assert", "always", ""),
    ]


def test_conditions_are_joined_and_negated(tmp_path: Path) -> None:
    program = """
def f(x):
    b, n = x.shape
    small = not (b > 5 and n > 7)
    if small:
        return x
    if b == 4 or n <= 7:
        return x
    return x.T
"""
    assert verdicts(tmp_path, program, None)[0][:2] == ("if", "depends")
    assert verdicts(tmp_path, program, None)[1] == ("if", "never", "")


def test_branches_on_data_are_left_out(tmp_path: Path) -> None:
    program = """
def f(x, flag):
    if flag:
        return x
    if x.sum() > 0:
        return x.mean(0)
    return x
"""
    assert verdicts(tmp_path, program) == []


def test_a_divisibility_is_decided_by_a_reshape(tmp_path: Path) -> None:
    program = """
def f(x):
    b, n = x.shape
    y = x.reshape(b, n // 8, 8)
    if n % 8 != 0:
        return x
    return y
"""
    assert verdicts(tmp_path, program) == [("if", "never", "")]


def test_cases_of_ranks_are_said_together(tmp_path: Path) -> None:
    program = """
def f(x, y):
    torch.linalg.inv(y)
    if x.shape[0] % 2 == 0:
        return x
    if x.dim() > 3:
        return x.sum(0)
    return y
"""
    assert verdicts(tmp_path, program) == [
        ("if", "depends", "x.shape[0] % 2 == 0"),
        ("if", "depends", "len(x.shape) >= 4"),
    ]


def test_the_condition_can_be_assumed(tmp_path: Path) -> None:
    program = "def f(x, y):\n    z = x + y\n    return z if x.shape[-1] > y.shape[0] else x\n"
    where = "len(x.shape) == 2 and len(y.shape) == 1"
    ((_, verdict, condition),) = verdicts(tmp_path, program, where)
    assert verdict == "depends"
    assert verdicts(tmp_path, program, f"{where} and ({condition})") == [("ternary", "always", "")]
    assert verdicts(tmp_path, program, f"{where} and not ({condition})") == [("ternary", "never", "")]


DEFAULTS = """
import torch
def f(x: torch.Tensor, m: torch.Tensor | None = None, k: int = 3, *, flag: bool = False, n=None):
    rows, columns = x.shape
    if {test}:
        return x
    return -x
"""


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        ("m is not None and m.ndim > 2", "unknown"),
        ("m is None or m.ndim > 2", "unknown"),
        ("k < 3 and x.ndim > 1", "unknown"),
        ("flag and x.numel() > 1", "unknown"),
        ("n is not None and n.shape[0] == 1", "unknown"),
        ("x.ndim != 2", "never"),
        ("x.ndim == 2", "always"),
    ],
)
def test_what_a_default_decides_is_not_so_for_every_input(test: str, verdict: str, folder: Path) -> None:
    (folder / "given.py").write_text(DEFAULTS.replace("{test}", test))
    question = Question("given.py::f", least=0)
    (bench,) = benches(question)
    assert [each.verdict for each in find_branches(bench)] == [verdict]


SHARED = """
def slow(x: torch.Tensor):
    for a in range(60):
        for b in range(60):
            for c in range(60):
                x = x + a * b * c
    if x.shape[0] > 3:
        return x

def short(x: torch.Tensor):
    if x.shape[0] > 3:
        return x
"""


def test_a_target_that_takes_all_its_time_leaves_the_others_theirs(tmp_path: Path) -> None:
    question = ask(tmp_path, SHARED, least=0)._replace(seconds=2.0)
    found = {bench.target.name: (find_branches(bench), bench.tried) for bench in benches(question)}
    assert [each.verdict for each in found["short"][0]] == ["depends"]
    assert all(trial.complete for trial in found["short"][1])
    assert not all(trial.complete for trial in found["slow"][1])
    assert all(each.verdict == "unknown" for each in found["slow"][0])


def test_tests_in_the_programs_that_stand_for_libraries_are_not_told(tmp_path: Path) -> None:
    program = """
from PIL import Image

def f(x: torch.Tensor):
    Image.fromarray(x.numpy())
    if x.shape[0] > 3:
        return x
"""
    (found,) = decisions(tmp_path, program)
    assert (found.line, found.verdict) == (12, "depends")


def test_turns_of_a_loop_ask_the_same_once(tmp_path: Path) -> None:
    program = """
def f(x: torch.Tensor):
    b, c, h, w = x.shape
    if h % 8 != 0 or w % 8 != 0:
        raise ValueError("sizes must be divisible by 8")
    for _ in range(12):
        if h // 8 != (h + 7) // 8:
            raise ValueError("cannot happen")
        y = F.conv2d(x, torch.zeros(4, 3, 3, 3), padding=1).view(b, 4, h // 8, 8, w // 8, 8)
"""
    bench = next(iter(benches(ask(tmp_path, program, least=1))))
    found = find_branches(bench)
    assert [each.verdict for each in found] == ["depends", "never"]
    lengths = [len(trial.constraints) for trial in bench.tried]
    assert max(lengths) < 20
