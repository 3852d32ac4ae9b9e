"""The machine: everything one run of the interpreter holds, and the world ops see."""

from __future__ import annotations

import ast
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from distml.diagnostics.model import Span
from distml.interp.arguments import Arguments
from distml.interp.frames import Frame, ModuleInfo
from distml.interp.iteration import iterate
from distml.interp.lessons import settled
from distml.interp.package_work import PackageWork
from distml.interp.patches import Patches
from distml.interp.recording import note_failed, note_raised
from distml.interp.several import standing_for
from distml.interp.stamping import reshaped
from distml.interp.state import UNDEFINED, Global, State
from distml.interp.storage import as_kept, library_classes
from distml.shapes import Dim, Facts, Origin, Shape, Symbol
from distml.source.project import is_model
from distml.values import Class, Const, Function, InstanceRecord, Num, Opaque, Record, Ref, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from distml.diagnostics.model import Diagnostic
    from distml.interp.changes import Changes
    from distml.interp.correspondence import Unknown
    from distml.interp.findings import FindingKey
    from distml.interp.flow_log import FlowLog
    from distml.interp.generators import Later, Outside
    from distml.interp.language import Language
    from distml.interp.loops import Loop
    from distml.interp.recording import Recording
    from distml.interp.session import Session
    from distml.interp.shape_log import ShapeLog
    from distml.interp.watch import Watcher
    from distml.ops import Note, ShapeError
    from distml.solver.formula import Formula
    from distml.source.file import SourceFile
    from distml.source.project import Project
    from distml.values import Many

MAX_CALL_DEPTH = 48
STEP_CHECK = 128
MAX_STEPS = 16_000
"""Statements and rules that running the modules may take."""
FREE_STEPS = 10_000
"""How many of them leave the uncalled functions all of theirs: what a file takes in all stays within its time limit."""
MAX_ROOT_STEPS = 3_000
"""Statements and rules that analyzing one uncalled function may take."""
ALLOWANCES = ((8_000, MAX_ROOT_STEPS), (16_000, MAX_ROOT_STEPS // 5), (24_000, MAX_ROOT_STEPS // 30))
"""How many of them a file may have used for the next function to get so many: a large file stays within its time limit."""
LEAST_STEPS = MAX_ROOT_STEPS // 100


class Limits(NamedTuple):
    """How long the machine keeps at one thing.

    `loop_steps` statements a loop may run turn by turn before it is widened; `entries` times one
    function may be followed; a known sequence of more than `items` is followed as if its length were unknown.
    """

    loop_steps: int = 3000
    entries: int = 300
    items: int = 256


class PathEnd(Exception):
    """The path that is followed ends here; whatever goes on from it is recorded elsewhere."""


class ProcessEnd(PathEnd):
    """The path ends the program, without an error: `sys.exit()`, `raise SystemExit`, a test that is skipped."""


class OutOfSteps(Exception):
    """What is being analyzed takes more work than one function or module is given."""


class OutOfTime(Exception):
    """The time for this file is used up."""


class Lost(NamedTuple):
    """A place where values could no longer be followed, and why."""

    span: Span
    reason: str


class Revealed(NamedTuple):
    """What `reveal_shape` was asked to show."""

    span: Span
    text: str


class Handler:
    """Something that catches exceptions of the code inside it.

    `states` are the states in which an exception may arrive. A `speculative`
    handler is ours: it tries one alternative of a value and keeps what failed.
    """

    def __init__(self, catches_shapes: bool, speculative: bool = False) -> None:
        self.catches_shapes = catches_shapes
        self.speculative = speculative
        self.states: list[State] = []
        self.errors: list[tuple[ShapeError, ast.AST, Frame]] = []


class Machine:
    """One run over one checked file and what it imports."""

    def __init__(self, language: Language, project: Project, deadline: float | None, session: Session) -> None:
        self.language, self.rules = language, language.rules
        self.project = project
        self.deadline = deadline
        self.packages = PackageWork(deadline)
        self.session = session
        self.step_limit = MAX_STEPS
        self.limits = Limits()
        self.brief = self.running_later = False
        self.exhausted = list[Frame]()
        self.exits = self.repeating = self.sheltered = self.reshapes = self.steps = self.undecided = self.levels = 0
        self.unfollowed = 0
        """The serial number at the last call that was not followed."""
        self.base = session.base
        self.state = State(self.base)
        self.loaded = self.state
        self.facts = Facts(self)
        self._frames: dict[int, Frame] = {}
        self.frame: Frame
        self.stack: list[Frame] = []
        self.handlers: list[Handler] = []
        self.loops: list[Loop] = []
        self.modules = session.modules
        self.sources = session.sources
        self.findings: dict[FindingKey, Diagnostic] = {}
        self.lost: dict[Span, Lost] = {}
        self.revealed: dict[Span, Revealed] = {}
        self.node: ast.AST = ast.Module([], [])
        self.visited: set[int] = set()
        self.constants: dict[int, Const] = {}
        self.entered: dict[int, int] = {}
        self.symbolic = False
        self.symbolic_start = 0
        self.import_depth = 0
        self.resolving: set[tuple[str, str]] = set()
        self.checked: SourceFile | None = None
        self.main: ModuleInfo | None = None
        self._globals: dict[tuple[int, str], Global] = {}
        self.recording: Recording | None = None
        self.mentioned: dict[int, tuple[Any, frozenset[Unknown]]] = {}
        self.memo: dict[Any, list[Any]] = {}
        self.attributed: dict[Opaque, dict[Hashable, None]] = {}
        self.holders: dict[Opaque, Opaque] = {}
        self.signatures: dict[int, Value] = {}
        self.numbered: dict[Value, Value] = {}
        self.functions: list[Function] = []
        self.entries: dict[Value, Value] = {}
        self.classes: list[Class] = []
        self.views: dict[int, Ref] = {}
        self.alike: dict[int, set[int]] = {}
        self.nested: dict[int, ast.With | ast.AsyncWith] = {}
        self.generated: dict[int, Later] = {}
        self.waiting: list[Outside] = []
        self.changing: dict[tuple[Value, int, int], Changes] = {}
        self.watcher: Watcher | None = None
        self.shape_log: ShapeLog | None = None
        self.flow: FlowLog | None = None
        self.patches = Patches()

    # --- the store -------------------------------------------------------------------

    def serial(self) -> int:
        """A number that was not given before; later numbers are greater."""
        self.session.last_serial += 1
        return self.session.last_serial

    def get(self, key: Hashable) -> Any:
        """A fact, None when there is none."""
        found = self.state.get(key)
        if self.recording is not None:
            self.recording.read(key, found)
        return found

    def put(self, key: Hashable, value: Any) -> None:
        """Set a fact."""
        if self.recording is not None:
            self.get(key)
        if self.watcher is not None:
            self.watcher.noted(key, value)
        elif self.symbolic and type(key) is Symbol:
            value = settled(self, key, value)
        self.state.set(key, value)

    def variable(self, frame: int, name: str) -> Value | None:
        """The value of a variable, None when it is not (or no longer) set."""
        key = (frame, name)
        found = self.state.get(key)
        if self.recording is not None and frame <= self.recording.mark:
            self.recording.reads.setdefault(key, found)
        return None if found is UNDEFINED else found

    def assign(self, frame: int, name: str, value: Value | None) -> None:
        """Set a variable; None deletes it."""
        if self.recording is not None and frame <= self.recording.mark:
            self.variable(frame, name)
        self.state.set((frame, name), UNDEFINED if value is None else value)

    def record(self, ref: Ref) -> Record | None:
        """The heap record of a reference."""
        found: Record | None = self.at(ref.address)
        return found if ref.address not in self.generated else self.generated[ref.address].goes_on(self, found)

    def at(self, address: int) -> Any:
        """The heap record at an address."""
        found = self.state.get(address)
        if self.recording is not None and address <= self.recording.mark:
            self.recording.reads.setdefault(address, found)
        return found

    def allocate(self, record: Record) -> Ref:
        """A new heap record."""
        address = self.serial()
        self.state.set(address, record)
        return Ref(address)

    def replace(self, ref: Ref, record: Record) -> None:
        """Change a heap record."""
        if self.recording is not None and ref.address <= self.recording.mark:
            self.at(ref.address)
        self.state.set(ref.address, as_kept(self, ref, record))

    def reshaped(self, tensor: Tensor, shape: Shape, moved: bool = False) -> Tensor:
        """Change a tensor object in place: everything that holds it sees the new shape."""
        return reshaped(self, tensor, shape, moved)

    def library_classes(self, record: InstanceRecord) -> tuple[str, ...] | None:
        """The library classes that an object is of."""
        return library_classes(self, record)

    def any_of_alike(self, objects: Sequence[Ref]) -> Ref | None:
        """An object that may be any of several."""
        return standing_for(self, objects)

    # --- what a watched run tells --------------------------------------------------------

    @property
    def watched(self) -> bool:
        """Whether someone wants to know what calls demand."""
        return self.watcher is not None

    def demand(self, formula: Formula, code: str, text: str) -> None:
        """Tell what must hold for a call to succeed."""
        if self.watcher is not None:
            self.watcher.demand(formula, code, text)

    def excused(self, code: str) -> bool:
        """Whether a requirement is left out."""
        return self.watcher is not None and self.watcher.is_excused(code)

    # --- making values ---------------------------------------------------------------

    def opaque(self, name: str, origin: Origin | None = None) -> Opaque:
        """A new value nothing is known of."""
        return Opaque(name, self.serial(), origin)

    def child(self, parent: Opaque, tag: str, key: Hashable, name: str, node: ast.AST) -> Opaque:
        """An attribute or item of an unknown value: the same one each time it is read."""
        full = (tag, parent, key)
        known = self.get(full)
        if isinstance(known, Opaque):
            return known
        made = self.opaque(name[:60], self.origin(node))
        self.holders[made] = parent
        self.put(full, made)
        self.note_child(full)
        return made

    def note_child(self, key: tuple[Any, ...]) -> None:
        """Keep in mind that an unknown value has, on some path, the attribute or item of a key."""
        self.attributed.setdefault(key[1], {})[key] = None

    def note_function(self, function: Function) -> None:
        """Remember a function of the checked file, to analyze it if nobody calls it."""
        if not self.symbolic and self.checking:
            self.functions.append(function)

    def note_class(self, cls: Class) -> None:
        """Remember a class of the checked file, to analyze it if nobody uses it."""
        if not self.symbolic and self.checking:
            self.classes.append(cls)

    @property
    def checking(self) -> bool:
        """Whether code of the checked file itself is being run."""
        return self.frame.module.source is self.checked

    def global_key(self, frame: Frame, name: str) -> Global:
        """What stands for a module variable that functions change."""
        key = (frame.ident, name)
        if key not in self._globals:
            self._globals[key] = Global(name, frame.ident)
        return self._globals[key]

    def frame_of(self, ident: int) -> Frame:
        """The frame of a number."""
        found = self._frames.get(ident)
        return self.session.frames[ident] if found is None else found

    def open_frame(self, frame: Frame, shared: bool = False) -> None:
        """Keep a frame: with the session if it belongs to an imported module being run."""
        frames = self.session.frames if shared or self.import_depth else self._frames
        frames[frame.ident] = frame

    def close_frame(self, frame: Frame) -> None:
        """Let go of a frame that no closure sees."""
        self._frames.pop(frame.ident, None)
        self.session.frames.pop(frame.ident, None)

    def has_frame(self, ident: int) -> bool:
        """Whether a number is that of a frame."""
        return ident in self._frames or ident in self.session.frames

    def number(self, dim: Dim) -> Value:
        """A dimension as an integer value."""
        value = dim.constant
        return Num(dim) if value is None else Const(value, dim.origin)

    def origin(self, node: ast.AST) -> Origin:
        """The place of a node, with its source text as the name; of one in a model of a library, the call that led there."""
        if is_model(self.frame.module.source):
            return self.language.origin_of_call(self, node)
        source = self.frame.module.source
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return Origin(self.snippet(node), source.path, line, column + 1)

    def snippet(self, node: ast.AST, limit: int = 60, frame: Frame | None = None) -> str:
        """The source text of a node in a frame's file, on one line and not too long."""
        lines = (frame or self.frame).module.source.lines
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if not 0 < first <= len(lines):
            return type(node).__name__.lower()
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        text, end = lines[first - 1], end if first == last else None
        if text.isascii():
            text = text[start:end]
        else:  # columns are bytes of UTF-8
            text = text.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "replace")
        text = " ".join(text.split())
        return text if first == last and len(text) <= limit else text[: limit - 3] + "..."

    def span(self, node: ast.AST, frame: Frame | None = None) -> Span:
        """The source span of a node in a frame's file."""
        return (frame or self.frame).module.source.span(node)  # type: ignore[arg-type]

    # --- time -------------------------------------------------------------------------

    def step(self) -> None:
        """Count one statement or rule; stops the run when its work or time is used up."""
        self.steps += 1
        if self.steps % STEP_CHECK == 0:
            self.check_time()
        if self.steps > self.step_limit:
            self.exhausted = list(self.stack)
            raise OutOfSteps

    def check_time(self) -> None:
        """Stop the run when its time is over, and what goes on in an installed package when the time for packages is."""
        if self.frame.module.source.installed and self.packages.late:
            self.exhausted = list(self.stack)
            raise OutOfSteps
        if self.deadline is not None and time.process_time() > self.deadline:
            raise OutOfTime

    # --- paths ------------------------------------------------------------------------

    def follow(self, run: Callable[[], Any], start: State | None = None) -> State | None:
        """Run a piece of code from a state; the state after it, None if the path ended."""
        if start is not None:
            self.state = start
        self.levels += 1
        try:
            run()
        except PathEnd as end:
            self.exits += isinstance(end, ProcessEnd)
            return None
        finally:
            self.levels -= 1
        return self.state

    def raised(self, end: PathEnd | None = None) -> PathEnd:
        """An exception leaves this point: record the state for whoever catches it."""
        if self.handlers:
            self.handlers[-1].states.append(self.state.fork())
        note_raised(self)
        return end or PathEnd()

    @property
    def caught(self) -> bool:
        """Whether an exception raised by a library here would be caught."""
        return any(handler.catches_shapes for handler in self.handlers)

    def lose(self, reason: str, node: ast.AST | None = None) -> None:
        """Note that values could not be followed at a node."""
        seen = self.language.seen_from(self, self.node if node is None else node, self.frame)
        if seen is not None:
            where = self.span(*seen)
            self.lost.setdefault(where, Lost(where, reason))

    def abandon(self, reason: str, node: ast.AST) -> None:
        """Give up what is being followed, and go on in the module itself."""
        if self.main is not None:
            self.return_to(self.main)
        self.lose(reason, node)

    def return_to(self, module: ModuleInfo) -> None:
        """Follow nothing any more but the module itself."""
        self.frame = module.frame
        self.stack, self.loops, self.handlers = [self.frame], [], []
        self.recording, self.import_depth = None, 0
        self.resolving.clear()

    # --- what ops ask of the interpreter: filled in by the modules that know ----------

    def apply(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value] | None = None) -> Value:
        """Call a value."""
        with self.language.sheltered(self, not isinstance(function, Ref)):
            return self.language.call_value(self, function, Arguments(list(args), dict(kwargs or {})))

    def apply_perhaps(self, function: Value, args: Sequence[Value]) -> Value:
        """Call a value any number of times."""
        found = list[Value]()
        settled = self.language.any_times(self, lambda: found.append(self.apply(function, args)))
        return found[-1] if found and settled else self.opaque("result")

    def iterate(self, value: Value) -> tuple[Value, ...] | Many:
        """What iterating over a value gives."""
        return iterate(self, value)

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true."""
        return self.language.truth(self, value)

    def attribute(self, value: Value, name: str) -> Value | None:
        """The attribute of a value, None when it is known to have none."""
        return self.language.find_attribute_of(self, value, name)

    def warn(self, code: str, message: str, notes: Sequence[Note], hint: str | None) -> None:
        """Report something that goes wrong silently."""
        from distml.ops import ShapeError

        note_failed(self, len(self.handlers))
        self.language.report(self, ShapeError(code, message, notes, hint), self.node, self.frame)
