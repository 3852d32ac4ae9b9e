"""A layer of the program may have another `forward`: calling a loss with any arguments crashes no rule."""

from __future__ import annotations

import pytest

from distml.ops.torch.nn.loss_layers import LOSSES

from interp.programs import errors_of

GIVEN = ("", "target=x", "weight=x", "reduction='sum'", "input=x", "unheard_of=x")


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_any_number_of_arguments(name: str) -> None:
    calls = [
        f"def call_{number}_{index}(loss, x):\n    nn.{name}()({', '.join(filter(None, ['x'] * number + [given]))})\n"
        for number in range(7)
        for index, given in enumerate(GIVEN)
    ]
    program = "import torch\nfrom torch import nn\n\n\n" + "\n\n".join(calls)
    assert [finding.message for finding in errors_of(program) if finding.code.startswith("SRC")] == []


def test_inputs_are_still_compared() -> None:
    program = "import torch\nfrom torch import nn\n\nnn.MSELoss()(torch.zeros(2, 3), torch.zeros(4, 5))\n"
    by_name = program.replace("torch.zeros(4, 5)", "target=torch.zeros(4, 5)")
    assert len(errors_of(program)) == len(errors_of(by_name)) == 1
