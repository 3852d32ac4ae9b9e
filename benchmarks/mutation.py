"""Breaks real model code in one place, runs it for the truth, and asks distml.

    python benchmarks/mutation.py [--subjects torchvision,vit_pytorch] [--seed N] [--mutants N] [--json FILE]

Run it with a Python that has the packages; `--distml` names the distml to ask where that Python has none. A subject is a short
program that makes one model of a package and calls it: made from the tables below, or an example of the package's own readme
(torch packages). `keras` is its applications, copied and importing Keras as any program does; `flax=FOLDER` are the examples of a
checkout of Flax. `programs=FOLDER` are programs that stand alone, run for real.
The package is copied without its compiled parts. A mutant is one change (benchmarks/mutants.py) on a line that
the program runs once its imports are done, in the package or in the program. Truth is a child process with limits: PyTorch
on the meta device, Keras on symbolic inputs, Flax in `jax.eval_shape`. What fails on the meta device because it asks for data is
left out, and so is a program that does not run unbroken. distml checks the program; the package is a folder beside it. Tables
go to standard output as Markdown: what was found of those that fail, what was flagged of those that run.
"""

from __future__ import annotations

import ast
import compileall
import contextlib
import json
import os
import re
import resource
import runpy
import shutil
import signal
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module, metadata, util
from inspect import CO_NEWLOCALS
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mutants import Mutation, Places
from mutation_models import TABLES
from process import run

SECONDS = 60
MEMORY = 24 << 30
DRIVER = "program.py"
ALONE = "programs"
"""The subjects that are programs of a folder, each by itself."""
OF_META = re.compile(
    r"meta tensor|Meta tensor|'meta'|\bmeta device|not support meta|Fake|NotImplementedError", re.IGNORECASE
)


class Subject(NamedTuple):
    """A program over a package: its name, its text, and the lines that it runs by file, the program itself among them."""

    name: str
    program: str
    lines: dict[str, list[int]]


class Outcome(NamedTuple):
    """What really happened (`kind` is empty where nothing failed), and what distml said."""

    subject: str
    mutation: str
    place: str
    change: str
    kind: str
    message: str
    findings: tuple[str, ...]


def programs(package: str, source: str) -> Iterator[tuple[str, str]]:
    """The programs over a package, or those of a folder, by name."""
    if package == ALONE:
        for path in sorted(Path(source).glob("*.py")):
            yield path.stem, path.read_text("utf-8")
        return
    if package in TABLES:
        table, text = TABLES[package]
        for name, given in table.items():
            module, _, maker = name.rpartition(".")
            given, _, rest = given.partition(" | ")
            yield name, text.format(module=module, maker=maker, given=given, rest=rest, config=given.partition("(")[0])
        return
    described = metadata.metadata(package).get_payload()
    blocks = re.findall(r"```(?:python|py)\n(.*?)```", described if isinstance(described, str) else "", re.DOTALL)
    for index, block in enumerate(blocks):
        if f"from {package}" in block:
            yield f"{package} {index}", block.replace(".cuda()", "")


# --- truth -----------------------------------------------------------------------------


def in_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a piece of work tells, done in a process of its own with limits; it is told when that process is ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            signal.alarm(SECONDS * 3)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            told = json.dumps(work())
        except BaseException as error:
            told = json.dumps({"kind": type(error).__name__, "message": str(error)[:300]})
        with os.fdopen(writing, "w") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else {"kind": "Ended", "message": "the process was ended"}


def on_meta() -> Any:
    """The meta device, for programs of PyTorch; torchvision without its compiled part asks for two operators."""
    import torch

    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError):  # torchvision declares them itself where its compiled part is found
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return torch.device("meta")


def executed(folder: Path, trace: bool, meta: bool) -> dict[str, Any]:
    """Run the program of a folder; the lines of the folder's files that it ran, if they are wanted."""
    sys.dont_write_bytecode = True
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = [DRIVER]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - the process ends with it
    lines: dict[str, set[int]] = {}

    def line(frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(str(folder)) or not (frame.f_code.co_flags & CO_NEWLOCALS or name.endswith(DRIVER)):
            return None  # what modules and classes do when they are made is the same for every program
        lines.setdefault(name, set()).add(frame.f_lineno)
        return line

    text = (folder / DRIVER).read_text("utf-8")
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    with on_meta() if meta and "import torch" in text else contextlib.nullcontext():
        exec(compile(ast.Module(imports, []), DRIVER, "exec"), {})
        if trace:
            sys.settrace(line)
        try:
            runpy.run_path(str(folder / DRIVER), run_name="__main__")
        finally:
            sys.settrace(None)
    return {
        "kind": "",
        "message": "",
        "lines": {str(Path(n).relative_to(folder)): sorted(ls) for n, ls in lines.items()},
    }


# --- distml ----------------------------------------------------------------------------


def checked(folder: Path, distml: str) -> tuple[str, ...]:
    """What distml says of the program of a folder: codes and messages of errors."""
    command = [distml, "check", "--no-cache", "--jobs", "0", "--time-limit", "60", "--format", "json", DRIVER]
    done = run(command, folder)
    try:
        found = json.loads(done.output)
    except ValueError:
        return (f"FAILED {done.code} {done.errors[-200:]}",)
    return tuple(_said(each) for each in found if each["severity"] == "error")


def _said(finding: dict[str, Any]) -> str:
    return f"{finding['code']} {finding['path']}:{finding['line']} {finding['message']}"


# --- the run ---------------------------------------------------------------------------


@contextlib.contextmanager
def workspace(package: str, source: str) -> Iterator[Path]:
    """A folder with a copy of a package, of its sources only; also of torchvision, which others of PyTorch import."""
    ignored = shutil.ignore_patterns("*.so", "*.so.*", "__pycache__", "*.dylib", "*.pyd", "*_test.py")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        if package == "flax":
            shutil.copytree(Path(source) / "examples", folder, ignore=ignored, dirs_exist_ok=True)
            (folder / "__init__.py").unlink(missing_ok=True)  # the program stands beside packages, in none itself
        elif package == ALONE:
            pass
        elif package == "keras":
            shutil.copytree(_installed("keras") / "src" / "applications", folder / "applications", ignore=ignored)
            for path in (folder / "applications").iterdir():
                path.write_text(_as_user_code(path.read_text("utf-8")), "utf-8")
            (folder / "applications" / "__init__.py").write_text(
                "def keras_export(path):\n    return lambda made: made\n"
            )
        elif package == "transformers":
            (folder / "modeling").mkdir()
            for path in (_installed("transformers") / "models").glob("*/modeling_*.py"):
                text = _outside(path.read_text("utf-8"), f"transformers.models.{path.parent.name}")
                (folder / "modeling" / path.name).write_text(text, "utf-8")
        else:
            for name in dict.fromkeys((package, "torchvision")):
                shutil.copytree(_installed(name), folder / name, ignore=ignored)
        compileall.compile_dir(folder, quiet=2)  # once, not in each child
        yield folder


def _installed(name: str) -> Path:
    found = util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"{name} is not installed")
    return Path(found.origin).parent


def _outside(text: str, package: str) -> str:
    """A module of a package that imports what it needs of that package as a program does."""

    def absolute(found: re.Match[str]) -> str:
        parts = package.split(".")
        return (
            "from " + ".".join(parts[: len(parts) + 1 - len(found[1])] + ([found[2]] if found[2] else [])) + " import"
        )

    return re.sub(r"^from (\.+)([\w.]*) import", absolute, text, flags=re.MULTILINE)


def _as_user_code(text: str) -> str:
    """A module of Keras that imports Keras as a program does."""
    for pattern, new in (
        (r"^from keras\.src\.applications import", "from applications import"),
        (r"^from keras\.src\.models import Functional$", "from keras.models import Model as Functional"),
        (r"^from keras\.src\.layers\.layer import Layer$", "from keras.layers import Layer"),
        (r"^from keras\.src\.utils import file_utils$", "from keras import utils as file_utils"),
        (r"^from keras\.src\.api_export import", "from applications import"),
        (r"^from keras\.src(\.models)? import", r"from keras\1 import"),
    ):
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    return text


def subjects(package: str, source: str, folder: Path, random: Random, only: str) -> Iterator[Subject]:
    """The programs that run unbroken, in a random order, and what they run."""
    wanted = [each for each in programs(package, source) if re.search(only, each[0])]
    for name, text in random.sample(wanted, len(wanted)):
        (folder / DRIVER).write_text(text, "utf-8")
        told = in_child(lambda: executed(folder, trace=True, meta=package != ALONE))
        if told["kind"]:
            print(f"left out: {name}: {told['kind']} {told['message'][:100]}", file=sys.stderr)
        else:
            yield Subject(name, text, told["lines"])


def mutants(subject: Subject, folder: Path, random: Random, count: int) -> Iterator[tuple[str, Mutation]]:
    """Mutations of what a program runs: as many of each kind as of the others, as far as there are."""
    by_kind: dict[str, list[tuple[str, Mutation]]] = {}
    for path, lines in sorted(subject.lines.items()):
        text = subject.program.encode() if path == DRIVER else (folder / path).read_bytes()
        for mutation in Places(text, lines).find():
            by_kind.setdefault(mutation.kind, []).append((path, mutation))
    for _ in range(count):
        kinds = [kind for kind in sorted(by_kind) if by_kind[kind]]
        if not kinds:
            return
        places = by_kind[random.choice(kinds)]
        yield places.pop(random.randrange(len(places)))


def judged(subject: Subject, folder: Path, path: str, mutation: Mutation, distml: str, meta: bool) -> Outcome | None:
    """Run and check one mutant; None where meta tensors cannot tell."""
    (folder / DRIVER).write_text(subject.program, "utf-8")
    file = folder / path
    before = file.read_bytes()
    file.write_bytes(mutation.applied(before))
    try:
        told = in_child(lambda: executed(folder, trace=False, meta=meta))
        if told["kind"] in ("Ended", "MemoryError", "NotImplementedError", "SyntaxError") or OF_META.search(
            told["message"]
        ):
            return None
        findings = checked(folder, distml)
    finally:
        file.write_bytes(before)
    change = f"{before[mutation.start : mutation.end].decode()} -> {mutation.new}"
    place = f"{path}:{mutation.line}"
    return Outcome(subject.name, mutation.kind, place, change, told["kind"], told["message"], findings)


def main() -> int:
    """Break, run, check, count."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--subjects", default="torchvision,vit_pytorch", help="packages (default: %(default)s)")
    parser.add_argument("--only", default="", help="a regular expression for the names of the programs wanted")
    parser.add_argument(
        "--imports", default="torch", help="what the programs of a folder import (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=10, help="of each package (default: %(default)s)")
    parser.add_argument("--mutants", type=int, default=80, help="of each package (default: %(default)s)")
    parser.add_argument("--distml", default=str(Path(sys.executable).with_name("distml")), help="the program to ask")
    parser.add_argument("--json", type=Path, help="a file that gets a line for each mutant as soon as it is judged")
    options = parser.parse_args()
    done: list[tuple[str, Outcome]] = []
    for subject in options.subjects.split(","):
        package, _, source = subject.partition("=")
        for library in options.imports.split(",") if package == ALONE else _libraries(package):
            import_module(library)  # once, not in each child
        with workspace(package, source) as folder:
            for outcome in package_outcomes(package, source, folder, options):
                done.append((package, outcome))
                if options.json:
                    with options.json.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([package, *outcome]) + "\n")
    for line in report(done):
        print(line)
    return 0


def _libraries(package: str) -> list[str]:
    return ["jax" if package in ("keras", "flax") else "torch"]


def package_outcomes(package: str, source: str, folder: Path, options: Namespace) -> Iterator[Outcome]:
    """The mutants of one package, spread over its programs."""
    random, count = Random(f"{package} {options.seed}"), options.mutants
    found = list(islice(subjects(package, source, folder, random, options.only), options.programs))
    made = {subject.name: mutants(subject, folder, random, count) for subject in found}
    judged_so_far = 0
    while made and judged_so_far < count:
        for subject in found:
            place = next(made.get(subject.name, iter(())), None)
            if place is None:
                made.pop(subject.name, None)
                continue
            outcome = judged(subject, folder, *place, options.distml, package != ALONE)
            if outcome is not None and judged_so_far < count:
                judged_so_far += 1
                yield outcome


def report(done: Sequence[tuple[str, Outcome]]) -> Iterable[str]:
    """The tables as Markdown."""
    for title, key in (
        ("package", lambda package, outcome: package),
        ("kind", lambda package, outcome: outcome.mutation),
        ("what is raised", lambda package, outcome: outcome.kind or "nothing"),
    ):
        yield f"| {title} | mutants | fail | found | | run | flagged |\n|---|---|---|---|---|---|---|"
        names = Counter(key(*each) for each in done)
        for name, total in sorted(names.items()):
            rows = [outcome for package, outcome in done if key(package, outcome) == name]
            fail, found = [o for o in rows if o.kind], [o for o in rows if o.kind and o.findings]
            ran = [o for o in rows if not o.kind]
            share = f"{100 * len(found) / len(fail):.0f} %" if fail else ""
            flagged = sum(bool(o.findings) for o in ran)
            yield f"| {name} | {total} | {len(fail)} | {len(found)} | {share} | {len(ran)} | {flagged} |"
        yield ""
    for title, wanted in (("Missed", True), ("Flagged, though they run", False)):
        yield f"{title}:\n"
        for _, outcome in done:
            if bool(outcome.kind) is wanted and bool(outcome.findings) is not wanted:
                said = f"{outcome.kind}: {_short(outcome.message)}" if wanted else _short(outcome.findings[0])
                yield f"- {outcome.subject}, {outcome.mutation}, `{outcome.place}`, `{_short(outcome.change)}`: {said}"
        yield ""


def _short(text: str) -> str:
    return " ".join(text.split())[:110]


if __name__ == "__main__":
    sys.exit(main())
