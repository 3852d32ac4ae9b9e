"""The elements of small arrays that are known are those that the libraries compute, in single and in double precision."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from distml.interp.check import check_file
from distml.source.project import Project

PROGRAMS = 400
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "{m}.add({}, {})", "{m}.multiply({}, {})", "{m}.subtract({}, {})")
UNARY = ("-{}", "abs({})", "{m}.ceil({})", "{m}.floor({})", "{m}.round({})", "{m}.trunc({})", "{m}.sqrt({m}.abs({}))")
RISING = ("{m}.log({m}.abs({}) + 1)", "{m}.exp({} / 100)", "{m}.log2({m}.abs({}) + 2)", "{m}.exp2({} / 50)")
NUMBERS = ("0.1", "2.5", "3", "7", "0.3", "1e3", "2.24", "-4.2", "8", "1 / 3")
MADE = {
    "torch": (
        "torch.arange(6)",
        "torch.arange(6.0)",
        "torch.arange(0.1, 0.65, 0.1)",
        "torch.linspace(1, 4, 6)",
        "torch.tensor([1.5, -2.25, 3, 4, 0.1, 6])",
        "torch.tensor([3, 1, 4, 1, 5, 9])",
        "torch.tensor(0.7)",
        "torch.pow(2.24, torch.arange(6))",
    ),
    "numpy": (
        "numpy.arange(6)",
        "numpy.arange(6.0)",
        "numpy.arange(0.1, 0.65, 0.1)",
        "numpy.linspace(1, 4, 6)",
        "numpy.linspace(0, 7, 6, endpoint=False)",
        "numpy.array([1.5, -2.25, 3, 4, 0.1, 6])",
        "numpy.array([3, 1, 4, 1, 5, 9])",
        "numpy.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], dtype=numpy.float32)",
        "numpy.float32(0.7)",
        "numpy.power(2.24, numpy.arange(6))",
    ),
}
TAKEN = {
    "torch": (
        "{}.int().tolist()",
        "{}.long().tolist()",
        "({}).max().int().item()",
        "int(({}).min())",
        "len(torch.unique({}))",
        "torch.diff({}.int()).tolist()",
        "({}).round().to(torch.int64).tolist()",
    ),
    "numpy": (
        "({}).astype(int).tolist()",
        "int(({}).max())",
        "({}).min().astype(int).item()",
        "len(numpy.unique({}))",
        "numpy.rint({}).astype(numpy.int64).tolist()",
    ),
}


def expression(of: random.Random, library: str, depth: int) -> str:
    """An expression over a few known elements."""
    if depth == 0:
        return of.choice(MADE[library])
    if of.random() < 0.5:
        one = f"({expression(of, library, depth - 1)})"
        return of.choice(UNARY + RISING).format(one, m=library)
    pair = [f"({expression(of, library, depth - 1)})", of.choice(NUMBERS)]
    if of.random() < 0.3:
        pair[1] = f"({expression(of, library, of.randrange(depth))})"
    return of.choice(BINARY).format(*(pair if of.random() < 0.8 else pair[::-1]), m=library)


def claimed(library: str, programs: list[str], folder: Path) -> dict[str, str]:
    """What each program is said to come to."""
    path = folder / "program.py"
    text = f"import {library}\n" + "".join(f"reveal_shape({each})\n" for each in programs)
    project = Project(str(folder), overlay={str(path): text.encode()})
    found = check_file(project.open(str(path)), project)
    return {programs[each.span.line - 2]: each.text for each in found.revealed}


def known(text: str) -> Any:
    """A number or a list of numbers that is told, None where one is not."""
    try:
        return eval(text.replace("int ", ""), {"__builtins__": {}})
    except (SyntaxError, NameError):
        return None


def computed(library: str, program: str, doubles: bool) -> Any:
    """What a program comes to; None where it fails, or where an integer would not hold what does."""
    module = pytest.importorskip(library)
    undo: Callable[[], object] = int
    if library == "torch":
        module.set_default_dtype(module.float64 if doubles else module.float32)
        undo = lambda: module.set_default_dtype(module.float32)  # noqa: E731
    try:
        return eval(program, {library: module})
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None
    finally:
        undo()


@pytest.mark.requires("torch", "numpy")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("library", MADE)
def test_what_is_known_is_what_comes_out(library: str, tmp_path: Path) -> None:
    of = random.Random(f"elements of {library}")
    programs = [
        of.choice(TAKEN[library]).format(f"({expression(of, library, of.randint(0, 4))})") for _ in range(PROGRAMS)
    ]
    told = {each: known(text) for each, text in claimed(library, programs, tmp_path).items()}
    certain = {each: value for each, value in told.items() if value is not None}
    assert len(certain) > PROGRAMS // 2
    for program, value in certain.items():
        for doubles in (False, True):
            assert computed(library, program, doubles) == value, program


WRITTEN = {
    "torch": """
        w.data.add_(1)
        w.data = torch.zeros(2)
        torch.nn.init.constant_(w, 3)
        v = w[0:1]; v.add_(1)
        v = w.view(2, 1); v.mul_(3)
        v = w.numpy(); v[0] = 7
        w.copy_(torch.zeros(2))
        w.fill_(3)
        w[0] = 3
        w.clamp_(0, 1)
        torch.add(w, 1, out=w)
        w += 1
        v = w.detach(); v -= 1
        v = w.float(); v -= 1
        v = w.to("cpu"); v -= 1
        torch.nn.functional.threshold_(w, 2, 9)
        w.set_(torch.zeros(2))
        w.resize_(2).zero_()
        torch._foreach_add_([w], 1)
        torch.nn.utils.vector_to_parameters(torch.zeros(2), [w])
        w.cumsum_(0)
        w.addmv_(torch.ones(2, 2), torch.ones(2))
        v = w.view(1, 2); v.addmm_(torch.ones(1, 2), torch.ones(2, 2))
        v = w.view(1, 2); v.addr_(torch.ones(1), torch.ones(2))
        v = w.view(1, 1, 2); v.baddbmm_(torch.ones(1, 1, 2), torch.ones(1, 2, 2))
        v = w.view(1, 2); v.addbmm_(torch.ones(1, 1, 2), torch.ones(1, 2, 2))
        v = w.view(1, 2); v.fill_diagonal_(9)
        v = w.view(2, 1); v.squeeze_(1).mul_(3)
        v = w.view(1, 2); v.t_().mul_(3)
        w.addcmul_(torch.ones(2), torch.ones(2))
        w.lerp_(torch.zeros(2), 0.5)
        w.masked_fill_(w > 0, 9)
        w.index_fill_(0, torch.tensor([0]), 9)
        w.scatter_(0, torch.tensor([0]), 9)
        w.put_(torch.tensor([0]), torch.tensor([9.0]))
        w.bernoulli_()
        w.share_memory_()
        w.requires_grad_(); torch.optim.SGD([w], lr=1).zero_grad(); w.sum().backward(); torch.optim.SGD([w], lr=1).step()
        torch.distributed.all_reduce(w)
        unknown(w)
        unknown([w])
        unknown((1, w))
    """,
    "numpy": """
        w[:] = 3
        v = w.view(); v += 1
        v = w[::-1]; v += 1
        v = w.reshape(2, 1); v += 1
        v = w.T; v += 1
        v = w.ravel(); v += 1
        numpy.copyto(w, numpy.zeros(2))
        w.fill(3)
        w[::-1].sort()
        numpy.random.shuffle(w)
        random.shuffle(w)
        numpy.add(w, 1, out=w)
        w.put([0], [9])
        numpy.put(w, [0], [9])
        numpy.nan_to_num(w, copy=False)
        w.flat[0] = 7
        numpy.random.default_rng().shuffle(w)
        numpy.random.default_rng().random(out=w)
        numpy.put_along_axis(w, numpy.array([0]), 5, 0)
        numpy.place(w, w > 2, 5)
        numpy.putmask(w, w > 2, 5)
        numpy.add.at(w, [0], 5)
        numpy.fill_diagonal(w.reshape(1, 2), 5)
        unknown(w)
        unknown([w])
        unknown((1, w))
    """,
}
MADE_FIRST = {"torch": "w = torch.tensor([1.5, 2.5])", "numpy": "w = numpy.array([1.5, 2.5])"}


@pytest.mark.parametrize(
    ("library", "lines"),
    [(library, line.strip()) for library, text in WRITTEN.items() for line in text.splitlines() if line.strip()],
)
def test_what_was_written_into_is_not_known(library: str, lines: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    head = f"import random\nimport {library}\nfrom elsewhere import unknown\n{MADE_FIRST[library]}\n"
    text = f"{head}reveal_shape(int(w[0]))\n{lines}\nreveal_shape(int(w[0]))\nreveal_shape(int(w.min()))\n"
    project = Project(str(tmp_path), overlay={str(path): text.encode()})
    before, *after = check_file(project.open(str(path)), project).revealed
    assert known(before.text) == 1
    assert [each.text for each in after if known(each.text) is not None] == []
