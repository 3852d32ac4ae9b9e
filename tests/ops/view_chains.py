"""Programs that move, thin out and compute with a tensor, and then view it: whether PyTorch lets them.

Each program is a function without arguments; `really(programs)` gives those that raise.
"""

from __future__ import annotations

import random
from typing import Any

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F"
MAKERS = ("torch.randn({})", "torch.zeros({})", "torch.ones({}).float()", "nn.Parameter(torch.randn({}))")
SAME = (
    "{x}.relu()",
    "F.dropout({x}, 0.5)",
    "{x} * 2",
    "1 - {x}",
    "{x} + {x}",
    "nn.GELU()({x})",
    "{x}.clone()",
    "{x}.detach()",
    "{x}.double().float()",
    "-{x}",
    "torch.sigmoid({x})",
    "{x}.contiguous()",
    "torch.zeros_like({x})",
    "{x}.softmax(-1)",
    "{x} + {x}[..., :1]",
    "{x} * torch.ones({last})",
    "torch.where({x} > 0, {x}, {x})",
    "{x}.masked_fill({x} > 0, 0.0)",
    "{x}.cumsum(0)",
    "nn.Linear({last}, {last})({x})",
    "nn.LayerNorm({last})({x})",
    "{x} @ torch.ones({last}, {last})",
)
"""What keeps the shape."""


def _sizes(draw: random.Random, count: int) -> list[int]:
    return [draw.choice((1, 2, 2, 3, 4)) for _ in range(count)]


def _step(draw: random.Random, x: Any) -> str:
    """Code for another tensor made of one that has at least one axis."""
    rank = x.dim()
    axis, other = draw.randrange(rank), draw.randrange(rank)
    order = draw.sample(range(rank), rank)
    after = tuple(order)
    flat = x.reshape(-1).shape[0]
    kinds = [
        f"{{x}}.transpose({axis}, {other})",
        f"{{x}}.permute{after}" if rank > 1 else "{x}.permute(0)",
        f"torch.swapaxes({{x}}, {axis}, {other})",
        f"{{x}}.movedim({axis}, {other})",
        f"{{x}}.unsqueeze({axis})",
        f"{{x}}.squeeze({axis})",
        "{x}.squeeze()",
        f"{{x}}.flatten({min(axis, other)}, {max(axis, other)})",
        f"{{x}}.narrow({axis}, 0, {max(x.shape[axis] - 1, 1)})",
        f"{{x}}.chunk(2, {axis})[0]",
        f"{{x}}.split(1, {axis})[-1]",
        "{x}[" + ", ".join([":"] * axis + ["::2"]) + "]",
        "{x}[" + ", ".join([":"] * axis + ["1:"]) + "]" if x.shape[axis] > 1 else "{x}[None]",
        "{x}[..., None]",
        f"{{x}}.expand(2, {', '.join(['-1'] * rank)})",
        f"{{x}}.reshape({', '.join(map(str, _factors(draw, flat)))})",
        f"torch.cat([{{x}}, {{x}}], {axis})",
        f"torch.stack([{{x}}, {{x}}], {axis})",
        f"{{x}}.sum({axis}, keepdim=True)",
        f"{{x}}.repeat({', '.join(['2'] * rank)})",
        "F.pad({x}, (1, 1))",
        "{x}[torch.tensor([0, 0])]",
    ]
    if rank > 1:
        kinds += [
            "{x}.mT",
            f"{{x}}.select({axis}, 0)",
            f"{{x}}.unbind({axis})[0]",
            "{x}[0]",
            "{x}[" + ", ".join([":"] * axis + ["0"]) + "]",
            f"{{x}}.mean({axis})",
            "{x} @ {x}.mT",
            "torch.matmul({x}, {x}.transpose(-2, -1))",
        ]
    if rank == 3:
        kinds += [f"nn.Conv1d({x.shape[1]}, 3, 1)({{x}})", "nn.MaxPool1d(1)({x})", "torch.bmm({x}, {x}.mT)"]
    if rank == 4:
        kinds += [
            f"nn.Conv2d({x.shape[1]}, 3, 1)({{x}})",
            "F.avg_pool2d({x}, 1)",
            f"nn.BatchNorm2d({x.shape[1]}).eval()({{x}})",
        ]
    step = draw.choice(kinds) if draw.random() < 0.65 else draw.choice(SAME)
    return step.replace("{last}", str(x.shape[-1]))


def _factors(draw: random.Random, count: int) -> list[int]:
    """Sizes that multiply to `count`."""
    found = []
    while count > 1 and len(found) < 3 and draw.random() < 0.8:
        divisor = draw.choice([d for d in range(1, count + 1) if count % d == 0])
        found.append(divisor)
        count //= divisor
    return [*found, count]


def programs(seed: int, count: int) -> list[str]:
    """Functions `f0`, `f1` and so on; whatever comes before the view works."""
    import torch
    from torch import nn
    from torch.nn import functional

    draw, found = random.Random(seed), []
    names = {"torch": torch, "nn": nn, "F": functional}
    while len(found) < count:
        start = draw.choice(MAKERS).format(", ".join(map(str, _sizes(draw, draw.randint(1, 4)))))
        lines, x = [f"x = {start}"], eval(start, names)
        for _ in range(draw.randint(1, 5)):
            step = _step(draw, x).replace("{x}", "x")
            try:
                now = eval(step, {**names, "x": x})
            except (RuntimeError, ValueError, IndexError):
                continue
            if 0 < now.dim() < 6 and 1 < now.numel() < 5000:
                lines.append(f"x = {step}")
                x = now
        lines.append(f"x.view({', '.join(map(str, _factors(draw, x.numel())))})")
        found.append(f"def f{len(found)}():\n" + "".join(f"    {line}\n" for line in lines))
    return found


def really(source: list[str]) -> set[str]:
    """The functions that raise, by PyTorch."""
    names: dict[str, Any] = {}
    exec(f"{HEAD}\n" + "\n".join(source), names)
    failed = set()
    for name in [f"f{place}" for place in range(len(source))]:
        try:
            names[name]()
        except RuntimeError:
            failed.add(name)
    return failed
