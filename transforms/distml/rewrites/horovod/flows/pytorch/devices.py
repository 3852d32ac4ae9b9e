"""Which GPU: every process has its own, however the program called the first one.

A GPU is named by a text (`"cuda:0"`) wherever it stands, or by a number where PyTorch is given a device. A program that names
two of them, or counts them in a loop, spreads one process over several, and is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from distml.rewrites.horovod.aspects.devices import counted
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.callsites import argument, option_name
from distml.training.syntax import method_name
from distml.training.values import Constant, Foreign

_NUMBERED = re.compile(r"cuda:\d+")
_OWN = Note("the GPU of this process", "all ranks would share one GPU", "own-device")
_PARALLEL = Note(
    "DataParallel on the GPU of this process", "every rank has one GPU, and the data is sharded", "own-device"
)
_INSTEAD = "train on one GPU, one for each process"
_SPELLS = frozenset({"torch.device", "builtins.str", "builtins.int"})
_REPLICAS = frozenset({"torch.nn.parallel.replicate", "torch.nn.parallel.parallel_apply"})
DATA_PARALLEL = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"})
_SETS = {"torch.cuda.set_device": (0, "device"), "torch.device": (1, "index")}
"""Functions that are given the number of a GPU: at which place, under which name."""
_GIVEN = {"torch.device": (0, "type"), "torch.set_default_device": (0, "device"), "torch.load": (1, "map_location")}
"""Functions that are given a device, which may be a number."""
_MOVES = frozenset({"to", "to_empty", "cuda"})


class Devices:
    """Plans the choice of GPUs."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self.plan, self.program = plan, study.program

    def own(self) -> None:
        """Ask for every GPU that is given by number to be the one of the process.

        Raises:
            Refuse: The program places something on one GPU, and something on another.
        """
        nodes = [each for unit in self.plan.units() for each in walk(unit.tree) if each not in self.program.idle]
        self._refuse_several([node for node in nodes if isinstance(node, ast.Constant)])
        self._refuse_towers(nodes)
        for node in nodes:
            if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
                self._spelled(node)
            elif isinstance(node, ast.Call):
                self._called(node)

    def _refuse_several(self, constants: list[ast.Constant]) -> None:
        """Which GPUs are named where something is placed; lists and tests of texts place nothing."""
        named: dict[str, ast.Constant] = {}
        for node in constants:
            above = self.program.parent(node)
            places = isinstance(above, ast.Call | ast.Assign) or (
                isinstance(above, ast.keyword) and above.arg == "device"
            )
            if places and _is_device(node):
                named.setdefault(ast.unparse(node), node)
        if len(named) > 1:
            first, second, *_ = named.values()
            what = f"one process uses several GPUs, `{ast.unparse(first)}` (line {first.lineno}) and `{ast.unparse(second)}`"
            raise Refuse("HVD202", second, what, _INSTEAD)

    def _refuse_towers(self, nodes: list[ast.AST]) -> None:
        """Parts that are placed on GPUs which a loop numbers, or by functions that place the model on each of several."""
        for call in (each for each in nodes if isinstance(each, ast.Call)):
            names = self.program.names(call.func)
            method = self._moves(call, names)
            given = argument(call, 0 if method else -1, "device")
            sources = self.program.sources(given, self._is_other) if given is not None else set[ast.AST]()
            several = counted(sources, self.program) and (method == "cuda" or self._is_gpu(sources))
            if several or names & _REPLICAS:
                what = f"one process uses several GPUs, by `{ast.unparse(call)}`"
                raise Refuse("HVD202", call, what, _INSTEAD)

    def _is_other(self, node: ast.AST) -> bool:
        """Whether what a call is given says nothing of which GPU it gives: `next(model.parameters()).device`."""
        names = self.program.callee(node)
        return isinstance(node, ast.Call) and not (_is_device(node) or names & _SPELLS)

    def _is_gpu(self, sources: set[ast.AST]) -> bool:
        """Whether something is computed from the number of a GPU, as a text or as a device made of one."""
        values = (value.value for each in sources for value in self.program.of(each) if isinstance(value, Constant))
        texts = (value for value in values if isinstance(value, str))
        return any(map(_is_device, sources)) or any(map(_NUMBERED.fullmatch, texts))

    def _spelled(self, node: ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call) -> None:
        above = self.program.parent(node)
        if isinstance(above, ast.Expr | ast.Compare | ast.JoinedStr | ast.Dict | ast.FormattedValue | ast.BinOp):
            return
        told = isinstance(above, ast.keyword) and above.arg == "help"
        if told or not _is_device(node) or self._is_choice(node) or self._is_own(node):
            return
        world = self.plan.world(node)
        local = world.local_rank.replace('"', "'")
        self.plan.patch(node).wrap(node, f'f"cuda:{{{local}}}"', _OWN)

    def _is_choice(self, node: ast.expr) -> bool:
        """Whether a text is one of those that an option of the command line may be."""
        display = self.program.parent(node)
        keyword = self.program.parent(display) if isinstance(display, ast.List | ast.Tuple | ast.Set) else None
        return isinstance(keyword, ast.keyword) and keyword.arg == "choices"

    def _is_own(self, node: ast.expr) -> bool:
        """Whether the number of a GPU is asked for where a tensor is, or which one the process uses: it is the process's own."""
        sources = self.program.sources(node)
        calls = [each for each in sources if isinstance(each, ast.Call) and not _is_device(each)]
        return any(method_name(each) in ("get_device", "current_device") for each in calls)

    def _called(self, call: ast.Call) -> None:
        names = self.program.names(call.func)
        if _is_device(call):
            self._spelled(call)
        elif names & DATA_PARALLEL:
            self._data_parallel(call)
        elif "torch.cuda.device" in names and call.args:
            world = self.plan.world(call)
            local = f"{world.local_rank} if {world.torch}.cuda.is_available() else {{}}"
            self.plan.patch(call).wrap(call.args[0], local, _OWN)
        else:
            for given in self._numbers(call, names):
                self.plan.patch(call).wrap(given, self.plan.world(given).local_rank, _OWN)

    def _data_parallel(self, call: ast.Call) -> None:
        local = f"[{self.plan.world(call).local_rank}]"
        if len(call.args) > 1:
            self.plan.patch(call).wrap(call.args[1], local, _PARALLEL)
        else:
            self.plan.patch(call).keyword(call, "device_ids", local, _PARALLEL)

    def _numbers(self, call: ast.Call, names: frozenset[str]) -> Iterator[ast.expr]:
        """What a call is given as the number of a GPU."""
        for at, name in (place for path, place in _SETS.items() if path in names):
            if (given := argument(call, at, name)) is not None and not _is_device(given):
                yield given
        method = self._moves(call, names)
        if method == "cuda":
            yield from (each for each in call.args[:1] if self._may_number(each))
            return
        places = {place for path, place in _GIVEN.items() if path in names}
        places |= {(0, "device")} if method else set()
        places |= {(-1, "device")} if any(name.startswith("torch.") for name in names) else set()
        found = {given for at, name in places if (given := argument(call, at, name)) is not None}
        yield from (given for given in found if self._is_number(given))

    def _moves(self, call: ast.Call, names: frozenset[str]) -> str:
        """The method by which a call moves a tensor or a model to a device; empty where it does not."""
        method = method_name(call)
        own = bool(self.program.functions(call.func))
        library = not names or any(name.startswith(("torch", "?")) for name in names)
        return method if method in _MOVES and library and not own else ""

    def _may_number(self, node: ast.expr) -> bool:
        """Whether what `x.cuda(...)` is given may be a number: it spells no GPU, is no device and no flag."""
        return not _is_device(node) and not self.program.names(node) & {"torch.device()"} and not _flag(node)

    def _is_number(self, node: ast.expr) -> bool:
        """Whether an expression is a whole number, also as an option of the command line."""
        values = self.program.of(node)
        return bool(values) and all(
            type(value.value) is int if isinstance(value, Constant) else self._option(value) for value in values
        )

    def _option(self, value: object) -> bool:
        """Whether a value is read from an option of argparse that holds a number."""
        if not isinstance(value, Foreign) or not value.name.startswith("argparse."):
            return False
        option = value.name.rpartition(".")[2]
        adds = (
            call
            for call in self.program.calls
            if any(name.endswith(".add_argument") for name in self.program.names(call.func))
            if option == option_name(_texts(call.args), "".join(_texts([argument(call, -1, "dest")])))
        )
        kinds = (kind for call in adds if (kind := argument(call, -1, "type")) is not None)
        return any("builtins.int" in self.program.names(kind) for kind in kinds)


def _texts(nodes: Sequence[ast.expr | None]) -> list[str]:
    """The texts among some expressions."""
    return [each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def _flag(node: ast.expr) -> bool:
    """Whether an argument is no device: `None`, or whether a copy is asynchronous."""
    return isinstance(node, ast.Constant) and not (isinstance(node.value, int) and not isinstance(node.value, bool))


def _is_device(node: ast.AST) -> bool:
    """Whether an expression spells a GPU with its number."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _NUMBERED.fullmatch(node.value) is not None
    if isinstance(node, ast.JoinedStr):
        first = node.values[0] if node.values else None
        return len(node.values) == 2 and isinstance(first, ast.Constant) and first.value == "cuda:"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        left = node.left
        return isinstance(left, ast.Constant) and left.value in ("cuda:", "cuda:%d", "cuda:%s")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value
        return isinstance(text, ast.Constant) and text.value in ("cuda:{}", "cuda:{0}", "cuda:{:d}")
    return False
