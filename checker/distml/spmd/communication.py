"""What a call communicates: collectives, messages, and objects that communicate later."""

from __future__ import annotations

import re

from distml.spmd import names
from distml.spmd.library import (
    ACCELERATOR,
    AVERAGED_TAPE,
    AVERAGING,
    CLOCKS,
    COMMUNICATOR,
    DECIDES,
    DESTROYS,
    DICE,
    ENGINE,
    JOINED,
    JOINS,
    OBJECTS,
    RANK_CALLS,
    RANKS,
    SAMPLER,
    SIZE_CALLS,
    TRUE_CALLS,
    UNSYNCED,
    WRAPPED,
    Operation,
    operations,
)
from distml.spmd.run import Run
from distml.spmd.trace import Event
from distml.spmd.values import Group, Instance, Items, Known, Local, Place, Unknown, Value, derived, key, parts, truth

_BUFFERED = re.compile(r"BatchNorm|models\.(?:resnet|resnext|densenet|mobilenet|efficientnet|shufflenet|regnet)")
_MADE = frozenset("zeros ones empty full rand randn arange tensor".split())
_MESSAGES = {
    "torch.distributed.send": "dst",
    "torch.distributed.recv": "src",
    f"{COMMUNICATOR}.send": "dest",
    f"{COMMUNICATOR}.recv": "source",
    f"{COMMUNICATOR}.ssend": "dest",
}
_GONE, _SINGLE = ("", "destroyed"), ("", "single")
"""Where a run remembers that there is no process group any more, or one of a single process."""
_LATER = frozenset({"torch.distributed.isend", "torch.distributed.irecv", "torch.distributed.batch_isend_irecv"})


def outside(run: Run, name: str, given: list[Value], named: dict[str, Value], place: Place) -> Value | None:
    """The result of a call outside the project that has to do with ranks, None for all others."""
    group = named.get("group", given[0] if given else None)
    if name in RANK_CALLS:
        return _rank_in(run, group)
    if name in SIZE_CALLS:
        return Known(RANKS) if _world(group) else derived(f"size of {key(group)}") if group else Known(RANKS)
    if name in TRUE_CALLS:
        return Known(not (name.endswith("is_initialized") and truth(run.fields.get(_GONE, Known(False)))))
    last = name.rpartition(".")[2]
    if last in DECIDES and ".callbacks." in name and "horovod" in place.source.text:
        run.say(lambda chain: Event(last, place, chain))
        return Unknown(f"{last}@{place.node.lineno}")
    own = _own(run, name, named, place)
    if own is not None:
        return own
    if name in OBJECTS:
        return Unknown(f"{name}@{place.node.lineno}", type=OBJECTS[name])
    if name == "os.getenv" and given and isinstance(given[0], Known):
        return names.variable(run, given[0].value, [*given[1:], *named.values()])
    if name == "deepspeed.initialize":
        return Items(
            [Unknown(f"engine@{place.node.lineno}", type=ENGINE), *(Unknown(f"ds{n}") for n in range(3))], "tuple"
        )
    if name in _MESSAGES:
        return _message(run, name, given, named, place)
    if name in _LATER:
        return unclear(run, place)
    if name in JOINS:
        run.join()
        # The rank that joined last: every rank is given the same one.
        return Unknown(f"{name}@{place.node.lineno}:{place.node.col_offset}")
    operation = operations().get(name)
    if name in DESTROYS or (operation is not None and operation.name == "init_process_group"):
        size = named.get("world_size")
        run.write(run.fields, _GONE, Known(name in DESTROYS and _world(group)))
        run.write(run.fields, _SINGLE, Known(isinstance(size, Known) and size.value == 1))
    if operation is not None:
        return communicate(run, name, operation, given, named, place)
    return _made(name, given, named, place)


def _own(run: Run, name: str, named: dict[str, Value], place: Place) -> Value | None:
    """What every rank has its own of: a clock, dice that nobody seeds, its batches of the data."""
    at = f"{place.node.lineno}:{place.node.col_offset}"
    if name in CLOCKS:
        return Unknown(f"{name}@{at}", Local("each rank reads its own clock", place))
    if name in DICE and not _seeded(run, place):
        why = Local("the random numbers differ between ranks: no seed is set", place, data=True)
        return Unknown(f"{name}@{at}", why)
    if name.endswith(".DistributedSampler"):
        return Unknown(f"sampler@{at}", type=SAMPLER)
    sampler = named.get("sampler")
    if name.endswith(".DataLoader") and isinstance(sampler, Unknown) and sampler.type == SAMPLER:
        return _loader("the sampler is a DistributedSampler", place)
    return None


def _seeded(run: Run, place: Place) -> bool:
    """Whether dice are seeded, in whatever file of the program; without a watch only what a script throws itself counts."""
    if run.watch is None:
        return "seed" in place.source.text or "__main__" not in place.source.text
    return any(run.facts(each.source).seeds for each in run.files.values())


def _loader(why: str, place: Place) -> Unknown:
    """A loader that gives each rank batches of its own."""
    at = f"{place.node.lineno}:{place.node.col_offset}"
    own = Local(f"each rank has its own batches: {why}", place, data=True)
    return Unknown(f"loader@{at}", each=Unknown(f"batch@{at}", own))


def _rank_in(run: Run, group: Value | None) -> Value:
    if group is None or _world(group):
        return Known(run.rank, ranked=True)
    if isinstance(group, Group) and group.members is not None:
        return Known(group.members.index(run.rank) if run.rank in group.members else -1)
    return Unknown(f"rank in {key(group)}")


def _world(group: Value | None) -> bool:
    if group is None or (isinstance(group, Known) and group.value is None):
        return True
    return isinstance(group, Group) and group.members == tuple(range(RANKS))


def communicate(
    run: Run, name: str, operation: Operation, given: list[Value], named: dict[str, Value], place: Place
) -> Value:
    """A collective: recorded if it is known to be one of all ranks."""
    bound = {**dict(zip(operation.parameters, given)), **named}
    group = bound.get("group", bound.get("process_group", bound.get("process_set")))
    if operation.name == "new_group":
        members = names.ranks_of(bound.get("ranks", Known(None)))
        alone = members in ((run.rank,), None)  # each in a group of itself: they do not meet
        shape = None if alone else (*map(str, members or ()), "")
        run.say(lambda chain: Event(operation.name, place, chain, shape=shape))
        return Group(members)
    if not _world(group) or "*" in named or "**" in named or truth(run.fields.get(_SINGLE, Known(False))):
        return Unknown(f"{operation.name}@{place.node.lineno}")
    root = bound.get(operation.root)
    number = None
    if isinstance(root, Known) and isinstance(root.value, int) and not root.assumed:
        number = root.value
    elif isinstance(root, Known) and root.value == run.rank != 0:  # what rank 0 alone comes to, it may be the root of
        run.trace.misnamed = True
    tensor = bound.get(operation.tensor)
    shape = tensor.shape if isinstance(tensor, Unknown) else None
    if run.checked:  # a collective that is refused raises at once, and somebody waits for that
        number = shape = None
    run.say(lambda chain: Event(operation.name, place, chain, number, shape))
    at = f"{operation.name}@{place.node.lineno}:{place.node.col_offset}"
    _agree(run, operation, bound, at)
    run.averaged(given)
    if operation.name == "DistributedDataParallel":
        wrapped = Unknown(at + _buffers(run, bound), type=WRAPPED)
        run.write(run.fields, (key(wrapped), "module"), bound.get("module", Unknown(f"{at}.module")))
        return wrapped
    return Unknown(at)


def _buffers(run: Run, bound: dict[str, Value]) -> str:
    """Whether a wrapped model sends its buffers to all ranks before each forward pass."""
    sent = truth(bound.get("broadcast_buffers", Known(True)))
    model = bound.get("module")
    if isinstance(model, Instance):
        source = model.cls.scope.source
        start, end = model.cls.node.lineno - 1, model.cls.node.end_lineno
        text = "\n".join(source.lines[start:end])
    else:
        text = key(model) if model is not None else ""
    return " with buffers" if sent and _BUFFERED.search(text) else ""


def _agree(run: Run, operation: Operation, bound: dict[str, Value], at: str) -> None:
    """What a collective fills is the same on all ranks from here on."""
    for name in operation.agreed:
        filled = bound.get(name)
        if isinstance(filled, Items):
            run.write(filled.state, "members", [Unknown(f"agreed {operation.name}")] * len(filled.members))
        elif isinstance(filled, Unknown):
            run.settle(filled, at)


def _message(run: Run, name: str, given: list[Value], named: dict[str, Value], place: Place) -> Value:
    """A message to, or from, one other rank."""
    word = _MESSAGES[name]
    position = 0 if name.startswith(COMMUNICATOR) and "recv" in name else 1
    peer = named.get(word, given[position] if len(given) > position else None)
    group = named.get("group", given[2] if len(given) > 2 and "torch" in name else None)
    number = peer.value if isinstance(peer, Known) and isinstance(peer.value, int) and _world(group) else None
    kind = "receive" if "recv" in name else "send"
    run.say(lambda chain: Event(kind, place, chain, peer=-1 if number is None else number))
    return Unknown(f"{kind}@{place.node.lineno}:{place.node.col_offset}")


def unclear(run: Run, place: Place) -> Value:
    """Messages that do not wait, or at a time of their own, are not followed, nor are others of the same path then."""
    run.say(lambda chain: Event("send", place, chain, peer=-1))
    return Unknown(f"message@{place.node.lineno}")


def method_of_object(
    run: Run, receiver: Unknown, name: str, given: list[Value], named: dict[str, Value], place: Place
) -> Value | None:
    """A method of an object that communicates, None for all others."""
    kind = receiver.type
    if name in ("log", "log_dict") and truth(named.get("sync_dist", Known(False))):
        run.say(lambda chain: Event(name, place, chain))
        return Known(None)
    if name == "backward" and receiver.trained and not run.unsynced:
        run.say(lambda chain: Event("backward", place, chain))
        return Known(None)
    if name == "fit" and any("MetricAverageCallback" in key(one) for each in named.values() for one in parts(each)):
        return Unknown(f"fit@{place.node.lineno}:{place.node.col_offset}")
    if kind == ACCELERATOR and name == "prepare" and given:
        made = [_prepared(each, place, number) for number, each in enumerate(given)]
        return made[0] if len(made) == 1 else Items(made, "tuple")
    if kind == WRAPPED:
        return _of_wrapped(run, receiver, name, given, place)
    if (kind == AVERAGING and name in ("step", "synchronize")) or (kind == AVERAGED_TAPE and name == "gradient"):
        run.say(lambda chain: Event(name, place, chain))
        return Unknown(f"{name}@{place.node.lineno}")
    qualified = f"{kind}.{name}"
    if kind and qualified in operations():
        return communicate(run, qualified, operations()[qualified], given, named, place)
    if kind and (qualified in RANK_CALLS or qualified in SIZE_CALLS or qualified in _MESSAGES):
        return outside(run, qualified, given, named, place)
    return None


def _of_wrapped(run: Run, receiver: Unknown, name: str, given: list[Value], place: Place) -> Value | None:
    """A method of a model that averages its gradients."""
    if name in ("__call__", "forward"):
        if "with buffers" in receiver.key and not run.unsynced:
            run.say(lambda chain: Event("forward", place, chain))
        found = derived(f"{receiver.key}({', '.join(map(key, given))})", *given)
        found.trained = True
        return found
    contexts = {"join": JOINED, "no_sync": UNSYNCED}
    return Unknown(contexts[name], type=contexts[name]) if name in contexts else None


def _prepared(given: Value, place: Place, number: int) -> Value:
    """What `Accelerator.prepare` makes of an argument: a loader of this rank's part of the batches."""
    if isinstance(given, Unknown) and given.key.partition("(")[0].endswith("DataLoader"):
        return _loader("the loader is prepared", place)
    return derived(f"prepared@{place.node.lineno}:{place.node.col_offset}[{number}]", given)


def _sizes(function: str, given: list[Value]) -> tuple[str, ...] | None:
    """The sizes of what a function makes; None where they are not all known."""
    first = given[0]
    if function == "tensor" and isinstance(first, Items):
        return (str(len(first.members)),) if first.exact else None
    if function == "tensor":
        return () if isinstance(first, Known) else None
    parts = first.members if isinstance(first, Items) else given if function != "full" else given[:1]
    known = [str(each.value) for each in parts if isinstance(each, Known)]
    return tuple(known) if len(known) == len(parts) and function != "arange" else None


def _made(name: str, given: list[Value], named: dict[str, Value], place: Place) -> Value | None:
    """A tensor whose sizes and type are told apart where it is made."""
    library, _, function = name.rpartition(".")
    if library != "torch" or function not in _MADE or not given:
        return None
    sizes, kind = _sizes(function, given), named.get("dtype")
    text = f"{name}({', '.join(map(key, [*given, *named.values()]))})"
    found = derived(text, *given)
    if sizes is None or (function == "tensor" and kind is None and not sizes):
        found.shape = None
    elif function == "tensor" and kind is None:
        found.shape = (*sizes, "")
    else:
        found.shape = (*sizes, key(kind) if kind is not None else "float")
    return found
