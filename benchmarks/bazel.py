"""The Bazel aspect on generated targets: cold, nothing to do, one edit, with workers and without, a disk cache after clean.

    python benchmarks/bazel.py [--targets 200] [--bazel bazel]

Each target is one module with a model that is built on that of the target before it, in chains of ten, and a program that
runs it; all are free of findings. Prints Markdown. Needs Bazel (4, as Debian has it) and takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
PARTS = ("bazel", "checker", "transforms")
CHAIN = 10
STRATEGIES = {"workers": "worker", "no workers": "sandboxed"}
_WORKSPACE = """\
workspace(name = "bench")
local_repository(name = "rules_cc", path = "{distml}/bazel/debian/rules_cc")
local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")
local_repository(name = "distml", path = "{distml}")
load("@distml//bazel:tool.bzl", "distml_python")
distml_python(name = "distml_python")
"""
_FIRST = """\
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, padding=1)
        self.head = nn.Linear(width * 16 * 16, 10)

    def forward(self, images):
        features = torch.relu(self.conv(images))
        return self.head(nn.functional.max_pool2d(features, 2).flatten(1))


if __name__ == "__main__":
    print(Net()(torch.randn(8, 3, 32, 32)).shape)
"""
_NEXT = """\
import torch
import torch.nn as nn
from p{before}.net import Net as Before


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.before = Before(width)
        self.head = nn.Linear(10, 10)

    def forward(self, images):
        return self.head(self.before(images))


if __name__ == "__main__":
    print(Net()(torch.randn(8, 3, 32, 32)).shape)
"""


class Step(NamedTuple):
    """One build: seconds on the clock, and what Bazel says it did."""

    seconds: float
    processes: str


class Bench:
    """A generated workspace and a server of Bazel."""

    def __init__(self, folder: Path, bazel: str, targets: int) -> None:
        self.folder, distml = folder / "workspace", folder / "distml"
        for name in PARTS:  # a copy, which nobody works on meanwhile
            shutil.copytree(CHECKOUT / name, distml / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("WORKSPACE", "BUILD.bazel"):
            shutil.copy(CHECKOUT / name, distml / name)
        self._start = [bazel, f"--output_user_root={folder}/outputs", "--nohome_rc"]
        for index in range(targets):
            self.write(index)
            deps = f'"//p{index - 1}:net"' if index % CHAIN else ""
            visible = 'visibility = ["//visibility:public"]'
            build = f'py_library(name = "net", srcs = ["net.py"], deps = [{deps}], {visible})\n'
            (self.folder / f"p{index}" / "BUILD").write_text(build)
        (self.folder / "WORKSPACE").write_text(_WORKSPACE.format(distml=distml))

    def write(self, index: int, comment: str = "", parameter: str = "") -> None:
        """One module, with a comment in front and another parameter if given."""
        path = self.folder / f"p{index}" / "net.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _NEXT.format(before=index - 1) if index % CHAIN else _FIRST
        path.write_text(comment + text.replace("width=64", "width=64" + parameter))

    def build(self, *options: str) -> Step:
        started = time.monotonic()
        done = self.call("build", "--aspects=@distml//bazel:shape.bzl%check", *options, "//...")
        seconds = time.monotonic() - started
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        said = re.findall(r"INFO: \d+ process(?:es)?: (.*)\.", done.stderr)
        return Step(seconds, said[-1] if said else "")

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "DISTML_PYTHON": sys.executable}
        command = [*self._start, *arguments]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)


def measured(bench: Bench, strategy: str, cache: Path) -> dict[str, Step]:
    """The steps of one strategy, from an empty output folder, the server running and the checker packed."""
    options = (f"--strategy=Distml={strategy}", f"--disk_cache={cache}")
    bench.call("build", "@distml//bazel:worker", f"--disk_cache={cache}")
    steps = {"cold": bench.build(*options), "nothing to do": bench.build(*options)}
    first = CHAIN  # the first module of a chain
    bench.write(first, comment="# an edit\n")
    steps["a comment, 9 targets above"] = bench.build(*options)
    bench.write(first, comment="# an edit\n", parameter=", depth=1")
    steps["a signature, 9 targets above"] = bench.build(*options)
    bench.call("clean")
    steps["after clean, from a disk cache"] = bench.build(*options)
    bench.write(first)
    bench.call("clean")
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=200)
    parser.add_argument("--bazel", default="bazel")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="distml-bazel-"))
    bench = Bench(folder, options.bazel, options.targets)
    try:
        results = {name: measured(bench, how, folder / name.replace(" ", "-")) for name, how in STRATEGIES.items()}
    finally:
        bench.call("shutdown")
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{options.targets} targets, seconds (what Bazel ran):\n")
    print(f"| | {' | '.join(results)} |\n|---|{'---|' * len(results)}")
    for step in next(iter(results.values())):
        cells = [f"{steps[step].seconds:.1f} ({steps[step].processes})" for steps in results.values()]
        print(f"| {step} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
