"""What is to be done to a program: its training loops, the changes to each file, warnings and refusals."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from distml.diagnostics.model import Span
from distml.rewrites.horovod.options import Options
from distml.rewrites.model import excerpt
from distml.rewrites.patch import Note, Patch
from distml.training.program import Program
from distml.training.unit import Unit
from distml.training.values import Values

Start = Literal["tensorflow", "keras", "session", "torch"]
"""What a loop needs at start-up: TensorFlow 2, Keras, TensorFlow 1 (whose sessions choose the GPU), PyTorch."""


@dataclass(frozen=True, eq=False)
class Loop:
    """One training loop: the rule that reports it, where it stands, and how people would call it."""

    code: str
    node: ast.expr | ast.stmt
    what: str
    start: Start
    optimizers: tuple[ast.AST, ...] = ()
    """The expressions that make what is stepped in this loop."""
    steps: tuple[ast.AST, ...] = ()
    """Where its steps are taken, if that is not where it stands."""


@dataclass(frozen=True, eq=False)
class Remark:
    """A warning or a refusal: its rule, the place, what is so, and what to do about it."""

    code: str
    node: ast.expr | ast.stmt
    message: str
    instead: str = ""


@dataclass(frozen=True)
class Holder:
    """A wrapped model: the statement in front of which it is made, its name there, the objects whose attribute it is."""

    begins: ast.stmt
    name: str
    owners: Values


class Refuse(Exception):
    """Ends the planning of one loop; nothing of the program is changed then."""

    def __init__(self, code: str, node: ast.expr | ast.stmt, message: str, instead: str = "") -> None:
        super().__init__(message)
        self.remark = Remark(code, node, message, instead)


@dataclass(frozen=True, slots=True)
class World:
    """How a file spells which rank it is and how many there are."""

    module: str
    rank: str
    size: str
    local_rank: str
    torch: str
    """The name of PyTorch, where the program uses it."""
    first: str
    """The condition that holds on rank 0 only."""
    barrier: str
    """The statement at which ranks of PyTorch wait for each other."""


@dataclass
class Plan:
    """Collects what flows ask for. `editable` are the locations of files that may be changed."""

    program: Program
    options: Options
    editable: frozenset[str]
    set_up: Callable[[Plan, Unit], World]
    """Puts the start-up into a file; it asks the plan for changes, so the plan cannot import it."""
    shared: frozenset[str] = frozenset()
    """The locations of files that other scripts import too."""
    loops: list[Loop] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    refusals: list[Remark] = field(default_factory=list)
    patches: dict[str, Patch] = field(default_factory=dict)
    worlds: dict[str, World] = field(default_factory=dict)
    divided: set[ast.AST] = field(default_factory=set)
    """The expressions whose data the ranks share already."""
    whole: set[ast.AST] = field(default_factory=set)
    """The expressions whose data is divided further on, for one of those that take it."""
    local: set[ast.AST] = field(default_factory=set)
    """The statements that one process of each machine runs before the others."""
    alone: set[ast.AST] = field(default_factory=set)
    """The functions that rank 0 alone runs."""
    done: set[Callable[[Plan], None]] = field(default_factory=set)
    """The steps that are made once for the program."""
    later: list[Callable[[], None]] = field(default_factory=list)
    """What can only be asked for when it is known which data all flows have divided."""
    ends: list[Callable[[], None]] = field(default_factory=list)
    """What comes behind all else that is asked for."""
    imported: dict[str, Callable[[], None]] = field(default_factory=dict)
    """What completes the start-up of files that scripts import, once more when something is put into them later, by location."""
    arguments: dict[str, list[str]] = field(default_factory=dict)
    """What the object that starts the back end is given, where there is one, by location."""
    holders: list[Holder] = field(default_factory=list)
    """The wrapped models, which hold the process group."""
    spelled: dict[tuple[str, str], str] = field(default_factory=dict)
    """The names of modules that imports were added for, by location and module."""
    turns: dict[ast.stmt, str] = field(default_factory=dict)
    """The loops whose turns were divided, with the variable that holds the number of the batch, if it is a new one."""
    dealt: set[ast.AST] = field(default_factory=set)
    """The loops in which the ranks take turns, and where these read the number of a rank's own."""
    fewer: dict[ast.AST, frozenset[str]] = field(default_factory=dict)
    """The loops of which a rank takes fewer iterations, with the variables that go on to count those of all ranks."""
    configurations: list[tuple[ast.stmt, str]] = field(default_factory=list)
    """The configurations of sessions that are made in front of statements, and their names."""
    averaged: set[ast.AST] = field(default_factory=set)
    """The statements that set, in a loop, what is made the same on all ranks behind it, and is not asked for before."""
    waiting: dict[str, str] = field(default_factory=dict)
    """The names of sessions in which processes wait, by location."""

    def may_change(self, node: ast.AST) -> bool:
        """Whether the file in which `node` stands is one of those to be changed."""
        return self.program.unit(node).source.location in self.editable

    def patch(self, node: ast.AST) -> Patch:
        """The changes to the file that `node` stands in. Raises `Refuse` (HVD207) where it must not be changed."""
        unit = self.program.unit(node)
        location = unit.source.location
        if location not in self.editable:
            place = node if isinstance(node, ast.expr | ast.stmt) else unit.tree.body[0]
            line = ast.unparse(self.program.statement(place)).splitlines()[0]
            what = f"`{excerpt(line)}`" if place is node else "the start of the file"
            raise Refuse(
                "HVD207",
                place,
                f"{what} must change too, and {unit.source.path} is not among the paths",
                f"give {unit.source.path} as well",
            )
        if location not in self.patches:
            self.patches[location] = Patch(unit.source)
        return self.patches[location]

    def warn(self, code: str, node: ast.expr | ast.stmt, message: str, instead: str = "") -> None:
        """Say that something may not be as it was, or that a person should look."""
        line = self.program.span(node).line, self.program.unit(node)
        for each in (each for each in self.warnings if each.code == code):
            told = self.program.span(each.node).line, self.program.unit(each.node)
            if each.node is node or (told == line and each.message == message):
                return
        self.warnings.append(Remark(code, node, message, instead))

    def world(self, node: ast.AST) -> World:
        """How the file of `node` says rank and size; the import and start-up it needs are put into it."""
        unit = self.program.unit(node)
        if unit.source.location not in self.worlds:
            self.worlds[unit.source.location] = self.set_up(self, unit)
        return self.worlds[unit.source.location]

    def keep_rates(self) -> None:
        """Leave all rates as they are: a step of all ranks together uses no more data than one did."""
        self.options = replace(self.options, scale_lr="none")

    def once(self, *steps: Callable[[Plan], None]) -> None:
        """Do what concerns the program as a whole with the first loop that asks for it."""
        for step in (each for each in steps if each not in self.done):
            step(self)
            self.done.add(step)

    @property
    def changed(self) -> dict[str, Patch]:
        """The changes by file, if the program is changed at all."""
        return {} if self.refusals else {location: patch for location, patch in self.patches.items() if patch.edits}

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Where a node stands."""
        return self.program.span(node)

    def units(self) -> list[Unit]:
        """The modules that may be changed."""
        return [unit for location, unit in self.program.units.items() if location in self.editable]


class Flow(Protocol):
    """A kind of training loop."""

    def find(self, program: Program) -> list[Loop]:
        """The loops of this kind; cheap, changes nothing."""

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Ask for the changes that make one loop distributed. Raises `Refuse`."""


__all__ = ["Flow", "Holder", "Loop", "Note", "Plan", "Refuse", "Remark", "Start", "World"]
