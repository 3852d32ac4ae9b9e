"""What only a trace can answer, and questions that cannot be asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from distml.cli.main import main
from distml.gradual.branches import Decision, find_branches
from distml.gradual.migrate import Migration, migrate
from distml.gradual.questions import Question, QuestionError
from distml.gradual.tracing import traced

pytestmark = pytest.mark.requires("torch")
HEAD = "import torch\nfrom torch import nn\n\n"


@pytest.fixture
def module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "net", raising=False)
    return folder / "net.py"


def asked(
    module: Path, program: str, factory: str = "Net", where: str | None = None
) -> tuple[Migration, list[Decision]]:
    module.write_text(HEAD + program)
    (bench,) = traced(f"net:{factory}", Question(f"net:{factory}", where))
    return migrate(bench), find_branches(bench)


def test_layers_made_by_name_are_followed(module: Path) -> None:
    found, _ = asked(
        module,
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for index in range(3):
            setattr(self, "fc" + str(index), getattr(nn, "Lin" + "ear")(8 // 2**index, 4 // 2**index))

    def forward(self, x):
        for index in range(3):
            x = getattr(self, f"fc{index}")(x)
        b, n = x.shape
        return x.view(b)
""",
    )
    assert (found.verdict, found.ranks) == ("static", {"x": [2]})
    assert found.annotations["x"].text == "b 8"


def test_examples_tell_ranks_and_what_is_passed(module: Path) -> None:
    program = """
class Net(nn.Module):
    def forward(self, x, scale=None, flag=True):
        if x.dim() == 3:
            return x
        return x if scale is None else x * scale

def pair():
    return Net(), (torch.zeros(2, 3), torch.zeros(3))
"""
    found, branches = asked(module, program, "pair")
    assert found.ranks == {"x": [2], "scale": [1]}
    assert [(d.verdict, d.line) for d in branches] == [("never", 7)]


def test_what_depends_on_content_takes_both_ways(module: Path) -> None:
    found, branches = asked(
        module,
        """
class Net(nn.Module):
    def forward(self, x):
        b, n = x.shape
        if x.sum() > 0:
            return x.view(b, 2, n // 2)
        return x.view(b, 3, n // 3)
""",
    )
    assert found.verdict == "static"
    assert branches == []


def test_a_loop_over_an_open_size_is_unknown(module: Path) -> None:
    found, _ = asked(
        module,
        """
class Net(nn.Module):
    def forward(self, x):
        b, n = x.shape
        for index in range(n):
            x = x + index
        return x
""",
    )
    assert found.verdict == "unknown"
    assert "net.py:8" in found.reason


def test_a_chained_comparison_is_one_condition(module: Path) -> None:
    _, branches = asked(
        module,
        """
class Net(nn.Module):
    def forward(self, x):
        b, n = x.shape
        if not (1 < b < 5 or n == 3):
            return x
        return x + 1
""",
    )
    assert [(d.verdict, d.condition) for d in branches] == [
        ("depends", "(x.shape[0] <= 1 or x.shape[0] >= 5) and x.shape[1] != 3")
    ]


def test_what_the_program_catches_is_no_demand(module: Path) -> None:
    found, _ = asked(
        module,
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.zeros(3, 4)
        try:
            y = self.fc(y.view(3, 2, 2)[:, :, :1] + x[:1, :1].view(1, 1, 1))
        except RuntimeError:
            pass
        return self.fc(x)
""",
    )
    assert found.verdict == "static"
    assert found.annotations["x"].text == "b 4"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("absent:Net", "no module named 'absent'"),
        ("net:Absent", "net has no 'Absent'"),
        ("net", "write MODULE:FACTORY"),
        ("net:broken", "it raised ValueError: on purpose"),
        ("net:number", "it returns a int, not a torch.nn.Module"),
        ("net:constant", "constant cannot be called"),
    ],
)
def test_a_wrong_factory_is_one_line(module: Path, capsys: pytest.CaptureFixture[str], spec: str, text: str) -> None:
    module.write_text(
        HEAD + "constant = 3\n\ndef broken():\n    raise ValueError('on purpose')\n\ndef number():\n    return 3\n"
    )
    with pytest.raises(QuestionError) as caught:
        list(traced(spec, Question(spec)))
    assert text in str(caught.value)
    for command in ("migrate", "branches"):
        assert main([command, "--trace", spec]) == 2
        assert text in capsys.readouterr().err


def test_an_input_that_is_not_there_is_one_line(module: Path) -> None:
    program = "class Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    with pytest.raises(QuestionError, match=r"Net\.forward has no input 'y'; it has x"):
        asked(module, program, where="y.shape[0] > 3")


def test_a_constraint_that_cannot_be_read_is_one_line(module: Path) -> None:
    program = "class Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    with pytest.raises(QuestionError, match="--where: column 1: `/` gives no integer"):
        asked(module, program, where="x.shape[0] / 2 > 1")


def test_the_command_says_that_it_runs_code(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module.write_text(HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x.view(4)\n")
    assert main(["migrate", "--trace", "net:Net", "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert shown.err.splitlines()[0] == "--trace: running the code of net:Net"
    assert '"verdict": "static"' in shown.out


def test_every_run_finds_the_model_as_it_was_made(module: Path) -> None:
    found, branches = asked(
        module,
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(8, 4))

    def forward(self, x):
        n, d = x.shape
        if n > self.table.size(0):
            self.table = torch.zeros(2 * n, 4)
        return x + self.table[:n]
""",
    )
    assert found.verdict == "static"
    assert [(d.line, d.verdict, d.condition) for d in branches] == [(12, "depends", "x.shape[0] >= 9")]


def test_torch_is_left_as_it_was(module: Path) -> None:
    import torch

    before = torch.nn.Module.__call__, torch._assert, torch.nn.functional.scaled_dot_product_attention
    asked(module, "class Net(nn.Module):\n    def forward(self, x):\n        return len(x.shape) and x\n")
    assert before == (torch.nn.Module.__call__, torch._assert, torch.nn.functional.scaled_dot_product_attention)
    assert "len" not in sys.modules["net"].__dict__
