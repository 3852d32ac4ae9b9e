"""Runs the programs of benchmarks/pairs for real and holds what their README promises: each bad one raises at its marked
line (or, for a warning, ends with another result), each good one ends normally. NumPy's and torch's run here, TensorFlow's
all in one process of the environment that `.ci/horovod` makes, JAX's in one of that which `.ci/jax` makes."""

import ast
import contextlib
import difflib
import io
import json
import re
import runpy
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from smoke.environments import horovod_python, jax_python

PAIRS = Path(__file__).parents[1] / "benchmarks" / "pairs"
FOLDERS = sorted(path.parent for path in PAIRS.glob("*/bad.py"))
HERE = ("einops", "numpy", "torch")
ELSEWHERE = {"tensorflow": lambda: horovod_python("tensorflow"), "jax": jax_python}
"""Libraries that take seconds to load, and the Python that has them."""
LIBRARIES = (*HERE, *ELSEWHERE, "flax")
EXPECTED = {
    "RuntimeError",
    "ValueError",
    "IndexError",
    "AssertionError",
    "TypeError",
    "InvalidArgumentError",
    "FlaxError",
}
APART = """
import contextlib, io, json, os, runpy, sys, traceback
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", JAX_PLATFORMS="cpu")
endings = {}
for path in sys.argv[1:]:
    raised, frames, printed = (), (), io.StringIO()
    sys.path.insert(0, os.path.dirname(path))
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(path, run_name="__main__")
    except Exception as error:
        raised = [each.__name__ for each in type(error).__mro__]
        frames = [(each.filename, each.lineno or 0) for each in traceback.extract_tb(error.__traceback__)]
    sys.path.remove(os.path.dirname(path))
    sys.modules.pop("layers", None)
    endings[path] = (printed.getvalue(), raised, frames)
print(json.dumps(endings))
"""


@dataclass(frozen=True)
class Ending:
    """How a program ended: what it printed, the classes of the exception that stopped it, if one did, and its lines."""

    printed: str
    raised: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()

    def frames(self, folder: Path) -> list[tuple[str, int]]:
        """The file names and lines of the traceback that lie in `folder`, outermost first."""
        return [(Path(file).name, line) for file, line in self.lines if Path(file).parent == folder]


def marked(path: Path, word: str) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if re.search(rf"  # {word}: \S", line)]


def birth(folder: Path) -> tuple[str, int]:
    """Where the exception of a bad program is born: its marked line, or the line that `layers.py` names."""
    helper = folder / "layers.py"
    lines = marked(helper, "raises") if helper.exists() else []
    return ("layers.py", lines[0]) if lines else ("bad.py", marked(folder / "bad.py", "bug")[0])


def libraries(folder: Path) -> tuple[str, ...]:
    """The libraries that the programs of a folder import, read from their source."""
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {name.split(".")[0] for name in names}
    return tuple(name for name in LIBRARIES if name in found)


def every_pair() -> list[object]:
    return [pytest.param(folder, id=folder.name, marks=pytest.mark.requires(*here(folder))) for folder in FOLDERS]


def here(folder: Path) -> list[str]:
    """What has to be installed here for a folder."""
    return [name for name in libraries(folder) if name in HERE]


def elsewhere(folder: Path) -> str | None:
    """Which environment of its own the programs of a folder need."""
    return next((library for library in ELSEWHERE if library in {*libraries(folder), *_under(folder)}), None)


def _under(folder: Path) -> set[str]:
    """Flax is a library over JAX."""
    return {"jax"} if "flax" in libraries(folder) else set()


@cache
def apart(library: str) -> dict[str, Ending]:
    """How all programs of a library end: it takes seconds to load."""
    paths = [str(folder / name) for folder in FOLDERS if elsewhere(folder) == library for name in ("bad.py", "good.py")]
    command = [ELSEWHERE[library](), "-W", "ignore", "-c", APART, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    ended = json.loads(done.stdout.splitlines()[-1])
    return {
        path: Ending(printed, tuple(raised), tuple((file, line) for file, line in lines))
        for path, (printed, raised, lines) in ended.items()
    }


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keeps a program's use of torch to one thread, and its seeds to itself."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def run(path: Path, monkeypatch: pytest.MonkeyPatch) -> Ending:
    """Runs one program as a script would be run from its folder, without arguments."""
    library = elsewhere(path.parent)
    if library is not None:
        return apart(library)[str(path)]
    if "torch" in libraries(path.parent):
        __import__("torch")
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.delitem(sys.modules, "layers", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    printed = io.StringIO()
    raised: BaseException | None = None
    with one_thread(), warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            runpy.run_path(str(path), run_name="__main__")
        except (Exception, SystemExit) as error:
            raised = error
    sys.modules.pop("layers", None)
    if raised is None:
        return Ending(printed.getvalue())
    classes = tuple(each.__name__ for each in type(raised).__mro__)
    entries = traceback.extract_tb(raised.__traceback__)
    return Ending(printed.getvalue(), classes, tuple((each.filename, each.lineno or 0) for each in entries))


@pytest.mark.parametrize("folder", every_pair())
def test_bad_raises_at_its_mark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = run(folder / "bad.py", monkeypatch)
    if marked(folder / "bad.py", "warning"):
        assert not ending.raised
        assert ending.printed != run(folder / "good.py", monkeypatch).printed
        return
    assert EXPECTED & {*ending.raised}, f"{folder.name}: {ending.raised}"
    frames = ending.frames(folder)
    assert [line for name, line in frames if name == "bad.py"][-1:] == marked(folder / "bad.py", "bug")
    assert frames[-1] == birth(folder)


@pytest.mark.parametrize("folder", every_pair())
def test_good_ends_normally(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = run(folder / "good.py", monkeypatch)
    assert not ending.raised, f"{folder.name}: {ending.raised}"
    assert ending.printed


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_twins_differ_by_the_repair_alone(folder: Path) -> None:
    bad, good = folder / "bad.py", folder / "good.py"
    assert len(marked(bad, "bug") + marked(bad, "warning")) == 1
    assert not marked(good, "bug") + marked(good, "warning")
    unmarked = re.sub(r"  # (bug|warning): .*", "", bad.read_text(encoding="utf-8")).splitlines()
    repaired = good.read_text(encoding="utf-8").splitlines()
    changed = [line for line in difflib.ndiff(unmarked, repaired) if line[0] in "+-"]
    assert 0 < len(changed) <= 10, "\n".join(changed)


def test_readme_lists_every_pair() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (PAIRS / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(rows) == [folder.name for folder in FOLDERS]
    assert len(rows) >= 44
