"""Breaks real model code in one place, runs it on meta tensors for the truth, and asks distml.

    python benchmarks/mutation.py [--subjects torchvision,vit_pytorch] [--seed N] [--mutants N] [--json FILE]

Run it with a Python that has distml, torch, torchvision and the packages. A subject is a short program that makes one model of
a package and calls it: for torchvision and timm the programs are made from tables below, for others they are the examples of
the package's own readme. The package is copied without its compiled parts. A mutant is one change (benchmarks/mutants.py) on a
line that the program runs, in the package or in the program. Truth is a child process with limits in which every tensor is on
the meta device; what fails there because it asks for data is left out, and so is a program that does not run unbroken. distml
checks the program; the package is a folder beside it. Tables go to standard output as Markdown: what was found of those that
fail, what was flagged of those that run.
"""

from __future__ import annotations

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
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module, metadata, util
from inspect import CO_NEWLOCALS
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mutants import Mutation, Places
from process import run

SECONDS = 60
MEMORY = 24 << 30
DRIVER = "program.py"
OF_META = re.compile(
    r"meta tensor|Meta tensor|'meta'|\bmeta device|not support meta|Fake|NotImplementedError", re.IGNORECASE
)

TORCHVISION = {
    "alexnet.alexnet": "1, 3, 224, 224",
    "vgg.vgg11_bn": "1, 3, 224, 224",
    "resnet.resnet18": "2, 3, 224, 224",
    "resnet.resnet50": "2, 3, 224, 224",
    "squeezenet.squeezenet1_0": "1, 3, 224, 224",
    "densenet.densenet121": "1, 3, 224, 224",
    "shufflenetv2.shufflenet_v2_x0_5": "1, 3, 224, 224",
    "mobilenetv2.mobilenet_v2": "1, 3, 224, 224",
    "mobilenetv3.mobilenet_v3_small": "1, 3, 224, 224",
    "mnasnet.mnasnet0_5": "1, 3, 224, 224",
    "googlenet.googlenet": "2, 3, 224, 224",
    "inception.inception_v3": "2, 3, 299, 299",
    "efficientnet.efficientnet_b0": "1, 3, 224, 224",
    "convnext.convnext_tiny": "1, 3, 224, 224",
    "regnet.regnet_y_400mf": "1, 3, 224, 224",
    "vision_transformer.vit_b_16": "1, 3, 224, 224",
    "swin_transformer.swin_t": "1, 3, 224, 224",
    "segmentation.fcn.fcn_resnet50": "1, 3, 64, 64",
    "segmentation.deeplabv3.deeplabv3_resnet50": "1, 3, 64, 64",
    "video.resnet.r3d_18": "1, 3, 8, 64, 64",
}
TIMM = {
    "mlp_mixer.MlpMixer": "img_size=64, patch_size=16, num_blocks=2, embed_dim=64",
    "vision_transformer.VisionTransformer": "img_size=64, patch_size=16, embed_dim=64, depth=2, num_heads=4",
    "convmixer.ConvMixer": "dim=32, depth=2",
    "convnext.ConvNeXt": "depths=(1, 1, 1, 1), dims=(16, 32, 64, 128)",
    "xception.Xception": "",
    "visformer.Visformer": "img_size=64, embed_dim=64, depth=(1, 1, 1), num_heads=2",
    "densenet.DenseNet": "block_config=(2, 2)",
    "metaformer.MetaFormer": "depths=(1, 1), dims=(16, 32)",
}


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


def programs(package: str) -> Iterator[tuple[str, str]]:
    """The programs over a package, by name."""
    if package == "torchvision":
        for name, shape in TORCHVISION.items():
            module, _, maker = name.rpartition(".")
            yield (
                name,
                (
                    f"import torch\nfrom torchvision.models.{module} import {maker}\n\n"
                    f"model = {maker}(weights=None)\nmodel.eval()\nmodel(torch.zeros({shape}))\n"
                ),
            )
        return
    if package == "timm":
        for name, arguments in TIMM.items():
            module, _, maker = name.rpartition(".")
            yield (
                name,
                (
                    f"import torch\nfrom timm.models.{module} import {maker}\n\n"
                    f"model = {maker}({arguments})\nmodel.eval()\nmodel(torch.zeros(1, 3, 64, 64))\n"
                ),
            )
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


def executed(folder: Path, trace: bool) -> dict[str, Any]:
    """Run the program of a folder on the meta device; the lines of the folder's files that it ran, if they are wanted."""
    import torch

    for name in ("nms", "qnms"):  # torchvision without its compiled part asks for these two
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    sys.dont_write_bytecode = True
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - the process ends with it
    lines: dict[str, set[int]] = {}

    def line(frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(str(folder)) or not (frame.f_code.co_flags & CO_NEWLOCALS or name.endswith(DRIVER)):
            return None  # what modules and classes do when they are made is the same for every program
        lines.setdefault(name, set()).add(frame.f_lineno)
        return line

    with torch.device("meta"):
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


def checked(folder: Path) -> tuple[str, ...]:
    """What distml says of the program of a folder: codes and messages of errors."""
    distml = str(Path(sys.executable).with_name("distml"))
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
def workspace(package: str) -> Iterator[Path]:
    """A folder with a copy of a package, of its sources only; also of torchvision, which others import."""
    ignored = shutil.ignore_patterns("*.so", "*.so.*", "__pycache__", "*.dylib", "*.pyd")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        for name in dict.fromkeys((package, "torchvision")):
            found = util.find_spec(name)
            if found is None or found.origin is None:
                raise SystemExit(f"{name} is not installed")
            shutil.copytree(Path(found.origin).parent, folder / name, ignore=ignored)
            compileall.compile_dir(folder / name, quiet=2)  # once, not in each child
        yield folder


def subjects(package: str, folder: Path, random: Random, only: str) -> Iterator[Subject]:
    """The programs that run unbroken, in a random order, and what they run."""
    for name, text in random.sample(wanted := [each for each in programs(package) if only in each[0]], len(wanted)):
        (folder / DRIVER).write_text(text, "utf-8")
        told = in_child(lambda: executed(folder, trace=True))
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


def judged(subject: Subject, folder: Path, path: str, mutation: Mutation) -> Outcome | None:
    """Run and check one mutant; None where meta tensors cannot tell."""
    (folder / DRIVER).write_text(subject.program, "utf-8")
    file = folder / path
    before = file.read_bytes()
    file.write_bytes(mutation.applied(before))
    try:
        told = in_child(lambda: executed(folder, trace=False))
        if told["kind"] in ("Ended", "MemoryError", "NotImplementedError", "SyntaxError") or OF_META.search(
            told["message"]
        ):
            return None
        findings = checked(folder)
    finally:
        file.write_bytes(before)
    change = f"{before[mutation.start : mutation.end].decode()} -> {mutation.new}"
    place = f"{path}:{mutation.line}"
    return Outcome(subject.name, mutation.kind, place, change, told["kind"], told["message"], findings)


def main() -> int:
    """Break, run, check, count."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--subjects", default="torchvision,vit_pytorch", help="packages (default: %(default)s)")
    parser.add_argument("--only", default="", help="a part of the names of the programs wanted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=10, help="of each package (default: %(default)s)")
    parser.add_argument("--mutants", type=int, default=80, help="of each package (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="a file that gets a line for each mutant as soon as it is judged")
    options = parser.parse_args()
    import_module("torch")  # once, not in each child
    done: list[tuple[str, Outcome]] = []
    for package in options.subjects.split(","):
        with workspace(package) as folder:
            for outcome in package_outcomes(
                package, folder, options.seed, options.mutants, options.only, options.programs
            ):
                done.append((package, outcome))
                if options.json:
                    with options.json.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([package, *outcome]) + "\n")
    for line in report(done):
        print(line)
    return 0


def package_outcomes(
    package: str, folder: Path, seed: int, count: int, only: str, programs_wanted: int
) -> Iterator[Outcome]:
    """The mutants of one package, spread over its programs."""
    random = Random(f"{package} {seed}")
    found = list(islice(subjects(package, folder, random, only), programs_wanted))
    made = {subject.name: mutants(subject, folder, random, count) for subject in found}
    judged_so_far = 0
    while made and judged_so_far < count:
        for subject in found:
            place = next(made.get(subject.name, iter(())), None)
            if place is None:
                made.pop(subject.name, None)
                continue
            outcome = judged(subject, folder, *place)
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
