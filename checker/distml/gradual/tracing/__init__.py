"""Tracing: a model is run on proxies that carry shapes, for code that is too dynamic to be read.

The only part of distml that imports and runs the code it is asked about; torch is imported
here and nowhere else. A proxy goes through the user's Python as a tensor would; each torch
function it meets is answered by the same rules that a check uses. Where a condition is not
decided by what is known, the run is repeated for the other answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.gradual.questions import Question
    from distml.gradual.trial import Bench


def traced(spec: str, question: Question) -> Iterator[Bench]:
    """The bench of the model that `spec`, `module:factory`, makes. This imports and runs the user's code.

    Raises `QuestionError` where torch is not installed, there is no such model, or it cannot be asked about.
    """
    from distml.gradual.tracing.factory import load_model

    model = load_model(spec)
    from distml.gradual.tracing.bench import bench_of

    yield bench_of(model, question)
