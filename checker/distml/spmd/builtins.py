"""Functions of Python that matter to conditions on ranks, and the methods of lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from distml.spmd import names
from distml.spmd.flow import Flow, LeftError
from distml.spmd.members import WHOLE, computed
from distml.spmd.run import Run
from distml.spmd.values import (
    Container,
    Instance,
    Items,
    Known,
    Library,
    Partial,
    Place,
    Scalar,
    Table,
    Unknown,
    Value,
    key,
    truth,
)

Given: TypeAlias = list[Value]
Named: TypeAlias = dict[str, Value]
MAX_RANGE = 64


def _converted(convert: Callable[[Any], Any]) -> Callable[..., Value | None]:
    def call(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
        if len(given) != 1 or not isinstance(given[0], Known) or len(str(given[0].value)) > 40:
            return None
        return computed(convert, given[0])

    return call


def _bool(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
    known = truth(given[0]) if given else False
    return given[0] if known is None else Known(known)


def _len(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
    if given and isinstance(given[0], Items | Table) and given[0].exact:
        return Known(len(given[0].members))
    return Unknown(f"len({key(given[0])})") if given else None


def _range(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
    bounds = [each.value for each in given if isinstance(each, Known) and isinstance(each.value, int)]
    if len(bounds) == len(given) and 1 <= len(bounds) <= 3 and not (len(bounds) == 3 and bounds[2] == 0):
        numbers = range(*bounds)
        if len(numbers) <= MAX_RANGE:
            return Items([Known(number) for number in numbers], "tuple")
    return None


def _list(kind: str) -> Callable[..., Value | None]:
    def call(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
        if not given:
            return Items([], kind)
        if isinstance(given[0], Items | Table):
            members = given[0].members
            inner: list[Value] = [Known(each) for each in members] if isinstance(members, dict) else list(members)
            return Items(inner, kind, given[0].exact)
        return None

    return call


def _sorted(_run: Run, given: Given, named: Named, _place: Place) -> Value | None:
    if named or not given:
        return None
    if isinstance(given[0], Items | Table) and given[0].exact:
        known = [each.value if isinstance(each, Known) else each for each in given[0].members]
        if all(isinstance(each, str) for each in known) or all(isinstance(each, int) for each in known):
            return Items([Known(each) for each in sorted(known)])  # type: ignore[type-var, arg-type]
    return Unknown(f"sorted({key(given[0])})")


def _keyed(named: Named) -> dict[Scalar, Value]:
    return dict(named.items())


def _dict(_run: Run, given: Given, named: Named, _place: Place) -> Value | None:
    return None if given or "**" in named else Table(_keyed(named))


def _defaultdict(run: Run, given: Given, named: Named, _place: Place) -> Value | None:
    factory = given[0].name.removeprefix("builtins.") if given and isinstance(given[0], Library) else ""
    plain = run.watch is not None and len(given) == 1 and not named and factory in _FACTORIES
    return Table({}, makes=factory) if plain else None


def _enumerate(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
    if len(given) == 1 and isinstance(given[0], Items) and given[0].exact:
        return Items([Items([Known(n), each], "tuple") for n, each in enumerate(given[0].members)])
    return None


def _zip(_run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
    lists = [each.members for each in given if isinstance(each, Items) and each.exact]
    if len(lists) == len(given):
        return Items([Items(list(each), "tuple") for each in zip(*lists)])
    return None


def _getattr(run: Run, given: Given, _named: Named, place: Place) -> Value | None:
    if len(given) >= 2 and isinstance(given[1], Known) and isinstance(given[1].value, str):
        return names.attribute(run, given[0], given[1].value, place)
    return None


def _setattr(run: Run, given: Given, _named: Named, _place: Place) -> Value | None:
    if len(given) == 3 and isinstance(given[1], Known) and isinstance(given[1].value, str):
        names.set_attribute(run, given[0], given[1].value, given[2])
    return Known(None)


def _partial(_run: Run, given: Given, named: Named, _place: Place) -> Value | None:
    return Partial(given[0], given[1:], named) if given else None


def _exit(_run: Run, given: Given, _named: Named, place: Place) -> Value | None:
    well = not given or (isinstance(given[0], Known) and given[0].value in (0, None))
    raise LeftError(Flow("exit" if well else "raise", place))


def _print(_run: Run, _given: Given, _named: Named, _place: Place) -> Value | None:
    return Known(None)


_FACTORIES = frozenset({"list", "dict", "set", "tuple"})
BUILTINS: dict[str, Callable[[Run, Given, Named, Place], Value | None]] = {
    "int": _converted(int),
    "float": _converted(float),
    "str": _converted(str),
    "abs": _converted(abs),
    "bool": _bool,
    "len": _len,
    "range": _range,
    "list": _list("list"),
    "tuple": _list("tuple"),
    "set": _list("set"),
    "sorted": _sorted,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _defaultdict,
    "enumerate": _enumerate,
    "zip": _zip,
    "getattr": _getattr,
    "setattr": _setattr,
    "print": _print,
    "functools.partial": _partial,
    "exit": _exit,
    "quit": _exit,
    "sys.exit": _exit,
    "os._exit": _exit,
}


def _list_method(run: Run, items: Container, name: str, given: Given, named: Named) -> Value | None:
    members = list(items.state["members"])
    if name in ("append", "add") and len(given) == 1:
        _set(run, items, [*members, given[0]], items.exact)
    elif name == "extend" and len(given) == 1 and isinstance(given[0], Items):
        _set(run, items, [*members, *given[0].members], items.exact and given[0].exact)
    elif name == "copy":
        return Items(members, items.kind, items.exact)
    elif name in ("index", "count", "join"):
        return None
    else:
        _set(run, items, members, exact=False)
        return None
    return Known(None)


def _table_method(run: Run, table: Container, name: str, given: Given, named: Named) -> Value | None:
    members = dict(table.state["members"])
    if name == "keys":
        return Items([*map(_named, members)], "list", table.exact)
    if name == "values":
        return Items(list(members.values()), "list", table.exact)
    if name == "items":
        return Items([Items([_named(each), inner], "tuple") for each, inner in members.items()], "list", table.exact)
    if name == "get" and given and isinstance(given[0], Known):
        found = members.get(given[0].value)
        if found is not None or not table.exact:
            return found
        return given[1] if len(given) > 1 else Known(None)
    if name == "update" and all(isinstance(each, Table) for each in given) and "**" not in named:
        for each in given:
            members.update(each.state["members"])  # type: ignore[union-attr]
        exact = table.exact and all(isinstance(each, Table) and each.exact for each in given)
        _set(run, table, {**members, **named}, exact)
        return Known(None)
    if name == "copy":
        return Table(members, table.exact)
    if name == "update" and run.watch is not None:
        members |= {f"…{key(each)}": each for each in given if isinstance(each, Unknown)}
    if name != "get":
        _set(run, table, members, exact=False)
    return None


def _named(name: Scalar) -> Value:
    """The key of a member, which begins with `…` where it is not known."""
    return Unknown(name) if isinstance(name, str) and name.startswith("…") else Known(name)


def _set(run: Run, container: Container, members: Any, exact: bool) -> None:
    run.write(container.state, "members", members)
    run.write(container.state, "exact", exact)


def put(run: Run, container: Value, index: Value, inner: Value) -> None:
    """`container[index] = inner`."""
    if isinstance(container, Items) and isinstance(index, Unknown) and index.type == WHOLE:
        _set(run, container, *((inner.members, inner.exact) if isinstance(inner, Items) else ([inner], False)))
    elif isinstance(container, Table) and isinstance(index, Known):
        _set(run, container, {**container.members, index.value: inner}, container.exact)
    elif isinstance(container, Items) and isinstance(index, Known) and isinstance(index.value, int):
        members = list(container.members)
        if -len(members) <= index.value < len(members):
            members[index.value] = inner
            _set(run, container, members, container.exact)
    elif isinstance(container, Table) and isinstance(inner, Instance) and run.watch is not None:
        _set(run, container, {**container.members, "…": inner}, exact=False)
    elif isinstance(container, Container):
        _set(run, container, container.state["members"], exact=False)


def made_first(run: Run, container: Value, index: Value, place: Place) -> Value | None:
    """What a `defaultdict` makes for a key that it does not hold yet, and holds from then on.

    Of one that is asked for what nobody knows it is not known any more what it holds.
    """
    if not isinstance(container, Table) or not container.makes or not container.exact:
        return None
    if not isinstance(index, Known):
        _set(run, container, container.members, exact=False)
        return None
    made = None if index.value in container.members else BUILTINS[container.makes](run, [], {}, place)
    if made is not None:
        put(run, container, index, made)
    return made


METHODS: dict[type, Callable[[Run, Container, str, Given, Named], Value | None]] = {
    Items: _list_method,
    Table: _table_method,
}
