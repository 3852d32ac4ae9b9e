"""Objects that keep numbers, in a dictionary or a list that a loop fills: what they say of a rank's batches is the rank's own."""

from __future__ import annotations

import pytest

from spmd.test_told import ALIKE, OWN_LOADER, told

UPDATES = {
    "made where it is missing": """
        if key not in self.meters:
            self.meters[key] = Meter()
        self.meters[key].update(value)
""",
    "made anew": """
        self.meters[key] = Meter()
        self.meters[key].update(value)
""",
    "asked for": """
        meter = self.meters.get(key)
        if meter is None:
            meter = self.meters[key] = Meter()
        meter.update(value)
""",
    "by default": """
        self.meters.setdefault(key, Meter()).update(value)
""",
    "in a row": """
        for each in (key, "all"):
            if each not in self.meters:
                self.meters[each] = Meter()
            self.meters[each].update(value)
""",
}
TOLD = {
    "the means": "{k: m.mean for k, m in self.meters.items()}",
    "the one": "self.meters['loss'].mean",
    "the sums": "[m.total for m in self.meters.values()]",
    "by their keys": "[self.meters[k].total for k in self.meters]",
    "as texts": "', '.join(f'{k} {m.mean:.2f}' for k, m in self.meters.items())",
    "by its own index": "self['loss'].mean",
    "under other keys": "{f'{prefix}{k}': m.mean for k, m in self.meters.items()}",
    "added up": "sum(m.total for m in self.meters.values())",
}
PROGRAM = """
class Meters:
    def __init__(self):
        self.meters = {}

    def __getitem__(self, key):
        return self.meters[key]

    def update(self, key, value):UPDATE
    def told(self):
        return TOLD

prefix = os.environ.get('PREFIX', '')
meters = Meters()
for x in DATA:
    meters.update("loss", VALUE)
if dist.get_rank() == 0:
    print(meters.told())
"""


@pytest.mark.parametrize("shown", TOLD)
@pytest.mark.parametrize("update", UPDATES)
def test_what_objects_by_name_say_of_the_batches_of_a_rank_is_found(update: str, shown: str) -> None:
    program = PROGRAM.replace("UPDATE", UPDATES[update]).replace("TOLD", TOLD[shown])
    own, value = program.replace("DATA", OWN_LOADER), "model(x).mean().item()"
    assert len(told(own.replace("VALUE", value))) == 1
    assert told(own.replace("VALUE", f"mean_of_ranks({value})")) == []
    assert told(program.replace("DATA", ALIKE["all of them"]).replace("VALUE", value)) == []
