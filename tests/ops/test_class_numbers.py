"""Numbers of classes and places along an axis that are known: what is told beside what PyTorch does (SHP302)."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, runs

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
NUMBERS = ("[0, 1]", "[0, 3]", "[0, 2]", "[-1, 0]", "[-100, 0]", "[255, 0]")
FORMS = """
F.cross_entropy(torch.randn(2, 3), torch.tensor({}))
F.cross_entropy(torch.randn(2, 3), torch.tensor({}), ignore_index=-1)
F.cross_entropy(torch.randn(2, 3), torch.tensor({}), ignore_index=int("255"))
F.cross_entropy(torch.randn(2, 3, 2), torch.tensor([{}, [0, 1]]))
F.cross_entropy(torch.randn(2, 2), torch.tensor([{}, [0, 1]]).float())
F.cross_entropy(torch.randn(3), torch.tensor({}[0]))
F.cross_entropy(torch.randn(2, 3), torch.tensor({}) + 1)
F.cross_entropy(torch.randn(2, 3), torch.tensor({}).clamp(0, 2))
F.nll_loss(torch.randn(2, 3), torch.tensor({}))
nn.CrossEntropyLoss()(torch.randn(2, 3), torch.tensor({}))
nn.CrossEntropyLoss(ignore_index=255)(torch.randn(2, 3), torch.tensor({}))
nn.NLLLoss(ignore_index=-1)(torch.randn(2, 3), torch.tensor({}))
F.one_hot(torch.tensor({}), 3)
F.one_hot(torch.tensor({}))
nn.Embedding(3, 2)(torch.tensor({}))
torch.zeros(2, 3).scatter_(1, torch.tensor([{}, [0, 1]]), 1.0)
torch.gather(torch.zeros(2, 3), 1, torch.tensor([{}, [0, 1]]))
torch.zeros(3, 2).index_select(0, torch.tensor({}))
"""


@pytest.mark.requires("torch")
def test_numbers_of_classes() -> None:
    programs = [f"{HEAD}{form.format(numbers)}\n" for form in FORMS.strip().splitlines() for numbers in NUMBERS]
    failing = {program for program in programs if not runs(program)}
    found = {program for program in programs if errors_of(program)}
    assert found <= failing, "".join(found - failing)
    assert len(found) > 0.85 * len(failing), "".join(failing - found)
