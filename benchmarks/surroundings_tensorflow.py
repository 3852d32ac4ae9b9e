"""Generated TensorFlow programs, run on two real processes of Horovod as they are rewritten, against one process of the original.

    python benchmarks/surroundings_tensorflow.py 0-119 [--folder FOLDER]

Each program is of one number: what it is made of, and how it came out, is told at the end. It needs the environment of
`.ci/horovod tensorflow` and a C compiler. What the ranks wrote and printed stays in the folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from horovod.surroundings.running import judged, noting, run_one

from smoke.environments import horovod_python


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", nargs="+", help="numbers of programs, such as 7 or 0-119")
    parser.add_argument("--folder", type=Path, help="where programs and what they write are kept")
    options = parser.parse_args()
    folder = (options.folder or Path(tempfile.mkdtemp(prefix="surroundings-"))).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = noting(horovod_python("tensorflow"), folder)
    asked = []
    for first, _, last in (each.partition("-") for each in options.numbers):
        for number in range(int(first), int(last or first) + 1):
            asked.append(run_one(number, folder / str(number), python))
            print(f"{number} has run", file=sys.stderr, flush=True)
    found = judged(asked, folder, python)
    for each in found:
        print(each, "\n    ", " ".join(each.traits), sep="")
    print(dict(Counter(each.kind for each in found)), "in", folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
