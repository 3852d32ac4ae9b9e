"""What a loop goes through that is no data itself: progress bars around something, and calls that count.

Each library of progress bars is a row of `LIBRARIES`; what its bars are called stands nowhere else.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Library(NamedTuple):
    """A library of progress bars: its path, and the names of its bars."""

    path: str
    around: str = ""
    """Bars that give what they are given first."""
    counts: str = ""
    """Bars in the place of `range`."""
    told: str = ""
    """Bars that are told of each step."""
    option: str = "disable"
    """The parameter that hides a bar, and what it is given on each rank: `0` says ranks, `1` other things."""
    shown: str = "{0.rank} != 0"

    @property
    def bars(self) -> re.Pattern[str]:
        """The paths of all its bars."""
        return _paths(self, f"{self.around} {self.counts} {self.told}")


def _paths(library: Library, names: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(library.path)}(\.\w+)*\.({'|'.join(names.split())})")


LIBRARIES = (
    Library(
        "tqdm", "tqdm tqdm_notebook tqdm_gui tqdm_asyncio tqdm_rich notebook_tqdm", "trange tnrange tgrange trrange"
    ),
    Library("rich.progress", "track", told="Progress"),
    Library("alive_progress", "alive_it", told="alive_bar"),
    Library("fastprogress", "progress_bar", option="display", shown="{0.first}"),
    Library(
        "progressbar",
        "progressbar ProgressBar",
        option="fd",
        shown='{1[sys.stderr]} if {0.first} else open({1[os.devnull]}, "w")',
    ),
    Library("keras.utils", told="Progbar", option="verbose", shown="1 if {0.first} else 0"),
)
BARS = frozenset(name for each in LIBRARIES for name in each.around.split())
"""What bars around something are called, by the last part of their paths."""
COUNTING_BARS = frozenset(name for each in LIBRARIES for name in each.counts.split())
RANGES = COUNTING_BARS | {"range", "xrange", "arange"}
"""What counts up to an end that it is given."""
COUNTS = RANGES | {"count"}
"""What gives numbers in their order, with an end or without."""
AROUND = re.compile("|".join(_paths(each, each.around).pattern for each in LIBRARIES if each.around))
"""The paths of bars that give what they are given first."""
