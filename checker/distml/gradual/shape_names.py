"""Names for the sizes in shapes that are shown: as the program names them, and never one name for two sizes in a function.

A size that the program gives a name (`b, t, d = x.shape`, a parameter `dim`) has that name. The axes of an input that it names
nowhere have the usual ones. Where two sizes of one function would be called the same, one gets a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distml.gradual.naming import usual_names
from distml.shapes import Dim, Shape, Symbol
from distml.values import Const, Many, Num, Tensor, Tup, Union

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from distml.interp.shape_log import Place
    from distml.values import Value

_NAME = re.compile(r"[^\W\d][\w.]*(\[\d+\])?")
MAX_NAME = 32
MAX_TEXT = 60
"""A size that takes more characters is shown as unknown."""
UNKNOWN = "?"


class SymbolNames:
    """The name of each symbol; `functions` has what was seen in each function of the file, by any key."""

    def __init__(self, functions: Mapping[int, Sequence[tuple[Place, Value]]]) -> None:
        self._names: dict[Symbol, str] = {}
        homes: dict[Symbol, set[int]] = {}
        for key, seen in functions.items():
            for _, view in seen:
                for dim in dims_in(view):
                    for symbol in dim.symbols():
                        homes.setdefault(symbol, set()).add(key)
        every = [item for seen in functions.values() for item in seen]
        wanted = {**_of_inputs(every), **_of_program(every)}
        taken: dict[int, set[str]] = {key: set() for key in functions}
        for symbol in sorted(homes, key=lambda each: (each not in wanted, each.serial)):
            name = first = wanted.get(symbol) or _readable(symbol.name)
            number = 1
            while any(name in taken[home] for home in homes[symbol]):
                number += 1
                name = f"{first}{number}" if first[-1].isalpha() else f"{first}_{number}"
            self._names[symbol] = name
            for home in homes[symbol]:
                taken[home].add(name)

    def dim(self, dim: Dim) -> int | str:
        """A size: a number, a text, or `?` where it would take too long a one."""
        constant = dim.constant
        if constant is not None:
            return constant
        renamed = {s: Dim.symbol(Symbol(self._names.get(s, s.name), s.serial, s.low, s.dynamic)) for s in dim.symbols()}
        text = repr(dim.substitute(renamed))
        if _is_quotient(dim):
            text = text[1:-1]
        return text if len(text) <= MAX_TEXT else UNKNOWN

    def sizes(self, shape: Shape) -> list[int | str]:
        """The sizes of a shape, `...` for axes of unknown number."""
        middle: list[int | str] = [] if shape.middle is None else ["..."]
        return [*map(self.dim, shape.head), *middle, *map(self.dim, shape.tail)]

    def text(self, shape: Shape) -> str:
        """A shape as it is shown: `[b, 3, h, w]`."""
        return f"[{', '.join(map(str, self.sizes(shape)))}]"


def same_up_to_names(seen: Iterable[tuple[Place, Sequence[Value]]]) -> Hashable:
    """What is equal for two calls of a function in which the same was seen, but for which symbols stand in it."""
    numbered = SymbolNames({})
    found = []
    for place, values in seen:
        for value in values:
            for dim in dims_in(value):
                for symbol in dim.symbols():
                    numbered._names.setdefault(symbol, f"s{len(numbered._names)}")
        found.append((place[1:], *(text_of(value, numbered) for value in values)))
    return tuple(found)


def _readable(name: str) -> str:
    """A symbol's own name, where it is one: `dim`, `cfg.width`, `widths[0]`. Others stand for text of the program."""
    return name if len(name) <= MAX_NAME and _NAME.fullmatch(name) else "n"


def _is_quotient(dim: Dim) -> bool:
    """Whether a size is a floor division and nothing else, which is written in parentheses that it does not need."""
    if len(dim.terms) != 1 or dim.terms[0][1] != 1 or len(dim.terms[0][0]) != 1:
        return False
    atom, power = dim.terms[0][0][0]
    return power == 1 and not isinstance(atom, Symbol)


def _of_program(seen: Iterable[tuple[Place, Value]]) -> dict[Symbol, str]:
    """The names that the program gives to sizes, the first where there are several."""
    found: dict[Symbol, str] = {}
    for place, view in seen:
        symbol = view.dim.lone if isinstance(view, Num) and place.kind == "size" else None
        if symbol is not None and place.name != "_":
            found.setdefault(symbol, place.name)
    return found


def _of_inputs(seen: Iterable[tuple[Place, Value]]) -> dict[Symbol, str]:
    """The usual names of the axes of parameters, for sizes that are named after the parameter and their place."""
    found: dict[Symbol, str] = {}
    for place, view in seen:
        if place.kind != "parameter" or not isinstance(view, Tensor) or view.shape.dims is None:
            continue
        for dim, name in zip(view.shape.dims, usual_names(len(view.shape.dims)), strict=True):
            symbol = dim.lone
            if symbol is not None and symbol.name.removeprefix(place.name).lstrip("_").isdecimal():
                found.setdefault(symbol, name)
    return found


def dims_in(view: Value) -> Iterator[Dim]:
    """Every size in what was seen."""
    if isinstance(view, Tensor):
        yield from (*view.shape.head, *view.shape.tail)
    elif isinstance(view, Num):
        yield view.dim
    elif isinstance(view, Union | Tup):
        for part in view.options if isinstance(view, Union) else view.items:
            yield from dims_in(part)
    elif isinstance(view, Many):
        yield from dims_in(view.item)


def text_of(view: Value, names: SymbolNames) -> str:
    """What was seen, as it is shown: `[b, 10]`, `([b, 4, d], [b, d])`, `list of [b, c]`."""
    if isinstance(view, Tensor):
        return names.text(view.shape)
    if isinstance(view, Union):
        return " | ".join(text_of(option, names) for option in view.options)
    if isinstance(view, Num):
        return str(names.dim(view.dim))
    if isinstance(view, Many):
        return f"list of {text_of(view.item, names)}"
    if isinstance(view, Const):
        return repr(view.value)
    if isinstance(view, Tup):
        return _container(view, names)
    return getattr(view, "kind", UNKNOWN)


def _container(view: Tup, names: SymbolNames) -> str:
    shown = [text_of(item, names) for item in view.items]
    if view.kind == "dict":
        return f"{{{', '.join(f'{key}: {text}' for key, text in zip(view.fields, shown, strict=True))}}}"
    if view.kind == "list":
        return (
            f"list of {len(shown)} {shown[0]}" if len(shown) > 2 and len(set(shown)) == 1 else f"[{', '.join(shown)}]"
        )
    return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"
