"""`branches --write` removes nothing that an object, however it was made and used, comes to with some input."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.cli.main import main

torch = pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

class Base(nn.Module):
    {shared}
    def __init__(self{parameter}):
        super().__init__()
        {held}
        self.layer = nn.Linear(4, 4)

    def change(self, a):
        {change}

    def forward(self, x{given}):
{tests}
        if x.ndim < 0 or len(x.shape) != x.dim():
            x = x * 3
        x = self.helped(x)
        {after}
        return x

    def helped(self, x, a={default}):
{inner}
        return x

class Net(Base):
    {override}

def build(a={default}):
    return Base({passed})
"""
DEFAULTS = ["None", "False", "0", "2", "()"]
VALUES: list[Any] = [None, False, True, 0, 1, 2, 3]
TESTS = [
    "{a} and x.shape[0] < 3",
    "{a} is not None and x.ndim == 2",
    "not {a} and x.numel() > 2",
    "x.shape[0] == ({a} or 7)",
    "x.ndim == {a}",
    "({a} == 3) == (x.ndim > 0)",
]
WAYS = {
    "constructor": {"parameter": ", a={default}", "held": "self.a = a", "passed": "a"},
    "placeholder": {"held": "self.a = None"},
    "method": {"held": "self.a = {default}", "change": "self.a = a"},
    "forward": {"held": "self.a = {default}", "after": "self.a = 3 if self.a != 3 else 1"},
    "class": {"shared": "a = {default}", "override": "a = 3"},
    "argument": {"given": ", a={default}"},
}
INPUTS = [(4,), (2, 4), (5, 4), (3, 2, 4), (0, 4)]


@settings(max_examples=6)
@given(
    way=st.sampled_from(sorted(WAYS)),
    default=st.sampled_from(DEFAULTS),
    name=st.sampled_from(["", "", "::Base", "::build", "::Base.forward"]),
)
def test_what_is_left_does_the_same(way: str, default: str, name: str) -> None:
    empty = dict.fromkeys(("shared", "parameter", "given", "passed"), "")
    parts = {**empty, **dict.fromkeys(("held", "change", "after", "override"), "pass"), **WAYS[way]}
    parts |= {"tests": branches("a" if way == "argument" else "self.a"), "inner": branches("a"), "default": default}
    text = PROGRAM
    for key, part in parts.items():
        text = text.replace("{" + key + "}", part)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "net.py"
        path.write_text(text)
        main(["branches", f"{path}{name}", "--write"])
        written = path.read_text()
    if not name:
        assert "x = x * 3" not in written, "what no input reaches is removed"
    assert results(written) == results(text), written


def branches(a: str) -> str:
    return "\n".join(
        f"        if {test.replace('{a}', a)}:\n            x = x * 2 + {n}" for n, test in enumerate(TESTS)
    )


def results(text: str) -> list[Any]:
    """What the program gives for each way of making and using its objects, and each input."""
    found: list[Any] = []
    names: dict[str, Any] = {}
    exec(compile(text, "net.py", "exec"), names)
    for value in VALUES:
        for how in ("Base", "Net", "given", "set", "change", "argument", "helped"):
            found += [result(names, how, value, torch.ones(shape)) for shape in INPUTS]
    return found


def result(names: dict[str, Any], how: str, value: Any, x: Any) -> Any:
    torch.manual_seed(0)
    try:
        if how == "given":
            return names["Base"](value)(x).tolist()
        net = names["Net" if how == "Net" else "Base"]()
        if how == "set" and net.a is None:
            net.a = value
        if how == "change":
            net.change(value)
        if how == "helped":
            return net.helped(x, value).tolist()
        return [net(x, value).tolist() if how == "argument" else net(x).tolist(), net(x).tolist()]
    except Exception as error:
        return type(error).__name__


ANNOTATIONS = ["int", "float", "str", "bool", "torch.Tensor", "tuple[int, int]", "list[int]", "nn.Module", "'int'"]
GUARDS = ["a is None", "not isinstance(a, {kind})", "hasattr(a, 'absent')", "isinstance(a, type(None))"]


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_an_annotation_removes_no_guard(annotation: str, folder: Path) -> None:
    """Annotations promise, nothing holds a caller to them: what refuses other inputs stays."""
    kind = annotation.strip("'").partition("[")[0]
    for number, guard in enumerate(GUARDS):
        body = f"    if {guard.format(kind=kind)}:\n        raise ValueError\n    return x\n"
        path = folder / f"a{number}.py"
        path.write_text(f"import torch\nfrom torch import nn\n\n\ndef f(x: torch.Tensor, a: {annotation}):\n{body}")
        main(["branches", "--write", f"{path.name}::f"])
        assert path.read_text().endswith(body)


BEFORE = {"nothing": "", "two axes": "    n, m = x.shape\n", "a guard": "    if x.ndim != 2:\n        return -1\n"}
CONDITIONS = [
    ("x.shape[0] < 0", {"two axes", "a guard"}),
    ("x.shape[1] < 0", {"two axes", "a guard"}),
    ("x.shape[2] < 0", set[str]()),
    ("x.size(-1) < 0", {"two axes", "a guard"}),
    ("len(x) < 0", set[str]()),
    ("len(x.shape) < 0", set(BEFORE)),
    ("x.shape[0] % 3 == 4", {"two axes", "a guard"}),
    ("x.ndim < 0 or x.shape[0] < 0", {"two axes", "a guard"}),
    ("x.ndim > 1 and x.shape[1] < 0", set(BEFORE)),
    ("x.ndim < 0", set(BEFORE)),
    ("x.numel() < 0", {"two axes", "a guard"}),
    ("x.shape[0] // x.shape[1] < 0", set[str]()),
    ("x.numel() % len(x.shape) < 0", set[str]()),
    ("x.ndim % -2 < -1", set(BEFORE)),
    ("x.numel() % -3 == -2", set[str]()),
]
FORMS = {
    "if": "    if {test}:\n        return 1\n    return 2\n",
    "expression": "    return 1 if {test} else 2\n",
    "assertion": "    assert not ({test})\n    return 2\n",
    "attempt": "    try:\n        if {test}:\n            return 1\n    except (IndexError, ZeroDivisionError, TypeError):\n"
    "        return 3\n    return 2\n",
}


@pytest.mark.parametrize(
    ("form", "before"), [*((form, "nothing") for form in FORMS), ("if", "two axes"), ("attempt", "a guard")]
)
def test_a_condition_that_may_fail_stays(form: str, before: str, folder: Path) -> None:
    """What a condition raises is an outcome too: it goes only where it fails for no input that gets there."""
    text = "import torch\n" + "".join(
        f"\n\ndef f{n}(x: torch.Tensor):\n{BEFORE[before]}{FORMS[form].format(test=test)}"
        for n, (test, _) in enumerate(CONDITIONS)
    )
    (folder / "p.py").write_text(text)
    main(["branches", "--write", "p.py"])
    written = (folder / "p.py").read_text()
    names: list[dict[str, Any]] = [{}, {}]
    for each, source in zip(names, (text, written), strict=True):
        exec(compile(source, "p.py", "exec"), each)
    for n, (test, removable) in enumerate(CONDITIONS):
        for shape in ((), (0,), (3,), (0, 0), (2, 0), (3, 2), (1, 2, 3), (2, 2, 0, 1)):
            found = [_outcome(each[f"f{n}"], torch.empty(shape, device="meta")) for each in names]
            assert found[0] == found[1], (test, shape)
        kept = test in written.partition(f"def f{n}(")[2].partition("\n\n\n")[0]
        assert kept == (before not in removable), test


def _outcome(function: Any, x: Any) -> Any:
    try:
        return function(x)
    except Exception as error:
        return type(error).__name__
