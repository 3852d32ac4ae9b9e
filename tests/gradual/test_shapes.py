"""`distml shapes`: what is shown of a line admits whatever the line really gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.gradual.questions import QuestionError
from distml.interp import functions

from gradual.seeing import admits, exactly, problems, run_really, shapes

TORCH = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
PROGRAMS = {
    "a convolutional network": (
        """
class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc = nn.Linear(16 * 5 * 5, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        y = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(y.flatten(1))
""",
        "Net.forward",
        ["Net()(torch.zeros(4, 3, 32, 32))", "Net()(torch.zeros(1, 3, 33, 34))"],
    ),
    "attention": (
        """
class Attention(nn.Module):
    def __init__(self, dim=64, heads=8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        attn = q @ k.transpose(-2, -1)
        if mask is not None:
            attn = attn.masked_fill(mask, 0)
        attn = attn.softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)
""",
        "Attention.forward",
        ["Attention()(torch.zeros(2, 5, 64))", "Attention()(torch.zeros(1, 1, 64))"],
    ),
    "blocks in a loop": (
        """
class Block(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 3, stride, 1)
        self.skip = nn.Conv2d(a, b, 1, stride) if a != b or stride != 1 else nn.Identity()

    def forward(self, x):
        y = torch.relu(self.conv(x))
        z = self.skip(x)
        return y + z


class Net(nn.Module):
    def __init__(self, widths=(8, 16, 16, 32)):
        super().__init__()
        sizes = [3, *widths]
        self.blocks = nn.ModuleList(Block(a, b, 2) for a, b in zip(sizes, sizes[1:]))
        self.head = nn.Linear(widths[-1], 7)

    def forward(self, x):
        features = []
        for block in self.blocks:
            x = block(x)
            features.append(x)
        pooled = x.mean(dim=(2, 3))
        return self.head(pooled)
""",
        "Net.forward",
        ["Net()(torch.zeros(2, 3, 64, 48))"],
    ),
    "a recurrent network": (
        """
class Tagger(nn.Module):
    def __init__(self, words=100, hidden=12):
        super().__init__()
        self.embed = nn.Embedding(words, 16)
        self.lstm = nn.LSTM(16, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, 5)

    def forward(self, words):
        e = self.embed(words)
        out, (h, c) = self.lstm(e)
        last = h[-1]
        scores = self.head(out)
        return scores.log_softmax(-1)
""",
        "Tagger.forward",
        ["Tagger()(torch.zeros(3, 9, dtype=torch.long))"],
    ),
    "a loop that grows": (
        """
def pyramid(x):
    levels = [x]
    while x.shape[-1] > 4:
        x = F.avg_pool2d(x, 2)
        levels.append(x)
    total = 0
    for level in levels:
        total = total + level.mean()
    return total
""",
        "pyramid",
        ["pyramid(torch.zeros(2, 3, 32, 32))", "pyramid(torch.zeros(2, 3, 4, 4))"],
    ),
    "two ways": (
        """
def either(x, deep):
    if deep:
        y = x[:, None]
    else:
        y = x.t()
    z = y.sum(0)
    return z
""",
        "either",
        ["either(torch.zeros(3, 4), True)", "either(torch.zeros(3, 4), False)"],
    ),
    "functions of tensors": (
        """
def pairwise(a: torch.Tensor, b: torch.Tensor):
    d = a[:, None] - b[None]
    near = (d ** 2).sum(-1).sqrt()
    closest, index = near.min(dim=1)
    chosen = b[index]
    return torch.cat([a, chosen], dim=-1)
""",
        "pairwise",
        ["pairwise(torch.zeros(3, 2), torch.zeros(5, 2))", "pairwise(torch.zeros(1, 7), torch.zeros(1, 7))"],
    ),
    "recursion": (
        """
def halves(x: torch.Tensor, depth: int):
    if depth == 0:
        return x
    left, right = x.chunk(2, dim=-1)
    a = halves(left, depth - 1)
    b = halves(right, depth - 1)
    return a + b
""",
        "halves",
        ["halves(torch.zeros(2, 8), 3)", "halves(torch.zeros(2, 8), 0)"],
    ),
    "what is caught": (
        """
def tried(x: torch.Tensor, w: torch.Tensor):
    try:
        y = x @ w
    except RuntimeError:
        y = x.sum(0)
    return y
""",
        "tried",
        ["tried(torch.zeros(2, 3), torch.zeros(3, 4))", "tried(torch.zeros(2, 3), torch.zeros(4, 4))"],
    ),
    "what is changed in place": (
        """
def stretched(x: torch.Tensor):
    y = x.unsqueeze_(0)
    z = y.repeat(2, 1, 1)
    x += 1
    return x, z
""",
        "stretched",
        ["stretched(torch.zeros(2, 3))"],
    ),
}
NUMPY = """
import numpy as np


def whiten(data, eps=1e-5):
    mean = data.mean(axis=0)
    centred = data - mean
    cov = centred.T @ centred / len(data)
    values, vectors = np.linalg.eigh(cov)
    scale = np.diag(1 / np.sqrt(values + eps))
    return centred @ vectors @ scale


def windows(x, size):
    starts = np.arange(len(x) - size + 1)
    index = starts[:, None] + np.arange(size)
    rows = x[index]
    return rows * np.hanning(size)
"""


@pytest.mark.requires("torch")
@pytest.mark.parametrize("title", list(PROGRAMS))
def test_what_is_shown_for_any_input_admits_real_calls(title: str, tmp_path: Path) -> None:
    body, name, calls = PROGRAMS[title]
    program = TORCH + body
    shown = shapes(tmp_path, program, name)
    assert shown.entries
    for call in calls:
        assert list(problems(shown, run_really(program, call))) == []


@pytest.mark.requires("torch")
@pytest.mark.parametrize("title", list(PROGRAMS))
def test_what_is_shown_of_a_program_that_runs_admits_the_run(title: str, tmp_path: Path) -> None:
    body, _, calls = PROGRAMS[title]
    program = "\n".join([TORCH + body, *calls])
    real = run_really(program)
    shown = shapes(tmp_path, program)
    assert list(problems(shown, real)) == []
    assert exactly(shown, real) > 0.5


RECURSIONS = {
    "a number": ("x, n", "n == 0", "f(x, n - 1) + f(x, n - 1) + f(x, n - 1)"),
    "a number that grows": ("x, n, top=9", "n > x.shape[0]", "f(x, n + 1) + f(x + 1, n + 2) + f(x, n + 3)"),
    "a size": ("x: torch.Tensor", "x.shape[0] < 2", "f(x[1:]) + f(x[:-1]) + f(x[2:])"),
    "parts": ("x: torch.Tensor, n", "n < 1", "sum(f(part, n - 1) for part in x.chunk(3))"),
    "an alternative": ("x, n", "n == 0 and x.sum() > 0", "[f(x, n - 1), f(x, n - 1), f(x, n - 2)][n % 3]"),
}


@pytest.mark.requires("interpreted engine")
@pytest.mark.parametrize("what", RECURSIONS)
@pytest.mark.parametrize(
    "form", ["if {1}:\n        return x\n    return {2}", "return x if {1} else {2}"], ids=["if", "else"]
)
def test_recursion_that_no_number_ends_is_not_followed_far(what: str, form: str, tmp_path: Path) -> None:
    text = f"{TORCH}def f({{0}}):\n    {form}\n".format(*RECURSIONS[what])
    with mock.patch.object(functions, "_run", wraps=functions._run) as followed:
        shapes(tmp_path, text, "f")
    assert followed.call_count < 500


@pytest.mark.requires("torch")
def test_what_an_input_leaves_open_is_a_formula() -> None:
    body, name, _ = PROGRAMS["a convolutional network"]
    with TemporaryDirectory() as folder:
        shown = shapes(Path(folder), TORCH + body, name, ["x: float[b, 3, h, w]"])
        values = {(each.kind, each.name): each.values for each in shown.entries}
        assert values["parameter", "x"] == ("[b, 3, h, w]",)
        assert values["call", "self.conv1"] == ("[b, 6, h - 4, w - 4]",)
        assert values["return", "return"] == ("[b, 10]",)
        shown = shapes(Path(folder), TORCH + body, name, ["x: float[8, 3, 32, 32]"])
        assert {size for each in shown.entries for sizes in each.sizes for size in sizes or ("none",)} <= set(
            range(100)
        )


@pytest.mark.requires("numpy")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("whiten", "whiten(np.arange(12.0).reshape(4, 3))"),
        ("windows", "windows(np.arange(10.0), 3)"),
    ],
)
def test_functions_of_numpy(name: str, call: str, tmp_path: Path) -> None:
    shown = shapes(tmp_path, NUMPY, name)
    assert shown.failures == ()
    assert list(problems(shown, run_really(NUMPY, call))) == []
    assert list(problems(shapes(tmp_path, NUMPY + call), run_really(NUMPY + call))) == []


def test_two_sizes_have_two_names(tmp_path: Path) -> None:
    program = TORCH + "def f(x: torch.Tensor, y: torch.Tensor):\n    n = x.shape[0]\n    return torch.outer(x, y), n\n"
    shown = shapes(tmp_path, program, "f")
    names = {each.name: each.values for each in shown.entries}
    assert names["x"] == ("[n]",)
    assert names["y"] != names["x"]
    (first,) = names["return"]
    assert first == f"([n, {names['y'][0][1:-1]}], n)"


def test_calls_that_differ_only_in_unknown_sizes_are_shown_once(tmp_path: Path) -> None:
    calls = "def g(a: torch.Tensor, b: torch.Tensor):\n    return f(a.reshape(-1, 3)), f(b.reshape(-1, 3)), f(b.reshape(-1, 4))\n"
    shown = shapes(tmp_path, TORCH + "def f(x):\n    y = x.t()\n    return x @ y\n\n\n" + calls)
    values = {each.name: each.values for each in shown.entries if each.line < 9}
    assert [len(values[name]) for name in ("x", "return")] == [2, 2], values


def test_what_no_call_comes_to_is_not_shown(tmp_path: Path) -> None:
    program = (
        TORCH + "def f(x, deep):\n    if deep:\n        y = x.t()\n    return x\n\n\nf(torch.zeros(2, 3), False)\n"
    )
    assert {each.values for each in shapes(tmp_path, program).entries} == {("[2, 3]",)}


def test_many_shapes_of_one_line_become_one(tmp_path: Path) -> None:
    program = TORCH + "for n in range(9):\n    x = torch.zeros(2, n)\n"
    (entry,) = shapes(tmp_path, program).entries
    assert entry.values == ("[2, ?]",)
    (entry,) = shapes(tmp_path, program.replace("9", "3")).entries
    assert entry.values == ("[2, 0]", "[2, 1]", "[2, 2]")


def test_what_fails_is_said_where_it_fails(tmp_path: Path) -> None:
    body, name, _ = PROGRAMS["a convolutional network"]
    shown = shapes(tmp_path, TORCH + body, name, ["x: float[8, 3, 64, 64]"])
    (failure,) = shown.failures
    assert shown.lines[failure.line - 1].strip() == "return self.fc(y.flatten(1))"
    assert "400" in failure.message
    shown = shapes(tmp_path, TORCH + "x = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    assert [each.line for each in shown.failures] == [5]


def test_where_narrows_what_is_shown(tmp_path: Path) -> None:
    program = TORCH + "def f(x: torch.Tensor):\n    y = x[0] if x.shape[0] > 5 else x\n    return y\n"
    both = {each.name: each.values for each in shapes(tmp_path, program, "f").entries}
    shown = {
        each.name: each.values
        for each in shapes(tmp_path, program, "f", where="x.shape[0] > 7 and len(x.shape) == 3").entries
    }
    assert len(both["y"]) == 2
    assert len(shown["y"]) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", "is not an input with its shape"),
        ("x: int", "is not an input with its shape"),
        ("x: float[2.5]", "is not an input with its shape"),
        ("x: float[-1]", "'-1' is not a size of x"),
        (f"x: float[{10**30}]", "is not a size of x"),
        (f"x: float[{'1, ' * 65}]", "more than 64 axes"),
        ("x: float[2], x: float[3]", "x is given twice"),
        ("y: float[2]", "has no input 'y'"),
        ("x): pass\nimport os\ndef g(y", "is not an input with its shape"),
        ("x=__import__('os')", "is not an input with its shape"),
        ("x: float[..., 3, ...]", "is not an input with its shape"),
        ("x: float[" + "(" * 5000, "is not an input with its shape"),
    ],
)
def test_an_input_that_cannot_be_one(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=says):
        shapes(tmp_path, TORCH + "def f(x):\n    return torch.relu(x)\n", "f", [text])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x: float[8, 3]", "[8, 3]"),
        ("x: float[()]", "[]"),
        ("x: int[b, 2*b]", "[b, 2*b]"),
        ("x: float[b, ..., 3]", "[b, ..., 3]"),
        ("x: Float[Tensor, 'b 3 *rest']", "[b, 3, ...]"),
        ("x: TensorType[4, 5]", "[4, 5]"),
    ],
)
def test_forms_of_inputs(text: str, shown: str, tmp_path: Path) -> None:
    found = shapes(tmp_path, TORCH + "def f(x):\n    return torch.relu(x)\n", "f", [text])
    assert {each.values for each in found.entries} == {(shown,)}


@pytest.fixture
def no_gradients() -> Iterator[None]:
    """Generated programs copy their tensors."""
    import torch

    with torch.no_grad():
        yield


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("numpy", marks=pytest.mark.requires("numpy", "torch")),
        pytest.param("torch", marks=pytest.mark.requires("torch")),
    ],
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_gradients")
def test_generated_programs(library: str) -> None:
    from interp.test_programs import TEMPLATES, written

    known: list[float] = []

    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def examine(seed: int) -> None:
        program = written(library, Random(seed), TEMPLATES[library].STRAIGHT, wrong=False).program()
        try:
            real = run_really(program)
        except (ValueError, RuntimeError):  # what was tried on copies, with other random numbers
            return
        with TemporaryDirectory() as folder:
            shown = shapes(Path(folder), program)
        assert list(problems(shown, real)) == []
        known.append(exactly(shown, real))

    examine()
    assert sum(known) > 0.8 * len(known)


def test_what_admits_what() -> None:
    assert admits(["b", 3], [2, 3], {})
    assert not admits(["b", "b"], [2, 3], {})
    assert not admits(["b", 2], [2, 3], {})
    assert not admits(["b", "2*b"], [2, 3], {})
    assert admits(["b", "...", 4], [2, 9, 9, 4], {})
    assert not admits(["b", "...", 4], [2, 9, 9, 5], {})
