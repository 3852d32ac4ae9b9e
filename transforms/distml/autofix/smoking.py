"""Smoke runs of rewritten scripts, before they are proposed. This runs code of the repository.

What fails is not proposed: neither the script nor the modules that were changed with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace

from distml.autofix.branch import regular_files
from distml.autofix.proposal import Change, Left, Proposal, Smoked
from distml.git.clone import Git
from distml.smoke.model import Options, Report, SmokeError

Run = Callable[[str, str, dict[str, str]], Report]
"""Runs a script and its rewriting: a path, the new text, and those of modules by path relative to the script's folder."""


_STARTS = re.compile(rb"__main__|\binit(_process_group)?\(")


def smoke_with(python: str, options: Options) -> Run:
    """Smoke runs with the Python that has the framework."""

    def run(script: str, text: str, modules: dict[str, str]) -> Report:
        from distml.smoke.run import smoke

        return smoke(script, text, python=python, options=options, modules=modules)

    return run


def smoked(git: Git, proposal: Proposal, run: Run) -> Proposal:
    """The proposal with how its rewritten scripts ran in the working tree; without those that failed."""
    notes: list[Smoked] = []
    left: list[Left] = list(proposal.left)
    failed: set[str] = set()
    for change in proposal.changes:
        if not _is_script(change):
            continue
        verdict, said = _tried(git, proposal, change, run)
        notes.append(Smoked(change.path, verdict, said))
        if verdict == "failed":
            failed.add(change.path)
            left.append(Left(change.path, 1, "", f"not made distributed: the smoke run failed: {said}"))
    kept = tuple(change for change in proposal.changes if not _falls(change, failed))
    paths = frozenset(change.path for change in kept)
    return replace(replace(proposal, smoked=tuple(notes), left=tuple(left)).only(paths), left=tuple(left))


def _is_script(change: Change) -> bool:
    """Whether a change rewrote a program that is started, and not a module that only serves one."""
    return _distributed(change) and _STARTS.search(change.after) is not None


def _distributed(change: Change) -> bool:
    return any(reason.rule.startswith("HVD") for reason in change.reasons)


def _falls(change: Change, failed: set[str]) -> bool:
    folders = {os.path.dirname(path) for path in failed}
    return change.path in failed or (_distributed(change) and os.path.dirname(change.path) in folders)


def _tried(git: Git, proposal: Proposal, change: Change, run: Run) -> tuple[str, str]:
    """The verdict on one script, and what there is to say."""
    top = git.ask("rev-parse", "--show-toplevel")
    script = os.path.join(top, change.path)
    entry = regular_files(git, proposal.base)[change.path]
    if not os.path.isfile(script) or git.text("hash-object", "--no-filters", "--", script) != entry.blob:
        return "not run", "the working tree has another version of it"
    folder = os.path.dirname(change.path)
    modules = {
        os.path.relpath(each.path, folder or "."): each.after.decode("utf-8", "replace")
        for each in proposal.changes
        if each is not change and not os.path.relpath(each.path, folder or ".").startswith("..")
    }
    try:
        report = run(script, change.after.decode("utf-8", "replace"), modules)
    except SmokeError as error:
        return "not run", str(error)
    bad = [verdict.text for verdict in report.verdicts if verdict.status == "failed"]
    if bad:
        return "failed", "; ".join(bad)
    return "passed", f"{report.processes} processes, {report.launcher}: " + ", ".join(v.name for v in report.verdicts)
