"""Every unknown value that `--verbose` counts has a cause with a line, however tracking was lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.interp.check import CheckResult, check_file
from distml.source.project import Project

START = "import torch\nfrom torch import nn\nimport nowhere\nlayer = nn.Linear(3, 4)\nx = torch.zeros(2, 3)\n"
LOST = {
    "y = nowhere.mix(x)": "nowhere.mix is unknown: nowhere is not followed",
    "y = torch.no_such_function(x)": "there is no rule for torch.no_such_function",
    "y = torch.load('x.pt')": "the rule for torch.load gives nothing here",
    "y = torch.load('x.pt')['rows'][0]": "the rule for torch.load gives nothing here",
    "y = layer.missing": "the attribute missing of layer is unknown",
    "@nowhere.traced\ndef f(v):\n    return v\ny = f(x)": "unknown",
    "a, y = nowhere.both(x)": "nowhere.both is unknown: nowhere is not followed",
    "y = [nowhere.mix(x)][0]": "nowhere.mix is unknown: nowhere is not followed",
    "for y in nowhere.batches():\n    pass": "nowhere.batches is unknown: nowhere is not followed",
    "with nowhere.opened() as y:\n    pass": "nowhere.opened is unknown: nowhere is not followed",
    "def f(n, v):\n    return v if n == 0 else f(n - 1, v) + f(n - 2, v)\ny = f(30, x)": "nest too deeply",
    "y = nowhere.mix(x) + 1\nz = y.view(-1)\nu = layer(z)": "nowhere.mix is unknown: nowhere is not followed",
    "def g():\n    yield from nowhere.more()\ny = next(g())": "the rule for builtins.next gives nothing here",
    "class Own(nn.Module):\n    def forward(self, v):\n        return nowhere.mix(v)\ny = Own()(x)": "nowhere.mix is unknown",
    "def use(v):\n    return v.mean()": "no call says what the argument v is",
}
"""A loss, and what the first cause of a function says of it."""


def tracked(folder: Path, text: str) -> CheckResult:
    (folder / "main.py").write_text(text, "utf-8")
    project = Project(str(folder))
    return check_file(project.open("main.py"), project, tracked=True)


@pytest.mark.parametrize(("loss", "reason"), LOST.items())
def test_a_loss_has_a_cause(loss: str, reason: str, tmp_path: Path) -> None:
    told = tracked(tmp_path, f"{START}{loss}\n").tracked
    assert any(each.levels[2] + each.levels[3] for each in told)
    assert all(each.causes for each in told if each.levels[2] + each.levels[3])
    assert any(reason in each.causes[0][0].reason for each in told if each.causes), told
    assert all(6 <= cause.span.line <= 6 + loss.count("\n") for each in told for cause, _ in each.causes)


EXAMPLES = sorted(Path(__file__, "../../../examples").resolve().glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_cause_for_each_unknown_and_the_same_findings(path: Path) -> None:
    project = Project(str(path.parent))
    plain, told = (check_file(project.open(path.name), project, tracked=asked) for asked in (False, True))
    assert told.diagnostics == plain.diagnostics
    assert all(each.causes for each in told.tracked if each.levels[2] + each.levels[3])
    assert not plain.tracked


def test_levels_and_the_order_of_causes(tmp_path: Path) -> None:
    text = (
        f"{START}def run(n: int):\n    exact = torch.zeros(2, 3)\n    partial = torch.zeros(n, 3)\n"
        "    less = nowhere.one()\n    more = nowhere.two()\n    return more + more * more\nrun(int(nowhere.n))\n"
    )
    run = next(each for each in tracked(tmp_path, text).tracked if each.name == "run")
    assert run.levels[:3] == (1, 1, 0)
    assert [cause.reason.split(" ")[0] for cause, _ in run.causes][:2] == ["nowhere.two", "nowhere.one"]
    assert [hidden for _, hidden in run.causes] == sorted((hidden for _, hidden in run.causes), reverse=True)
