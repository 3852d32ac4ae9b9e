"""What a file binds at its outermost level, and which of its names lead to communication; nothing here depends on the rank."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

from distml.source.bindings import MUTATORS, binds, decorators, last_name
from distml.source.file import SourceFile
from distml.source.nodes import children, statements, walk
from distml.source.project import Project
from distml.source.reach import communicates, imported_files
from distml.source.reading import UnreadableError
from distml.spmd.library import MAIN_ONLY, RANK_CALLS, RANK_VARIABLES, TELLING, words

MAX_SIZE = 400
"""Nodes of a method that says nothing of ranks, but is followed for what it changes."""
ITEMS = "[]"
MAX_FILES = 60
"""How many files of a project are looked at for names that lead to communication."""
_PROCESSES = re.compile(
    r"\b(?:world_size|local_rank|get_rank|LOCAL_RANK|nprocs|n_?gpus\w*|DistributedSampler|device_ids|set_device"
    r"|num_replicas|global_rank|is_main_process|num_processes|master_addr|MASTER_ADDR)\b"
)
_MATRICES = re.compile(r"lora|low.?rank|matrix_rank|svd|tucker|adapter|decompos|ranking", re.IGNORECASE)
"""Where a file speaks of matrices, `rank` is theirs, unless it speaks of processes in other words too."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_ASKING = frozenset(name.rpartition(".")[2] for name in RANK_CALLS) | TELLING | MAIN_ONLY
_OTHERS = frozenset({"is_initialized"})
_VARYING = frozenset("time perf_counter monotonic process_time set random randint choice uniform".split())
_PLAIN = frozenset("gather reduce scatter broadcast send recv step initialize spawn barrier synchronize".split())
"""Words that mean communication only where they are asked of a module, or of an object that communicates."""
_ELSEWHERE = frozenset("torch np numpy tf jnp functools mp itertools".split())
_OBJECTS = frozenset("accelerator fabric comm COMM_WORLD strategy engine model_engine".split())
_YIELDS = (ast.Yield, ast.YieldFrom)
_RETURN = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_FLOW = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom)
_BRANCHING = ast.If | ast.For | ast.While | ast.Try | ast.With | ast.Match
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class FileFacts:
    """A file of the project, read once."""

    def __init__(self, source: SourceFile, project: Project) -> None:
        self.source = source
        self.project = project
        self._known: dict[tuple[str, int], bool] = {}
        self._outward: dict[int, frozenset[str]] = {}
        self._named: dict[int, frozenset[str]] = {}
        self._changes: dict[int, frozenset[str]] = {}
        self._members: dict[int, dict[str, ast.stmt]] = {}
        self.givers: dict[str, SourceFile | None] = {}
        """The files that bind what this one holds under a name, as far as that was asked for."""

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty one where it cannot be parsed, which the check of that file says."""
        try:
            return self.source.tree
        except UnreadableError:
            return ast.Module([], [])

    @cached_property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        """The statements that bind each name at the outermost level, also inside conditions and loops."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in _outermost(self.tree.body):
            for name in _bound(statement):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """The statements at the outermost level that import all names of a module."""
        found = (each for each in _outermost(self.tree.body) if isinstance(each, ast.ImportFrom))
        return [each for each in found if each.names[0].name == "*"]

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Names that functions declare `global`."""
        declared = (node for node in statements(self.tree) if isinstance(node, ast.Global))
        return frozenset(name for node in declared for name in node.names)

    @cached_property
    def about_ranks(self) -> bool:
        """Whether the file has to do with ranks of processes at all."""
        text = self.source.text
        return communicates(self.source) or any(
            word in text for word in ("world_size", "local_rank", "get_rank", "LOCAL_RANK")
        )

    @cached_property
    def about_matrices(self) -> bool:
        """Whether a rank may be that of a matrix."""
        text = self.source.text
        return _MATRICES.search(text) is not None and _PROCESSES.search(text) is None

    @cached_property
    def seeds(self) -> bool:
        """Whether the file calls what sets a seed, or gives one."""
        calls = (node for node in walk(self.tree) if isinstance(node, ast.Call))
        return any("seed" in " ".join([last_name(c.func) or "", *(k.arg or "" for k in c.keywords)]) for c in calls)

    @cached_property
    def functions(self) -> tuple[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None], ...]:
        """The functions of the outermost level and the methods of its classes."""
        return tuple(_functions(self.tree.body, None))

    @cached_property
    def spawned(self) -> frozenset[str]:
        """Functions that are started once for each rank, with the rank first."""
        calls = (node for node in walk(self.tree) if isinstance(node, ast.Call))
        return frozenset(
            call.args[0].id
            for call in calls
            if last_name(call.func) == "spawn" and call.args and isinstance(call.args[0], ast.Name)
        )

    @cached_property
    def speaking(self) -> frozenset[str]:
        """Names, of this file and of those it imports, that lead to communication."""
        return self._leading[0]

    @cached_property
    def asking(self) -> frozenset[str]:
        """Names, of this file and of those it imports, that lead to the rank."""
        return self._leading[1]

    @cached_property
    def sharding(self) -> frozenset[str]:
        """Names that lead to data of which each rank has a part."""
        return self._leading[2]

    @cached_property
    def _telling(self) -> frozenset[str]:
        return self.asking | self.sharding | _OTHERS

    @cached_property
    def _leading(self) -> tuple[frozenset[str], ...]:
        """The names that lead to communication, to the rank, and to data of which each rank has a part."""
        spoken: dict[str, set[str]] = {}
        for facts in self._around():
            outer = {id(each) for each in facts.tree.body}
            for definition, names in facts.mentioned:
                # Methods of other files go by too many names; their classes stand for them.
                own = facts is self and not definition.name.startswith("__")
                if own or id(definition) in outer:
                    spoken.setdefault(definition.name, set()).update(names)
        goals = words() | _further.get(self.project, frozenset()), _ASKING, frozenset({"DistributedSampler"})
        return tuple(_leading_to(goal, spoken) for goal in goals)

    @cached_property
    def mentioned(self) -> tuple[tuple[Definition, frozenset[str]], ...]:
        """Each function and class of the file with the names that stand in it."""
        found = [node for node in statements(self.tree) if isinstance(node, Definition)]
        return tuple((node, self._names(node)) for node in found)

    def speaks(self, node: ast.AST) -> bool:
        """Whether something in `node` may communicate, or lead to what does."""
        return self._once("speaks", node, lambda: bool(self._names(node) & self.speaking))

    def minds(self, node: ast.AST) -> bool:
        """Whether something in `node` may communicate, ask for the rank, or lead to what does; ask whether there
        are other ranks, or make this rank's part of the data.
        """
        return self.speaks(node) or self._once("asks", node, lambda: bool(self._names(node) & self._telling))

    def varies(self, node: ast.AST) -> bool:
        """Whether something in `node` may differ between ranks."""
        return self._once("varies", node, lambda: self._varying(node))

    def _varying(self, node: ast.AST) -> bool:
        if self._names(node) & (self._telling | _VARYING):
            return True
        return any(isinstance(each, ast.Set | ast.SetComp | ast.ExceptHandler) for each in walk(node))

    def leaves(self, node: ast.AST) -> bool:
        """Whether control may leave `node` otherwise than at its end."""
        return self._once("leaves", node, lambda: any(_is_exit(each) for each in _inside(node)))

    def returns(self, node: ast.AST) -> bool:
        """Whether control may leave the function, or the process, from `node`."""
        return self._once("returns", node, lambda: any(_is_exit(each, _RETURN) for each in _inside(node)))

    def generates(self, node: ast.AST) -> bool:
        """Whether a function is a generator."""
        return self._once("yields", node, lambda: any(isinstance(each, _YIELDS) for each in walk(node)))

    def small(self, node: ast.AST) -> bool:
        """Whether a function is short enough to be followed for nothing but what it changes."""
        return self._once("small", node, lambda: sum(1 for _ in ast.walk(node)) <= MAX_SIZE)

    def changes(self, node: ast.AST) -> frozenset[str]:
        """The attributes that a function may set, itself or by functions of this file that it names; `ITEMS` where it may
        change what a container holds."""
        if id(node) not in self._changes:
            seen, waiting = {id(node)}, [node]
            found: set[str] = set()
            while waiting:
                each = waiting.pop()
                found.update(_changed(each))
                named = self._names(each)
                further = [one for one, _ in self.functions if one.name in named and id(one) not in seen]
                seen.update(map(id, further))
                waiting += further
            self._changes[id(node)] = frozenset(found)
        return self._changes[id(node)]

    def members(self, made: ast.ClassDef) -> dict[str, ast.stmt]:
        """The last method or assignment of each name in a class; what sets it on some paths is that condition or loop."""
        if id(made) not in self._members:
            found: dict[str, ast.stmt] = {}
            for statement in made.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.update({} if _completes(statement) else {statement.name: statement})
                elif isinstance(statement, ast.Assign | _BRANCHING):
                    found.update(
                        dict.fromkeys((name for each in _outermost([statement]) for name in _bound(each)), statement)
                    )
            self._members[id(made)] = found
        return self._members[id(made)]

    def outward(self, node: ast.AST) -> frozenset[str]:
        """The names that a function declares `global` or `nonlocal`."""
        if id(node) not in self._outward:
            declared = (each for each in statements(node) if isinstance(each, ast.Global | ast.Nonlocal))
            self._outward[id(node)] = frozenset(name for each in declared for name in each.names)
        return self._outward[id(node)]

    def _once(self, question: str, node: ast.AST, answer: Callable[[], bool]) -> bool:
        known = self._known.get((question, id(node)))
        if known is None:
            known = self._known[question, id(node)] = answer()
        return known

    def _names(self, node: ast.AST) -> frozenset[str]:
        """The names in `node`, without those that certainly do not mean communication."""
        known = self._named.get(id(node))
        if known is not None:
            return known
        found: set[str] = set()
        waiting = _run(node) if isinstance(node, ast.stmt) else [node]
        while waiting:
            each = waiting.pop()
            if isinstance(each, ast.Name):
                found.add(each.id)
            elif isinstance(each, ast.stmt):
                found |= self._names(each)
            else:
                waiting += _run(each)
                if (name := self._told(each)) is not None:
                    found.add(name)
        self._named[id(node)] = frozenset(found)
        return self._named[id(node)]

    def _told(self, node: ast.AST) -> str | None:
        """What a node that is no variable names."""
        if isinstance(node, ast.Attribute):
            return node.attr if node.attr not in _PLAIN or self._of_module(node.value) else None
        if isinstance(node, ast.alias):
            return node.name.rpartition(".")[2]
        if isinstance(node, ast.keyword):
            return "all_reduce" if node.arg == "sync_dist" else None
        return "rank" if isinstance(node, ast.Constant) and node.value in RANK_VARIABLES else None

    def _of_module(self, base: ast.expr) -> bool:
        name = last_name(base)
        if not isinstance(base, ast.Name):
            return name in _OBJECTS or name in {"distributed", "comm", "optimizer", "model", "loss", "MPI"}
        return (name in self.imported and name not in _ELSEWHERE) or name in _OBJECTS

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that imports bind anywhere in the file."""
        found = (node for node in statements(self.tree) if isinstance(node, ast.Import | ast.ImportFrom))
        return frozenset(name for node in found for name in binds(node))

    def _around(self) -> Iterator[FileFacts]:
        """This file and those it imports that communicate, or import such a file."""
        yield self
        seen, waiting, left = {self.source.location}, [self.source], MAX_FILES
        while waiting and left:
            for target in imported_files(waiting.pop(0), self.project):
                if target.location not in seen and left:
                    seen.add(target.location)
                    left -= 1
                    if communicates(target) or "rank" in target.text:
                        waiting.append(target)
                        yield facts_of(target, self.project)


_known: WeakKeyDictionary[Project, dict[str, FileFacts]] = WeakKeyDictionary()


_further: WeakKeyDictionary[Project, frozenset[str]] = WeakKeyDictionary()


def follow(words: frozenset[str], project: Project) -> None:
    """Take calls by some names for communication too, in the files of a project; what was known of these is found anew."""
    if words != _further.get(project, frozenset()):
        _further[project] = words
        _known.pop(project, None)


def facts_of(source: SourceFile, project: Project) -> FileFacts:
    """The facts of a file, made once for each project."""
    known = _known.setdefault(project, {})
    found = known.get(source.location)
    if found is None or found.source is not source:
        found = known[source.location] = FileFacts(source, project)
    return found


def _leading_to(goal: frozenset[str], spoken: dict[str, set[str]]) -> frozenset[str]:
    """Names that stand for what names one of `goal`, or another that does."""
    found = set(goal)
    waiting = True
    while waiting:
        new = {name for name, names in spoken.items() if name not in found and names & found}
        waiting = bool(new)
        found |= new
    return frozenset(found)


def _run(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, less annotations: what they name is not run."""
    stated = (getattr(node, "annotation", None), getattr(node, "returns", None))
    return [each for each in children(node) if each not in stated] if any(stated) else children(node)


def _outermost(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a body and of the conditions, loops and blocks in it."""
    for statement in body:
        yield statement
        if not isinstance(statement, _NESTED):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                for part in getattr(statement, field, ()):
                    yield from _outermost([part]) if isinstance(part, ast.stmt) else _outermost(part.body)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (*_NESTED, ast.Import, ast.ImportFrom)):
        yield from binds(statement)
        return
    fields = ("targets", "target", "items", "value", "test", "iter")
    for field in fields:
        value = getattr(statement, field, None)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                for node in walk(part):
                    yield from binds(node) if isinstance(node, ast.Name) else ()


def _functions(
    body: list[ast.stmt], owner: ast.ClassDef | None
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None]]:
    for statement in _outermost(body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement, owner
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, statement)


def _completes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method says what else its name does, such as setting a property."""
    return not {"setter", "deleter", "overload"}.isdisjoint(decorators(node))


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What is executed with a node: not the bodies of functions that it defines."""
    yield node
    for child in ast.iter_child_nodes(node) if not isinstance(node, _NESTED) else ():
        yield from _inside(child)


def _changed(node: ast.AST) -> Iterator[str]:
    """The attributes that something in a node sets, and `ITEMS` where it changes what a container holds."""
    for each in walk(node):
        if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load):
            yield each.attr
        elif isinstance(each, ast.Subscript) and not isinstance(each.ctx, ast.Load):
            yield ITEMS
        elif isinstance(each, ast.Call):
            yield from _changed_by(each)


def _changed_by(call: ast.Call) -> Iterator[str]:
    if isinstance(call.func, ast.Attribute) and call.func.attr in MUTATORS:
        yield ITEMS
    if last_name(call.func) == "setattr" and len(call.args) == 3 and isinstance(call.args[1], ast.Constant):
        yield str(call.args[1].value)


def _is_exit(node: ast.AST, kinds: tuple[type[ast.AST], ...] = _FLOW) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in {"exit", "_exit", "quit", "abort", "skip"}
    return isinstance(node, kinds)
