"""Batches made by hand: slices of a tensor that a counter goes through, or rows drawn at random."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.dealing import deal
from distml.rewrites.horovod.aspects.drawing import DRAWS
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.flows.pytorch.loops import Loops
from distml.rewrites.horovod.flows.pytorch.samples import Samples
from distml.rewrites.horovod.flows.pytorch.seeds import drawing, drawn
from distml.rewrites.horovod.flows.pytorch.study import Study, graded
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, block_of
from distml.training.callsites import argument_for, is_range, positional
from distml.training.syntax import mentions, method_name, names_in, nodes_in, size_of, stores
from distml.training.values import Box

_PART = Note(
    "every rank takes its part of the data",
    "without it all ranks see the same samples, and their average gradient is that of one rank",
    "part-of-tensor",
)
_DEALT = Note(
    "every rank takes its share of the batches",
    "without it all ranks take the same batches; the remainder is dropped so that all ranks take the same number of steps",
    "share-batches",
)
_PICKS = re.compile(
    r"(torch|numpy\.random(\.\w+\(\))?|random)\.(randint|randperm|choice|choices|sample|permutation|shuffle|integers|randrange)"
    r"|tensorflow\.[\w.]+\.read_data_sets\(\)\.\w+\.next_batch"
)
_DATASET = re.compile(
    r"torch\.utils\.data\.(dataset\.)?((Dataset|Subset|TensorDataset|ConcatDataset)\(\)|random_split\(\)\[\])"
    r"|torchvision\.datasets\.(\w+\.)?\w+\(\)"
)
_ORDERS = re.compile(r"torch\.(randperm|arange)|numpy\.(random\.permutation|arange)|builtins\.(range|list)")


class Tensors:
    """Plans the loops that make their batches themselves."""

    def __init__(self, study: Study, plan: Plan, loops: Loops) -> None:
        self.study, self.plan, self.loops = study, plan, loops
        self.program = study.program
        self._parts: set[tuple[ast.stmt, str]] = set()
        self._chosen: set[tuple[ast.stmt, str]] = set()
        """Data sets, of which a part is no slice."""
        self.together: set[str] = set()
        """The global generators by which what is dealt out is arranged anew: they must be alike on all ranks."""

    def shard(self, loop: ast.AST) -> bool:
        """Ask for the sharding of what a loop slices; False where it slices nothing that can be divided."""
        if self.study.environment:
            return self.picks(loop)
        sized = self._sized(loop) if isinstance(loop, ast.For) else self._counted_to(loop)
        if not sized or not isinstance(loop, ast.For | ast.While):
            return self._deal(loop) or self.picks(loop)
        wanted: dict[str, tuple[ast.stmt, str, int]] = {}
        for tensor, dimension in [*sized, *self._sliced(loop, sized)]:
            found = self._defined(tensor)
            if found is None:
                return self._deal(loop) or self.picks(loop)
            statement, name = found
            if self.program.matches(tensor, _DATASET):
                self._chosen.add((statement, name))
            wanted[f"{id(statement)} {name}"] = (statement, name, dimension)
        parted = [each for each, _, _ in wanted.values()]
        apart = {id(block_of(each, self.program)) for each in parted}
        if any(self._measured_before(tensor, parted) for tensor, _ in sized) or (
            len(apart) > 1 and self._derived(parted)
        ):
            return self._deal(loop) or self.picks(loop)
        for statement, name, dimension in self._together(list(wanted.values())):
            self._part(statement, name, dimension)
        self.study.shortened.add(loop)
        return True

    def _measured_before(self, tensor: ast.expr, parted: list[ast.stmt]) -> bool:
        """Whether a size is taken in front of the statements behind which only a part of the data is left."""
        block = block_of(parted[0], self.program)
        above = {tensor, *self.program.ancestors(tensor)}
        taken = next((index for index, each in enumerate(block) if each in above), None)
        return taken is not None and any(each in block and taken <= block.index(each) for each in parted)

    def _deal(self, loop: ast.AST) -> bool:
        """Deal out the places at which a loop over numbers begins its batches: `for i in range(0, 1000, 8): x[i : i + 8]`."""
        if not isinstance(loop, ast.For):
            return False
        ranges = [leaf for leaf in self.loops.leaves(loop.iter) if "builtins.range" in self.program.callee(leaf)]
        moving = self._moving(loop)
        whole = {ast.unparse(each) for each, dimension in self._sized(loop) if not dimension}
        cuts = [node for node in nodes_in(loop, ast.Subscript) if self._cuts(node, moving)]
        cuts = cuts or [*self._taken(loop, names_in(loop.target), whole)]
        inner = [each for each in walk(loop) if isinstance(each, LOOPS) and each is not loop]
        if len(ranges) != 1 or not cuts or any(self.study.training.holds(each) for each in inner):
            return False
        deal(self.plan, ranges[0], _DEALT)
        self.study.dealt.add(ranges[0])
        self.study.shortened.add(loop)
        self.together |= {kind for cut in cuts for each in (cut.value, cut.slice) for kind in self._arranging(each)}
        given = ranges[0].args if isinstance(ranges[0], ast.Call) else []
        counts, samples = {ast.unparse(each) for each in given[:1]}, "".join(map(ast.unparse, given[1:2]))
        Samples(self.study, self.plan, self.loops).dealt(loop, set() if samples else counts, samples)
        return True

    def _arranging(self, samples: ast.expr) -> set[str]:
        """The generators that are drawn from between epochs to arrange samples, in place or anew."""
        sources = {samples, *self.program.sources(samples)}
        named = [each for each in sources if isinstance(each, ast.Name | ast.Attribute)]
        orders = [each.slice for name in named for each in self.loops.assigned(name) if isinstance(each, ast.Subscript)]
        sources |= {source for order in orders for source in (order, *self.program.sources(order))}
        texts = {ast.unparse(each) for each in sources if isinstance(each, ast.Name | ast.Attribute)}
        calls = (each for each in self.program.calls if self.study.loops_of(each))
        arranging = (each for each in calls if each in sources or not texts.isdisjoint(map(ast.unparse, each.args)))
        return {kind for each in arranging for kind in drawn(self.study, each, DRAWS, 0)}

    def _taken(self, loop: ast.For, counter: set[str], whole: set[str]) -> Iterator[ast.Subscript]:
        """Where one sample is taken of as many as the loop has turns, if its counter serves for nothing else."""
        taken = [each for each in nodes_in(loop, ast.Subscript) if ast.unparse(each.value) in whole]
        taken = [each for each in taken if isinstance(each.ctx, ast.Load) and mentions(each.slice, counter)]
        inside = {node for each in taken for node in walk(each.slice)}
        reads = (each for part in loop.body for each in nodes_in(part, ast.Name) if each.id in counter)
        if all(each in inside for each in reads):
            yield from taken

    def _cuts(self, node: ast.Subscript, moving: set[str]) -> bool:
        """Whether samples are cut out where a counter stands: of a tensor or array, not of a list such as that of losses."""
        cut = node.slice
        if not isinstance(cut, ast.Slice) or not isinstance(node.ctx, ast.Load) or not cut.lower or not cut.upper:
            return False
        listed = any(isinstance(value, Box) for value in self.program.of(node.value))
        return mentions(cut.lower, moving) and not listed and not self._order(node.value)

    def _together(self, wanted: list[tuple[ast.stmt, str, int]]) -> list[tuple[ast.stmt, str, int]]:
        """What is computed from each other is divided at once, behind the last: labels of samples only once."""
        block = block_of(wanted[0][0], self.program)
        statements = [each for each, _, _ in wanted]
        if len(wanted) == 1 or any(each not in block for each in statements) or not self._derived(statements):
            return wanted
        last = max((statement for statement, _, _ in wanted), key=block.index)
        return [(last, name, dimension) for _, name, dimension in wanted]

    def _derived(self, statements: list[ast.stmt]) -> bool:
        """Whether what one statement sets is computed from what another does."""
        made = [each.value if isinstance(each, ast.Assign) else each for each in statements]
        return any(one is not other and one in self.program.sources(other) for one in made for other in made)

    def _part(self, statement: ast.stmt, name: str, dimension: int) -> None:
        if (statement, name) in self._parts:
            return
        self._parts.add((statement, name))
        world = self.plan.world(statement)
        size = f"len({name})" if dimension == 0 else f"{name}.shape[{dimension}]"
        each = f"({size} // {world.size})"
        part = f"{world.rank} * {each} : ({world.rank} + 1) * {each}"
        code = f"{name} = {name}[{':, ' * dimension}{part}]"
        if any(each == name for _, each in self._chosen):
            code = f"{name} = {world.torch}.utils.data.Subset({name}, range({part.replace(' : ', ', ')}))"
        self.plan.patch(statement).after(statement, code, _PART)

    def _sized(self, loop: ast.For) -> list[tuple[ast.expr, int]]:
        """The tensors whose sizes a counter runs to, and the dimensions."""
        found: list[tuple[ast.expr, int]] = []
        for leaf in self.loops.leaves(loop.iter):
            if is_range(leaf, self.program):
                for argument in leaf.args:
                    found += self._sizes_in(argument, 3)
        return found

    def _counted_to(self, loop: ast.AST) -> list[tuple[ast.expr, int]]:
        """The tensor that `while i < len(tensor):` goes through in pieces."""
        if not isinstance(loop, ast.While):
            return []
        moving = _counter(loop)
        pieces = [node for node in nodes_in(loop, ast.Slice) if mentions(node, moving)]
        given = [
            node
            for node in nodes_in(loop, ast.Call)
            if any(isinstance(a, ast.Name) and a.id in moving for a in node.args)
        ]
        found = self._sizes_in(loop.test, 0) if moving and (pieces or given) else []
        inside = {ast.unparse(argument) for call in given for argument in call.args}
        return found if pieces or any(ast.unparse(tensor) in inside for tensor, _ in found) else []

    def _sizes_in(self, node: ast.expr, depth: int) -> list[tuple[ast.expr, int]]:
        found: list[tuple[ast.expr, int]] = []
        for each in walk(node):
            sized = size_of(each)
            tensor = sized[0] if sized is not None else None
            if sized is not None and isinstance(tensor, ast.Name | ast.Attribute) and not self.loops.makers(tensor):
                found.append((tensor, sized[1]))
            elif isinstance(each, ast.Name) and depth:
                for value in self.loops.assigned(each):
                    found += self._sizes_in(value, depth - 1)
        return found

    def _sliced(self, loop: ast.For | ast.While, sized: list[tuple[ast.expr, int]]) -> list[tuple[ast.expr, int]]:
        """What else is indexed by the counter, such as labels."""
        moving = self._moving(loop)
        dimension = sized[0][1]
        found: list[tuple[ast.expr, int]] = []
        for node in nodes_in(loop, ast.Subscript):
            if isinstance(node.ctx, ast.Load) and mentions(node.slice, moving):
                base = node.value
                if isinstance(base, ast.Name | ast.Attribute) and not mentions(base, moving) and not self._order(base):
                    found.append((base, _dimension(node.slice, moving, dimension)))
        return found

    def _moving(self, loop: ast.For | ast.While) -> set[str]:
        """The counter of a loop, and what is computed from it."""
        moving = _counter(loop)
        for _ in range(3):
            for node in nodes_in(loop, ast.Assign):
                if mentions(node.value, moving) and not _calls(node.value):
                    moving |= {n.id for t in node.targets for n in nodes_in(t, ast.Name)}
        return moving

    def _order(self, base: ast.expr) -> bool:
        """Whether something indexed is an order of samples, not samples."""
        return any(_ORDERS.match(name) for name in self.program.names(base))

    def _defined(self, node: ast.expr) -> tuple[ast.stmt, str] | None:
        """The last statement that sets a variable or attribute, where all that do stand in one block, or in branches there."""
        if isinstance(node, ast.Name):
            unit = self.program.unit(node)
            owner = self.program.owner(node)
            places = self._settings(owner, node.id) if owner is not None else []
            if not places and isinstance(owner, ast.FunctionDef):
                return self._given(owner, node.id)
        else:
            assert isinstance(node, ast.Attribute)
            unit = self.program.unit(node)
            same = [
                each
                for each in nodes_in(unit.tree, ast.Attribute)
                if each.attr == node.attr and isinstance(each.ctx, ast.Store)
            ]
            places = [self.program.statement(each) for each in same]
        if not places or any(isinstance(each, (*LOOPS, ast.With, ast.AugAssign)) for each in places):
            return None
        block = block_of(min(places, key=lambda each: each.col_offset), self.program)
        within = [self._within(each, block) for each in places]
        if self.study.loop(places[0]) is not None or not all(within):
            return None
        return max((each for each in within if each), key=block.index), ast.unparse(node)

    def _within(self, statement: ast.stmt, block: list[ast.stmt]) -> ast.stmt | None:
        """The statement of a block that a statement is or stands in, under nothing but conditions."""
        while statement not in block:
            above = self.program.parent(statement)
            if not isinstance(above, ast.If):
                return None
            statement = above
        return statement

    def _settings(self, owner: ast.AST, name: str) -> list[ast.stmt]:
        lexical = self.program.unit(owner).lexical
        found = (each for each in stores(owner, name) if lexical.owner_at(name, each) is owner)
        return [*map(self.program.statement, found)]

    def _given(self, function: ast.FunctionDef, name: str) -> tuple[ast.stmt, str] | None:
        """The variable that the only call of a function gives for a parameter."""
        calls = self.study.callers.get(function, [])
        if name not in positional(function) or len(calls) != 1:
            return None
        given = argument_for(calls[0], function, name, self.program)
        return self._defined(given) if isinstance(given, ast.Name | ast.Attribute) else None

    # Random rows

    def picks(self, loop: ast.AST) -> bool:
        """Whether each turn of a loop draws at random what it trains on, and not only what it evaluates or shows."""
        calls = (each for each in drawing(self.study, loop, _PICKS, 3, own=True) if graded(self.program, each))
        return any(method_name(each) == "shuffle" or TRAINING in purposes(each, self.program) for each in calls)


def _counter(loop: ast.For | ast.While) -> set[str]:
    """The variables that a loop counts with: its targets, or what is compared in front of a turn and added to in it."""
    if isinstance(loop, ast.For):
        return names_in(loop.target)
    added = [node.target for node in nodes_in(loop, ast.AugAssign) if isinstance(node.op, ast.Add)]
    compared = names_in(loop.test)
    return {target.id for target in added if isinstance(target, ast.Name)} & compared


def _dimension(cut: ast.expr, moving: set[str], otherwise: int) -> int:
    """The dimension of a tensor along which a counter goes: 1 in `x[:, i : i + 8]`."""
    if not isinstance(cut, ast.Tuple):
        return 0
    return next((at for at, each in enumerate(cut.elts) if mentions(each, moving)), otherwise)


def _calls(node: ast.AST) -> bool:
    calls = list(nodes_in(node, ast.Call))
    return any(getattr(each.func, "id", "") not in ("min", "max", "len", "int", "slice", "range") for each in calls)
