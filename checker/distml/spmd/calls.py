"""Calls: of functions and classes of the project, which are followed, and of everything else."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace

from distml.spmd import names
from distml.spmd.arguments import arguments, bind
from distml.spmd.builtins import BUILTINS, METHODS
from distml.spmd.communication import method_of_object, outside, unclear
from distml.spmd.expressions import put, put_into, value
from distml.spmd.files import ITEMS
from distml.spmd.flow import LeftError
from distml.spmd.library import ACCELERATOR, ALIKE, MAIN_NAMES, TELLING, operations
from distml.spmd.run import MAX_CALLS, Run
from distml.spmd.told import MAYBE, chosen, fetched, given_by
from distml.spmd.touched import by_function, by_method
from distml.spmd.trace import Event
from distml.spmd.values import (
    Class,
    Container,
    Function,
    Instance,
    Items,
    Known,
    Library,
    Local,
    Partial,
    Place,
    Scope,
    Unknown,
    Value,
    derived,
    key,
    local_of,
    parts,
    trained,
)

_GPU = ("torch.device", "torch.cuda.")
"""What is asked of the device of a rank, which is not its data."""
_NO_READERS = ("builtins.", "os.path.", "os.fspath", "pathlib.", "re.", "copy.")
"""Libraries whose functions make other texts and objects of a path, but for those that are known to look for a file."""
SUSPENDED = "a context manager that is not entered yet"
THROUGH = frozenset(
    "enumerate tqdm iter list tuple reversed islice DataLoader TensorDataset Subset DeviceLoader prefetch array".split()
)
"""What has as many members as its first argument, or as many batches of them."""
STRUCTURE = frozenset({"len", "isinstance", "hasattr", "callable", "type", "issubclass", "id", "is_tensor"})
ASIDE = frozenset(
    "verbose disable leave file device map_location device_ids output_device visible_device_list local_rank".split()
)
"""Parameters of libraries that say what is shown, or where something is computed, and not what it comes to."""
_COPIES = frozenset("clone detach contiguous cuda cpu".split())
_AGREES = re.compile(r"reduce|gather|sync|broadcast|aggregate|across|consensus|agree", re.IGNORECASE)
"""In the names of functions that cannot be followed: what they give may be the same on all ranks."""
_PUTS = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault", "put"})
"""Methods that put what they are given into their object, whatever it is."""
_METRIC = re.compile(r"(tensorflow\.)?(compat\.v[12]\.)?(keras\.)?metrics\.[A-Z]\w*\([^()]*\)")
"""A metric of Keras, which keeps what it is given until its variables are averaged."""
_COMPUTES = frozenset({"torch", "numpy", "math", "tensorflow", "builtins", "itertools", "jax", "tqdm"})
"""Libraries whose functions give what they compute of what they are given; of others ranks may get the same."""
_TOGETHER = frozenset(
    "horovod accelerate torchmetrics ignite lightning pytorch_lightning deepspeed mpi4py composer byteps".split()
)
"""Libraries that combine what ranks have without being asked: of a rank's part of the data they may give what all have."""
_SUMMARIES = ("tensorflow", "summaries")
_OF_RANKS = re.compile(r"distribut|multihost|lax\.p|all_gather|all_reduce|sync")
"""Of the functions of other libraries, those that may give the same on all ranks; others, such as `reduce_mean`, compute."""
SAME = frozenset("to cuda cpu train eval half float double requires_grad_ compile contiguous share_memory".split())
"""Methods that return their object."""


def evaluate_call(run: Run, scope: Scope, node: ast.Call) -> Value:
    """The value of a call, with what it does."""
    place = Place(scope.source, node)
    receiver = value(run, scope, node.func.value) if isinstance(node.func, ast.Attribute) else None
    given, named = arguments(run, scope, node)
    if run.watch is not None and run.watch.tells(node):
        run.tell(place, [*given, *named.values(), *_whole(run, scope, node)])
    if receiver is not None and isinstance(node.func, ast.Attribute):
        if node.func.attr == "update_state":
            _keep(run, receiver, given)
        if isinstance(receiver, Unknown) and _keeps(node.func):
            put_into(run, scope, node.func.value, given)
        if run.watch is not None and isinstance(receiver, Instance):
            _keep(run, names.attribute(run, receiver, node.func.attr, place), given)
        result = _method(run, scope, receiver, node.func.attr, given, named, place)
        if run.watch is None:
            return result
        if run.watch.steps_by(node):
            run.say(lambda chain: Event("step", place, chain))
        return run.watch.given(node, result, place)
    function = value(run, scope, node.func)
    _keep(run, function, given)
    return called(run, scope, function, given, named, place)


def _keep(run: Run, metric: Value, given: list[Value]) -> None:
    """A metric keeps what it is given, wherever it is held."""
    if isinstance(metric, Unknown) and run.watch is not None and _METRIC.fullmatch(metric.key):
        put(run, run.watch, metric, given)


def _keeps(method: ast.Attribute) -> bool:
    """Whether a method puts what it is given into its object, or into the one that holds this."""
    return method.attr in _PUTS or (method.attr == "update" and isinstance(method.value, ast.Subscript | ast.Call))


def _whole(run: Run, scope: Scope, node: ast.Call) -> list[Value]:
    """What the objects of the project hold that a call is given, or puts into texts, as a whole or by an item."""
    parts = [*node.args, *(each.value for each in node.keywords)]
    inside = [each for part in parts for each in ast.walk(part)]
    of_attributes = {id(each.value) for each in inside if isinstance(each, ast.Attribute)}
    bare = [each for each in inside if isinstance(each, ast.Name) and id(each) not in of_attributes]
    held = [value(run, scope, each) for each in bare]
    return [field for each in held if isinstance(each, Instance) for field in each.fields.values()]


def called(run: Run, scope: Scope, function: Value, given: list[Value], named: dict[str, Value], place: Place) -> Value:
    """Call a value."""
    match function:
        case Library(name=name):
            return _library(run, scope, name, given, named, place)
        case Function():
            return invoke(run, function, given, named, place)
        case Class():
            return construct(run, function, given, named, place)
        case Partial(function=inner, positional=before, named=defaults):
            return called(run, scope, inner, [*before, *given], {**defaults, **named}, place)
        case Instance():
            for name in ("__call__", "forward"):
                member = names.class_member(run, function.cls, name)
                if member is not None:
                    return called(run, scope, names.attribute(run, function, name, place), given, named, place)
            return _unknown(run, function, given, named, place)
        case Unknown(type=kind) if kind:
            found = method_of_object(run, function, "__call__", given, named, place)
            return found or _unknown(run, function, given, named, place)
        case Known():
            return function
    return _by_custom(run, key(function), [*given, *named.values()], place) or _unknown(
        run, function, given, named, place
    )


def _by_custom(run: Run, text: str, given: list[Value], place: Place) -> Value | None:
    """What a function says by its name; what it says of something given to it, such as a group, is not known."""
    name = text.rpartition(".")[2]
    if name not in MAIN_NAMES and any(not (isinstance(each, Known) and each.value is None) for each in given):
        return None
    found = names.custom(run, place.source, name) if name in TELLING else None
    return replace(found, assumed=False) if isinstance(found, Known) else found  # a process is asked for its own rank


def _hand(run: Run, values: list[Value], place: Place) -> None:
    """A call is not followed: what it was given may be called by it."""
    if not run.muted and any(_communicating(run, part) for each in values for part in parts(each)):
        run.hand(place)
        unclear(run, place)


def _communicating(run: Run, value: Value) -> bool:
    match value:
        case (
            Function(node=node, scope=scope)
            | Class(node=node, scope=scope)
            | Instance(cls=Class(node=node, scope=scope))
        ):
            return run.facts(scope.source).speaks(node)
        case Partial(function=inner):
            return _communicating(run, inner)
    return False


def _written(run: Run, given: list[Value]) -> str:
    """Arguments in words; what calls a function that asks for the rank comes to something else on every rank."""
    return ", ".join(f"{key(each)} of rank {run.rank}" if _varies(run, each) else key(each) for each in given)


def _varies(run: Run, value: Value) -> bool:
    if isinstance(value, Partial):
        return any(_varies(run, each) for each in (value.function, *value.positional, *value.named.values()))
    return isinstance(value, Function) and run.facts(value.scope.source).varies(value.node)


def _meant(given: list[Value], named: dict[str, Value]) -> list[Value]:
    """The arguments that the result of a call comes from."""
    return [*given, *(each for name, each in named.items() if name not in ASIDE)]


def _chosen(run: Run, meant: list[Value], place: Place) -> Local | None:
    """Why the result of a call is this rank's own: the number of the rank is among what it comes from, or a function that a
    library is given, and that nobody else runs, chooses by it.
    """
    own = chosen(place, *meant)
    for each in meant if own is None else ():
        if isinstance(each, Function) and isinstance(each.node, ast.Lambda) and each.node not in run.active:
            with run.sample(), run.calling(place, each.node):
                own = own or local_of(value(run, bind(run, each, [], {}), each.node.body))
    return own


def _unknown(run: Run, function: Value, given: list[Value], named: dict[str, Value], place: Place) -> Unknown:
    """The result of a call of which nothing is known: what a model of this rank says of its batch is its own."""
    inner = [*given, *named.values()]
    _hand(run, inner, place)
    text = f"{key(function)}({_written(run, inner)})"
    for each in inner:
        if isinstance(each, Container):
            run.write(each.state, "exact", each.exact and each.kind == "tuple")
    if isinstance(function, Unknown) and not _AGREES.search(key(function)):
        result = derived(text, function, *_meant(given, named))
        for name, each in named.items() if run.watch is not None and "namedtuple(" in function.key else ():
            names.set_attribute(run, result, name, each)
        return result
    return Unknown(text, trained=trained(*inner))


def _library(run: Run, scope: Scope, name: str, given: list[Value], named: dict[str, Value], place: Place) -> Value:
    """Call a function of a library, or a builtin."""
    inner = [*given, *named.values()]
    if run.watch is not None:
        paths = by_function(name, given, named)
        run.record_files(place, paths)
        if not paths and not name.startswith(_NO_READERS):
            run.record_given(place, inner)
    builtin = BUILTINS.get(name.removeprefix("builtins.")) if "*" not in named else None
    found = (
        outside(run, name, given, named, place)
        or (builtin and builtin(run, given, named, place))
        or _spawned(run, scope, name, given, named, place)
        or _by_custom(run, name, inner, place)
    )
    if found is not None:
        return found
    if not name.startswith("builtins.") and name != "torch.save":
        _hand(run, inner, place)
    if run.watch is not None and name.startswith("tensorflow.summary."):
        kept = _summaries(run, name, inner)
        given = kept if name.endswith(".merge_all") else given
    return _result(run, name, given, named, place)


def _summaries(run: Run, name: str, given: list[Value]) -> list[Value]:
    """What the summaries of a graph record: it keeps them, and gives all of them to who merges all."""
    kept = run.fields.get(_SUMMARIES, Unknown("summaries"))
    if not name.endswith(".merge_all"):
        run.write(run.fields, _SUMMARIES, derived("summaries", kept, *given))
    return [kept]


def _spawned(
    run: Run, scope: Scope, name: str, given: list[Value], named: dict[str, Value], place: Place
) -> Value | None:
    """What runs in each of the processes that a call starts: it is given its rank first."""
    if name not in ("torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn") or not given:
        return None
    tail = named.get("args", given[1] if len(given) > 1 else None)
    rest = tail.members if isinstance(tail, Items) else []
    return called(run, scope, given[0], [Known(run.rank), *rest], {}, place)


def _result(run: Run, name: str, given: list[Value], named: dict[str, Value], place: Place) -> Value:
    """The result of a function of a library that nothing else is known of."""
    meant = _meant(given, named)
    result = derived(f"{name}({_written(run, meant)})", *meant)
    if run.watch is not None and not name.startswith(_GPU):
        result.local = result.local or _chosen(run, meant, place)
    last = name.rpartition(".")[2]
    first = given[0] if given and isinstance(given[0], Unknown) else None
    if last == "next" and first is not None and first.each is not None and run.watch is not None:
        return replace(derived(key(first.each), first.each), type=MAYBE) if len(given) > 1 else first.each
    if last in THROUGH and first is not None:
        result.uneven = first.uneven
        result.each = _counted(first, place) if last == "enumerate" else first.each
    elif run.watch is not None:
        result.each = given_by(last, given)
    if last in STRUCTURE:
        return Unknown(result.key)
    library = name.partition(".")[0]
    computes = library in _COMPUTES if run.watch is None else library not in _TOGETHER
    plain = computes and not _OF_RANKS.search(name)
    each = result.each if run.watch is not None else None
    return result if plain else Unknown(result.key, trained=result.trained, each=each)


def _counted(of: Unknown, place: Place) -> Value:
    """A member of `enumerate(...)`."""
    return Items([Unknown(f"number@{place.node.lineno}"), of.each or derived(f"{of.key}[…]", of)], "tuple")


def _method(
    run: Run, scope: Scope, receiver: Value, name: str, given: list[Value], named: dict[str, Value], place: Place
) -> Value:
    """Call a method."""
    if isinstance(receiver, Container):
        found = METHODS[type(receiver)](run, receiver, name, given, named)
        return found or derived(f"{key(receiver)}.{name}({_written(run, given)})", receiver, *given)
    if names.is_environment(receiver) and name == "get" and given and isinstance(given[0], Known):
        return names.variable(run, given[0].value, [*given[1:], *named.values()])
    if isinstance(receiver, Unknown):
        return _of_unknown(run, scope, receiver, name, given, named, place)
    if isinstance(receiver, Instance) and name in ("log", "log_dict"):
        method_of_object(run, Unknown(receiver.key), name, given, named, place)
    found = names.attribute(run, receiver, name, place)
    if isinstance(receiver, Instance) and isinstance(found, Unknown) and not found.type:
        inner = [*given, *named.values()]
        if not _touch(run, Unknown(receiver.key), name, given, named, place):
            _hand(run, [receiver, *inner], place)
        return _by_custom(run, name, inner, place) or derived(f"{found.key}({', '.join(map(key, inner))})", *inner)
    return called(run, scope, found, given, named, place)


def _touch(run: Run, receiver: Unknown, name: str, given: list[Value], named: dict[str, Value], place: Place) -> bool:
    """Remember the files that a method of a library touches; whether it is one that does."""
    paths = by_method(receiver, name, given, named) if run.watch is not None else []
    if paths and receiver.type == ACCELERATOR and run.rank != 0:
        paths = []
    run.record_files(place, paths)
    if not paths and run.watch is not None:
        run.record_given(place, [*given, *named.values()])
    return bool(paths)


def _of_unknown(
    run: Run, scope: Scope, receiver: Unknown, name: str, given: list[Value], named: dict[str, Value], place: Place
) -> Value:
    """Call a method of an object of a library, or of one of which nothing is known."""
    inner = [*given, *named.values()]
    _touch(run, receiver, name, given, named, place)
    found = (
        method_of_object(run, receiver, name, given, named, place)
        or _itself(run, receiver, name)
        or _by_custom(run, name, inner, place)
    )
    if found is not None:
        return found
    known = run.fields.get((key(receiver), name))
    if isinstance(known, Function | Partial):
        return called(run, scope, known, given, named, place)
    _hand(run, inner, place)
    if run.watch is not None and (result := fetched(receiver, name, inner)) is not None:
        return result
    text = f"{key(receiver)}.{name}({_written(run, inner)})"
    shape = receiver.shape if name in _COPIES else None
    own = _own_result(run, receiver, name, given, named, place)
    return Unknown(text, own, trained=trained(receiver, *inner), shape=shape)


def _itself(run: Run, receiver: Unknown, name: str) -> Value | None:
    """What a method gives that gives its object, or the next of what this goes through."""
    if name in SAME and receiver.type:
        return receiver
    return receiver.each if name in ("__next__", "next") and run.watch is not None else None


def _own_result(
    run: Run, receiver: Unknown, name: str, given: list[Value], named: dict[str, Value], place: Place
) -> Local | None:
    """Why what a method gives is this rank's own."""
    if name in ALIKE and not (name == "type" and given):  # which gives the data in another type
        return None
    if run.watch is not None:
        evaluated = name == "eval" and bool(given or named)  # a tensor of a graph: a module takes nothing for it
        meant = _meant(given, named) if name not in SAME or evaluated else []
        return local_of(receiver, *meant) or _chosen(run, meant, place)
    return None if _AGREES.search(name) else local_of(receiver, *given, *named.values())


def construct(run: Run, cls: Class, given: list[Value], named: dict[str, Value], place: Place) -> Value:
    """An object of a class of the project."""
    made = Instance(cls, f"{cls.node.name}@{place.node.lineno}")
    start = names.class_member(run, cls, "__init__")
    if isinstance(start, Function):
        bound = Function(start.node, start.scope, made, start.owner)
        invoke(run, bound, given, named, place)
    else:
        declared = [
            each for each in cls.node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]
        for statement, each in zip(declared, given):
            run.write(made.fields, statement.target.id, each)  # type: ignore[union-attr]
        for name, each in named.items():
            run.write(made.fields, name, each)
    return made


def invoke(run: Run, function: Function, given: list[Value], named: dict[str, Value], place: Place) -> Value:
    """Call a function of the project."""
    node = function.node
    if not isinstance(node, ast.Lambda):
        qualified = f"{function.scope.source.module}.{node.name}"
        if qualified in operations() or qualified.startswith("torch.distributed."):
            found = outside(run, qualified, given, named, place)
            return found if found is not None else Unknown(f"{qualified}()")
    if function.first_only is not None:
        first = run.rank == 0
        run.turn(function.first_only, first, (node,))
        if not first:
            return Known(None)
    inner = [*given, *named.values()]
    text = f"{key(function)}({', '.join(map(key, inner))})"
    if _is_abstract(node):
        return derived(text, *inner)
    if node in run.active or len(run.active) >= MAX_CALLS or not _worthwhile(run, function, inner):
        _hand(run, inner, place)
        _lose(run, function, inner)
        of_given = function.bound is not None or run.watch is not None
        return derived(text, *inner) if of_given else Unknown(text, trained=trained(*inner))
    if _remembers(node):
        asked = ("cached", f"{node.lineno}:{text.partition('(')[0]}")
        if asked in run.fields:
            return Unknown(text)
        run.write(run.fields, asked, Known(True))
    scope = bind(run, function, given, named)
    if isinstance(node, ast.Lambda):
        with run.calling(place, node):
            return value(run, scope, node.body)
    if function.block:
        return Partial(Library(SUSPENDED), [Function(node, scope)], {})
    if run.facts(scope.source).generates(node):
        return Unknown(text) if run.watch is None else _generator(run, node, scope, text, place)
    result = _followed(run, node, scope, place)
    agreed = run.watch is not None and node.name in run.watch.alike
    return Unknown(f"{node.name}@{place.node.lineno}:{place.node.col_offset}") if agreed else result


def _generator(
    run: Run, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, text: str, place: Place
) -> Unknown:
    """What a generator gives one after the other, as running it once shows."""
    given: list[Value] = []
    run.resume.append(given.append)
    try:
        with run.silent(), run.sample(), run.calling(place, node), suppress(LeftError):
            run.language.execute(run, scope, node.body)
    finally:
        run.resume.pop()
    own = local_of(*given) is not None
    return Unknown(text, each=(given[0] if len(given) == 1 else derived(f"{text}[…]", *given)) if own else None)


def _lose(run: Run, function: Function, inner: list[Value]) -> None:
    """Forget what a function that is not followed may change of what it is given."""
    changed = run.facts(function.scope.source).changes(function.node)
    for each in (part for given in (function.bound, *inner) if given is not None for part in parts(given)):
        if isinstance(each, Instance):
            for name in changed - {ITEMS}:
                run.write(each.fields, name, Unknown(f"{each.key}.{name} after {key(function)}"))
        elif isinstance(each, Container) and ITEMS in changed:
            run.write(each.state, "exact", each.kind == "tuple" and each.exact)


def _is_abstract(node: ast.AST) -> bool:
    """Whether another class says what a method does."""
    marked = (ast.unparse(each) for each in getattr(node, "decorator_list", ()))
    return any(each.rpartition(".")[2] == "abstractmethod" for each in marked)


def _remembers(node: ast.AST) -> bool:
    """Whether a function keeps its results, so that a call need not run it again."""
    kept = {"cache", "lru_cache", "cached", "memoize"}
    return any(
        ast.unparse(each).partition("(")[0].rpartition(".")[2] in kept for each in getattr(node, "decorator_list", ())
    )


def _followed(run: Run, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, place: Place) -> Value:
    with run.calling(place, node):
        flow = run.language.execute(run, scope, node.body)
    if flow is not None and flow.word in ("raise", "exit", "cut"):
        raise LeftError(flow)
    return flow.value if flow is not None and flow.value is not None else Known(None)


def _worthwhile(run: Run, function: Function, inner: list[Value]) -> bool:
    """Whether a call can matter to who communicates."""
    facts = run.facts(function.scope.source)
    if facts.minds(function.node) or function.block:
        return True
    if any(isinstance(each, Function | Partial) or (isinstance(each, Unknown) and each.type) for each in inner):
        return True
    if run.watch is not None and run.watch.within(function.node):
        return True
    return (isinstance(function.bound, Instance) or run.watch is not None) and facts.small(function.node)
