"""Migrates torchvision's classification models, from source and by tracing, and runs them to see that the answers are true.

    python benchmarks/torchvision_models.py [--only resnet,vgg] [--no-rival] [--no-trace] [--no-verify]

Run it with a Python that has torch, torchvision and z3. Each annotation is verified on the meta device: models must take
inputs drawn from it, and must refuse what it forbids (another rank, other channels, each bound missed by one). The tool
that was published with "Gradual Tensor Shape Checking" (torch.fx.experimental.migrate_gradual_types) is run beside.
The tables go to standard output as Markdown, what does not agree to standard error.
"""

from __future__ import annotations

import inspect
import sys
import time
from argparse import ArgumentParser, Namespace
from typing import Any, NamedTuple
from unittest.mock import patch

import published
from instances import Instances

from distml.gradual.migrate import Migration, migrate
from distml.gradual.questions import Question, benches


class Answer(NamedTuple):
    """What one way of asking said about one model."""

    verdict: str
    seconds: float
    text: str = ""
    migration: Migration | None = None

    @property
    def migrates(self) -> bool:
        """Whether a static type was found for a batch of images."""
        return self.verdict == "static"


class Row(NamedTuple):
    """One model: what each way answered, and what running it showed."""

    name: str
    source: Answer
    trace: Answer | None
    rival: Answer | None
    allowed: int
    forbidden: int
    mismatches: tuple[str, ...]


def main() -> int:
    """Ask, verify, print; 1 where running a model contradicts its annotation."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="parts of the names of the models wanted, with commas between")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each answer of the published tool")
    parser.add_argument("--no-rival", action="store_true", help="do not run the published tool")
    parser.add_argument("--no-trace", action="store_true", help="do not trace")
    parser.add_argument("--no-verify", action="store_true", help="do not run the models")
    options = parser.parse_args()
    print("| model | from source | s | from trace | s | published tool | s | ran | refused |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = []
    for name in model_names(options.only):
        rows.append(row(name, options))
        print(line(rows[-1]), flush=True)
        for mismatch in rows[-1].mismatches:
            print(f"{name}: {mismatch}", file=sys.stderr, flush=True)
    print()
    for text in summary(rows):
        print(text)
    return 1 if any(r.mismatches for r in rows) else 0


def model_names(only: str) -> list[str]:
    """The classification models, or those whose names hold one of the parts."""
    import torchvision

    parts = [part for part in only.split(",") if part]
    names: list[str] = torchvision.models.list_models(module=torchvision.models)
    return [name for name in names if not parts or any(part in name for part in parts)]


def row(name: str, options: Namespace) -> Row:
    """Everything about one model."""
    source = from_source(name)
    trace = None if options.no_trace else from_trace(name)
    rival = None if options.no_rival else rivals_answer(name, options.limit)
    if options.no_verify or source.migration is None or not source.migrates:
        return Row(name, source, trace, rival, 0, 0, ())
    found = verified(name, source.migration)
    if trace is not None and not agree(source, trace):
        found[2].append(f"from trace: {trace.verdict} {trace.text}; from source: {source.text}")
    return Row(name, source, trace, rival, found[0], found[1], tuple(found[2]))


def agree(source: Answer, trace: Answer) -> bool:
    """Whether two answers are the same for a model in use; one from source tells what training asks for, too."""
    if source.migration is None or trace.migration is None:
        return False
    told = [
        (m.annotations, [c for c in m.constraints if "training" not in c]) for m in (source.migration, trace.migration)
    ]
    return source.verdict == trace.verdict and told[0] == told[1]


def builder_of(name: str) -> Any:
    """The function that builds a model."""
    import torchvision

    return inspect.unwrap(torchvision.models.get_model_builder(name))


def from_source(name: str) -> Answer:
    """What distml finds by reading the file of a model; the time includes reading and running its module."""
    builder = builder_of(name)
    return answered(lambda: benches(Question(f"{inspect.getsourcefile(builder)}::{builder.__name__}")))


def from_trace(name: str) -> Answer:
    """What distml finds by tracing a model; the time includes building it."""
    from distml.gradual.tracing import traced

    spec = f"torchvision.models:{builder_of(name).__name__}"
    return answered(lambda: traced(spec, Question(spec)))


def answered(ask: Any) -> Answer:
    """The answer of the one bench that `ask` makes, timed."""
    begun = time.perf_counter()
    try:
        found = migrate(next(iter(ask())))
    except Exception as error:
        return Answer(type(error).__name__, time.perf_counter() - begun, str(error))
    seconds = time.perf_counter() - begun
    where = " where " + ", ".join(found.constraints) if found.constraints else ""
    types = "; ".join(annotation.text for annotation in found.annotations.values())
    return Answer(found.verdict, seconds, types + where, found)


def rivals_answer(name: str, limit: float) -> Answer:
    """What the published tool says about a static type of four axes."""

    def ask(model: Any) -> str:
        return published.static(model, ranks={1: 4})

    found = published.limited(ask, on_meta(name), limit)
    return Answer(found.verdict, found.seconds)


def verified(name: str, migration: Migration) -> tuple[int, int, list[str]]:
    """How many inputs were taken, how many refused, and where the annotation says otherwise."""
    model = on_meta(name)
    instances = Instances(migration)
    mismatches = []
    allowed, forbidden = instances.allowed(), instances.forbidden()
    for shape in allowed:
        error = refusal(model, shape)
        if error is not None:
            mismatches.append(f"{list(shape)} is allowed and fails: {error}")
    for shape, why in forbidden:
        if refusal(model, shape) is None:
            mismatches.append(f"{list(shape)} is forbidden ({why}) and runs")
    return len(allowed), len(forbidden), mismatches


def on_meta(name: str) -> Any:
    """A model without numbers, as it is used after training."""
    import torch
    import torchvision

    builder = builder_of(name)
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    regnet = torchvision.models.regnet.BlockParams
    widths = regnet.from_init_params

    def computed(**given: Any) -> Any:
        with torch.device("cpu"):
            return widths(**given)

    # RegNet computes its widths with tensors, which must have numbers.
    with torch.device("meta"), patch.object(regnet, "from_init_params", computed):
        return builder(weights=None, **options).eval()


def refusal(model: Any, shape: tuple[int, ...]) -> str | None:
    """Why the model does not take an input of that shape; None where it does."""
    import torch

    try:
        with torch.no_grad():
            model(torch.empty(shape, device="meta"))
    except (RuntimeError, ValueError, AssertionError, IndexError, TypeError) as error:
        return str(error).partition("\n")[0]
    return None


def line(row: Row) -> str:
    """A row of the table."""
    cells = [row.name, row.source.text if row.source.migrates else row.source.verdict, f"{row.source.seconds:.2f}"]
    for answer in (row.trace, row.rival):
        cells += ["", ""] if answer is None else [answer.verdict, f"{answer.seconds:.2f}"]
    cells += [str(row.allowed), str(row.forbidden)]
    return "| " + " | ".join(cells) + " |"


def summary(rows: list[Row]) -> list[str]:
    """How many models each way migrates, in how many seconds."""
    lines = ["| | static migration | seconds in all |", "|---|---|---|"]
    ways = [
        ("from source", [r.source for r in rows]),
        ("from trace", [r.trace for r in rows if r.trace is not None]),
        ("published tool", [r.rival for r in rows if r.rival is not None]),
    ]
    for title, answers in ways:
        if answers:
            count, seconds = sum(a.migrates for a in answers), sum(a.seconds for a in answers)
            lines.append(f"| {title} | {count}/{len(answers)} | {seconds:.1f} |")
    taken, refused = sum(r.allowed for r in rows), sum(r.forbidden for r in rows)
    wrong = sum(len(r.mismatches) for r in rows)
    lines += ["", f"{taken} allowed inputs and {refused} forbidden ones were run; {wrong} answers did not agree."]
    return lines


if __name__ == "__main__":
    sys.exit(main())
