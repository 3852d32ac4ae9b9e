"""SHP309: what is no index, beside what the libraries and Python say."""

from __future__ import annotations

import pytest

from interp.programs import errors_of
from ops.index_forms import HEAD, MAKERS, indices, really
from ops.raising import failing

OF_TORCH = (
    "x.long()",
    "x.int().long()",
    "x.type(torch.LongTensor)",
    'x.type("torch.LongTensor")',
    "x.to(torch.long)",
    "x.to(dtype=torch.int64)",
    "x.to(d, torch.int64)",
    'x.to("cpu", torch.long)',
    "x.to(t)",
    "x.to(t.device, t.dtype)",
    "x.type_as(t)",
    "x.to(dt)",
    "x.type(dt)",
    "x.to(**f)",
    "x.bool()",
    "x > 0",
    "x.byte()",
    "x.new_zeros(3, dtype=torch.long)",
    "x.new(3).long()",
    "torch.empty(3).long()",
    "torch.tensor([0., 1.]).long()",
    "torch.LongTensor([0, 1])",
    "torch.floor(x).long()",
    "torch.arange(3)",
    "torch.arange(0, f.n)",
    "torch.arange(0, 3, f.s)",
    "torch.randperm(3)",
    "torch.randint(0, 3, (2,))",
    "x.argmax()",
    "x.topk(2)[1]",
    "x.sort().indices",
    "x.max(0)[1]",
    "torch.multinomial(x, 1)",
    "x.nonzero()",
    "torch.where(x > 0)",
    "torch.where(x > 0)[0]",
    "torch.from_numpy(np.array([0, 1]))",
    "torch.tensor(f.idx)",
    "torch.cat([torch.arange(2), torch.arange(2)])",
    "torch.stack([torch.tensor(1), torch.tensor(2)])",
    "torch.zeros_like(t)",
    "torch.zeros(3, dtype=dt)",
    "torch.full((3,), 1)",
    "torch.full((3,), f.v)",
    "torch.full_like(t, 1)",
    "torch.ones(3, dtype=t.dtype)",
    "torch.distributions.Categorical(x).sample()",
    "torch.bucketize(x, y)",
    "torch.searchsorted(y, x)",
    "torch.unique(torch.arange(3))",
    "torch.bincount(torch.arange(3))",
    "torch.clamp(torch.arange(3), 0, 2)",
    'torch.div(torch.arange(3), 2, rounding_mode="floor")',
    "torch.arange(3) // 2",
    "torch.arange(3) * 2 % 3",
    "torch.min(torch.arange(3), torch.arange(3))",
    "torch.cumsum(torch.arange(3), 0)",
    "torch.round(x).to(torch.uint8)",
    "x.clone().detach().cpu().long().view(-1)",
    "x.data.long()",
    "(x * 2).floor().type(torch.int64)",
    "x.cuda().long()",
    "x.half().long()",
    "nn.Parameter(torch.arange(3), requires_grad=False)",
    "torch.as_tensor(np.arange(3))",
    "torch.tensor(np.arange(3).tolist())",
    "torch.max(x, 0).indices",
    'x.to(torch.device("cpu")).long()',
)
"""Ways to make indices of torch."""
OF_NUMPY = (
    "a.astype(int)",
    "a.astype(np.int64)",
    'a.astype("int")',
    'a.astype("i4")',
    "a.astype(dt)",
    "a.astype(bool)",
    "np.zeros(3, int)",
    'np.zeros(3, dtype="uint8")',
    "np.zeros(3, dt)",
    "np.int32(a)",
    "np.intp(a)",
    "np.asarray(a, int)",
    "np.arange(3)",
    "np.arange(f.n)",
    "np.arange(0, 3, f.s)",
    "np.argsort(a)",
    "np.where(a > 0)",
    "np.nonzero(a)",
    "np.flatnonzero(a)",
    "np.random.permutation(5)",
    "np.random.randint(0, 5, 3)",
    "np.random.choice(5, 3)",
    "np.random.choice(f.n, 3)",
    "np.random.choice(f.l, 3)",
    "np.linspace(0, 4, 3, dtype=int)",
    "np.linspace(0, 4, 3).astype(np.int32)",
    "np.floor(a).astype(int)",
    "np.round(a).astype(int)",
    "np.digitize(a, z)",
    "np.searchsorted(z, a)",
    "np.unique(np.arange(3))",
    "np.unique(a, return_index=True)[1]",
    "np.array(f.l)",
    "np.array([f.a, f.b])",
    "np.concatenate([np.arange(2), np.arange(2)])",
    "np.hstack([[0], np.arange(2)])",
    "np.r_[0, 1]",
    "np.r_[0:3]",
    "np.ix_(np.arange(3))",
    "np.tril_indices(3)[0]",
    "np.meshgrid(np.arange(3), np.arange(2))[0]",
    "np.unravel_index(3, (2, 3))[0]",
    "np.argmax(a)",
    "np.random.binomial(1, 0.5, 3)",
    "np.random.poisson(1.0, 3)",
    "np.cumsum([1, 2])",
    "np.add(np.arange(3), 1)",
    "np.arange(3) // 2",
    "np.mod(np.arange(3), 2)",
    "np.full(3, 1)",
    "np.full(3, f.v)",
    "np.ones(3, int)",
    "np.zeros_like(np.arange(3))",
    "np.empty(3, dtype=np.int_)",
    "a.view(np.int64)",
    "np.ceil(a).astype(np.intp)",
    "np.fromiter(f.g, int)",
    'np.loadtxt("a", dtype=int)',
    'np.load("a.npy")',
    "np.sign(np.arange(3))",
    "np.max([1, 2])",
    "np.abs(np.arange(3))",
    "np.clip(np.arange(3), 0, 2)",
    "np.repeat(np.arange(3), 2)",
    "np.tile([0, 1], 2)",
    "np.roll(np.arange(3), 1)",
    "np.array([], dtype=int)",
    "np.setdiff1d(np.arange(3), [1])",
    "np.minimum(np.arange(3), 2)",
    'np.rint(a).astype("int32")',
    "np.bincount(np.arange(3))",
    "np.diff(np.arange(3))",
    "np.logical_and(a, a)",
    "np.isnan(a)",
    "~np.isnan(a)",
    "(a > 0) & (a < 1)",
    "np.sum(np.arange(3))",
    "np.prod((2, 3)) - 5",
    "np.array((1, 2))",
    "np.int64(2)",
    "np.round(2.5).astype(int)",
    "int(np.round(2.5))",
    "np.argwhere(a)[:, 0]",
    "np.histogram(a)[0]",
    "np.lexsort((a, a))",
)
"""Ways to make indices of NumPy."""


@pytest.mark.requires("numpy", "torch")
@pytest.mark.parametrize("library", sorted(MAKERS))
def test_what_fails_is_found_and_nothing_else(library: str) -> None:
    cases = indices(library)
    program = f"{HEAD}\n{MAKERS[library][0]}\n" + "\n".join(f"_ = {value}[{index}]" for value, index in cases)
    first = program.partition("\n_ = ")[0].count("\n") + 2
    told = {cases[error.span.line - first]: error.code for error in errors_of(program)}
    # TensorFlow takes no array of integers either; with NumPy's behavior, which a program may ask for, it does.
    fails = failing("index_forms", library, really)
    fails = {(value, index) for value, index in fails if "[0, 1], dtype=tf.int32" not in index}
    assert sorted(told.keys() - fails) == []
    assert sorted(fails - told.keys()) == []
    assert set(told.values()) == {"SHP309"}


QUIET = """
import numpy as np
import torch


def of_unknown(x, n, i: float, rows):
    half = n / 2
    table = {0.5: 1, (0, 1): 2}
    return x[half], x[: n / 2], x[i], rows[:, 0], table[0.5], table[0, 1], np.zeros(5)[n], torch.zeros(5)[rows]


def of_flags(flag, n):
    step = 2 if flag else 0.5
    rows = [[1, 2]] if flag else np.zeros((3, 2))
    return np.zeros(5)[step], rows[:, 0], rows[[0]]


class Row(list):
    def __getitem__(self, place):
        return place


try:
    [1, 2][0.5]
except TypeError:
    pass
Row([1, 2])[0, 1], Row([1, 2])[0.5]
np.zeros(5, dtype=[("a", int)])["a"]
np.zeros(5)[np.zeros(5, dtype=bool)], np.zeros(5)[[]], np.zeros((5, 2))[[0, 1], [1, 1]]
"""


def test_what_may_be_an_index_is_one() -> None:
    assert [str(error) for error in errors_of(QUIET)] == []


def test_what_is_converted_or_counted_is_an_index() -> None:
    head = "import numpy as np\nimport torch\nfrom torch import nn\n\n\ndef indexed(f, dt, t, d):\n"
    torch_lines = "    x = y = torch.zeros(3)\n" + "".join(f"    y[{each}]\n" for each in OF_TORCH)
    numpy_lines = "    a = z = np.zeros(3)\n" + "".join(f"    z[{each}]\n" for each in OF_NUMPY)
    found = errors_of(head + torch_lines + numpy_lines)
    assert [str(error) for error in found if error.code == "SHP309"] == []


BY_INDEX = (
    "torch.zeros(3, 4).gather(1, {2})",
    "torch.gather(torch.zeros(3, 4), 1, {2})",
    "torch.zeros(3, 4).scatter(1, {2}, 1.0)",
    "torch.zeros(3, 4).scatter_(1, {2}, 1.0)",
    "torch.zeros(3, 4).scatter_add(1, {2}, torch.zeros(3, 4))",
    "torch.zeros(3, 4).index_select(1, {1})",
    "torch.zeros(3, 4).index_add(1, {1}, torch.zeros(3, 2))",
    "torch.zeros(3, 4).index_copy(1, {1}, torch.zeros(3, 2))",
    "torch.zeros(3, 4).index_fill_(1, {1}, 1.0)",
    "torch.take(torch.zeros(3, 4), {1})",
    "torch.take_along_dim(torch.zeros(2, 4), {2}, 1)",
    "torch.nn.Embedding(9, 3)({2})",
    "torch.nn.functional.embedding({2}, torch.zeros(9, 3))",
    "torch.nn.EmbeddingBag(9, 3)({2})",
    "torch.nn.functional.one_hot({1}, 5)",
    "torch.zeros(3, 4).put_({1}, torch.zeros(2))",
)
"""Functions of torch that take indices."""


@pytest.mark.requires("torch")
@pytest.mark.parametrize("form", BY_INDEX)
def test_functions_by_index_take_no_floats(form: str) -> None:
    import torch

    whole = form.replace("{1}", "torch.zeros(2).long()").replace("{2}", "torch.zeros(2, 2).long()")
    floats = whole.replace(".long()", "")
    eval(whole, {"torch": torch})
    with pytest.raises((RuntimeError, IndexError)):
        eval(floats, {"torch": torch})
    assert errors_of(f"import torch\n{whole}\n") == []
    assert [error.code for error in errors_of(f"import torch\n{floats}\n")] == ["SHP309"]
    unknown = f"import torch\n\n\ndef of_any(n, x):\n    {whole.replace('zeros(2).long()', 'zeros(n)')}\n"
    assert errors_of(unknown.replace("torch.zeros(2, 2).long()", "x")) == []
