"""Measures how fast `distml horovod --check` goes through a large tree, beside LibCST's own codemod runner doing nothing.

    python benchmarks/horovod_speed.py FOLDER [--times 3]

Run it with the interpreter that distml is installed for. Both are one process over the same files; the codemod is a
visitor without any method, so that its time is reading, parsing and writing back. Times are the best of several runs,
in turns; CPU seconds, since the machine may be busy. Markdown.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from process import Run, best, run

CODEMOD = """from libcst.codemod import VisitorBasedCodemodCommand


class Nothing(VisitorBasedCodemodCommand):
    DESCRIPTION = "Changes nothing."
"""
SETTINGS = (
    "generated_code_marker: '@generated-never'\nformatter: ['cat']\nblacklist_patterns: []\nmodules: []\nrepo_root: .\n"
)


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the tree to go through")
    parser.add_argument("--times", type=int, default=3, help="runs of which the best counts (default: 3)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    files = sorted(folder.rglob("*.py"))
    size = sum(path.stat().st_size for path in files) / 1e6
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        (home / "nothing.py").write_text(CODEMOD)
        (home / ".libcst.codemod.yaml").write_text(SETTINGS)
        pairs = [(surveyed(folder), codemodded(folder, home)) for _ in range(options.times)]
    ours, theirs = best(pair[0] for pair in pairs), best(pair[1] for pair in pairs)
    print(f"{folder.name}: {len(files)} files, {size:.1f} MB\n")
    print("| | CPU, s | files a second |")
    print("|---|---|---|")
    for name, times in (("distml horovod --check", ours), ("LibCST's codemod runner, no change", theirs)):
        print(f"| {name} | {times.cpu:.1f} | {len(files) / times.cpu:.0f} |")
    print(f"\nratio {theirs.cpu / ours.cpu:.1f}")
    return 0


def surveyed(folder: Path) -> Run:
    """One survey of the tree."""
    return run(
        [sys.executable, "-m", "distml.cli", "horovod", "--check", "--exit-zero", "--format", "concise", str(folder)]
    )


def codemodded(folder: Path, home: Path) -> Run:
    """One run of a codemod without effect."""
    command = ["-m", "libcst.tool", "codemod", "-x", "nothing.Nothing", str(folder), "--jobs", "1", "--hide-progress"]
    done = run([sys.executable, *command, "--no-format"], home, {"PYTHONPATH": str(home)})
    if "Finished codemodding" not in done.output + done.errors:
        raise SystemExit(f"the codemod did not run: {(done.errors or done.output).strip()[-200:]}")
    return done


if __name__ == "__main__":
    sys.exit(main())
