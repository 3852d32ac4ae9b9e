"""A loop over what wraps an iterable is a loop over the iterable, however it is wrapped and walked."""

from __future__ import annotations

from functools import cache

import pytest

from interp.programs import errors_of, revealed

WRAPPERS = [
    ("from tqdm import tqdm", "tqdm(WHAT)"),
    ("from tqdm import tqdm as bar", "bar(WHAT, desc='epoch', total=4, leave=False)"),
    ("import tqdm", "tqdm.tqdm(iterable=WHAT)"),
    ("from tqdm.auto import tqdm", "tqdm(iterable=WHAT, desc='epoch')"),
    ("from tqdm.notebook import tqdm_notebook", "tqdm_notebook(WHAT, 'epoch')"),
    ("from rich.progress import track", "track(WHAT, description='epoch')"),
    ("from rich import progress", "progress.track(sequence=WHAT)"),
    ("from fastprogress import progress_bar", "progress_bar(WHAT, parent=None)"),
    ("from fastprogress.fastprogress import master_bar", "master_bar(WHAT)"),
    ("import progressbar", "progressbar.progressbar(WHAT, max_value=4)"),
    ("from alive_progress import alive_it", "alive_it(WHAT)"),
]
ITERABLES = [
    "loader",
    "[(torch.zeros(2, 3), 1), (torch.zeros(2, 3), 2)]",
    "enumerate(loader)",
    "zip(torch.zeros(4, 2), torch.zeros(4, 3))",
    "pairs()",
    "given",
    "range(unknown)",
]
WALKS = """
for each in WRAPPED:
    reveal_shape(each)
whole = WRAPPED
for each in whole:
    reveal_shape(each)
for number, each in enumerate(WRAPPED):
    reveal_shape(number)
    reveal_shape(each)
reveal_shape([each for each in WRAPPED])
for (first, second) in zip(WRAPPED, WRAPPED):
    reveal_shape(first)
"""
PROGRAM = """import torch
from torch.utils.data import DataLoader, TensorDataset
from somewhere import given, unknown
IMPORT
def pairs():
    for n in range(3):
        yield torch.zeros(n + 1, 5), n
loader = DataLoader(TensorDataset(torch.zeros(64, 5), torch.zeros(64)), batch_size=16)
WALK
"""


@cache
def _shown(imported: str, wrapped: str) -> list[str]:
    return revealed(PROGRAM.replace("IMPORT", imported).replace("WALK", WALKS.replace("WRAPPED", wrapped)))


@pytest.mark.parametrize("iterable", ITERABLES)
@pytest.mark.parametrize(("imported", "wrapper"), WRAPPERS)
def test_what_wraps_an_iterable_hands_its_items_on(imported: str, wrapper: str, iterable: str) -> None:
    bare = _shown("", iterable)
    assert len(bare) == 6
    assert _shown(imported, wrapper.replace("WHAT", iterable)) == bare


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "with tqdm(loader) as bar:\n    for x, y in bar:\n        bar.set_postfix(loss=1)\n        reveal_shape(x)",
            ["Tensor[16, 5]"],
        ),
        ("for n in trange(3, desc='epoch'):\n    pass\nreveal_shape(torch.zeros(n + 4))", ["Tensor[6]"]),
        (
            "bar = tqdm(total=3)\nbar.update(2)\nbar.close()\nfor x, _ in loader:\n    reveal_shape(x)",
            ["Tensor[16, 5]"],
        ),
        # What the program makes of a bar, or of a function of that name, is its own.
        (
            "class Own(tqdm):\n    def __iter__(self):\n        return iter([1])\nfor n in Own(loader):\n    reveal_shape(n)",
            ["1"],
        ),
        ("def tqdm(x):\n    return [2]\nfor n in tqdm(loader):\n    reveal_shape(n)", ["2"]),
        ("import tqdm as t\nt.tqdm = unknown\nfor n in t.tqdm(loader):\n    reveal_shape(n)", ["unknown"]),
        ("for n in tqdm(unknown):\n    reveal_shape(n)", ["unknown"]),
        ("for n in tqdm():\n    reveal_shape(n)", ["unknown"]),
        ("for n in tqdm(*unknown):\n    reveal_shape(n)", ["unknown"]),
    ],
)
def test_a_bar_is_no_more_than_its_iterable(lines: str, expected: list[str]) -> None:
    text = PROGRAM.replace("IMPORT", "from tqdm import tqdm, trange").replace("WALK", lines)
    assert revealed(text) == expected
    assert errors_of(text) == []


def test_a_wrong_size_inside_the_loop_is_found() -> None:
    text = PROGRAM.replace("IMPORT", "from tqdm.auto import tqdm").replace(
        "WALK", "for x, y in tqdm(loader):\n    torch.nn.Linear(6, 1)(x)"
    )
    assert [finding.code for finding in errors_of(text)] == ["SHP401"]
