"""What the probe of each process wrote, read back."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT = 256 << 20
TRACES = ("_dump_fr_trace_json", "_dump_nccl_trace_json")


@dataclass(frozen=True)
class Weight:
    """A weight as one process held it."""

    name: str
    shape: tuple[int, ...]
    sha: str
    norm: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class Collective:
    """A collective operation as one process began it."""

    kind: str
    name: str
    shape: tuple[int | None, ...] | None
    dtype: str

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else ", ".join("?" if size is None else str(size) for size in self.shape)
        return " ".join(filter(None, (self.kind, self.name, f"[{sizes}]", self.dtype)))


@dataclass
class Record:
    """The notes of one process.

    `weights`, `losses` and `batches` are by the number of steps made before; a batch is the hashes of its samples. `parts` are
    those of each of its arrays alone, such as inputs without labels, by where the batch was seen.
    """

    rank: int
    pid: int = 0
    steps: int = 0
    ending: str = ""
    text: str = ""
    where: str = ""
    collectives: list[Collective] = field(default_factory=list)
    ordered: list[Collective] = field(default_factory=list)
    weights: dict[int, tuple[Weight, ...]] = field(default_factory=dict)
    losses: dict[int, list[float]] = field(default_factory=dict)
    batches: dict[int, list[tuple[str, int, tuple[str, ...]]]] = field(default_factory=dict)
    parts: dict[tuple[int, str], list[list[str]]] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    stacks: str = ""

    def samples(self, step: int) -> int:
        """How many samples the step after `step` steps was made from, as far as it was seen."""
        return sum(count for _, count, _ in self.read(step))

    def rows(self, step: int) -> Counter[str]:
        """The samples themselves."""
        return Counter(row for _, _, rows in self.read(step) for row in rows)

    def taken(self, step: int) -> Counter[str]:
        """Of the samples that were read, those that the model was called on, where it was called on nothing else."""
        whole = [row for source, _, rows in self.batches.get(step, []) if source == "input" for row in rows]
        parts = (part for source in ("loader", "feed") for part in self.parts.get((step, source), ()))
        read = self.rows(step) + Counter(row for part in parts for row in part)
        alone = self.parts.get((step, "input"), ())
        found = (Counter(rows) for rows in (whole, *alone))
        return next((rows for rows in found if rows and rows <= read), Counter())

    def order(self, step: int) -> list[str]:
        """The samples in the order in which they were read."""
        return [row for _, _, rows in self.read(step) for row in rows]

    def read(self, step: int) -> list[tuple[str, int, tuple[str, ...]]]:
        """The batches of a step: as a loader gave them, or else as the model was called on them."""
        sources = {source for found in self.batches.values() for source, _, _ in found}
        best = next((source for source in ("loader", "feed", "input") if source in sources), "")
        return [batch for batch in self.batches.get(step, []) if batch[0] == best]


def read(folder: Path, rank: int) -> Record:
    """The record of `rank`; an empty one where the process never started."""
    record = Record(rank)
    path = folder / f"rank{rank}.jsonl"
    if path.is_file() and path.stat().st_size <= LIMIT:
        for line in path.read_text("utf-8", "replace").splitlines():
            try:
                _take(record, json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                record.trouble.append(f"unreadable note: {error}")
    try:
        record.ordered = [entry for name in TRACES for entry in _flight(folder / f"rank{rank}.{name}")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        record.trouble.append(f"unreadable flight record: {error}")
    stacks = folder / f"rank{rank}.stacks"
    record.stacks = stacks.read_text("utf-8", "replace")[:20000] if stacks.is_file() else ""
    return record


def _take(record: Record, note: dict[str, Any]) -> None:
    step = int(note["step"])
    match note["event"]:
        case "start":
            record.pid = int(note["pid"])
        case "collective":
            shape = note["shape"]
            sizes = None if shape is None else tuple(shape)
            record.collectives.append(Collective(note["kind"], note["name"], sizes, note["dtype"]))
        case "loss":
            record.losses.setdefault(step, []).append(float(note["value"]))
        case "batch":
            record.batches.setdefault(step, []).append((note["source"], int(note["samples"]), tuple(note["rows"])))
            record.parts.setdefault((step, note["source"]), []).extend(note.get("parts", ()))
        case "stepped":
            record.steps = step
            record.times.append(float(note["time"]))
        case "weights":
            record.weights[step] = tuple(map(_weight, note["variables"]))
        case "apart":
            record.apart.append(note["what"])
        case "loaded" if note["trouble"]:
            record.trouble.append(note["trouble"])
        case "trouble":
            record.trouble.append(note["text"])
        case "end":
            record.ending = note["reason"]
            record.text = note.get("text", "")
            record.where = note.get("where", "")


def _weight(entry: dict[str, Any]) -> Weight:
    return Weight(entry["name"], tuple(entry["shape"]), entry["sha"], float(entry["norm"]), tuple(entry["values"]))


def _flight(path: Path) -> list[Collective]:
    """The operations of torch's flight recorder, in order, without messages between two processes."""
    if not path.is_file():
        return []
    entries = json.loads(path.read_text("utf-8", "replace")).get("entries", [])
    return [_operation(entry) for entry in entries if not entry.get("is_p2p")]


def _operation(entry: dict[str, Any]) -> Collective:
    sizes, types = entry.get("input_sizes") or [], entry.get("input_dtypes") or []
    kind = str(entry.get("profiling_name", "")).split(":")[-1]
    shape = tuple(int(size) for size in sizes[0]) if sizes else ()
    return Collective(kind, "", shape, types[0] if types else "")
