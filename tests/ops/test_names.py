"""What a library calls by several names is one thing: where one of them has rules, all have (`frameworks/record_names.py`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distml.interp.public_names import canonical, has_rules

RECORDS = sorted(Path(__file__).with_name("frameworks").glob("names-*.json"))
OUTSIDE = (
    *(
        "numpy.char.",
        "numpy.ma.MaskType",
        "numpy.ma.bool_",
        "numpy.ma.core.",
        "numpy.strings.",
        "torch.Tensor",
        "torch.ao.",
    ),
    *(
        "torch.cpu.",
        "torch.fft.Tensor",
        "torch.nn.common_types.",
        "torch.nn.functional.Tensor",
        "torch.nn.quantized.",
        "torch.xpu.",
    ),
    *("flax.core.spmd.", "flax.linen.linear.eval_shape", "flax.linen.recurrent.FrozenDict", "flax.linen.summary."),
    *("flax.linen.transforms.FrozenDict", "flax.typing."),
)
"""Names that a module only uses, and modules that are not followed or whose functions have another's name for something else."""


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_all_names_of_a_thing_have_its_rules(path: Path) -> None:
    known, unknown = 0, []
    for group in json.loads(path.read_text("utf-8")):
        names = [name for name in group if not name.startswith(OUTSIDE)]
        with_rules = [name for name in names if has_rules(canonical(name))]
        known += bool(with_rules)
        unknown += [name for name in names if with_rules and name not in with_rules]
    assert known > 100
    assert unknown == []
