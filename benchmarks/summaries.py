"""The table of layers of `distml shapes` beside torchinfo's, for torchvision's classification models.

    python benchmarks/summaries.py --python PROGRAM [--only resnet,vgg]

Run it with the interpreter that distml is installed for; PROGRAM is a Python that has torch, torchvision and torchinfo.
distml reads the source of each model, torchinfo builds the model and runs it on the CPU, in training as it is built. What is
right is asked of torch: the sizes of a model's parameters, and half of what its `FlopCounterMode` counts of a call on the meta
device. Markdown; the models where something differs go to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from process import run

DISTML = [sys.executable, "-P", "-m", "distml.cli"]
RIVAL = """
import contextlib, inspect, json, os, sys, time, warnings
warnings.simplefilter("ignore")
import torch, torchinfo
from torch.utils.flop_counter import FlopCounterMode

torch.set_num_threads(1)
with contextlib.suppress(RuntimeError):  # torchvision without its compiled part asks for two operators
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import torchvision
for name in torchvision.models.list_models(torchvision.models):
    if not any(part in name for part in sys.argv[1].split(",")):
        continue
    build = torchvision.models.get_model_builder(name)
    size = 299 if name == "inception_v3" else 224
    started = time.process_time()
    model = build()
    found = torchinfo.summary(model, (2, 3, size, size), verbose=0, device="cpu", mode="train")
    seconds = time.process_time() - started
    with FlopCounterMode(display=False) as counted:
        model.to("meta")(torch.empty(2, 3, size, size, device="meta"))
    truth = [sum(each.numel() for each in model.parameters()), counted.get_total_flops() // 2]
    made = inspect.unwrap(build)
    print(json.dumps([name, inspect.getsourcefile(made), made.__name__, size, truth,
                      [found.total_params, found.total_mult_adds], seconds]), flush=True)
"""


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--python", metavar="PROGRAM", required=True, help="a Python with torch, torchvision, torchinfo"
    )
    parser.add_argument("--only", default="", help="parts of the names of the models wanted, with commas between")
    options = parser.parse_args()
    done = run([options.python, "-c", RIVAL, options.only])
    if done.code:
        sys.exit(done.errors)
    for line in table([json.loads(line) for line in done.output.splitlines()], options.python):
        print(line, flush=True)
    return 0


def table(models: list[Any], python: str) -> Iterator[str]:
    """The table: of how many models each tells the truth, and how long it takes for all of them."""
    ours = [asked(model, python) for model in models]
    yield "| | parameters right | multiply-adds right | CPU seconds for all | runs the model |"
    yield "|---|---|---|---|---|"
    theirs = [(parameters, work, seconds) for *_, (parameters, work), seconds in models]
    for tool, answers, runs in (("`distml shapes`", ours, "no"), ("torchinfo", theirs, "yes")):
        right = [0, 0]
        for (name, _, _, _, truth, *_), answer in zip(models, answers, strict=True):
            for which in (0, 1):
                right[which] += answer[which] == truth[which]
            if list(answer[:2]) != truth:
                print(f"{tool}: {name}: {answer[:2]} instead of {truth}", file=sys.stderr)
        count, seconds = len(models), sum(seconds for *_, seconds in answers)
        yield f"| {tool} | {right[0]}/{count} | {right[1]}/{count} | {seconds:.1f} | {runs} |"


def asked(model: Any, python: str) -> tuple[Any, Any, float]:
    """What distml says of a model: parameters, multiply-adds, and its CPU seconds."""
    _, path, builder, size, *_ = model
    target = f"{Path(path).name}::{builder}"
    command = [*DISTML, "shapes", target, "--input", f"x: float[2, 3, {size}, {size}]", "--format", "json"]
    done = run(command, Path(path).parent, {"VIRTUAL_ENV": os.path.dirname(os.path.dirname(os.path.abspath(python)))})
    layers = {} if done.code else json.loads(done.output)["layers"] or {}
    return layers.get("parameters"), layers.get("multiply_adds"), done.cpu


if __name__ == "__main__":
    sys.exit(main())
