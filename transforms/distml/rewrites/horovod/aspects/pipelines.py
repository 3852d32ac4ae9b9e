"""How a `tf.data` pipeline comes about: the expressions between where its elements come from and where they are used.

https://www.tensorflow.org/api_docs/python/tf/data/Dataset
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from distml.rewrites.horovod.aspects.modes import training_calls
from distml.rewrites.horovod.aspects.origins import Origin, origins, parameter
from distml.training.around import returned
from distml.training.callsites import argument_for, called, positional
from distml.training.counting import BARS
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import method_name, receiver_of
from distml.training.values import Callable, Function

SOURCES = re.compile(
    r"tensorflow\.data\.(Dataset|experimental\.CsvDataset|experimental\.make_csv_dataset|\w*Dataset)(\.\w+)?"
    r"|tensorflow\.data\.experimental\.\w+|tensorflow_datasets\.(load|builder\(\)\.as_dataset)"
    r"|keras\.(utils|preprocessing)(\.\w+)?\.(image|text|audio)_dataset_from_directory"
    r"|keras\.(utils|preprocessing)(\.\w+)?\.timeseries_dataset_from_array"
    r"|tensorflow_datasets\.ImageFolder\(\)\.as_dataset"
)
"""What makes a dataset, by its path."""

_ITEMS = re.compile(r"\(\)(\[[^\]]*\])*$")
"""What it gives: one dataset, or several by number or name."""

STEPS = frozenset(
    "map batch padded_batch ragged_batch shuffle repeat cache prefetch take skip filter interleave flat_map unbatch window "
    "apply enumerate concatenate with_options as_numpy_iterator shard take_while rebatch snapshot ignore_errors "
    "bucket_by_sequence_length group_by_window scan unique sparse_batch random_batch".split()
)
"""Methods of a dataset that give another."""

TELLING = frozenset("padded_batch prefetch batch shuffle cache take skip unbatch with_options element_spec".split())
_PASS = BARS | frozenset("iter enumerate as_numpy list get_one_shot_iterator make_one_shot_iterator".split())
_TOGETHER = frozenset({"tensorflow.data.Dataset.zip", "tensorflow.data.experimental.sample_from_datasets"})
_DEEPEST = 60


@dataclass(frozen=True, eq=False)
class Path:
    """The expressions that are the dataset on its way, where its elements come from first.

    They are calls that make or change it and names that stand for it. `unpacked` is the assignment that takes the first
    from a larger value, such as `(train, test), info = tfds.load(...)`.
    """

    nodes: tuple[ast.expr, ...]
    program: Program
    unpacked: Origin | None = None

    @cached_property
    def source(self) -> str:
        """The path of what makes it, or nothing where nobody knows."""
        first = self.unpacked.value if self.unpacked else self.nodes[0]
        names = {_ITEMS.sub("", name) for name in self.program.names(first)}
        return min((name for name in names if SOURCES.fullmatch(name)), default="")

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """What each expression does to the dataset: the name of a method, or nothing."""
        first = self.nodes[0]
        return tuple(
            "" if (node is first and self.source) or self._is_own(node) else method_of(node) for node in self.nodes
        )

    def _is_own(self, node: ast.expr) -> bool:
        """Whether an expression calls a function of the program, whatever it is called."""
        return bool(functions_of(node, self.program))

    @property
    def is_dataset(self) -> bool:
        """Whether this is `tf.data` for all that is known."""
        return bool(self.source) or bool(TELLING & set(self.methods))


def method_of(node: ast.expr) -> str:
    """The method of a dataset that an expression calls."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STEPS:
        return node.func.attr
    return ""


def functions_of(node: ast.expr | None, program: Program) -> list[ast.AST]:
    """The functions of the program that an expression has its value from: the one it calls, or that it applies to a dataset."""
    if not isinstance(node, ast.Call):
        return []
    applied = method_of(node) == "apply" and node.args
    given = program.of(node.args[0] if applied else node.func)
    return [value.node for value in given if isinstance(value, Callable)]


def callers_of(function: ast.AST, program: Program) -> list[ast.Call]:
    """The calls that run a function: of it, and those that apply it to a dataset."""
    return [*program.calling(function), *_applied(program).get(function, [])]


def _training(function: Function, program: Program) -> list[ast.Call]:
    return [] if isinstance(function, ast.Lambda) else training_calls(function, program)


@remembered
def _applied(program: Program) -> dict[ast.AST, list[ast.Call]]:
    """The calls of `apply` that functions of the program are given to."""
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in program.calls:
        for function in functions_of(call, program) if method_of(call) == "apply" else ():
            found.setdefault(function, []).append(call)
    return found


def is_passed(node: ast.expr, program: Program) -> bool:
    """Whether an expression only goes through the dataset that it is given: `enumerate(data)`, a progress bar, an iterator."""
    return isinstance(node, ast.Call) and not method_of(node) and called(node, program) in _PASS


def paths(data: ast.expr, program: Program) -> list[Path]:
    """The ways in which the dataset `data` can come about; those that are no datasets are left out."""
    search = _Walk(program)
    search.back(data, (), (), 0)
    return [path for path in search.found if path.is_dataset]


class _Walk:
    """Goes from a use back to what makes it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: list[Path] = []

    def back(self, node: ast.expr, after: tuple[ast.expr, ...], calls: tuple[ast.Call, ...], depth: int) -> None:
        """Extend the path `after`, which begins with what `node` gives, to its beginning."""
        if depth > _DEEPEST or node in after or len(self.found) > 16:
            return
        here = (node, *after)
        if isinstance(node, ast.Name | ast.Attribute):
            self._variable(node, here, calls, depth)
        elif isinstance(node, ast.Call):
            self._call(node, here, calls, depth)
        elif isinstance(node, ast.IfExp):
            self.back(node.body, here, calls, depth + 1)
            self.back(node.orelse, here, calls, depth + 1)
        elif isinstance(node, ast.NamedExpr | ast.Starred):
            self.back(node.value, here, calls, depth + 1)
        elif not isinstance(node, ast.Constant):
            self.found.append(Path(here, self.program))

    def _variable(
        self, node: ast.Name | ast.Attribute, here: tuple[ast.expr, ...], calls: tuple[ast.Call, ...], depth: int
    ) -> None:
        known = origins(node, self.program)
        for origin in known:
            if origin.whole:
                self.back(origin.value, here, calls, depth + 1)
            else:
                self._unpacked(origin, here, calls, depth)
        followed = bool(known)
        if isinstance(node, ast.Name) and not known:
            handed = self._handed(node, calls)
            for value in handed:
                self.back(value, here, calls[:-1], depth + 1)
            followed = bool(handed)
        if not followed:
            self.found.append(Path(here, self.program))

    def _handed(self, node: ast.Name, calls: tuple[ast.Call, ...]) -> list[ast.expr]:
        """What a parameter is given by the calls of its function: by the one that a path came by, if it did."""
        function = parameter(node, self.program)
        if function is None:
            return []
        passed = [calls[-1]] if calls and calls[-1] in callers_of(function, self.program) else None
        passed = passed or _training(function, self.program) or callers_of(function, self.program)
        handed = [self._argument(each, function, node.id) for each in passed]
        return [value for value in handed if value is not None]

    def _argument(self, call: ast.Call, function: Function, name: str) -> ast.expr | None:
        if call in self.program.calling(function):
            return argument_for(call, function, name, self.program)
        assert isinstance(call.func, ast.Attribute)
        return call.func.value if positional(function)[:1] == [name] else None

    def _unpacked(self, origin: Origin, here: tuple[ast.expr, ...], calls: tuple[ast.Call, ...], depth: int) -> None:
        """A name that takes one of several values: what a function of the program returns there, or what a library gives."""
        for value in self._returned(origin.value):
            place = _place(origin)
            if isinstance(value, ast.Tuple) and place is not None and place < len(value.elts):
                inner = (*calls, origin.value) if isinstance(origin.value, ast.Call) else calls
                self.back(value.elts[place], here, inner, depth + 1)
                return
        self.found.append(Path(here, self.program, origin))

    def _returned(self, node: ast.expr) -> list[ast.expr]:
        """What the functions of the program that an expression has its value from return."""
        functions = (each for each in functions_of(node, self.program) if isinstance(each, Function | ast.Lambda))
        return [each for function in functions for each in returned(function)]

    def _call(self, node: ast.Call, here: tuple[ast.expr, ...], calls: tuple[ast.Call, ...], depth: int) -> None:
        results = self._returned(node)
        sources = results or self._taken_from(node)
        for each in sources or ():
            self.back(each, here, (*calls, node) if results else calls, depth + 1)
        if sources is None:
            self.found.append(Path(here, self.program))

    def _taken_from(self, call: ast.Call) -> list[ast.expr] | None:
        """What a call of a library takes its samples from; None if it begins a path, or nobody knows."""
        names, name, receiver = self.program.names(call.func), called(call, self.program), receiver_of(call)
        if names & _TOGETHER:
            return _parts(call)
        if name == "zip" and "builtins.zip" in names:
            return call.args
        if self.program.matches(call.func, SOURCES):
            return None
        if receiver is not None and method_name(call) in STEPS:
            return [*(call.args[:1] if method_name(call) == "concatenate" else ()), receiver]
        handed = call.args[:1] or [each for each in (receiver,) if each is not None]
        return handed if name in _PASS and handed else None


def _parts(call: ast.Call) -> list[ast.expr]:
    """The datasets that `Dataset.zip` is given."""
    if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List):
        return call.args[0].elts
    if len(call.args) == 1 and isinstance(call.args[0], ast.Dict):
        return call.args[0].values
    return list(call.args)


def _place(origin: Origin) -> int | None:
    """At which place of a flat tuple the target stands."""
    for target in getattr(origin.statement, "targets", ()):
        if isinstance(target, ast.Tuple | ast.List) and origin.target in target.elts:
            return target.elts.index(origin.target)
    return None
