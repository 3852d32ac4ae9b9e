"""The distributed program that `distml horovod` makes of a script and the modules beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from distml.rewrites.horovod.options import Backend, Options
from distml.rewrites.horovod.rewrite import rewrite_text
from distml.rewrites.tree import Unreadable
from distml.rewrites.writing import read_file
from distml.smoke.model import SmokeError
from distml.source.reading import UnreadableError


def rewritten(script: Path, backend: Backend, scale_lr: Literal["linear", "none"]) -> dict[str, str]:
    """The new texts, by path relative to the script's folder.

    Raises:
        SmokeError: The script is refused, or holds nothing to rewrite.
    """
    folder = script.resolve().parent
    try:
        outcome = rewrite_text(str(script), Options(backend=backend, scale_lr=scale_lr), str(folder))
    except (UnreadableError, Unreadable) as error:
        raise SmokeError(f"{script} is not rewritten: {error}") from None
    if outcome.plan.refusals:
        first = outcome.plan.refusals[0]
        why = "; ".join(filter(None, (first.message, first.instead)))
        raise SmokeError(f"{script} is not rewritten: [{first.code}] {why}")
    if not outcome.files:
        raise SmokeError(f"{script} is not rewritten: no training loop was found in it")
    texts = {str(Path(path).resolve().relative_to(folder)): found.source for path, found in outcome.files.items()}
    return {script.name: read_file(str(script)), **texts}
