"""Modules, and activations of scopes: what a name is looked up in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.module_facts import facts_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from distml.interp.generators import Outside
    from distml.interp.reached import Test
    from distml.interp.scope import Scope
    from distml.interp.state import State
    from distml.shapes import Dim
    from distml.source.file import SourceFile
    from distml.values import Function, Value


class ModuleInfo:
    """A module of the project that is or was being run; `exits` counts where it may end the program. Run when they are needed
    are `stars`, modules of which it imports all names, and `entries`, what it registers; `costs` are their steps."""

    def __init__(self, name: str, source: SourceFile, frame: Frame) -> None:
        self.name = name
        self.source = source
        self.facts = facts_of(source)
        self.frame = frame
        self.exits = self.repeating = self.cost = 0
        self.stars: list[SourceFile] = []
        self.loaded: list[ModuleInfo] = []
        self.entries: dict[str, ast.stmt] = {}
        self.costs: dict[str, int] = {}


class Frame:
    """One activation of a scope: a module, a function call, a class body, a comprehension."""

    def __init__(self, ident: int, name: str, scope: Scope, module: ModuleInfo | None, parent: Frame | None) -> None:
        self.ident = ident
        self.name = name
        self.scope = scope
        self.parent = parent
        self._module = module
        self.returns: list[tuple[Value, State]] = []
        self.yields: list[Value] = []
        self.standing: set[int] = set()
        self.outside: Outside | None = None
        self.block: Callable[[Value], Value] | None = None
        self.returning: Callable[[ast.expr, Value], None] | None = None
        self.doubtful = self.left_open = self.gated = False
        self.arguments: dict[str, Value] = {}
        self.undecided = 0
        self.owner: int | None = None
        self.receiver: Value | None = None
        self.captured = False
        self.caller: ast.AST | None = None
        self.tests: list[Test] = []
        self.passed: tuple[ast.stmt, list[Test]] | None = None
        self.function: Function | None = None
        self.sizes: dict[str, Dim] = {}
        self.size_groups: dict[str, tuple[Dim, ...]] = {}
        self.sometimes: set[str] = set()
        """Names of a module or a class body that some paths have set: on the others they mean what lies behind them."""

    @property
    def module(self) -> ModuleInfo:
        """The module whose code runs in this frame."""
        if self._module is None:
            raise LookupError(f"frame {self.name} has no module")
        return self._module

    @module.setter
    def module(self, module: ModuleInfo) -> None:
        self._module = module

    def again(self, ident: int, rename: Callable[[Value], Value]) -> Frame:
        """The frame of a call like this one, which has ended, with its values renamed: what functions made in it look up."""
        made = Frame(ident, self.name, self.scope, self._module, self.parent)
        made.receiver = None if self.receiver is None else rename(self.receiver)
        made.arguments = {name: rename(value) for name, value in self.arguments.items()}
        made.owner, made.function, made.caller, made.captured = self.owner, self.function, self.caller, self.captured
        made.sizes, made.size_groups, made.sometimes = self.sizes, self.size_groups, self.sometimes
        made.doubtful, made.left_open = self.doubtful, self.left_open
        return made
