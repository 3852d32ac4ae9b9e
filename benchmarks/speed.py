"""Measures how long a check takes: one changed file as the hook sees it, a package, programs that grow.

    python benchmarks/speed.py [--package torchvision] [--only file,package,growth,project]
    python benchmarks/speed.py --only against --against CHECKOUT --sample timm:40 --sample sklearn:60

Run it with the interpreter that distml is installed for. Times are the best of several runs; what they are compared with
(Python that does nothing, Pyrefly) is measured in the same run. The tables go to standard output as Markdown.
"""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import rivals
from precision import apart, locate
from process import Run, Times, best, run

FILE = Path(__file__).parent / "programs" / "detector.py"
DEPTHS = (1, 5, 10, 20, 30, 40)
WIDTHS = (10, 20, 40, 80, 160)


def main() -> int:
    """Measure, and print."""
    parts: dict[str, Callable[[Namespace], Iterator[str]]] = {
        "file": one_file,
        "package": package,
        "growth": growth,
        "project": project,
        "against": against,
    }
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="file,package,growth,project", help="parts to measure (default: %(default)s)")
    parser.add_argument("--against", type=Path, help="another checkout of this repository, for the part of that name")
    parser.add_argument(
        "--sample",
        action="append",
        default=[],
        metavar="PACKAGE:N",
        help="what to compare on: every N-th file of a package",
    )
    parser.add_argument("--package", default="torchvision", help="installed for --python, or a folder")
    parser.add_argument("--times", type=int, default=10, help="runs of which the best counts (default: 10)")
    parser.add_argument("--modules", type=int, default=300, help="of the project that is made up (default: 300)")
    rivals.add_options(parser)
    options = parser.parse_args()
    for name in options.only.split(","):
        if name not in parts:
            parser.error(f"no part is called {name!r}; there are {', '.join(parts)}")
        for line in parts[name](options):
            print(line, flush=True)
        print()
    return 0


def one_file(options: Namespace) -> Iterator[str]:
    """One file of 300 lines: cold is with an empty cache, cached is when it has not changed since."""
    program = rivals.distml(options).program
    command = [program, "check", "--exit-zero", FILE.name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / FILE.name).write_bytes(FILE.read_bytes())

        def several(command: list[str], **environment: str) -> Times:
            return best(run(command, folder, environment) for _ in range(options.times))

        rows = {
            "`python -c pass`": several([sys.executable, "-c", "pass"]),
            "distml, cold": best(_cold(command, folder) for _ in range(options.times)),
            "distml, cached": several(command, DISTML_CACHE_DIR=f"{folder}/kept"),
        }
        peak = run([*command, "--no-cache"], folder).peak
        for checker in rivals.installed(["pyrefly"], options):
            command = [*rivals.pyrefly_command(options, checker.program), FILE.name]
            rows[f"{checker.name} {checker.version}"] = several(command)
    bare = rows["`python -c pass`"]
    yield f"One file of {len(FILE.read_text('utf-8').splitlines())} lines, best of {options.times} runs:\n"
    yield "| | seconds | times bare Python | CPU seconds | times bare Python |"
    yield "|---|---|---|---|---|"
    for name, (seconds, cpu) in rows.items():
        yield f"| {name} | {seconds:.3f} | {seconds / bare.seconds:.1f} | {cpu:.3f} | {cpu / bare.cpu:.1f} |"
    yield f"\nPeak memory of distml, cold: {peak:.0f} MiB."


def _cold(command: list[str], folder: Path) -> Run:
    with tempfile.TemporaryDirectory() as empty:
        return run(command, folder, {"DISTML_CACHE_DIR": empty})


def package(options: Namespace) -> Iterator[str]:
    """A whole package, through the engine with its worker processes."""
    folder = locate(options.package, options.python)
    if folder is None:
        print(f"not measured: {options.package} is not installed for {options.python}", file=sys.stderr)
        return
    checked = apart(options.package, folder, jobs=None, time_limit=10.0)
    report = checked.report
    yield f"{options.package}:\n"
    yield "| files | lines | seconds | lines a second | peak MiB of a process |"
    yield "|---|---|---|---|---|"
    speed = checked.lines / report.seconds
    yield f"| {report.files:,} | {checked.lines:,} | {report.seconds:.1f} | {speed:,.0f} | {checked.peak:.0f} |"


def project(options: Namespace) -> Iterator[str]:
    """A project of many modules, each of which uses the one before: cold, unchanged, and with one file changed."""
    command = [rivals.distml(options).program, "check", "--exit-zero", "--jobs", "1", "."]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "project")
        folder.mkdir()
        kept = {"DISTML_CACHE_DIR": f"{temporary}/kept"}
        for number in range(options.modules):
            (folder / f"part{number}.py").write_text(module(number))
        bare = best(run([sys.executable, "-c", "pass"], folder) for _ in range(options.times))
        rows = {"`python -c pass`": bare, "nothing kept": best([run(command, folder, kept)])}
        rows["nothing changed"] = best(run(command, folder, kept) for _ in range(options.times))
        for text, number in (("the last file changed", options.modules - 1), ("the first file changed", 0)):
            runs = []
            for attempt in range(options.times):
                (folder / f"part{number}.py").write_text(f"{module(number)}\nchanged = {attempt}\n")
                runs.append(run(command, folder, kept))
            rows[text] = best(runs)
    yield f"{options.modules} modules in chains of ten, one process, best of {options.times} runs:\n"
    yield "| | seconds | CPU seconds | times bare Python |"
    yield "|---|---|---|---|"
    for name, (seconds, cpu) in rows.items():
        yield f"| {name} | {seconds:.2f} | {cpu:.2f} | {cpu / bare.cpu:.1f} |"


def module(number: int) -> str:
    """A module with a layer that uses the layer of the module before it, in chains of ten."""
    first = number % 10 == 0
    before = "" if first else f"from part{number - 1} import Part as Before\n"
    inner = "nn.Linear(8, 8)" if first else "Before()"
    return (
        f"import torch\nfrom torch import nn\n\n{before}\n\nclass Part(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        self.inner = {inner}\n        self.last = nn.Linear(8, 8)\n\n"
        "    def forward(self, x):\n        for _ in range(x.shape[0]):\n            x = self.last(self.inner(x))\n"
        "        return x\n\n\ndef example():\n    return Part()(torch.ones(4, 8))\n"
    )


def against(options: Namespace) -> Iterator[str]:
    """Samples of packages with this checkout and another one, file by file in turn: processor time and findings."""
    here = Path(__file__).resolve().parents[1]
    yield "| package | files | lines | CPU seconds, there | here | times less | peak MiB, there | here | findings, there | here |"
    yield "|---" * 10 + "|"
    for sample in options.sample:
        name, _, step = sample.partition(":")
        folder = locate(name, options.python)
        if folder is None:
            print(f"not measured: {name} is not installed for {options.python}", file=sys.stderr)
            continue
        files = sorted(folder.rglob("*.py"))[:: int(step or 1)]
        parts = [files[i : i + BATCH] for i in range(0, len(files), BATCH)]
        runs = [[_checked(checkout, part) for checkout in (options.against, here)] for part in parts]
        there, now = zip(*runs, strict=True)
        cpu = [sum(each.cpu for each in column) for column in (there, now)]
        peak = [max(each.peak for each in column) for column in (there, now)]
        found = [sorted({line for each in column for line in _findings(each)}) for column in (there, now)]
        lines = sum(path.read_text("utf-8", "replace").count("\n") for path in files)
        yield (
            f"| {name} | {len(files)} | {lines:,} | {cpu[0]:.1f} | {cpu[1]:.1f} | {cpu[0] / cpu[1]:.1f} "
            f"| {peak[0]:.0f} | {peak[1]:.0f} | {len(found[0])} | {len(found[1])} |"
        )
        for line in sorted({*found[0]} ^ {*found[1]}):
            print(f"{name}: only {'there' if line in found[0] else 'here'}: {line}", file=sys.stderr)


BATCH = 10
"""Files that are checked by one process."""


def _checked(checkout: Path, files: list[Path]) -> Run:
    sources = {"PYTHONPATH": f"{checkout}/checker:{checkout}/transforms"}
    command = [sys.executable, "-m", "distml.cli", "check", "--no-cache", "--exit-zero", "--format", "concise"]
    return run([*command, "--jobs", "1", *map(str, files)], None, sources)


def _findings(done: Run) -> list[str]:
    """Code and place of each finding; messages may name another number first."""
    return [line.partition(" ")[0] + line.partition(" ")[2][:8] for line in done.output.splitlines() if ".py:" in line]


def growth(options: Namespace) -> Iterator[str]:
    """Generated programs, in this process and without the start: does time grow with their length alone?"""
    kinds: list[tuple[str, Callable[[int], str], tuple[int, ...]]] = [
        ("functions, each calling the next twice", chain, DEPTHS),
        ("modules, each applying the next twice", nest, DEPTHS),
        ("functions, each calling the next twice, with unknown objects made inside", strangers, DEPTHS),
        ("calls of one function with as many sizes", calls, WIDTHS),
        ("layers of one Sequential", layers, WIDTHS),
        ("branches one after another", branches, WIDTHS),
    ]
    _seconds(chain(1), 1)  # what is imported once is imported now
    for title, generate, sizes in kinds:
        times = {size: _seconds(generate(size), options.times) for size in sizes}
        yield f"{title[0].upper()}{title[1:]}:\n"
        yield "| " + " | ".join(["number", *map(str, sizes)]) + " |"
        yield "|---" * (len(sizes) + 1) + "|"
        yield "| " + " | ".join(["ms", *(f"{1000 * seconds:.1f}" for seconds in times.values())]) + " |"
        yield "| " + " | ".join(["ms each", *(f"{1000 * times[size] / size:.2f}" for size in sizes)]) + " |"
        yield ""


def _seconds(program: str, times: int) -> float:
    """The CPU time of the best of several checks of a program, which must have no findings."""
    from distml.engine.config import Config
    from distml.engine.run import run as check

    measured = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(program)
        for _ in range(times):
            started = time.process_time()
            report = check([str(path)], Config(jobs=0))
            measured.append(time.process_time() - started)
            assert not report.diagnostics and not report.skipped, report
    return min(measured)


def chain(depth: int) -> str:
    """f0 calls f1 twice, f1 calls f2 twice, and so on: 2 ** depth calls when it is run."""
    functions = [f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x * 2)\n" for i in range(depth)]
    last = f"def f{depth}(x):\n    return x @ torch.ones(3, 3)\n"
    return "\n".join(["import torch\n", *functions, last, "f0(torch.ones(2, 3))\n"])


def strangers(depth: int) -> str:
    """`chain` where each call makes an object of an unknown class and hands it to unknown code."""
    functions = [f"def f{i}(x):\n    f{i + 1}(x)\n    return f{i + 1}(x)\n" for i in range(depth)]
    last = f"def f{depth}(x):\n    made = library.thing(x)\n    made.size = 3\n    library.use(made)\n    return x\n"
    return "\n".join(["import library\nimport torch\n", *functions, last, "f0(torch.ones(2, 3))\n"])


def nest(depth: int) -> str:
    """A module that applies the module it holds twice, and so on."""
    classes = [
        f"class M{i}(nn.Module):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        f"        self.inner = M{i + 1}(width)\n\n"
        "    def forward(self, x):\n"
        "        return self.inner(self.inner(x))\n"
        for i in range(depth)
    ]
    last = f"class M{depth}(nn.Linear):\n    def __init__(self, width):\n        super().__init__(width, width)\n"
    return "\n".join(["import torch\nfrom torch import nn\n", *classes, last, "M0(8)(torch.ones(2, 8))\n"])


def calls(width: int) -> str:
    """One function, called with another size each time."""
    lines = [f"f(torch.ones({i}, 3))\n" for i in range(2, width + 2)]
    return "\n".join(["import torch\n", "def f(x):\n    return (x @ x.t()) @ x\n", *lines])


def layers(width: int) -> str:
    """A long Sequential."""
    parts = "".join(f"    nn.Linear({i + 8}, {i + 9}),\n" for i in range(width))
    return f"import torch\nfrom torch import nn\n\nmodel = nn.Sequential(\n{parts})\nmodel(torch.ones(2, 8))\n"


def branches(width: int) -> str:
    """Decisions that nobody knows, one after another: 2 ** width paths when it is run."""
    steps = "".join(f"    if flags[{i}]:\n        x = x * 2\n" for i in range(width))
    return f"import torch\n\n\ndef f(flags):\n    x = torch.ones(2, 3)\n{steps}    return x @ torch.ones(3, 4)\n"


if __name__ == "__main__":
    sys.exit(main())
