"""What is put into something under a condition of the rank's own data is the rank's own, on whichever of both ways."""

from __future__ import annotations

import pytest

from spmd.test_told import told

LOADER = "loader = DataLoader(dataset, sampler=DistributedSampler(dataset))\nfound = torch.zeros(3)\n"
PUT = {
    "in a loop": "for x in loader:\n    if x.sum() > 3:\n        found[0] = x\nprint(found)",
    "on both ways": "for x in loader:\n    if x.sum() > 3:\n        found[0] = x\n    else:\n        found[0] = -x\nprint(found)",
    "in a function": """
def keep(found, value):
    if value > 3:
        found[0] = value
    return found

print(keep(found, next(iter(loader))))
""",
}


@pytest.mark.parametrize("way", PUT)
def test_it_is_told(way: str) -> None:
    assert told(LOADER + PUT[way])
