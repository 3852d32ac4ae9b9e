"""flax: what all modules of flax.linen have: parameters that `init` makes and `apply` is given.

A module has no weights of its own: those of each layer are made for the sizes that `init` sees, and `apply` must see the
same. Layers are told apart by the order of their first calls, as long as both runs call the same ones.
https://flax.readthedocs.io/en/latest/api_reference/flax.linen/module.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.bindings.flax.layers import Attrs, register
from distml.ops.bindings.signature import arguments
from distml.ops.call import NONE
from distml.ops.registry import MANY, attribute, layer, op
from distml.ops.semantics.trees import PARAMETERS
from distml.values import Const, DictRecord, Function, InstanceRecord, Lib, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.shapes import Dim

MODULE, VARIABLE = "flax.linen.Module", "flax.core.scope.Variable"
_SELF, _TABLE, _RUN = "__self__", "__table__", "run of a module of flax"


class Run(NamedTuple):
    """A run of a module: what the layers called so far were made for, or are to be. `first`: it makes the variables."""

    notes: bool
    entries: tuple[tuple[str, Value], ...] = ()
    seen: tuple[Value, ...] = ()
    sure: bool = True
    first: bool = False


@layer(MODULE)
class Module:
    """A dataclass, whose `setup` makes its parts."""

    entry = "__call__"
    fields = ("parent", "name")
    prepare = "setup"

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> Attrs:
        """Nothing but what the class adds."""
        return {}


def fits(call: Call, attrs: Attrs, kind: str, gets: Dim | None, code: str, what: str) -> None:
    """The weights of a layer fit its input: they were made for the first one (SHP401, SHP402)."""
    run, own = call.world.get(_RUN), attrs.get(_SELF)
    if run is None or not run.sure or gets is None or own is None:
        return
    place = run.seen.index(own) if own in run.seen else len(run.seen)
    if place == len(run.seen):
        run = run._replace(seen=(*run.seen, own))
        if run.notes:
            run = run._replace(entries=(*run.entries, (kind, call.number(gets))))
    known = MANY not in attrs and place < len(run.entries) and run.entries[place][0] == kind
    run = run._replace(sure=known)
    call.world.put(_RUN, run)
    if known:
        message = f"{call.text}: the parameters were made for {{left}} {what}, the input has {{right}}"
        call.require_equal(call.dim(run.entries[place][1]), gets, code, message)


def _run(call: Call, self: Value, run: Run, method: Value, args: tuple[Value, ...], kwargs: Attrs) -> tuple[Value, Run]:
    """What a method gives, and what the run noted."""
    outer = call.world.get(_RUN)
    plain = call.is_none(method) is True
    call.world.put(_RUN, run if plain else run._replace(sure=False))
    if plain:
        made = call.apply(self, *args, kwargs=kwargs)
    elif isinstance(method, Function):
        made = call.apply(method, self, *args, kwargs=kwargs)
    else:
        name = call.const(method, str)
        found = call.world.attribute(self, name) if isinstance(name, str) else method
        made = call.unknown() if found is None else call.apply(found, *args, kwargs=kwargs)
    after = call.world.get(_RUN)
    call.world.put(_RUN, outer)
    return made, after if isinstance(after, Run) else run._replace(sure=False)


def _variables(call: Call, run: Run) -> Value:
    """What `init` gives: parameters by their layers, and other collections that are not followed."""
    entries = tuple(Tup((Const(kind), size)) for kind, size in run.entries)
    attrs: Attrs = {_TABLE: Tup(entries)} if run.sure else {}
    params = call.world.allocate(InstanceRecord(Lib(PARAMETERS), attrs))
    return call.world.allocate(DictRecord({Const("params"): params}, exact=False))


def _given(call: Call, variables: Value) -> Run:
    """The run that is to see what the parameters were made for."""
    record = call.world.record(variables) if isinstance(variables, Ref) else None
    params = record.items.get(Const("params")) if isinstance(record, DictRecord) else None
    table = (call.attrs(params) or {}).get(_TABLE) if params is not None else None
    if not isinstance(table, Tup):
        return Run(False, sure=False)
    entries = [item.items for item in table.items if isinstance(item, Tup)]
    return Run(False, tuple((call.const(kind, str), size) for kind, size in entries))


def _contradicts(call: Call, known: Run, seen: Run) -> bool:
    """Whether two runs called the same layers, and one of them on another size. Layers that are called in one run only,
    for training or behind a switch, leave open which is which."""
    if not known.sure or not seen.sure or [kind for kind, _ in known.entries] != [kind for kind, _ in seen.entries]:
        return False
    pairs = zip(known.entries, seen.entries, strict=True)
    sizes = [(call.dim(one), call.dim(other)) for (_, one), (_, other) in pairs]
    return any(a is not None and b is not None and a.differs(b) for a, b in sizes)


@op(f"{MODULE}.init", f"{MODULE}.lazy_init")
def init(call: Call, self: Value, rngs: Value, *args: Value, method: Value = NONE, **kwargs: Value) -> Value:
    """module.init(rngs, *args): runs the module and gives the variables it made."""
    kwargs.pop("mutable", None)
    kwargs.pop("capture_intermediates", None)
    return _variables(call, _run(call, self, Run(True, first=True), method, args, kwargs)[1])


@op(f"{MODULE}.init_with_output")
def init_with_output(
    call: Call, self: Value, rngs: Value, *args: Value, method: Value = NONE, **kwargs: Value
) -> Value:
    """module.init_with_output(rngs, *args): the output too."""
    kwargs.pop("mutable", None)
    made, run = _run(call, self, Run(True, first=True), method, args, kwargs)
    return Tup((made, _variables(call, run)))


@op(f"{MODULE}.apply")
def apply(
    call: Call,
    self: Value,
    variables: Value,
    *args: Value,
    rngs: Value = NONE,
    method: Value = NONE,
    mutable: Value = Const(False),
    capture_intermediates: Value = Const(False),
    **kwargs: Value,
) -> Value:
    """module.apply(variables, *args): the output, and the changed collections where some are `mutable`."""
    made, seen = _run(call, self, Run(True), method, args, kwargs)
    known = _given(call, variables)
    if _contradicts(call, known, seen):
        # The same once more, so that the layer that does not fit is the place of the finding.
        made, _ = _run(call, self, known, method, args, kwargs)
    items = call.items(mutable)
    changed = bool(items) if items is not None else call.flag(mutable)
    if changed is None or call.flag(capture_intermediates) is not False:
        return call.unknown()
    return Tup((made, call.unknown("state"))) if changed else made


@op(f"{MODULE}.bind")
def bound(call: Call, self: Value, variables: Value, *args: Value, **options: Value) -> Value:
    """module.bind(variables): the module, whose methods can be called."""
    return self


@op(f"{MODULE}.param")
def param(call: Call, self: Value, name: Value, init_fn: Value, *args: Value, **options: Value) -> Value:
    """self.param(name, init_fn, *args): what the initializer makes."""
    options.pop("unbox", None)
    return call.apply(init_fn, call.tensor([2], "int"), *args, kwargs=options)


@op(f"{MODULE}.variable")
def variable(
    call: Call, self: Value, col: Value, name: Value, init_fn: Value = NONE, *args: Value, **options: Value
) -> Value:
    """self.variable(col, name, init_fn, *args): a place of what the initializer makes. A later run finds there what the first
    one has left, which may have seen other sizes."""
    run = call.world.get(_RUN)
    options.pop("unbox", None)
    if not isinstance(run, Run) or not run.first or call.is_none(init_fn) is not False:
        return call.unknown()
    made = call.apply(init_fn, *args, kwargs=options)
    return call.world.allocate(InstanceRecord(Lib(VARIABLE), {"value": made}))


_OTHERS = "sow perturb make_rng tabulate has_variable get_variable put_variable is_initializing has_rng copy clone"


@op(*(f"{MODULE}.{name}" for name in (*_OTHERS.split(), "unbind", "module_paths")))
def unknown(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """What is not followed."""
    return call.unknown()


@attribute(*(f"{MODULE}.{name}" for name in ("scope", "variables", "path", "is_mutable_collection")))
def open_ended(call: Call, self: Value) -> Value:
    """Attributes that are not followed."""
    return call.unknown()


@op(f"{PARAMETERS}.__getitem__")
def entry(call: Call, self: Value, key: Value) -> Value:
    """`params["Dense_0"]`: not followed."""
    return call.unknown()


def define(signature: str, make: Callable[..., Attrs], run: Callable[..., Value], *names: str) -> None:
    """Register layers: the attributes `make` gives for the parameters of `signature`, what `run` makes of an input."""

    def init(call: Call, *args: Value, **kwargs: Value) -> Attrs | None:
        label = kwargs.pop("name", NONE)
        kwargs.pop("parent", None)
        given = arguments(signature, args, kwargs)
        if given is None:
            return None
        attrs = {**make(call, *given), _SELF: call.unknown("layer")}
        return {**attrs, "__name__": label} if isinstance(call.const(label, str), str) else attrs

    register(MODULE, init, run, *(f"flax.linen.{name}" for name in names))
