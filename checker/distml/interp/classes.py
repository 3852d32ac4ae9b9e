"""Classes of the project: their resolution order, and what is found along it."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any

from distml.interp.join import join_values
from distml.interp.library import MODULE_BASES, entry_of, is_module, library_bases, library_member
from distml.ops.python.enumerations import FLAGS
from distml.ops.python.lightning import HOLDERS
from distml.ops.registry import find_layer
from distml.values import Class, Lib, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.interp.machine import Machine

HARMLESS_BASES = frozenset(
    {
        "builtins.object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "torch.utils.data.Sampler",
        *HOLDERS,
        *MODULE_BASES,
    }
)
"""Library classes of which an instance has no shape-carrying attributes of its own."""

HAVING = frozenset({*HOLDERS, *FLAGS})
"""Library classes whose methods the objects of a class derived from one have as they are."""

KINDS = {
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "enum.IntFlag": "enum",
    "enum.ReprEnum": "enum",
    "typing.NamedTuple": "namedtuple",
    "typing.TypedDict": "typeddict",
    "typing_extensions.TypedDict": "typeddict",
}

CONTAINERS: dict[str, type] = {
    "builtins.dict": dict,
    "collections.OrderedDict": OrderedDict,
    "collections.defaultdict": defaultdict,
    "builtins.list": list,
}
"""Built-in classes whose objects hold items; an object of a class derived from one has them in `__items__`."""

COPY = Lib("dataclasses.replace")
"""The function that some classes have as the method `replace`."""


def linearize(vm: Machine, bases: Sequence[Value]) -> list[Value | None]:
    """The resolution order behind the class itself (C3)."""
    orders: list[list[Value | None]] = []
    for base in bases:
        if isinstance(base, Class):
            orders.append(list(vm.at(base.address).mro))
        elif isinstance(base, Lib):
            orders.append(_library_order(base))
        else:
            orders.append([None])
    heads: list[Value | None] = [order[0] for order in orders]
    return _merge([*orders, heads])


def is_known_base(name: str) -> bool:
    """Whether nothing of a library class that shapes depend on is out of sight."""
    return name in HARMLESS_BASES or name in KINDS or name in CONTAINERS or find_layer(name) is not None


def _library_order(base: Lib) -> list[Value | None]:
    return [base] if is_known_base(base.name) else [base, None]


def _merge(orders: list[list[Value | None]]) -> list[Value | None]:
    result: list[Value | None] = []
    orders = [list(order) for order in orders if order]
    while orders:
        for order in orders:
            head = order[0]
            if head is None or not any(head in other[1:] for other in orders):
                break
        else:
            return [*result, None]
        result.append(head)
        orders = [o for o in ([x for x in order if x != head] for order in orders) if o]
    return result


def lookup(vm: Machine, mro: tuple[Value | None, ...], name: str) -> tuple[Value | None, bool]:
    """The class attribute `name` along an order, and whether an unknown base came first."""
    for number, base in enumerate(mro):
        if base is None:
            return None, True
        if isinstance(base, Class):
            if vm.patches.redefines(base.name, name):
                return None, True
            record = vm.at(base.address)
            found = record.attrs.get(name)
            if found is not None and name in record.sometimes:
                return _or_behind(vm, found, *lookup(vm, mro[number + 1 :], name))
            if found is not None:
                return found, False
        elif isinstance(base, Lib):
            member = library_member(base.name, name)
            container = CONTAINERS.get(base.name)
            if container is not None and hasattr(container, name):
                return (None, True) if member is None else (Lib(member), False)
            if member is not None:
                known = (is_module((base,)) or base.name in HAVING) and not vm.patches.has(member)
                return (Lib(member), False) if known else (None, True)
    return None, False


def _or_behind(vm: Machine, found: Value, behind: Value | None, hidden: bool) -> tuple[Value | None, bool]:
    """A class attribute that some paths have set, or what the classes behind it give on the others."""
    if hidden:
        return None, True
    return (found if behind is None else join_values(vm, found, behind)), False


def is_there_sometimes(vm: Machine, mro: tuple[Value | None, ...], name: str) -> bool:
    """Whether each class along an order that has an attribute has it on some paths only."""
    records = [vm.at(base.address) for base in mro if isinstance(base, Class)]
    holding = [record for record in records if name in record.attrs]
    return bool(holding) and all(name in record.sometimes for record in holding)


def container_of(mro: tuple[Value | None, ...]) -> str | None:
    """The built-in container that a class is derived from, None where there is none."""
    return next((base.name for base in mro if isinstance(base, Lib) and base.name in CONTAINERS), None)


def entry(mro: tuple[Value | None, ...]) -> str:
    """The method that calling an instance runs: "call" for Keras, else "forward"."""
    return next((found for base in mro if isinstance(base, Lib) and (found := entry_of(base.name))), "forward")


def library_trait(mro: tuple[Value | None, ...], name: str) -> Any:
    """What the rules of the first library base that says so have under a name: `fields`, `prepare`; None where none does."""
    rules = (find_layer(name) for base in mro if isinstance(base, Lib) for name in library_bases(base.name))
    return next((found for rule in rules if (found := getattr(rule, name, None)) is not None), None)
