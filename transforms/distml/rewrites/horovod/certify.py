"""Whether a rewritten program does what makes several processes one training: read from its text, not from what was asked for.

Gradients are averaged once for each update of weights, and the weights begin as those of rank 0; ranks train on different
data, and as many rates as were to be are multiplied; one rank prints and writes; and `distml check` finds no ranks that wait
for others. A program of which one of these can be seen not to hold is refused.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator, Mapping
from functools import cached_property

from distml.diagnostics.model import Diagnostic
from distml.rewrites.horovod.aspects.idle import runs
from distml.rewrites.horovod.aspects.outputs import kind_of, private
from distml.rewrites.horovod.plan import Plan
from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd.check import check_source
from distml.training.around import block_of
from distml.training.callsites import argument
from distml.training.program import Program, followed
from distml.training.values import Callable, Class, Foreign, Instance, Value

_HOROVOD = ("horovod.torch", "horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras")


def _of_horovod(*names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module in _HOROVOD for name in names)


_WRAPS = _of_horovod("DistributedOptimizer", "DistributedGradientTape")
_PARALLEL = frozenset({"torch.nn.parallel.DistributedDataParallel"})
_REDUCES = _of_horovod("allreduce", "allreduce_", "grouped_allreduce", "grouped_allreduce_") | {
    "torch.distributed.all_reduce"
}
_SENDS = (
    _of_horovod("broadcast_parameters", "broadcast_variables", "broadcast_global_variables", "broadcast", "broadcast_")
    | _of_horovod("BroadcastGlobalVariablesHook", "callbacks.BroadcastGlobalVariablesCallback")
    | {"torch.distributed.broadcast"}
    | _PARALLEL
)
_RANKS = _of_horovod("rank") | {"torch.distributed.get_rank", "torch.utils.data.distributed.DistributedSampler"}
_SIZES = _of_horovod("size") | {"torch.distributed.get_world_size"}
_FIRST = _RANKS | _of_horovod("local_rank")
_WHOLE = frozenset({"HVD302", "HVD303"})
"""Warnings that say that data is not divided."""
_BEGINS = _of_horovod("init") | {"torch.distributed.init_process_group"}
_HANDLES = ("builtins.open().", "pathlib.Path().open().", "csv.")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEALT = frozenset({"shard-data", "shard-batches", "share-batches", "distributed-sampler"})
"""The rules by which each rank is given a part of the data."""
SECONDS = 1.0
"""Of processor time, for the ranks of one file."""
_STEPS = frozenset({"step"})
_APPLIES = frozenset({"apply_gradients", "minimize"})
_FITS = frozenset({"fit", "fit_generator", "train_on_batch"})
_OPTIMIZERS = ("torch.optim.", "keras.optimizers.", "tensorflow.train.", "tensorflow.optimizers.")
_SCHEDULES = "torch.optim.lr_scheduler."


def uncertified(plan: Plan, texts: Mapping[str, str]) -> list[str]:
    """What cannot be seen to hold in the program whose changed files have these texts, by location."""
    project = _Changed(plan.program.project, texts)
    program = followed([project.changed(unit.source) for unit in plan.program.roots], project)
    known = plan.options.framework == "auto" and not program.too_large
    return [*dict.fromkeys(_Certificate(plan, program).failures())] if known else []


class _Changed(Project):
    """A project in which some files have other texts."""

    def __init__(self, project: Project, texts: Mapping[str, str]) -> None:
        self._inner, self._texts = project, texts
        self._made: dict[str, SourceFile] = {}

    def changed(self, source: SourceFile) -> SourceFile:
        """A file as it will be."""
        text = self._texts.get(source.location)
        if text is None:
            return source
        if source.location not in self._made:
            path = f"{source.path}.py" if source.notebook else source.path
            data, module = text.encode("utf-8", "surrogatepass"), source.module
            made = SourceFile(path, source.location, data, module=module, is_package=source.is_package)
            self._made[source.location] = made
        return self._made[source.location]

    def resolve(self, importer: SourceFile, module: str, level: int = 0) -> SourceFile | None:
        found = self._inner.resolve(importer, module, level)
        return found and self.changed(found)

    def submodule(self, package: SourceFile, name: str) -> SourceFile | None:
        found = self._inner.submodule(package, name)
        return found and self.changed(found)


class _Certificate:
    """The obligations of one rewritten program."""

    def __init__(self, plan: Plan, program: Program) -> None:
        self.plan, self.program = plan, program
        self.told = {each.code for each in plan.warnings}

    def failures(self) -> Iterator[str]:
        """What does not hold, each said in words."""
        yield from self._ranks()
        updates = [call for call in self.program.calls if runs(call, self.program)]
        for call in updates:
            if self._updates(call):
                yield from self._update(call)
        yield from self._data(any(map(self._updates, updates)))
        yield from self._rates()
        yield from self._written()

    def _ranks(self) -> Iterator[str]:
        """What ranks that go different ways would wait for, as `distml check` finds it, and the program did not have before."""
        for location in self.plan.changed:
            if (unit := self.program.units.get(location)) is not None:
                before = self.plan.program.units[location].source
                known = {each.code for each in self._judged(before)}
                yield from (each.message for each in self._judged(unit.source) if each.code not in known)

    def _judged(self, source: SourceFile) -> tuple[Diagnostic, ...]:
        return check_source(source, self.plan.program.project, time.process_time() + SECONDS)

    # Updates of weights

    def _updates(self, call: ast.Call) -> bool:
        """Whether a call changes weights by an optimizer of a library, or trains a model of Keras."""
        if not isinstance(call.func, ast.Attribute):
            return False
        names = self.program.names(call.func.value)
        if call.func.attr in _STEPS | _APPLIES:
            return any(self._optimizer(name) for name in names)
        return call.func.attr in _FITS and any(name.startswith("keras.") and name.endswith("()") for name in names)

    def _optimizer(self, name: str) -> bool:
        made = name.removesuffix("()")
        return name.endswith("()") and (
            made in _WRAPS or (made.startswith(_OPTIMIZERS) and not made.startswith(_SCHEDULES) and "(" not in made)
        )

    def _update(self, call: ast.Call) -> Iterator[str]:
        where = f"`{ast.unparse(call.func)}`"
        ways = self._ways(call)
        if ways == 0:
            yield f"nothing averages the gradients that {where} applies"
        if ways is not None and ways > 1:
            yield f"the gradients that {where} applies are averaged {ways} times"
        if "HVD309" not in self.told and not self._sent(call):
            yield f"nothing sends the weights that {where} changes from rank 0 to all ranks"

    def _ways(self, call: ast.Call) -> int | None:
        """How often the gradients of an update are averaged; None where nobody knows."""
        assert isinstance(call.func, ast.Attribute)
        if call.func.attr in _FITS:
            return self._compiled(call)
        found = self._names_in(call.func.value)
        given = [name for each in self._given(call) for name in self._names_in(each)]
        wrapped = self._wrapped(call) if any(name in _WRAPS for name in (*found, *given)) else 0
        if call.func.attr in _APPLIES:
            if wrapped or call.func.attr == "minimize":
                return wrapped
            return int(any(name in _REDUCES for name in given))
        return wrapped + self._reduced_before(call) + self._in_parallel(call)

    def _wrapped(self, node: ast.AST) -> int:
        """How many wraps are around each other, two at most, in what an expression is computed from."""
        wraps = [each for each in self.program.sources(node) if isinstance(each, ast.Call)]
        wraps = [each for each in wraps if self.program.names(each.func) & _WRAPS]
        return max((2 if self._wraps_again(each) else 1 for each in wraps), default=0)

    def _wraps_again(self, call: ast.Call) -> bool:
        """Whether what is wrapped is wrapped already."""
        given = next(iter(self._given(call)), None)
        statement = self.program.statement(call)
        if given is None or (
            isinstance(statement, ast.Assign) and ast.unparse(given) == ast.unparse(statement.targets[0])
        ):
            return False
        made = {value.node for value in self.program.of(given) if isinstance(value, Foreign)}
        return any(
            isinstance(each, ast.Call) and each is not call and self.program.names(each.func) & _WRAPS for each in made
        )

    def _given(self, call: ast.Call) -> list[ast.expr]:
        return [*call.args, *(each.value for each in call.keywords)]

    def _names_in(self, node: ast.AST) -> list[str]:
        """The paths of what is called in what an expression is computed from, each once for each call."""
        calls = (each for each in self.program.sources(node) if isinstance(each, ast.Call))
        return [name for each in calls for name in self.program.names(each.func)]

    def _compiled(self, call: ast.Call) -> int | None:
        """How often the optimizer of a model is wrapped, where it is compiled."""
        assert isinstance(call.func, ast.Attribute)
        models = self.program.of(call.func.value)
        if any(self._steps_itself(each) for each in models):
            return None
        found = [
            argument(each, 0, "optimizer")
            for each in self.program.calls
            if isinstance(each.func, ast.Attribute) and each.func.attr == "compile"
            if models & self.program.of(each.func.value)
        ]
        counts = [self._wrapped(each) for each in found if each is not None]
        return min(counts) if counts and None not in found else None

    def _reduced_before(self, call: ast.Call) -> int:
        """How often the function around a step averages gradients of its optimizer in front of it, in one block in a row."""
        function = self.program.function(call)
        names = {ast.unparse(each) for each in self._step_of(call)}
        here = (each for each in self.program.calls if self.program.function(each) is function)
        blocks: dict[tuple[int, str], int] = {}
        for each in here:
            if each.lineno <= call.lineno and self._reduces(each) and self._about(each, names):
                key = id(block_of(self.program.statement(each), self.program)), ast.unparse(each)
                blocks[key] = blocks.get(key, 0) + 1
        steps = self._same_steps(call)
        return min(max(blocks.values(), default=0), 1 if len(steps) > 1 else 2)

    def _same_steps(self, call: ast.Call) -> list[ast.Call]:
        """The steps of an optimizer in one function."""
        text, function = ast.unparse(call.func), self.program.function(call)
        own = (each for each in self.program.calls if self.program.function(each) is function)
        return [each for each in own if ast.unparse(each.func) == text]

    def _step_of(self, call: ast.Call) -> list[ast.expr]:
        assert isinstance(call.func, ast.Attribute)
        return [call.func.value, *call.args[:1]]

    def _about(self, call: ast.Call, optimizers: set[str]) -> bool:
        """Whether a call is given an optimizer, what it holds, or gradients of parameters."""
        inside = {
            ast.unparse(each) for part in self._given(call) for each in ast.walk(part) if isinstance(each, ast.expr)
        }
        return bool(inside & optimizers) or any(each.endswith(".grad") for each in inside)

    def _reduces(self, call: ast.Call) -> bool:
        return self._does(call, _REDUCES)

    def _does(self, call: ast.Call, names: frozenset[str]) -> bool:
        """Whether a call is one of these, or runs a function of the program that makes one."""
        if self.program.names(call.func) & names:
            return True
        own = [each.node for each in self.program.of(call.func) if isinstance(each, Callable)]
        return any(
            self.program.names(inner.func) & names
            for function in own
            for inner in ast.walk(function)
            if isinstance(inner, ast.Call)
        )

    def _in_parallel(self, call: ast.Call) -> int:
        """Whether the model whose weights a step changes is wrapped."""
        models = self._models(call)
        wrapped = [each for each in self.program.calls if self.program.names(each.func) & _PARALLEL and each.args]
        return int(any(not models or self.program.of(each.args[0]) & models for each in wrapped))

    def _models(self, call: ast.Call) -> frozenset[object]:
        """What the parameters of the optimizer of a step belong to."""
        assert isinstance(call.func, ast.Attribute)
        sources = self.program.sources(call.func.value)
        owners = (
            each.func.value
            for each in sources
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
            if each.func.attr in ("parameters", "named_parameters")
        )
        return frozenset(value for each in owners for value in self.program.of(each))

    def _sent(self, call: ast.Call) -> bool:
        """Whether what an update changes is sent from rank 0: what is sent has the same model, or nobody knows which."""
        assert isinstance(call.func, ast.Attribute)
        sends = self._senders
        if call.func.attr not in _STEPS:
            return bool(sends)
        models = self._models(call)
        return any(not models or not (held := self._held(each)) or held & models for each in sends)

    @cached_property
    def _senders(self) -> list[ast.Call]:
        return [each for each in self.program.calls if self._does(each, _SENDS) and runs(each, self.program)]

    def _held(self, call: ast.Call) -> frozenset[object]:
        """What the weights that a call sends belong to."""
        inside = [each for part in self._given(call) for each in ast.walk(part) if isinstance(each, ast.expr)]
        return frozenset(value for each in inside for value in self.program.of(each) if not isinstance(value, Callable))

    def _steps_itself(self, model: Value) -> bool:
        """Whether a model applies its gradients in a method of its own."""
        return isinstance(model, Instance) and any(
            isinstance(base, Class) and any(getattr(each, "name", "") == "train_step" for each in base.node.body)
            for base in self.program.lineage(model.type)
        )

    # Data and rates

    @cached_property
    def _apart(self) -> bool:
        """Whether what a rank trains on depends on its number, or how long it trains on how many there are."""
        dealt = any(edit.rule in _DEALT for patch in self.plan.changed.values() for edit in patch.edits)
        marks = _RANKS if dealt else _RANKS | _SIZES
        return any(
            self.program.names(each.func) & marks and not self._chooses(each) and not self._scales(each)
            for each in self.program.calls
        )

    def _chooses(self, call: ast.Call) -> bool:
        """Whether a rank is compared with a number, so that one does something."""
        return isinstance(self.program.parent(call), ast.Compare)

    def _scales(self, call: ast.Call) -> bool:
        parent = self.program.parent(call)
        if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Mult):
            return False
        cut = isinstance(parent.left, ast.BinOp) and isinstance(parent.left.op, ast.FloorDiv)
        return bool(self.program.names(call.func) & _SIZES) and not cut and not isinstance(parent.left, ast.List)

    def _data(self, updates: bool) -> Iterator[str]:
        options = self.plan.options
        if updates and options.shard != "none" and not self.told & _WHOLE and not self._apart:
            yield "every rank trains on the same data"

    def _rates(self) -> Iterator[str]:
        """Rates that were to be multiplied: as many factors are there."""
        edits = ((each, edit) for each, patch in self.plan.changed.items() for edit in patch.edits)
        asked = {(each, edit.line) for each, edit in edits if edit.rule == "scale-rate"}
        found = sum(map(self._scales, self.program.calls))
        if found < len(asked):
            yield f"{len(asked)} rates go with the number of ranks, and {found} are multiplied by it"

    # Output

    def _written(self) -> Iterator[str]:
        """What every rank prints or writes, in files that are changed."""
        for location in self.plan.changed:
            unit = self.program.units.get(location)
            for node in ast.walk(unit.tree) if unit is not None else ():
                call = node.value if isinstance(node, ast.Expr) else None
                if isinstance(call, ast.Call) and self._puts_out(call) and not self._first_only(call):
                    yield f"every rank runs `{ast.unparse(call).splitlines()[0]}`"

    def _puts_out(self, call: ast.Call) -> bool:
        """Whether a call prints or writes a file that it names itself, for all to see."""
        names = self.program.names(call.func)
        held = any(name.startswith(_HANDLES) for name in names)
        graph = any(loop.start == "session" for loop in self.plan.loops)
        adds = graph and any(name.startswith("tensorflow.summary.") and "(" not in name for name in names)
        known = not held and not adds and kind_of(call, self.program) in ("output", "file", "log")
        return known and runs(call, self.program) and not private(call, self.program)

    def _first_only(self, call: ast.Call, depth: int = 4) -> bool:
        """Whether a call stands under a rank, or is given what depends on it, in all that leads to its function."""
        if isinstance(call.func, ast.Call) and self._does(call.func, _FIRST):
            return True
        if any(name in _RANKS for name in self._names_in(call)) or self._under_rank(call) or self._too_early(call):
            return True
        function = self.program.function(call)
        calls = self.program.calling(function) if function is not None and depth else []
        return bool(calls) and all(self._first_only(each, depth - 1) for each in calls)

    def _under_rank(self, call: ast.Call) -> bool:
        """Whether a statement asks which rank it is, around a call or in front of it where the others wait."""
        statement: ast.AST = self.program.statement(call)
        while isinstance(statement, ast.stmt):
            above = self.program.parent(statement)
            if isinstance(above, ast.If) and self._asks(above.test):
                return True
            block = block_of(statement, self.program)
            before = block[: block.index(statement)]
            if any(isinstance(each, ast.If) and self._asks(each.test) and self._local(each) for each in before):
                return True
            if not isinstance(above, ast.stmt | ast.ExceptHandler) or isinstance(above, _SCOPES):
                return False
            statement = self.program.statement(above)
        return False

    def _local(self, branch: ast.If) -> bool:
        """Whether a branch asks for the rank on its machine: those that come later wait there."""
        return "local_rank" in ast.unparse(branch.test).lower()

    def _too_early(self, call: ast.Call) -> bool:
        """Whether a call runs before the processes know each other."""
        unit = self.program.unit(call)
        here = (each for each in self.program.calls if self.program.unit(each) is unit)
        begins = [each.lineno for each in here if self.program.names(each.func) & _BEGINS]
        function = self.program.function(call)
        if function is None:
            return bool(begins) and call.lineno < begins[0]
        return any(
            self._too_early(each) for each in self.program.calling(function) if self.program.function(each) is None
        )

    def _asks(self, test: ast.expr) -> bool:
        return any(
            isinstance(each, ast.Call) and bool(self.program.names(each.func) & _FIRST) for each in ast.walk(test)
        ) or ("LOCAL_RANK" in ast.unparse(test))
