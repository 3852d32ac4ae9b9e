"""The renaming law over public scripts: how many change another edit when only names, imports or the order change.

    python benchmarks/renaming.py FOLDER ... [--backend BACKEND] [--details]

Each file of a folder that holds a training loop is rewritten with the modules it imports, once as it is and once each with
every user's name changed (to names that mean nothing, and to names that suggest something else), with its imports under
other names, with independent statements exchanged, and with definitions moved to a module. Nothing is written or run.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.tree import trains
from distml.rewrites.tree import Unreadable
from distml.rewrites.writing import read_file
from distml.source.reading import UnreadableError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from renamed.law import Broken, answer, broken_by_names, broken_by_order, broken_by_split, program_of
from renamed.names import Renamer

Law = Callable[[dict[str, str], str, str, Options], Broken | None]
LAWS: dict[str, Law] = {
    "names": broken_by_names,
    "misleading": partial(broken_by_names, misleading=1),
    "imports": partial(broken_by_names, imports=True, plain=False),
    "order": broken_by_order,
    "modules": broken_by_split,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--backend", choices=("horovod", "ddp", "accelerate"), default="horovod")
    parser.add_argument("--details", action="store_true", help="show what differs")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    names = [0, 0]
    for folder in options.folders:
        for path in scripts(folder):
            counts["scripts"] += 1
            said = []
            for law, broken, share in judged(path, folder, Options(backend=options.backend)):
                names = [mine + more for mine, more in zip(names, share)]
                if broken is not None:
                    said.append(law)
                    counts[law] += 1
                    if options.details:
                        print(difference(broken))
            counts["broken"] += bool(said)
            print(f"{path.relative_to(folder)}: {', '.join(said) or 'as before'}", flush=True)
    print(f"{counts['scripts'] - counts['broken']} of {counts['scripts']} scripts keep their edits", end="; ")
    print(", ".join(f"{law}: {counts[law]} broken" for law in LAWS), end="; ")
    print(f"{names[0]} of {names[1]} names changed")


def scripts(folder: Path) -> Iterator[Path]:
    """The files below a folder that hold a training loop."""
    for path in sorted(folder.rglob("*.py")):
        if trains(path.read_bytes()):
            yield path


def judged(path: Path, folder: Path, options: Options) -> Iterator[tuple[str, Broken | None, tuple[int, int]]]:
    """Each law with how a script breaks it, and how many of its names the first one changed."""
    inside = os.path.join(os.path.realpath(folder), "")
    root = os.path.realpath(path)
    try:
        program = program_of({root: read_file(root)}, root, inside)
        texts = {place: read_file(place) for place in program.units if place.startswith(inside)}
        if not answer(texts, root, inside, options).loops:
            return
        share = Renamer(program_of(texts, root, inside), texts).share
    except (UnreadableError, Unreadable):
        return
    for law, check in LAWS.items():
        try:
            yield law, check(texts, root, inside, options), share if law == "names" else (0, 0)
        except (ValueError, UnreadableError, Unreadable) as error:
            yield law, Broken("not tried", "", str(error)), (0, 0)


def difference(broken: Broken) -> str:
    """What differs, line by line."""
    lines = difflib.unified_diff(broken.expected.splitlines(), broken.found.splitlines(), lineterm="", n=0)
    return "\n".join([broken.how, *lines])


if __name__ == "__main__":
    main()
