"""Writes down what happens in one process, one JSON object a line, each written at once: a killed process keeps them."""

from __future__ import annotations

import json
import mmap
import os
import time
from collections.abc import Callable
from typing import Any

from .digests import describe, rows
from .plan import Plan

SNAPSHOTS = 3
"""Weights are described before each of the first steps, after each power of two, and at the end."""
BATCHES = 64
"""Batches whose samples are hashed; later ones are only counted."""


class Stopped(BaseException):
    """Enough steps were seen: ends the script, past its `except Exception`."""


class Source:
    """How weights are read and set in one framework: lists in a fixed order."""

    def settled(self) -> bool:
        """Whether weights that were set stay so until the next step: in a session, an initializer may still run."""
        return True

    def read(self) -> list[Any] | None:
        """Name and array of each weight, or None where they cannot be read now."""
        raise NotImplementedError

    def save(self, path: str) -> None:
        """Write the weights, and what the optimizer holds, to `path`."""
        raise NotImplementedError

    def load(self, path: str) -> str:
        """Set the weights from `path`; what did not fit, or nothing."""
        raise NotImplementedError


class Recorder:
    """The notes of one process."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.steps = 0
        self.batches = 0
        self.told: set[str] = set()
        self.suppressed = 0
        self.source: Source | None = None
        self.at_end: list[Callable[[], None]] = []
        self._pid = os.getpid()
        self._waiting = _shared_byte(plan.file("waiting"))
        self._file = os.open(plan.file("jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def note(self, event: str, **fields: Any) -> None:
        """Write one event; a worker process that inherited the recorder writes nothing."""
        if os.getpid() == self._pid:
            line = json.dumps({"event": event, "time": time.monotonic(), "step": self.steps} | fields, default=str)
            os.write(self._file, (line + "\n").encode("utf-8", "backslashreplace"))

    def begun(self) -> None:
        """Imports and preparations, which may take long in silence, are over."""
        if "begun" not in self.told:
            self.told.add("begun")
            open(self.plan.file("begun"), "w").close()

    def training(self) -> bool:
        """Whether a batch was read, or a collective begun."""
        return "begun" in self.told

    def collective(self, kind: str, name: str, shape: Any, dtype: Any) -> None:
        """A collective operation that this process begins."""
        self.begun()
        self.note("collective", kind=kind, name=name, shape=shape, dtype=str(dtype))

    def waits(self, yes: bool) -> None:
        """Whether this process waits for others; seen from outside at once, and without the interpreter's lock."""
        self._waiting[0] = yes

    def loss(self, value: float) -> None:
        """A value whose gradient was taken."""
        self.note("loss", value=value)

    def batch(self, source: str, arrays: list[Any], step: int | None = None) -> None:
        """A batch that was read (`loader`, `feed`) or that a model was called on (`input`), for the step after `step` steps."""
        self.begun()
        self.batches += 1
        hashes = rows(arrays) if self.batches <= BATCHES else []
        samples = len(arrays[0]) if arrays and getattr(arrays[0], "shape", None) else 0
        parts = [rows([each]) for each in arrays] if hashes and len(arrays) > 1 else []
        at = {} if step is None else {"step": step}
        self.note("batch", source=source, samples=samples, rows=hashes, parts=parts, **at)

    def apart(self, what: str) -> None:
        """The model holds `what`, which each process computes from its own share of a batch."""
        if what not in self.told:
            self.told.add(what)
            self.note("apart", what=what)

    def stepped(self) -> None:
        """An optimizer has changed the weights."""
        if not self.suppressed:
            self.steps += 1
            self.note("stepped")

    def enough(self) -> bool:
        """Whether the script has made as many steps as were asked for."""
        return bool(self.plan.steps) and self.steps >= self.plan.steps

    def due(self) -> bool:
        """Whether the weights are to be described after this number of steps."""
        return self.steps < SNAPSHOTS or self.steps & (self.steps - 1) == 0

    def boundary(self) -> None:
        """Between two steps: look at the weights, start from given ones, or end the script."""
        if self.suppressed:
            return
        self.suppressed += 1  # what is done here makes no boundaries of its own
        try:
            self._load()
            if self.due() or self.enough():
                self.weights()
        finally:
            self.suppressed -= 1
        if self.enough():
            raise Stopped

    def weights(self) -> None:
        """Describe the weights as they are now; the last description of a step counts."""
        found = self.source.read() if self.source else None
        if not found:
            return
        self.note("weights", variables=[describe(name, value) for name, value in found])
        if self.plan.rank == 0 and self.steps < SNAPSHOTS and self.source and not self.plan.load:
            self.source.save(self.plan.file(f"weights{self.steps}"))

    def _load(self) -> None:
        if self.plan.load and self.steps == self.plan.load_step and self.source:
            if self.source.settled():
                if "loaded" in self.told:
                    return
                self.told.add("loaded")
            trouble = self.source.load(self.plan.load)
            self.note("loaded", trouble=trouble)

    def finish(self, reason: str, **fields: Any) -> None:
        """The last words."""
        last = [self.weights] if reason == "finished" else []
        for callback in [*last, *self.at_end]:
            try:
                callback()
            except Exception as error:
                self.note("trouble", text=repr(error))
        self.note("end", reason=reason, **fields)
        self.waits(True)


def _shared_byte(path: str) -> mmap.mmap:
    with open(path, "w+b") as file:
        file.write(b"\0")
        file.flush()
        return mmap.mmap(file.fileno(), 1)


def fields_of(value: Any) -> dict[str, Any]:
    """Shape and element type of a tensor of any framework, as JSON can hold them."""
    shape = getattr(value, "shape", None)
    dims = [] if shape is None else _dims(shape)
    dtype = getattr(value, "dtype", "")
    return {"shape": dims, "dtype": str(getattr(dtype, "name", dtype)).replace("torch.", "")}


def _dims(shape: Any) -> Any:
    try:
        return [None if size is None else int(size) for size in shape]
    except (TypeError, ValueError):
        return None
