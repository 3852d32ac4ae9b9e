"""SHP308: where one value is needed of an array, beside what the libraries do."""

from __future__ import annotations

import pytest

from interp.programs import errors_of
from ops.one_value import FORMATS, FORMS, HEAD, ITEMS, MAKERS, NUMBERS, SHAPES, TRUTHS, really
from ops.raising import failing

SEVERAL = ("(3,)", "(2, 3)")
CERTAIN = {
    **dict.fromkeys(TRUTHS, SEVERAL),
    **dict.fromkeys(NUMBERS, (*SEVERAL, "(0,)")),
    **dict.fromkeys(FORMATS, tuple(shape for shape in SHAPES if shape != "()")),
    **dict.fromkeys(ITEMS, ("()",)),
}
"""The shapes with which a form fails whatever the version of the library."""


def found(library: str) -> dict[tuple[str, str], str]:
    """What distml says of each form with each shape."""
    imported, maker = MAKERS[library]
    cases = [(form, shape) for form in FORMS for shape in SHAPES]
    lines = [f"x = {maker.format(shape)}\n_ = {form}" for form, shape in cases]
    program = f"{HEAD}\n{imported}\n" + "\n".join(lines)
    first = program.partition("\nx = ")[0].count("\n") + 2
    return {cases[(error.span.line - first) // 2]: error.code for error in errors_of(program)}


@pytest.mark.requires("numpy", "torch")
@pytest.mark.parametrize("library", sorted(MAKERS))
def test_what_fails_is_found_and_nothing_else(library: str) -> None:
    fails, told = failing("one_value", library, really), found(library)
    assert sorted(told.keys() - fails) == []
    certain = {(form, shape) for form, shapes in CERTAIN.items() for shape in shapes}
    assert sorted((fails & certain) - told.keys()) == []
    assert len(fails & certain) > 0.9 * len(certain)
    assert set(told.values()) == {"SHP308", "SHP301", "SHP309"}


QUIET = """
import numpy as np
import torch


def of_unknown(x, y):
    if x > 0 and y:
        return float(x)
    return f"{x:.3f}" if (x == y) else [i for i in x]


def of_unknown_sizes(x: torch.Tensor, n):
    scores = torch.zeros(n)
    if scores:
        return float(scores), f"{x:.2f}"
    if (np.ones(3) == x) or (np.ones((n, 2)) > 0):
        return max(scores, 0)
    return sorted([x.sum(), x.max()])


def of_annotated(n: int, m: float, s: float = 1.0):
    for a in np.asarray(n):
        print(a)
    for a in torch.as_tensor(m):
        print(a)
    first, second = np.asarray(n)
    print(len(np.sqrt(n)), len(np.exp(m) * 2), [q for q in np.clip(s, 0, 1)], list(np.maximum(s, 0.0)))
    return np.zeros(3)[m], n[0.5], m[:, 0]


class Scale:
    def __gt__(self, other):
        return True

    def __eq__(self, other):
        return False


def of_objects():
    if Scale() > np.ones(3) or np.ones(3) == Scale() or np.ones(3) is None or torch.ones(3) == None:
        return 1
    name, other = "ab"
    key, value = {"a": 1, "b": 2}
    first, *rest = map(str, (1, 2, 3))
    return (lambda a, b: a)(*zip((1, 2), (3, 4)))


try:
    bool(np.ones(3))
except ValueError:
    pass
of_objects()
for letter in np.array(["ab"])[0]:
    print(letter, f"{np.float64(1.5):.2f}", f"{np.ones(3).sum():.2f}", "%.2f" % np.ones((3, 4)).mean())
"""


def test_what_may_be_one_value_is_none() -> None:
    assert [str(error) for error in errors_of(QUIET)] == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("map(str, (1, 2, 3))", "an iterator of 3 items"),
        ("zip((1, 2, 3), (4, 5, 6))", "an iterator of 3 items"),
        ("enumerate([1, 2, 3])", "an iterator of 3 items"),
        ("(i for i in (1, 2, 3))", "an iterator of 3 items"),
        ("{'a': 1, 'b': 2, 'c': 3}", "a dict of 3 items"),
        ("{'a': 1, 'b': 2, 'c': 3}.items()", "a tuple of 3 items"),
        ("{1, 2, 3}", "a set of 3 items"),
        ("'abc'", "the text 'abc'"),
        ("range(3)", "a range of 3 items"),
        ("[1, 2, 3]", "a list of 3 items"),
        ("(1, 2, 3)", "a tuple of 3 items"),
        ("reversed([1, 2, 3])", "an iterator of 3 items"),
        ("torch.zeros(2, 9).chunk(3, dim=-1)", "a tuple of 3 items"),
        ("map(lambda t: t * 2, torch.zeros(2, 9).chunk(3, dim=-1))", "an iterator of 3 items"),
        ("three()", "an iterator of 3 items"),
    ],
)
def test_whatever_has_a_number_of_items_is_unpacked_into_as_many(given: str, says: str) -> None:
    head = "import torch\n\n\ndef three():\n    yield 1\n    yield 2\n    yield 3\n\n\n"
    errors = errors_of(f"{head}a, b = {given}")
    assert [error.code for error in errors] == ["SHP306"]
    assert says in errors[0].message
    assert errors_of(f"{head}a, b, c = {given}\n(d, *e) = {given}") == []


@pytest.mark.parametrize(
    "call",
    [
        "np.zeros('float32', (3, 3))",
        "np.random.normal(size='3')",
        "torch.zeros('cpu', 3)",
        "torch.nn.Linear('relu', 3)",
        "torch.nn.Conv2d(3, 'same', 3)",
        "torch.nn.Embedding(b'10', 3)",
        "keras.layers.Dense('gelu', 96)",
        "keras.layers.LSTM('tanh')",
        "jnp.zeros('relu', (3,))",
    ],
)
def test_a_text_is_no_size(call: str) -> None:
    head = "import numpy as np, torch, keras, jax.numpy as jnp\n"
    assert [error.code for error in errors_of(head + call)] == ["SHP603"]
    assert errors_of(f"{head}keras.layers.Dense('96')") == []
