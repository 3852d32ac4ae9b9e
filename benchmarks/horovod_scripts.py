"""Public training scripts: how many `distml horovod` rewrites or refuses, and how the rewritten ones run on two processes.

    python benchmarks/horovod_scripts.py MANIFEST [--only NAME ...] [--flow FLOW] [--sample N] [--backend ddp] [--no-run]

MANIFEST is a JSON array with an object for each script: `name`, `flow`, `entry` (the script), `root` (its folder, whose
modules may change too), `python` (of an environment that has Horovod), and where needed `args`, `env` and `expect` (it
begins with `refuse` for a script that must be refused). The scripts are not part of this repository; data sets they load
have to be there, or be stood in for by modules that `env` puts on the PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import Outcome, rewrite_text
from distml.smoke.model import Options as Smoke
from distml.smoke.model import SmokeError
from distml.smoke.run import smoke
from distml.source.reading import UnreadableError

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--flow")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", choices=("horovod", "ddp"), default="horovod")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--timeout", type=float, default=150.0)
    parser.add_argument("--no-run", action="store_true")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    for row in chosen(json.loads(options.manifest.read_text()), options):
        said, detail = judged(row, options)
        counts.setdefault(row["flow"], Counter())[said] += 1
        print(f"{row['flow']:10} {row['name']:44} {said:22} {detail}"[:200], flush=True)
    for flow, counted in sorted(counts.items()):
        print(f"{flow:10} {', '.join(f'{count} {what}' for what, count in counted.most_common())}")


def chosen(rows: list[Row], options: argparse.Namespace) -> list[Row]:
    rows = [row for row in rows if not options.only or row["name"] in options.only]
    rows = [row for row in rows if not options.flow or row["flow"] == options.flow]
    if options.backend == "ddp":
        rows = [row for row in rows if row["flow"] in ("torch", "refuse") and row.get("framework") != "tf"]
    if options.sample:
        random.Random(options.seed).shuffle(rows)
        rows = rows[: options.sample]
    return rows


def judged(row: Row, options: argparse.Namespace) -> tuple[str, str]:
    """What became of a script, and why."""
    wanted = not str(row.get("expect", "")).startswith("refuse")
    try:
        outcome = rewrite_text(row["entry"], Options(backend=options.backend), row["root"])
    except UnreadableError as error:
        return "unreadable", str(error)
    if outcome.plan.refusals:
        why = "; ".join(f"{each.code} {each.message}" for each in outcome.plan.refusals)
        return ("refused, wrongly" if wanted else "refused"), why
    if not outcome.plan.loops:
        return ("no loop" if wanted else "left alone"), ""
    if not wanted:
        return "rewritten, wrongly", str(row["expect"])
    return ("rewritten", "") if options.no_run else ran(row, outcome, options)


def ran(row: Row, outcome: Outcome, options: argparse.Namespace) -> tuple[str, str]:
    """Smoke: all ranks end, with the same collectives and equal weights, and the loss of one process."""
    entry = Path(row["entry"]).resolve()
    texts = {os.path.relpath(location, entry.parent): file.source for location, file in outcome.files.items()}
    asked = Smoke(
        steps=options.steps,
        timeout=options.timeout,
        launcher="torchrun" if options.backend == "ddp" else "horovodrun",
        environment=row.get("env", {}),
    )
    text = texts.pop(entry.name)
    try:
        report = smoke(entry, text, python=row["python"], options=asked, arguments=row.get("args", []), modules=texts)
    except SmokeError as error:
        return "not run", str(error)
    warnings = " ".join(sorted({each.code for each in outcome.plan.warnings}))
    failed = "; ".join(f"{each.name}: {each.text}" for each in report.verdicts if each.status == "failed")
    return ("runs, with faults", f"{failed} {warnings}") if failed else ("runs", warnings)


if __name__ == "__main__":
    main()
