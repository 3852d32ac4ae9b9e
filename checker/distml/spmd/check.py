"""Checks a file: its body and each function that nothing else calls is followed once for each rank, path by path."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from distml.diagnostics.model import Diagnostic
from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd import names
from distml.spmd.arguments import bind
from distml.spmd.calls import invoke
from distml.spmd.compare import cause, parting, without
from distml.spmd.doubt import doubtful, exchanged, sends_alone
from distml.spmd.files import FileFacts, facts_of, follow
from distml.spmd.flow import Flow, LeftError
from distml.spmd.language import LANGUAGE
from distml.spmd.library import RANKS
from distml.spmd.report import Finding, at_home, describe, diagnostic, noted
from distml.spmd.run import OutOfBudgetError, Run
from distml.spmd.statements import execute
from distml.spmd.told import Watch
from distml.spmd.touched import Race, made_by_all, races, written_by_all
from distml.spmd.trace import Choices, Trace
from distml.spmd.values import Class, Function, Instance, Known, Place

MAX_PATHS = 40
SILENT_PATHS = 6
"""After so many on which nothing is communicated, others are not tried."""
MAX_FINDINGS = 8
SECONDS = 4.0
"""Of processor time, for one file."""
_HALF = re.compile(
    r"enter|exit|begin|start|end|finish|before|after|pre|post|acquire|release|lock|set_?up|tear_?down|wait"
)
Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Certificate(NamedTuple):
    """What is known of a file: findings, calls that tell what is of rank 0's part of the data, races for files, what writes
    a file on all ranks where it is missing, and what does so after training.
    """

    findings: tuple[Diagnostic, ...]
    told: list[Place]
    races: list[Race]
    made: list[Place]
    written: list[Place]


class Root(NamedTuple):
    """Where a path begins: a function, or the body of the file."""

    function: Definition | None
    owner: ast.ClassDef | None


def check_source(source: SourceFile, project: Project, deadline: float) -> tuple[Diagnostic, ...]:
    """The SPM findings of a file; `deadline` is in processor time. Raises `UnreadableError` where it cannot be parsed."""
    return certified(source, project, deadline, None).findings


def certified(
    source: SourceFile, project: Project, deadline: float, watch: Watch | None, *, script: bool = True
) -> Certificate:
    """The SPM findings of a file, and with a `watch` the calls of it that rank 0 gives what comes from its part of the data,
    and what other ranks may look for before rank 0 has written it.

    A file that is no `script` is imported: what stands under its `__main__` guard does not run.

    Raises:
        UnreadableError: The file cannot be parsed.
    """
    if watch is not None and watch.steps:
        follow(frozenset(watch.stepping), project)
    facts = facts_of(source, project)
    checker = _Checker(facts, min(deadline, time.process_time() + SECONDS), watch, script)
    with suppress(RecursionError):  # expressions of absurd depth
        for root in checker.roots():
            checker.check(root)
    found = sorted((diagnostic(each) for each in _told(checker.found)), key=lambda each: each.span)
    return Certificate(
        tuple(found),
        [*checker.told.values()],
        [*checker.races.values()],
        [*checker.made.values()],
        [*checker.written.values()],
    )


class _Checker:
    def __init__(self, facts: FileFacts, deadline: float, watch: Watch | None, script: bool = True) -> None:
        self.facts = facts
        self.script = script
        self.deadline = deadline
        self.watch = watch
        self.found: list[Finding] = []
        self.told: dict[int, Place] = {}
        self.races: dict[tuple[int, ...], Race] = {}
        self.made: dict[int, Place] = {}
        self.written: dict[int, Place] = {}
        self._entered: set[int] = set()

    def roots(self) -> Iterator[Root]:
        """The body of the file; functions that it does not mention again; the others, as far as nothing led there."""
        body = self.facts.tree.body
        plain = [each for each in body if not isinstance(each, Definition | ast.ClassDef)]
        if any(map(self.facts.speaks, plain)) and any(map(self.facts.varies, plain)):
            yield Root(None, None)
        functions = [(node, owner) for node, owner in self.facts.functions if self._worthwhile(node)]
        text = self.facts.source.text
        called = {node.name: len(re.findall(rf"\b{re.escape(node.name)}\s*\(", text)) for node, _ in functions}
        for node, owner in sorted(functions, key=lambda each: called[each[0].name] > 1):
            if id(node) not in self._entered and time.process_time() < self.deadline:
                yield Root(node, owner)

    def _worthwhile(self, node: ast.AST) -> bool:
        halves = ("__enter__", "__exit__", "__aenter__", "__aexit__")
        if getattr(node, "name", "") in halves:
            return False
        files = self.watch is not None and self.facts.minds(node) and self.watch.within(node)
        return files or (self.facts.speaks(node) and self.facts.varies(node))

    def check(self, root: Root) -> None:
        """Follow a root along its paths."""
        waiting: list[dict[str, bool]] = [{}]
        covered: set[tuple[str, bool]] = set()
        paths, spoken = 0, False
        while waiting and paths < MAX_PATHS:
            choices = Choices(waiting.pop(0))
            paths += 1
            traces = self._traces(root, choices)
            if traces is None:
                return
            self._compare(root, traces)
            spoken = spoken or any(trace.events for trace in traces)
            if paths >= SILENT_PATHS and not spoken:
                return
            for decision, given in choices.alternatives():
                if decision not in covered and len(waiting) < MAX_PATHS:
                    covered.add(decision)
                    waiting.append(given)

    def _traces(self, root: Root, choices: Choices) -> list[Trace] | None:
        """What each rank does; all do what one does that never asks which it is."""
        traces: list[Trace] = []
        for rank in range(RANKS):
            followed = self._follow(root, rank, choices)
            if followed is None:
                return None
            if not followed.asked_rank:
                return [followed.trace] * RANKS
            traces.append(followed.trace)
        return traces

    def _follow(self, root: Root, rank: int, choices: Choices) -> Run | None:
        run = Run(LANGUAGE, rank, choices, self.facts.project, self.deadline, self.watch)
        try:
            flow = _begin(run, root, self.facts, self.script)
        except LeftError as left:
            flow = left.flow
        except (OutOfBudgetError, RecursionError):
            return None
        finally:
            self._entered |= run.entered
        run.trace.cut = flow is not None and flow.word in ("raise", "cut")
        return run

    def _compare(self, root: Root, traces: list[Trace]) -> None:
        """What is wrong on a path: after an event without a partner, the ranks are compared as if it were not there."""
        for note in traces[0].notes:
            self._add(noted(note), root)
        one, other = traces
        self.told |= {id(place.node): place for place in one.told}
        if one.broken or other.broken or one.misnamed or other.misnamed:
            return
        for _ in range(MAX_FINDINGS):
            parted = parting(one, other)
            if parted is None:
                self._compare_files(one, other)
                return
            if any(event is None and trace.cut for event, trace in zip(parted.events, traces)):
                return
            if exchanged(parted, (one, other)) or sends_alone(parted, root.function):
                return
            explained = cause(parted, one, other)
            finding = describe(parted, explained, one.joins or other.joins)
            if explained is not None and doubtful(*explained, (one, other)):
                finding = None
            if finding is not None:
                self._add(finding, root)
            if explained is None or not without(explained, one, other):
                return

    def _compare_files(self, one: Trace, other: Trace) -> None:
        """What two ranks that communicate alike do to files."""
        if one.touched:
            self.races |= {tuple(id(at.node) for at in (each.looks, *each.chain)): each for each in races(one, other)}
            self.made |= {id(each.node): each for each in made_by_all(one, other)}
            self.written |= {id(each.node): each for each in written_by_all(one, other)}

    def _add(self, finding: Finding, root: Root) -> None:
        here = at_home(finding, self.facts.source)
        if here is not None:
            self.found.append(here._replace(root=root.function, owner=root.owner))


def _begin(run: Run, root: Root, facts: FileFacts, script: bool) -> Flow | None:
    """Follow a root from its start."""
    scope = run.file(facts.source)
    if root.function is None:
        if script:
            scope.names["__name__"] = Known("__main__")
        return execute(run, scope, facts.tree.body)
    owner = Class(root.owner, scope) if root.owner else None
    function = names.decorated(run, root.function, scope, owner)
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return None
    kinds = {ast.unparse(each) for each in root.function.decorator_list}
    if owner is not None and "staticmethod" not in kinds:
        bound = owner if "classmethod" in kinds else _object(run, owner, root)
        function = Function(function.node, function.scope, bound, owner, function.first_only, function.block)
    if function.node is not root.function or function.first_only is not None:
        invoke(run, function, [], {"**": Known(None)}, Place(facts.source, root.function))
        return None
    inner = bind(run, function, [], {}, defaults_hold=False)
    if root.owner is None and root.function.name in facts.spawned and root.function.args.args:
        inner.names[root.function.args.args[0].arg] = Known(run.rank)
    run.active.append(root.function)
    return execute(run, inner, root.function.body)


def _object(run: Run, owner: Class, root: Root) -> Instance:
    """An object of a class, made by its `__init__` of arguments that nobody knows."""
    made = Instance(owner, "self")
    start = names.class_member(run, owner, "__init__")
    if isinstance(start, Function) and start.node is not root.function and not isinstance(start.node, ast.Lambda):
        bound = Function(start.node, start.scope, made, owner)
        try:
            with run.silent():
                execute(run, bind(run, bound, [], {}, defaults_hold=False), start.node.body)
        except LeftError:
            pass
    for name in _changed(owner.node):
        if name in made.fields and not isinstance(made.fields[name], Function):
            made.fields[name] = run.blurred(f"self.{name}", made.fields[name], "")
    return made


@cache
def _changed(owner: ast.ClassDef) -> set[str]:
    """Attributes that methods other than `__init__` set."""
    return {
        node.attr
        for method in owner.body
        if isinstance(method, Definition) and method.name != "__init__"
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def _told(found: list[Finding]) -> list[Finding]:
    """Each condition once, and no halves of a pair."""
    kept: dict[int, Finding] = {}
    for each in found:
        if not any(_halves(each, other) for other in found):
            kept.setdefault(id(each.anchor), each)
    return list({(each.code, id(each.place.node)): each for each in kept.values()}.values())


def _halves(one: Finding, other: Finding) -> bool:
    """Whether some ranks wait in one function, the others in another, and the names say that the two go together."""
    if one.root is None or other.root is None or one.root is other.root or one.owner is not other.owner:
        return False
    named = all(isinstance(each.root, Definition) and _HALF.search(each.root.name) for each in (one, other))
    return named and bool(one.name) and one.name == other.name and one.lacking != other.lacking
