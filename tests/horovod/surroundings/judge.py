"""Compares what two runs left behind, with the libraries that wrote it: `python judge.py QUESTIONS ANSWERS`.

A question has the folders of the two runs, those of their notes, and names of files that only have to be there; an answer is
a list of what differs.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SERVED = re.compile(r"(output|errors|ending|writing|stack)\.|port$|.*\.py$|__pycache__|data\.npz$")
TIME = re.compile(r"(?<![\d.])(?:20\d\d(?:\d{4}|-\d\d-\d\d)[-_T]\d\d:?-?\d\d:?-?\d\d|1\d{9})(?![\d.])")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d+(?:e[-+]?\d+)?|\d+|nan|inf)(?![\w])")
SECONDS = re.compile(r"\d+(\.\d+)? ?(s|ms|us)\b(/\w+)?")
UNDERWAY = re.compile(r"^\s*\d+/(\d+|Unknown).* ETA")
PASSED = re.compile(r"second|enqueue_input|^loss(_\d)?$")
"""Events that estimators write of single steps, of times and of queues."""
EVENTS = re.compile(r"events\.out\.tfevents\.\S+")


def plain(text: str) -> str:
    """A text without what differs from run to run."""
    return EVENTS.sub("EVENTS", SECONDS.sub("TIME", TIME.sub("DATE", text)))


def differing(one: str, other: str) -> str | None:
    """How a line differs from another: in its words, or in a number by more than how it is rounded."""
    one, other = plain(one).strip(), plain(other).strip()
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return f"{one!r} became {other!r}"
    for a, b in zip(NUMBER.findall(one), NUMBER.findall(other)):
        digits = len(a.partition(".")[2]) if "e" not in a else 9
        if not same(float(a), float(b), 1.5 * 10.0**-digits if "." in a else 0.0):
            return f"{one!r} became {other!r}"
    return None


def same(a: float, b: float, least: float = 1e-5) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= max(least, 2e-3 * abs(a))


def lines_differing(one: list[str], other: list[str]) -> Iterator[str]:
    """What two texts say that differs. Of lines that begin with blanks, which tell of steps, there only have to be some."""
    steps = [any(each.startswith("  ") for each in lines) for lines in (one, other)]
    if steps[0] != steps[1]:
        yield f"steps told: {steps[0]} became {steps[1]}"
    one, other = (
        [each for each in lines if each.strip() and not UNDERWAY.search(each) and not each.startswith("  ")]
        for lines in (one, other)
    )
    for a, b in zip(one, other):
        if how := differing(a, b):
            yield how
            return
    if len(one) != len(other):
        rest = (one if len(one) > len(other) else other)[min(len(one), len(other))]
        yield f"{len(one)} lines became {len(other)}: {plain(rest)!r}"


def arrays_differing(one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    if one.keys() != other.keys():
        yield f"other arrays: {sorted(one.keys() ^ other.keys())[:4]}"
    for name in one.keys() & other.keys():
        a, b = np.asarray(one[name]), np.asarray(other[name])
        if a.shape != b.shape:
            yield f"{name} has the shape {b.shape} for {a.shape}"
        elif a.dtype.kind in "fiu" and not np.allclose(a, b, rtol=5e-3, atol=1e-4):
            yield f"{name} differs by {np.max(np.abs(a.astype(float) - b.astype(float))):.3g}"


def checkpoint(path: Path) -> dict[str, Any]:
    """The variables of a checkpoint, without what counts saves and steps."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(path).removesuffix(".index"))
    names = reader.get_variable_to_shape_map()
    passed = re.compile(
        r"_CHECKPOINTABLE|save_counter|learning_rate|iteration|/iter/|(^|/)step/|beta_power|global_step"
    )
    return {name: reader.get_tensor(name) for name in names if not passed.search(name)}


def hdf5(path: Path) -> dict[str, Any]:
    import h5py

    found: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, each: found.update({name: each[()]}) if hasattr(each, "shape") else None)
    return {
        name.partition("/")[2] or name: each
        for name, each in found.items()
        if "iter" not in name and "optimizer" not in name
    }


def events(path: Path) -> dict[str, Any]:
    import tensorflow as tf

    found: dict[str, Any] = {}
    for event in tf.compat.v1.train.summary_iterator(str(path)):
        for value in event.summary.value:
            number = value.simple_value if value.HasField("simple_value") else None
            if number is None and value.HasField("tensor") and value.tensor.dtype == 1:
                number = tf.make_ndarray(value.tensor)
            if number is not None and not PASSED.search(value.tag):
                found[f"{value.tag} at {event.step}, {sum(each.startswith(value.tag) for each in found)}"] = number
    return found


def numpy_arrays(path: Path) -> dict[str, Any]:
    loaded = np.load(path)
    return dict(loaded) if hasattr(loaded, "keys") else {"array": loaded}


def numbers(value: Any, at: str = "value") -> dict[str, Any]:
    """The numbers of something pickled."""
    if isinstance(value, dict):
        return {k: v for key, each in value.items() for k, v in numbers(each, f"{at}.{key}").items()}
    if isinstance(value, list | tuple):
        return {k: v for n, each in enumerate(value) for k, v in numbers(each, f"{at}.{n}").items()}
    return {at: np.asarray(value) if isinstance(value, int | float | np.number | np.ndarray) else np.zeros(0)}


READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    ".index": checkpoint,
    ".h5": hdf5,
    ".hdf5": hdf5,
    ".npy": numpy_arrays,
    ".npz": numpy_arrays,
    ".pkl": lambda path: numbers(pickle.loads(path.read_bytes())),
    ".json": lambda path: numbers(json.loads(path.read_text())),
}
TEXTS = (".csv", ".txt", ".log", ".png", "words", "checkpoint_state")


def files(folder: Path) -> dict[str, Path]:
    """What a program left, by names without dates."""
    found = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    named = {plain(str(each.relative_to(folder))): each for each in found if not SERVED.match(each.name)}
    return {re.sub(r"EVENTS.*", "EVENTS", name): each for name, each in named.items() if "__pycache__" not in name}


def content(name: str, one: Path, other: Path, loose: list[str]) -> Iterator[str]:
    """How the contents of a file differ."""
    if Path(name).name in loose:
        if not other.read_text().strip():
            yield "is empty"
    elif name.endswith("EVENTS"):
        yield from arrays_differing(events(one), events(other))
    elif one.suffix in READERS:
        yield from arrays_differing(READERS[one.suffix](one), READERS[one.suffix](other))
    elif name.endswith(TEXTS):
        yield from lines_differing(one.read_text().splitlines(), other.read_text().splitlines())


def judged(question: dict[str, Any]) -> list[str]:
    one, other, notes = Path(question["alone"]), Path(question["ranks"]), Path(question["notes"])
    found = []
    mine, theirs = files(one), files(other)
    gone, new = sorted(mine.keys() - theirs.keys()), sorted(theirs.keys() - mine.keys())
    found += [f"file: {gone[:4]} missing, {new[:4]} more"] if gone or new else []
    for name in sorted(mine.keys() & theirs.keys()):
        try:
            found += [f"file {name}: {each}" for each in content(name, mine[name], theirs[name], question["loose"])]
        except Exception as error:
            found.append(f"file {name}: cannot be read: {error!r}"[:300])
    dates = [{*TIME.findall(" ".join(map(str, folder.rglob("*"))))} for folder in (one, other)]
    if len(dates[1]) > len(dates[0]):
        found.append(f"file: {len(dates[1])} dates in names for {len(dates[0])}")
    ranks = [weights(notes / f"weights.{rank}.npz") for rank in (0, 1)]
    found += [f"weights of rank 1: {each}" for each in arrays_differing(*ranks)]
    alone = weights(Path(question["alone_notes"]) / "weights.0.npz")
    found += [f"weights: {each}" for each in arrays_differing(alone, ranks[0])]
    return found


def weights(path: Path) -> dict[str, Any]:
    return dict(np.load(path)) if path.is_file() else {}


def main() -> None:
    questions = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps([judged(each) for each in questions]))


if __name__ == "__main__":
    main()
