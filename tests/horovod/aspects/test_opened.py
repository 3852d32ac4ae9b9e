"""Whatever begins a file where it is called: rank 0 begins the one that was asked for, the others begin none that anybody sees.

The rewritten programs are run for each of two ranks, with libraries that only note what they are called with.
"""

from __future__ import annotations

import builtins
import os
from itertools import product
from pathlib import Path
from typing import Any, Self

import pytest
from horovod.aspects.test_outputs import HEAD, plan_of, rewritten

from distml.rewrites.horovod.aspects import opened, outputs

REAL = frozenset({"os", "tempfile", "pathlib"})
TENSORBOARD = ("torch.utils.tensorboard", "torch.utils.tensorboard.writer", "tensorboardX", "tensorboard")
MAKERS = [
    *((module, "SummaryWriter", given) for module in TENSORBOARD for given in ("{}", "log_dir={}", "{}, 'comment'")),
    ("tensorboardX", "SummaryWriter", "logdir={}"),
    ("tensorflow.summary", "create_file_writer", "{}"),
    ("tensorflow.summary", "create_file_writer", "logdir={}, max_queue=3"),
    ("tensorflow.compat.v2.summary", "create_file_writer", "{}"),
    ("tensorflow.compat.v1.summary", "FileWriter", "{}"),
    ("tensorflow.summary", "FileWriter", "{}, graph"),
    ("tensorflow.io.gfile", "GFile", "{}, 'w'"),
    ("tensorflow.io", "TFRecordWriter", "{}"),
    ("zipfile", "ZipFile", "{}, 'w'"),
    ("tarfile", "open", "{}, mode='w:gz'"),
    ("cv2", "VideoWriter", "{}, 0, 24.0, (8, 8)"),
    ("imageio", "get_writer", "{}, fps=3"),
    ("pandas", "ExcelWriter", "{}"),
    ("logging", "FileHandler", "{}, mode='w'"),
    ("gzip", "open", "{}, 'wt'"),
]
SPELLINGS = {
    "import {module}": "{module}.{name}",
    "import {module} as short": "short.{name}",
    "from {module} import {name}": "{name}",
    "from {module} import {name} as Made": "Made",
}
USES = [
    "made = {call}",
    "with {call} as made:\n    print(made)",
    "def begin(where):\n    return {asked}\nmade = begin('runs/one')",
    "class Log:\n    def __init__(self, where):\n        self.made = {asked}\nlog = Log('runs/one')",
    "made = {call} if wanted else None",
]


class Library:
    """Whatever is asked of it, and a note of each call."""

    def __init__(self, path: str, seen: list[tuple[str, str]], rank: int) -> None:
        self._path, self._seen, self._rank = path, seen, rank

    def __getattr__(self, name: str) -> Library:
        return Library(f"{self._path}.{name}", self._seen, self._rank)

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._path == "hvd.rank":
            return self._rank
        paths = [each for each in (*given, *named.values()) if isinstance(each, str | os.PathLike)]
        self._seen.append((self._path, str(paths[0]) if paths else ""))
        return Library(f"{self._path}()", self._seen, self._rank)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __bool__(self) -> bool:
        return True


def begun(text: str, rank: int) -> list[str]:
    """Where a program, run by a rank, has a library begin files."""
    seen: list[tuple[str, str]] = []

    def found(name: str, outer: Any = None, inner: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if name.partition(".")[0] in REAL:
            return builtins.__import__(name, outer, inner, wanted, level)
        return Library(name if wanted else name.partition(".")[0], seen, rank)

    known = {**vars(builtins), "__import__": found, "print": lambda *_: None}
    space = {
        "__builtins__": known,
        "hvd": Library("hvd", seen, rank),
        "wanted": True,
        "graph": None,
        "__name__": "script",
    }
    exec(compile(HEAD + text, "script", "exec"), space)  # the text is made here
    return [path for called, path in seen if not called.startswith("hvd") and "mkdtemp" not in called]


@pytest.mark.parametrize(
    ("maker", "spelling", "use"),
    [
        (maker, spelling, USES[number % len(USES)])
        for number, (maker, spelling) in enumerate(product(MAKERS, SPELLINGS))
    ],
)
def test_rank_zero_alone_begins_the_file(maker: tuple[str, str, str], spelling: str, use: str, folder: Path) -> None:
    module, name, given = maker
    called = SPELLINGS[spelling].format(module=module, name=name)
    asked = f"{called}({given.format('where')})"
    text = spelling.format(module=module, name=name) + "\n"
    text += use.format(call=f"{called}({given.format(repr('runs/one'))})", asked=asked) + "\n"
    plan = plan_of(text)
    outputs.on_rank_zero(plan)
    opened.apart(plan)
    after = rewritten(plan)
    assert begun(text, 0) == begun(after, 0) == ["runs/one"]
    assert not [path for path in begun(after, 1) if path == "runs/one" or Path(path).resolve().is_relative_to(folder)]


@pytest.mark.parametrize("module", TENSORBOARD)
def test_a_folder_that_the_library_chooses_is_chosen_by_rank_zero(module: str) -> None:
    text = f"from {module} import SummaryWriter as Made\nmade = Made(flush_secs=3)\n"
    plan = plan_of(text)
    opened.apart(plan)
    after = rewritten(plan)
    assert begun(after, 0) == begun(text, 0)
    assert begun(after, 1) != begun(text, 1)


def test_what_may_give_the_folder_is_left() -> None:
    plan = plan_of("from torch.utils.tensorboard import SummaryWriter\nmade = SummaryWriter(**settings)\n")
    opened.apart(plan)
    assert not plan.patches


def test_rank_zero_alone_begins_a_film_that_is_opened_later() -> None:
    plan = plan_of(
        "import cv2\nfilm = cv2.VideoWriter()\ndone = film.open('a.mov', 0, 4, (8, 8), True)\nfilm.write(picture)\n"
    )
    outputs.on_rank_zero(plan)
    opened.apart(plan)
    assert "film.open('a.mov' if hvd.rank() == 0 else " in rewritten(plan)
