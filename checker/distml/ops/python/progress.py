"""Bars of progress: what wraps an iterable hands its items on, so a loop over the bar is a loop over what it wraps.

https://tqdm.github.io/docs/tqdm/, https://rich.readthedocs.io/en/stable/progress.html, https://fastprogress.fast.ai,
https://progressbar-2.readthedocs.io, https://github.com/rsalmei/alive-progress
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.iterating import drawn, iterator
from distml.ops.python.sequences import range_
from distml.ops.registry import layer, op
from distml.values import Lib, Many, Prim

if TYPE_CHECKING:
    from distml.values import Value

MODULES = "tqdm tqdm.std tqdm.auto tqdm.autonotebook tqdm.notebook tqdm.asyncio tqdm.rich".split()
BARS = (*(f"{module}.tqdm" for module in MODULES), "tqdm.tqdm_notebook", "tqdm.notebook.tqdm_notebook")
SILENT = (
    "__exit__ clear close display moveto refresh reset set_description set_description_str set_postfix set_postfix_str "
    "unpause update write set_lock"
).split()
"""Methods that show something and touch nothing of the program."""
HANDING_ON = {
    "rich.progress.track": "sequence",
    "fastprogress.progress_bar": "gen",
    "fastprogress.master_bar": "gen",
    "fastprogress.fastprogress.progress_bar": "gen",
    "fastprogress.fastprogress.master_bar": "gen",
    "progressbar.progressbar": "iterator",
    "alive_progress.alive_it": "it",
}
"""Functions whose result gives the items of their first argument, and what they call it."""


@layer(*BARS)
class Bar:
    """tqdm(iterable, desc, total, ...): https://docs.tqdm.org/tqdm/#tqdm-objects"""

    @staticmethod
    def init(call: Call, iterable: Value = NONE, *rest: Value, **options: Value) -> dict[str, Value]:
        """What is wrapped; everything else is about how the bar looks."""
        return {"iterable": iterable}


@op(*(f"{name}.__iter__" for name in BARS))
def iterate_bar(call: Call, self: Value) -> Value:
    """The items of what is wrapped."""
    wrapped = (call.attrs(self) or {}).get("iterable", NONE)
    return _handed_on(call, wrapped)


@op(*(f"{name}.__enter__" for name in BARS))
def enter_bar(call: Call, self: Value) -> Value:
    """The bar itself."""
    return self


@op(*(f"{name}.{method}" for name in BARS for method in SILENT))
def show_bar(call: Call, *args: Value, **options: Value) -> Value:
    """Whether something was shown; leaving a `with` lets exceptions pass."""
    return NONE if call.name.endswith("__exit__") else call.unknown("shown")


@op(*(f"{name}.__len__" for name in BARS))
def length_of_bar(call: Call, self: Value) -> Value:
    """The length of what is wrapped, or the total that was given."""
    return Prim("int")


def _handed_on(call: Call, wrapped: Value) -> Value:
    if call.is_none(wrapped) is not False:
        return iterator(call, Many(call.unknown("item")))
    return iterator(call, drawn(call, wrapped))


@op(*HANDING_ON)
def hand_on(call: Call, *args: Value, **options: Value) -> Value:
    """The items of the iterable that is given first, or by its name."""
    named = options.get(HANDING_ON.get(call.name, ""), NONE)
    return _handed_on(call, args[0] if args else named)


@op(*(f"{module}.trange" for module in MODULES), "tqdm.tnrange")
def trange(call: Call, *args: Value, **options: Value) -> Value:
    """tqdm(range(*args)): https://docs.tqdm.org/tqdm/#trange"""
    return call.apply(Lib(BARS[0]), range_(call, *args))
