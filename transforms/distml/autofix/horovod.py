"""Training scripts made distributed, as one of the fixers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from distml.autofix.fixes import Fixed
from distml.autofix.proposal import Left, Reason, below
from distml.diagnostics.model import Diagnostic
from distml.engine.config import load
from distml.engine.selection import selector
from distml.rewrites.horovod.findings import findings, header, remarks
from distml.rewrites.horovod.options import Backend, Options
from distml.rewrites.horovod.rewrite import Outcome
from distml.rewrites.horovod.tree import survey
from distml.rewrites.writing import write_rewritten
from distml.source.project import Project
from distml.source.reading import UnreadableError
from distml.writing.files import WriteError


class Distribute:
    """Rewrites the programs below `paths`, for Horovod or for torch.distributed.

    A program is left alone where a comment or the configuration hides the finding about one of its loops.
    """

    def __init__(self, paths: Sequence[str], backend: Backend = "horovod") -> None:
        self._paths = paths
        self._options = Options(backend=backend)

    def __call__(self, folder: str, files: Sequence[str]) -> Fixed:
        folder = os.path.realpath(folder)
        config = load(None, folder)
        sources = [os.path.join(config.folder, source) for source in config.src]
        places = {os.path.join(folder, name): name for name in files if below(name, self._paths)}
        project = Project(folder, sources=sources, max_file_size=config.max_file_size, shown=places)
        try:
            found = survey(list(places.values()), self._options, project)
        except Exception as error:  # a failure of ours costs these rewrites and no other fix
            said = f"distml failed on the training programs: {type(error).__name__}"
            return Fixed({}, (Left(self._paths[0], 1, "SRC201", said),))
        wanted = selector(config)
        told = {_spot(each) for each in findings(found) if wanted(each)}
        reasons: dict[str, tuple[Reason, ...]] = {}
        left: list[Left] = [Left(each.span.path, each.span.line, each.code, each.message) for each in found.problems]
        for outcome in found.outcomes:
            loops = [(each.code, header(each.node, outcome.plan)) for each in outcome.plan.loops]
            if outcome.plan.refusals or all((code, span.path, span.line) in told for code, span in loops):
                left.extend(_left(outcome))
                reasons |= _written(outcome, folder)
        return Fixed(reasons, tuple(left))


def _spot(finding: Diagnostic) -> tuple[str, str, int]:
    return finding.code, finding.span.path, finding.span.line


def _written(outcome: Outcome, folder: str) -> dict[str, tuple[Reason, ...]]:
    """Write the files of a program, or none of them."""
    try:
        write_rewritten(outcome.files, [folder])
    except (WriteError, UnreadableError):
        return {}
    reasons: dict[str, tuple[Reason, ...]] = {}
    for location in outcome.files:
        edits = outcome.plan.patches[location].edits
        each_once = dict.fromkeys(Reason(each.line, each.what, each.reason, each.rule) for each in edits)
        reasons[os.path.relpath(location, folder)] = (*_what_for(outcome), *each_once)
    return reasons


def _what_for(outcome: Outcome) -> Iterator[Reason]:
    """The loops that a program is rewritten for: their codes are what turns it off."""
    for loop in outcome.plan.loops:
        span = header(loop.node, outcome.plan)
        yield Reason(span.line, f"{loop.what} is made distributed", f"in {span.path}:{span.line}", loop.code)


def _left(outcome: Outcome) -> Iterator[Left]:
    plan = outcome.plan
    for kind, remark in remarks(plan):
        span = header(remark.node, plan)
        said = "; ".join(filter(None, (remark.message, remark.instead)))
        yield Left(span.path, span.line, remark.code, said if kind == "warning" else f"not made distributed: {said}")
