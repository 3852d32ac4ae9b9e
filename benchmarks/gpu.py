"""Programs that choose their GPU in eight ways, by ten kinds of training step, run as two ranks on one GPU.

    python benchmarks/gpu.py FOLDER [--backends horovod,ddp,accelerate] [--jobs 8]

Needs a Python with PyTorch built for CUDA and with the back ends, and distml beside them. Each program is rewritten in
FOLDER and run by `distml smoke --backend nccl --share-gpu`, beside the program in one process. Prints what did not pass,
and how many did by back end; exit code 1 where one failed.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OPTION = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
torch.cuda.set_device(args.gpu)"""
DEVICES = {
    "method": ("", "net = net.cuda()", "{}.cuda(non_blocking=True)"),
    "name": ("device = torch.device('cuda:0')", "net.to(device)", "{}.to(device)"),
    "number": ("", "net.to(0)", "{}.to(0)"),
    "available": ("device = 'cuda' if torch.cuda.is_available() else 'cpu'", "net = net.to(device)", "{}.to(device)"),
    "option": (OPTION, "net.cuda(args.gpu)", "{}.cuda(args.gpu)"),
    "visible": ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'", "net.cuda()", "{}.cuda()"),
    "default": ("torch.set_default_device('cuda')", "pass", "{}.to('cuda')"),
    "current": (
        "torch.cuda.set_device(torch.device('cuda', 0))",
        "net.to(torch.cuda.current_device())",
        "{}.to(device=torch.cuda.current_device())",
    ),
}
"""What stands in front, how the model gets to the GPU, and how a batch does."""
LOSS = "loss = F.cross_entropy(net(x), y)\n"
PLAIN = f"optimizer.zero_grad()\n{LOSS}loss.backward()\noptimizer.step()\n"
AUTOCAST = "optimizer.zero_grad()\nwith torch.autocast('cuda', dtype=torch.{}):\n    " + LOSS
CLIP = "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
SCALER = "scaler = torch.amp.GradScaler('cuda')\n"
SCALED = "scaler.step(optimizer)\nscaler.update()\n"
SIDE = """side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    x = x * 1.0
torch.cuda.current_stream().wait_stream(side)
"""
AVERAGE = """with torch.no_grad():
    for a, b in zip(ema.parameters(), net.parameters()):
        a.mul_(0.9).add_(b, alpha=0.1)
"""
SECOND = "second.zero_grad()\nF.cross_entropy(net(x), y).backward()\nsecond.step()\n"
APART = "if (i + 1) % 2 == 0:\n    optimizer.step()\n    optimizer.zero_grad()\n"
STEPS = {
    "plain": ("", PLAIN),
    "fp16": (SCALER, AUTOCAST.format("float16") + "scaler.scale(loss).backward()\n" + SCALED),
    "fp16 clipped": (
        SCALER,
        AUTOCAST.format("float16") + "scaler.scale(loss).backward()\nscaler.unscale_(optimizer)\n" + CLIP + SCALED,
    ),
    "bf16 clipped": ("", AUTOCAST.format("bfloat16") + "loss.backward()\n" + CLIP + "optimizer.step()\n"),
    "accumulated": ("", f"{LOSS}(loss / 2).backward()\n{APART}"),
    "two optimizers": ("second = torch.optim.Adam(net.parameters(), lr=1e-4)\n", PLAIN + SECOND),
    "stream": ("side = torch.cuda.Stream()\n", SIDE + PLAIN),
    "compiled": ("net = torch.compile(net)\n", PLAIN),
    "averaged": ("import copy\nema = copy.deepcopy(net)\n", PLAIN + AVERAGE),
    "guarded": ("", PLAIN.replace("loss.backward()", "if not torch.isfinite(loss):\n    continue\nloss.backward()")),
}
"""What stands behind the optimizer, and the step."""
TEXT = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

{before}

torch.manual_seed(0)
data = TensorDataset(torch.randn(160, 1, 8, 8, device='cpu'), torch.randint(0, 4, (160,), device='cpu'))
generator = torch.Generator(device='{generator}')
loader = DataLoader(data, batch_size=8, shuffle=True, generator=generator, pin_memory=True)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))
{move}
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
{behind}for epoch in range(2):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        x, y = {x}, {y}
{step}        total += loss.item()
    print(f"epoch {{epoch}}: {{total / len(loader):.4f}}")
    torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt", map_location="cuda"))
"""


def programs() -> Iterator[tuple[str, str]]:
    """Each way to choose a GPU with each step: a name and the program."""
    for (device, (before, move, to)), (kind, (behind, step)) in itertools.product(DEVICES.items(), STEPS.items()):
        inside = "".join(f"        {line}\n" for line in step.splitlines())
        generator = "cuda" if device == "default" else "cpu"
        parts = {"before": before, "move": move, "behind": behind, "step": inside, "generator": generator}
        yield f"{device}, {kind}", TEXT.format(**parts, x=to.format("x"), y=to.format("y"))


def run(folder: Path, name: str, text: str, backend: str) -> tuple[str, str]:
    """`passed`, `failed`, `not run` or `unchanged`, and the report of what did not pass."""
    room = folder / f"{name.replace(', ', '-').replace(' ', '-')}-{backend}"
    room.mkdir(parents=True, exist_ok=True)
    original, rewritten = room / "train.py", room / "rewritten.py"
    for path in (original, rewritten):
        path.write_text(text, "utf-8")
    distml = [sys.executable, "-P", "-m", "distml.cli"]
    done = subprocess.run(
        [*distml, "horovod", str(rewritten), "--backend", backend, "--write"],
        capture_output=True,
        text=True,
        check=False,
    )
    if rewritten.read_text("utf-8") == text:
        return "unchanged", done.stdout + done.stderr
    smoke = [*distml, "smoke", str(original), "--rewritten", str(rewritten), "--np", "2", "--steps", "8"]
    done = subprocess.run(
        [*smoke, "--backend", "nccl", "--share-gpu"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {0: "passed", 1: "failed"}.get(done.returncode, "not run"), done.stdout + done.stderr


def main() -> int:
    """Run all; 1 where one did not pass."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backends", default="horovod,ddp,accelerate")
    parser.add_argument("--jobs", type=int, default=8, help="programs at the same time")
    options = parser.parse_args()
    jobs = [(options.folder, *program, backend) for program in programs() for backend in options.backends.split(",")]
    counts: Counter[tuple[str, str]] = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for (_, name, _, backend), (result, report) in zip(jobs, pool.map(run, *zip(*jobs, strict=True)), strict=True):
            counts[backend, result] += 1
            if result != "passed":
                print(f"{name}, {backend}: {result}\n{report}")
    for (backend, result), count in sorted(counts.items()):
        print(f"{backend}: {count} {result}")
    return int(any(result != "passed" for _, result in counts))


if __name__ == "__main__":
    sys.exit(main())
