"""Migrates the examples of "Gradual Tensor Shape Checking": verdicts and seconds beside torch.fx's own tool.

    python benchmarks/gradual.py [--limit SECONDS] [--times N]

Run it with a Python that has torch, torchvision and z3. Of distml, "module" is reading the file and running it once,
"questions" what `migrate` takes then, and "solving" the part of it that the solver takes; from trace, building the model
is "module". Of the published tool, the time is that of generating its constraints from a traced model and of z3 on them.
The ratio is the published tool's time to that of distml's questions. Tables go to standard output as Markdown.
"""

from __future__ import annotations

import inspect
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import published

from distml.gradual.migrate import Migration, migrate
from distml.gradual.questions import Question, benches

EXAMPLES = Path(__file__).parent / "programs" / "gradual_examples.py"
sys.path.insert(0, str(EXAMPLES.parent))
BOUNDED = "5 <= x.shape[0] <= 20 and 5 <= x.shape[2] <= 20 and 2 <= x.shape[3] <= 10"
IMAGES = "x.shape[0] > 5 and x.shape[2] == 224 and x.shape[3] == 224"
SOLVER = (
    ("distml.gradual.trial", "satisfy"),
    ("distml.gradual.migrate", "simplify"),
    ("distml.interp.witnesses", "decide"),
    ("distml.interp.witnesses", "prove"),
)
"""Where the questions call the solver."""


class Case(NamedTuple):
    """One question. `subject` is for distml, `model` makes the model, `rival` asks the published tool."""

    title: str
    subject: str
    trace: str
    model: Any
    rival: Callable[[Any], str]
    where: str | None = None


class Times(NamedTuple):
    """What distml answered, and what it took."""

    verdict: str
    text: str
    module: float
    questions: float
    solving: float


class Stopwatch:
    """Adds up the time that calls take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - begun

        return call


def main() -> int:
    """Ask everything, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each answer of the published tool")
    parser.add_argument("--times", type=int, default=3, help="runs of distml of which the shortest counts (default: 3)")
    options = parser.parse_args()
    print("| | distml | module | questions | solving | from trace | questions | published tool | s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in cases():
        source = best(case, options.times, lambda c: benches(Question(c.subject, c.where)))
        trace = best(case, options.times, traced)
        rival = published.limited(case.rival, case.model, options.limit)
        print(row(case, source, trace, rival), flush=True)
    return 0


def cases() -> Iterator[Case]:
    """The questions of the paper."""
    import gradual_examples as examples

    def example(name: str, title: str, rival: Callable[[Any], str], where: str | None = None) -> Case:
        model = getattr(examples, name)()
        return Case(title, f"{EXAMPLES}::{name}", f"gradual_examples:{name}", model, rival, where)

    yield example("BmmExample", "BmmExample, ill-typed", published.migrates)
    yield example("OpenBmm", "BmmExample, sizes left open", lambda model: published.static(model, {1: 3, 2: 3}))
    yield example("IllTyped", "ConvExample, two axes declared", published.migrates)
    yield example("DynOnly", "ConvExample, channels only Dyn", lambda model: published.static(model, {1: 4}))
    yield example("Repaired", "ConvExample, repaired", lambda model: published.static(model, {1: 4}))
    bounded = "ConvExample, repaired, bounded"
    yield example("Repaired", bounded, lambda model: published.static(model, {1: 4}, within), BOUNDED)
    for name, title in (("alexnet", "AlexNet"), ("resnet50", "ResNet50")):
        yield torchvision_case(name, f"{title}, static")
        yield torchvision_case(name, f"{title}, batch > 5, H = W = 224", images, IMAGES)


def torchvision_case(name: str, title: str, sizes: Any = None, where: str | None = None) -> Case:
    """A question about one of torchvision's models."""
    import torchvision

    builder = inspect.unwrap(torchvision.models.get_model_builder(name))

    def rival(model: Any) -> str:
        return published.static(model, {1: 4}, sizes)

    subject = f"{inspect.getsourcefile(builder)}::{builder.__name__}"
    return Case(title, subject, f"torchvision.models:{name}", builder(weights=None).eval(), rival, where)


def within(sizes: dict[int, list[Any]]) -> list[Any]:
    """BOUNDED, for z3."""
    batch, _, height, width = sizes[1]
    return [batch >= 5, batch <= 20, height >= 5, height <= 20, width >= 2, width <= 10]


def images(sizes: dict[int, list[Any]]) -> list[Any]:
    """IMAGES, for z3."""
    batch, _, height, width = sizes[1]
    return [batch > 5, height == 224, width == 224]


def traced(case: Case) -> Any:
    """The bench of a traced model."""
    from distml.gradual.tracing import traced as bench

    return bench(case.trace, Question(case.trace, case.where))


def best(case: Case, times: int, ask: Callable[[Case], Any]) -> Times:
    """The run with the shortest questions."""
    return min((once(case, ask) for _ in range(times)), key=lambda found: found.questions)


def once(case: Case, ask: Callable[[Case], Any]) -> Times:
    """Read, run and ask."""
    begun = time.perf_counter()
    try:
        bench = next(iter(ask(case)))
        ready = time.perf_counter()
        with stopwatch() as watch:
            found = migrate(bench)
    except Exception as error:
        return Times(type(error).__name__, str(error), time.perf_counter() - begun, 0.0, 0.0)
    return Times(found.verdict, text_of(found), ready - begun, time.perf_counter() - ready, watch.seconds)


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Measures the solver's part."""
    from importlib import import_module

    watch = Stopwatch()
    with ExitStack() as stack:
        for module, name in SOLVER:
            found = import_module(module)
            stack.enter_context(patch.object(found, name, watch.timed(getattr(found, name))))
        yield watch


def text_of(found: Migration) -> str:
    """The annotations and constraints, on one line."""
    where = " where " + ", ".join(found.constraints) if found.constraints else ""
    return "; ".join(annotation.text for annotation in found.annotations.values()) + where


def row(case: Case, source: Times, trace: Times, rival: published.Asked) -> str:
    """One row of the table."""
    said = f"{source.verdict}: {source.text}" if source.text else source.verdict
    same = (trace.verdict, trace.text) == (source.verdict, source.text)
    cells = [case.title, said, *(f"{s:.4f}" for s in source[2:])]
    cells += ["the same" if same else f"{trace.verdict}: {trace.text}", f"{trace.questions:.4f}"]
    cells += [rival.verdict, f"{rival.seconds:.3f}", f"{rival.seconds / max(source.questions, 1e-9):.1f}"]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
