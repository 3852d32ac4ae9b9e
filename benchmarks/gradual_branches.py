"""Branches on shapes in language models: how many a run meets, and how many are left that no constraint decides.

    python benchmarks/gradual_branches.py [--models Bert,XGLM] [--without source,export]

The tables of Gradual types (figures 9 and 10) on the release of transformers that is installed; run it with an
interpreter that has distml, torch and transformers. Models are built from their default configurations, on the meta
device. `met` are the branches and assertions about shapes that a run gets to, one for each line; a branch is left where
its answer is not the same for all inputs that get there. Every branch that is left is listed with its condition.
Encoder-decoder models (figure 10: Marian, M2M100, Blenderbot) take minutes and are measured on request. Beside that:
what the paper's tool leaves, the same question asked of the source, and whether torch.export keeps both sizes of the
input dynamic. The tables go to standard output as Markdown.
"""

from __future__ import annotations

import inspect
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from distml.gradual.branches import Decision, find_branches, merged
from distml.gradual.questions import Question, QuestionError, benches
from distml.gradual.ranks import possible_ranks
from distml.gradual.tracing import traced
from distml.gradual.trial import Plan
from distml.interp.machine import OutOfTime

SECONDS = 60.0


class Subject(NamedTuple):
    """A model, what the paper's figure says of it (before, without and with constraints), and the constraint."""

    name: str
    paper: tuple[int, int | None, int]
    where: str | None
    also: str | None = None

    @property
    def spec(self) -> str:
        """What to trace."""
        return f"transformers:{self.name}Model"


PAIR = "len(input_ids.shape) == 2"
BOTH = f"{PAIR} and len(decoder_input_ids.shape) == 2"
SUBJECTS = (
    Subject("Electra", (3, 3, 0), PAIR),
    Subject("Roberta", (3, 0, 0), None),
    Subject("MobileBert", (3, 3, 0), PAIR),
    Subject("Bert", (3, 0, 0), None),
    Subject("MegatronBert", (3, 0, 0), None),
    Subject(
        "XGLM", (5, 4, 0), f"{PAIR} and input_ids.shape[0] > 0 and 1 < input_ids.shape[1] and input_ids.shape[1] < 2000"
    ),
    Subject("Marian", (44, None, 26), BOTH, "decoder_input_ids"),
    Subject("M2M100", (47, None, 22), BOTH, "decoder_input_ids"),
    Subject("Blenderbot", (35, None, 19), BOTH, "decoder_input_ids"),
)


class Found(NamedTuple):
    """The branches that were met, those that are left, the seconds, and why a run did not come to its end."""

    met: list[Decision]
    left: list[Decision]
    seconds: float
    reason: str = ""


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--models", default=",".join(s.name for s in SUBJECTS if not s.also), help="default: %(default)s"
    )
    parser.add_argument("--without", default="", help="columns to leave out: source, export")
    options = parser.parse_args()
    chosen = [s for s in SUBJECTS if s.name in options.models.split(",")]
    for line in table(chosen, set(options.without.split(","))):
        print(line, flush=True)
    return 0


def table(subjects: list[Subject], without: set[str]) -> Iterator[str]:
    """The table, then every branch that is left."""
    import torch
    import transformers

    yield f"transformers {transformers.__version__}, torch {torch.__version__}"
    tracer = "has a tracer" if find_spec("transformers.utils.fx") else "has no tracer any more (transformers.utils.fx)"
    yield f"This release of transformers {tracer}."
    yield ""
    yield "| model | met | left | with constraint | s | from source | torch.export, both dynamic | paper: before, left, with |"
    yield "|---|---|---|---|---|---|---|---|"
    notes: list[str] = []
    for subject in subjects:
        free, bound = trace(subject, None), trace(subject, subject.where)
        source = "" if "source" in without else from_source(subject)
        export = "" if "export" in without else exported(subject)
        paper = ", ".join("-" if n is None else str(n) for n in subject.paper)
        marks = "*" if free.reason or bound.reason else ""
        yield (
            f"| {subject.name} | {len(free.met)}{marks} | {len(free.left)} | {len(bound.left)} "
            f"| {free.seconds:.1f}, {bound.seconds:.1f} | {source} | {export} | {paper} |"
        )
        notes += explained(subject, free, bound)
    yield ""
    yield from notes


def trace(subject: Subject, where: str | None) -> Found:
    """The branches of a traced model; `where` None assumes nothing."""
    where = where or (f"len({subject.also}.shape) >= 0" if subject.also else None)
    begun = time.perf_counter()
    reasons: list[str] = []
    answers: list[list[Decision]] = []
    try:
        for bench in traced(subject.spec, Question(subject.spec, where, seconds=SECONDS)):
            begun = time.perf_counter()
            answers.append(find_branches(bench))
            ranks = possible_ranks(bench)
            reasons += [r for r in [bench.run(Plan(tuple((n, of[-1]) for n, of in ranks.items() if of))).reason] if r]
    except (QuestionError, OutOfTime) as error:
        reasons.append(f"{type(error).__name__} {error}")
    met = merged(answers)
    left = [d for d in met if d.verdict in ("depends", "unknown")]
    return Found(met, left, time.perf_counter() - begun, reasons[0] if reasons else "")


def from_source(subject: Subject) -> str:
    """How many branches of the model's class are met and left when its source is read."""
    import transformers

    model = getattr(transformers, f"{subject.name}Model")
    question = Question(f"{inspect.getsourcefile(model)}::{model.__name__}", seconds=SECONDS)
    begun = time.perf_counter()
    try:
        met = merged(find_branches(bench) for bench in benches(question))
    except (QuestionError, OutOfTime) as error:
        return f"not asked: {str(error)[:60]}"
    except Exception as error:
        return f"our failure: {type(error).__name__}"
    left = [d for d in met if d.verdict in ("depends", "unknown")]
    return f"{len(met)} met, {len(left)} left, {time.perf_counter() - begun:.1f} s"


def exported(subject: Subject) -> str:
    """What torch.export makes of the model with both sizes of every input dynamic."""
    import torch
    import transformers

    model: Any = getattr(transformers, f"{subject.name}Model")
    with torch.device("meta"):
        config = model.config_class()
        config.use_cache = False
        made = model(config).eval()
    names = ["input_ids", *([subject.also] if subject.also else [])]
    inputs = {name: torch.ones(2, 7, dtype=torch.long, device="meta") for name in names}
    dynamic = torch.export.Dim.DYNAMIC
    sizes = {name: {0: dynamic, 1: dynamic} for name in names}
    begun = time.perf_counter()
    try:
        torch.export.export(made, (), inputs, dynamic_shapes=sizes)
    except Exception as error:
        told = next((line for line in str(error).splitlines() if line.strip()), "")
        return f"refused: {type(error).__name__}: {told[:80]}"
    return f"yes, {time.perf_counter() - begun:.1f} s"


def explained(subject: Subject, free: Found, bound: Found) -> Iterator[str]:
    """Where the branches that are left are, and when they hold."""
    for title, found in (("without a constraint", free), (f"with `{subject.where}`", bound)):
        if found.reason:
            yield f"- {subject.name}, {title}: not followed to its end: {found.reason}"
        for d in found.left:
            place = d.path.rpartition("site-packages/")[2]
            yield f"- {subject.name}, {title}: {place}:{d.line} {d.kind}: {d.verdict} {d.condition}"


if __name__ == "__main__":
    sys.exit(main())
