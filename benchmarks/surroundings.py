"""Generated training programs of PyTorch, rewritten and run: what goes wrong around their gradients.

    python benchmarks/surroundings.py FIRST COUNT [--backend BACKEND] [--show]

Each seed from FIRST on makes a program of its own: its files, progress, evaluations, options and layout are chosen independently.
It runs in one process, and on two of Gloo as it is rewritten; lines, files, numbers, steps and weights are compared.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


from horovod.torch.surroundings.compose import program
from horovod.torch.surroundings.judge import rewritten, verdict


def main() -> None:
    """Tell of each program, then of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--backend", choices=["ddp", "accelerate"], default="ddp")
    parser.add_argument("--show", action="store_true", help="print what each program becomes; nothing runs")
    given = parser.parse_args()
    ends: Counter[str] = Counter()
    for seed in range(given.first, given.first + given.count):
        made = program(seed)
        if given.show:
            for name, text in rewritten(made.files, given.backend)[0].items():
                print(f"# {name}\n{text}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = verdict(made, Path(folder), given.backend)
        end = "refused" if found.refusals else "wrong" if found.faults else "right"
        ends[end] += 1
        print(seed, end, "" if end == "right" else made.notes, flush=True)
        print(*(f"    {each}\n" for each in (*found.refusals, *found.faults)), sep="", end="")
        print(*(f"    said: {each[:200]}\n" for each in found.warnings if end != "right"), sep="", end="")
    print(dict(ends))


if __name__ == "__main__":
    main()
