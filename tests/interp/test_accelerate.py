"""accelerate's loop: sizes as a run of accelerate 1.15.0 with torch 2.13.0 gave them, on one process.

    python tests/interp/test_accelerate.py

runs the program with the library, and fails where a size is another one.
"""

from __future__ import annotations

PROGRAM = """
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(1)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.zeros(12, 4), torch.zeros(12, dtype=torch.long)), batch_size=6)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    with accelerator.accumulate(model):
        out = model(x)
        reveal_shape(x)  # [6, 4]
        reveal_shape(out)  # [6, 3]
        loss = nn.functional.cross_entropy(out, y)
        reveal_shape(loss)  # []
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    with accelerator.autocast():
        reveal_shape(model(x))  # [6, 3]
    reveal_shape(accelerator.reduce(out))  # [6, 3]
reveal_shape(accelerator.unwrap_model(model).weight)  # [3, 4]
reveal_shape(accelerator.prepare(nn.Linear(2, 5)).weight)  # [5, 2]
reveal_shape(accelerator.get_state_dict(model)["weight"])  # [3, 4]
with accelerator.main_process_first(), accelerator.no_sync(model):
    reveal_shape(accelerator.prepare_model(nn.Linear(5, 6))(torch.zeros(2, 5)))  # [2, 6]
reveal_shape(accelerator.gradient_accumulation_steps)  # 2
reveal_shape(torch.zeros(2, 3, device=accelerator.device))  # [2, 3]
accelerator.print("done")
accelerator.wait_for_everyone()
"""
SIZES = [line.partition("  # ")[2] for line in PROGRAM.splitlines() if "reveal_shape(" in line]


def test_sizes_are_those_of_a_recorded_run() -> None:
    from interp.programs import errors_of, revealed

    assert not errors_of(PROGRAM)
    assert [each.removeprefix("Tensor") for each in revealed(PROGRAM)] == SIZES


def test_what_does_not_fit_in_the_loop_is_found() -> None:
    from interp.programs import errors_of

    (found,) = errors_of(PROGRAM.replace("model = nn.Linear(4, 3)", "model = nn.Linear(5, 3)"))[:1]
    assert found.code == "SHP401"
    assert PROGRAM.splitlines()[found.span.line - 1].strip() == "out = model(x)"


def _run() -> None:
    seen: list[str] = []

    def reveal_shape(value: object) -> None:
        seen.append(str(list(value.shape)) if hasattr(value, "shape") else str(value))

    exec(PROGRAM, {"__name__": "program", "reveal_shape": reveal_shape})
    times = len(seen) - len(SIZES)  # the loop runs twice
    assert seen[times:] == SIZES, seen


if __name__ == "__main__":
    _run()
