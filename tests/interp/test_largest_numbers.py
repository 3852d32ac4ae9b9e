"""Tables are looked up inside: programs that number positions, move the numbers around or change them, and look them up."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from interp.programs import judge_failing, judge_running, runs

pytestmark = pytest.mark.requires("torch", "numpy")

STARTS = (
    "p = torch.arange({n})",
    "p = torch.arange(2, {n})",
    "p = torch.arange(0, {n}, 3)",
    "p = torch.arange({n}, dtype=torch.long)",
    "p = torch.arange({n}, 0, -1)",
    "p = torch.from_numpy(np.arange({n}))",
    "p = torch.arange({n}, dtype=torch.int32)",
    "p = torch.arange({n}, dtype=torch.uint8).long()",
    "p = torch.arange(float({n})).long()",
)
MOVES = (
    "p = p.unsqueeze(0)",
    "p = p.unsqueeze(0).expand(3, -1)",
    "p = p.reshape(1, -1)",
    "p = p.repeat(2)",
    "p = p.to('cpu')",
    "p = p.long()",
    "p = p.clone()",
    "p = p.flip(0)",
    "p = p.view(-1)",
    "p = p[None]",
    "p = p.contiguous().detach()",
    "p = torch.unsqueeze(p, -1)",
    "p = p + 0",
    "p = 1 + p",
    "p = p - 1",
    "p = p.add(2)",
    "p = p % 16",
    "p = torch.remainder(p, 9)",
    "p = p // 3",
    "p = p * 2",
    "p = 3 * p",
    "p = p.floor_divide(2)",
)
CHANGES = (
    "p = p % 8",
    "p = p // 64",
    "p = p.clamp(max=7)",
    "p %= 8",
    "p.clamp_(max=7)",
    "p.fill_(0)",
    "p[...] = 3",
    "q = p.view(-1)\nq.fill_(1)",
    "p = p[..., :1]",
    "p.remainder_(8)",
    "p = p.min().reshape(1)",
    "p.zero_()",
    "p.copy_(torch.zeros_like(p))",
    "p = torch.zeros_like(p)",
    "p.mul_(0)",
    "p *= 0",
    "torch.zeros(p.shape, dtype=p.dtype, out=p)",
    "p.masked_fill_(p > 7, 0)",
    "p = p.where(p < 8, p * 0)",
    "q = p[None]\nq.zero_()",
    "def change(x):\n    x.zero_()\n\nchange(p)",
    "p.data.zero_()",
    "p.index_fill_(0, p.flatten()[:0], 1)",
    "p.numpy()[...] = 0",
    "for i in range(p.numel()):\n    p.view(-1)[i] = 0",
    "torch.clamp(p, max=7, out=p)",
    "p.random_(0, 8)",
)
LOOKUPS = (
    "nn.Embedding(16, 4)(p)",
    "torch.zeros(16, 4)[p]",
    "torch.zeros(4, 16)[:, p]",
    "nn.functional.embedding(p, torch.zeros(16, 4))",
    "torch.zeros(16, 4).index_select(0, p)",
    "np.zeros((16, 4))[p.numpy()]",
    "nn.functional.one_hot(p).float() @ torch.zeros(16, 4)",
)


def _program(seed: int) -> str:
    random = Random(seed)
    lines = [random.choice(STARTS).format(n=random.choice((8, 16, 17, 40, 300)))]
    lines += [random.choice(MOVES if random.random() < 0.7 else CHANGES) for _ in range(random.randrange(4))]
    lines.append(random.choice(LOOKUPS))
    return "import numpy as np\nimport torch\nfrom torch import nn\n" + "\n".join(lines) + "\n"


def test_lookups_as_in_realruns() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(300):
        program = _program(seed)
        verdict = judge_running(program, []) if runs(program) else judge_failing(program)
        assert verdict.kind not in ("false alarm", "early", "wrong"), str(verdict)
        kinds[verdict.kind] += 1
    assert kinds["found"] > 60 and kinds["exact"] > 70, kinds


@pytest.mark.parametrize("change", CHANGES)
def test_numbers_that_are_changed_are_not_known(change: str) -> None:
    program = f"import numpy as np\nimport torch\nfrom torch import nn\np = torch.arange(40)\n{change}\nnn.Embedding(16, 4)(p)\n"
    verdict = judge_running(program, []) if runs(program) else judge_failing(program)
    assert verdict.kind not in ("false alarm", "early", "wrong"), str(verdict)
