"""Forward and backward passes, as far as `DistributedDataParallel` asks for more than a sum of gradients.

It gets ready in a call of `forward`, and averages in the first backward pass behind it. A second backward pass would keep
gradients of one rank, and a layer that has no gradient would be waited for
(https://docs.pytorch.org/docs/stable/notes/ddp.html).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable as Function
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import combinations
from typing import NamedTuple

from distml.rewrites.horovod.flows.pytorch.statistics import KEEPS
from distml.rewrites.horovod.flows.pytorch.study import Step, Study, graded
from distml.source.nodes import SCOPES, walk
from distml.training.around import block_of, leaves
from distml.training.callers import run_from
from distml.training.callsites import is_range, positional
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import closure, elements, method_name, names_in, nodes_in, values_given
from distml.training.values import Class


class Turn(NamedTuple):
    """The function and loop a turn of which has one backward pass."""

    function: ast.AST | None
    loop: ast.AST | None

    def holds(self, study: Study, call: ast.Call) -> bool:
        """Whether a call is part of the turn, directly."""
        if study.program.function(call) is not self.function:
            return False
        return self.loop is None or self.loop in study.program.ancestors(call)


class Turns:
    """The turns of all loops that compute gradients with a model, of which `forwards` are the calls."""

    def __init__(self, study: Study, forwards: list[ast.Call]) -> None:
        self.study, self.program = study, study.program
        self._reach = study.reach(forwards)
        self.turns = {turn for backward in study.backwards for turn in self._of(backward, 4)}
        calls = [call for call in self.program.calls if any(turn.holds(self.study, call) for turn in self.turns)]
        self._called = _run_from(study, calls)
        """The functions that are called in a turn: losses may be made of their results."""

    def _of(self, node: ast.Call, depth: int) -> Iterator[Turn]:
        function, loop = self.program.function(node), self.study.loop(node)
        if loop is None and function is not None and function not in self._reach.functions and depth:
            for call in self.study.leading(node):
                yield from self._of(call, depth - 1)
        else:
            yield Turn(function, loop)

    def hold(self, call: ast.Call) -> bool:
        """Whether a forward pass may lead to gradients."""
        if not graded(self.program, call):
            return False
        inside = any(turn.holds(self.study, call) for turn in self.turns)
        return inside or self.program.function(call) in self._called or self.study.training.holds(call)

    def several(self, forwards: list[ast.Call]) -> bool:
        """Whether several forward passes may lead to one backward pass."""
        held = [call for call in forwards if self.hold(call)]
        turns = ([call for call in held if not self._elsewhere(turn, call)] for turn in self.turns)
        pairs = (pair for calls in turns for pair in combinations(calls, 2))
        crowded = any(not _exclude(self.program, one, other) for one, other in pairs)
        return crowded or any(not any(self._once(turn, call) for turn in self.turns) for call in held)

    def _elsewhere(self, turn: Turn, call: ast.Call) -> bool:
        """Whether a call is part of another turn, directly."""
        return not turn.holds(self.study, call) and any(each.holds(self.study, call) for each in self.turns)

    def _once(self, turn: Turn, call: ast.Call) -> bool:
        loop = self.study.loop(call)
        each = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
        if any(isinstance(above, each) for above in self.program.ancestors(call)):
            return False
        if turn.holds(self.study, call):
            return loop is turn.loop
        callers = self.study.leading(call)
        return loop is None and len(callers) == 1 and self._once(turn, callers[0])


def _run_from(study: Study, nodes: Iterable[ast.AST]) -> set[ast.AST]:
    """The functions that run, with gradients, where some nodes do."""
    return {*run_from(nodes, study.program, partial(graded, study.program))}


def one_backward_each(study: Study, forwards: list[ast.Call]) -> bool:
    """Whether each backward pass has a forward pass of its own in front of it."""
    program, backwards = study.program, study.backwards
    if (
        not forwards
        or not backwards
        or any(program.names(call.func) & {"torch.autograd.grad"} for call in program.calls)
    ):
        return False
    again = ("retain_graph", "create_graph", "inputs")
    if any(k.arg in again or k.arg is None for backward in backwards for k in backward.keywords):
        return False
    reach = study.reach(forwards)
    for backward in backwards:
        loop = study.loop(backward)
        if loop is not None and not reach.holds(loop):
            return False
        if program.function(backward) not in reach.functions and len(study.leading(backward)) > 1:
            return False
    return not any(_in_sequence(study, one, other) for one, other in combinations(backwards, 2))


def _in_sequence(study: Study, one: ast.Call, other: ast.Call) -> bool:
    """Whether two backward passes can run one after the other in a turn of a loop."""
    if study.program.function(one) is not study.program.function(other) or study.loop(one) is not study.loop(other):
        return False
    return not _exclude(study.program, one, other)


def _exclude(program: Program, one: ast.AST, other: ast.AST) -> bool:
    """Whether only one of two nodes runs each time that what is around both does: they are in different arms of a condition."""
    arms = {id(above): arm for above, arm in _arms(program, one)}
    return any(arms.get(id(above), arm) != arm for above, arm in _arms(program, other))


def _arms(program: Program, node: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """The conditions around a node, or in front of it where one arm leaves, with the arm of each that leads to the node."""
    for below, above in program.around(node):
        if isinstance(above, ast.FunctionDef | ast.Lambda | ast.For | ast.While):
            earlier = block_of(below, program) if isinstance(below, ast.stmt) else []
            yield from _left_in_front(earlier, below)
            return
        if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
            yield above, int(below in above.orelse if isinstance(above, ast.If) else below is above.orelse)
        if isinstance(below, ast.stmt) and isinstance(above, ast.stmt):
            yield from _left_in_front(block_of(below, program), below)


def _left_in_front(block: list[ast.stmt], node: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    for earlier in block[: block.index(node)] if node in block else ():
        if isinstance(earlier, ast.If) and leaves(earlier.body) != leaves(earlier.orelse):
            yield earlier, int(leaves(earlier.body))


def keeps_buffers(program: Program) -> bool:
    """Whether the model may have buffers, such as running statistics."""
    own = any(method_name(call) == "register_buffer" for call in program.calls)
    return own or any(KEEPS.fullmatch(name) for call in program.calls for name in program.names(call.func))


def thaws(program: Program) -> Iterator[ast.Attribute]:
    """Where it is said which parameters take part in training: a wrapped model looks at that once."""
    for node in program.nodes(ast.Attribute):
        if node.attr in ("requires_grad", "requires_grad_", "add_param_group"):
            if node.attr != "requires_grad" or isinstance(node.ctx, ast.Store):
                yield node


def partly(program: Program) -> bool:
    """Whether some layers may take no part in a forward pass: one is called under a condition, or nowhere."""
    for node in (each for each in program.nodes(ast.AST) if each not in program.idle):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            branches = [each for each in walk(node) if isinstance(each, ast.If | ast.IfExp)]
            own = next(iter(positional(node)), "")
            if any(_may_leave_out(each, own, program) for each in branches):
                return True
        elif isinstance(node, ast.ClassDef) and _leaves_out(program, node):
            return True
    return False


def apart(study: Study, step: Step, own: Function[[ast.If | ast.IfExp], bool]) -> bool:
    """Whether a rank may leave out layers before a step that another goes through, by a condition that is each rank's `own`."""
    loops: list[ast.AST] = [*study.loops_of(step.call)]
    within = _run_from(study, loops)
    chosen = {node for part in (*loops, *within) for node in walk(part) if isinstance(node, ast.If | ast.IfExp)}
    return any(_differ(each, study.program) and own(each) for each in chosen)


def _differ(branch: ast.If | ast.IfExp, program: Program) -> bool:
    """Whether one arm of a condition calls layers or models that the other does not call, up to the end of the function."""
    one, other = (
        {ast.unparse(each.func) for part in arm for each in _layers(part, program)} for arm in _both(branch, program)
    )
    return one != other


def _both(branch: ast.If | ast.IfExp, program: Program) -> list[list[ast.AST]]:
    """What runs where a condition holds and where not, up to the end of the function."""
    if isinstance(branch, ast.IfExp):
        return [[branch.body], [branch.orelse]]
    rest: list[ast.stmt] = []
    below: ast.AST = branch
    while isinstance(below, ast.stmt) and not isinstance(below, SCOPES) and not leaves(rest):
        block = block_of(below, program)
        rest += block[block.index(below) + 1 :] if below in block else []
        below = program.parent(below) or program.unit(below).tree
    return [[*arm, *([] if leaves(arm) else rest)] for arm in (branch.body, branch.orelse)]


def _have_weights(names: Iterable[str]) -> bool:
    """Whether something of one of these paths has weights: what a class makes, and not the class itself."""
    return any(_WEIGHED.match(name) and name.endswith((")", "]")) for name in names)


def _may_leave_out(branch: ast.If | ast.IfExp, own: str, program: Program) -> bool:
    """Whether a pass with gradients may leave out something with weights of the model, which is called `own`, at a condition: in
    training one arm of `self.training` is taken always, and a layer that is asked for and not there has no weights.
    """
    kept, left = (
        {ast.unparse(each) for part in arm for each in _weighed(part, own, program)} for arm in _both(branch, program)
    )
    modes = {f"{own}.training": (left, kept), f"not {own}.training": (kept, left)}
    more, fewer = modes.get(ast.unparse(branch.test), (kept ^ left, set()))
    asked = _asks_for_layer(branch.test, own)
    return any(not asked or (each != ast.unparse(branch.test) and _is_there(each, program)) for each in more - fewer)


def _is_there(layer: str, program: Program) -> bool:
    """Whether a model has a layer under whatever conditions: `self.layer = nn.Linear(4, 4)`."""
    assigned = program.nodes(ast.Assign)
    made = [each for each in assigned if layer in map(ast.unparse, each.targets)]
    plain = (isinstance(each.value, ast.Call) and isinstance(program.parent(each), ast.FunctionDef) for each in made)
    return bool(made) and all(plain)


def _layers(part: ast.AST, program: Program) -> Iterator[ast.Call]:
    """The calls of layers and models that have gradients."""
    for call in nodes_in(part, ast.Call):
        names = program.names(call.func)
        if _have_weights(names) and graded(program, call):
            yield call


def _weighed(part: ast.AST, own: str, program: Program) -> Iterator[ast.expr]:
    """What is called of a model, but for layers that have no weights, those of the library and those of the program."""
    for each in (node.func for node in nodes_in(part, ast.Call)):
        names, kinds = program.names(each), program.classes(each)
        plain = names and all(name.startswith("torch.nn.") and not _WEIGHED.match(name) for name in names)
        plain = plain or (bool(kinds) and {kind.node for kind in kinds} <= _weightless(program))
        if isinstance(each, ast.Attribute) and ast.unparse(each.value) == own and not plain:
            yield each


@remembered
def _weightless(program: Program) -> frozenset[ast.ClassDef]:
    """The modules of a program, derived from no others, that keep nothing that may have weights."""
    classes = [each for unit in program.units.values() for each in nodes_in(unit.tree, ast.ClassDef)]
    bases = {each: program.library_bases(Class(each)) for each in classes}
    modules = [
        each for each in classes if bases[each] and {name.rpartition(".")[2] for name in bases[each]} == {"Module"}
    ]
    return frozenset(each for each in modules if len(each.bases) == 1 and not _keeps_weights(each, program))


def _keeps_weights(owner: ast.ClassDef, program: Program) -> bool:
    """Whether a module puts something that may have weights among its attributes."""
    put = [
        each for each in nodes_in(owner, ast.Call) if method_name(each) in _PUTS or ast.unparse(each.func) == "setattr"
    ]
    kept = [
        node.value
        for node in nodes_in(owner, ast.Assign)
        if any(isinstance(each, ast.Attribute | ast.Subscript) for target in node.targets for each in elements(target))
    ]
    return bool(put) or any(_may_weigh(each, program) for each in kept)


def _may_weigh(value: ast.expr, program: Program) -> bool:
    """Whether a value may be a layer or a parameter, or hold one: of what nobody knows it may."""
    if isinstance(value, ast.Call | ast.Name | ast.Attribute):
        names = program.names(value)
        return not program.of(value) or _have_weights(names) or any(name.startswith("?") for name in names)
    return any(_may_weigh(each, program) for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr))


_PUTS = frozenset("add_module register_module register_parameter append extend update __setattr__".split())
"""Methods by which a module may be given layers."""


def _asks_for_layer(test: ast.expr, own: str) -> bool:
    """Whether a condition is `self.layer`, or asks if it is None: a layer that is not there has no parameters."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is | ast.IsNot):
        test = test.left
    return isinstance(test, ast.Attribute) and ast.unparse(test.value) == own and test.attr != "training"


def _leaves_out(program: Program, owner: ast.ClassDef) -> bool:
    """Whether a model makes a layer that no forward pass goes through, whatever else is done with its weights."""
    bases = program.library_bases(Class(owner))
    if not any(base.startswith("torch.nn.") for base in bases):
        return False
    made = {
        target.attr
        for node in nodes_in(owner, ast.Assign)
        if _have_weights(program.names(node.value))
        for target in node.targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    }
    named = {node.value for node in nodes_in(owner, ast.Constant)}
    lists = (node for node in nodes_in(owner, ast.Assign) if program.names(node.value) & {"torch.nn.ModuleList()"})
    return bool(made - _passed(program) - named) or any(_by_number(each, program) for each in lists)


def _by_number(made: ast.Assign, program: Program) -> bool:
    """Whether of a list of layers only some are read, each by its number."""
    target, given = made.targets[0], values_given(made.value)[:1] if isinstance(made.value, ast.Call) else []
    many = _length(given[0], program) if given else None
    nodes = program.nodes(ast.Attribute)
    reads = [each for each in nodes if each.attr == getattr(target, "attr", None) and isinstance(each.ctx, ast.Load)]
    above = [program.parent(each) for each in reads]
    numbers = [_number(each.slice) if isinstance(each, ast.Subscript) else None for each in above]
    known = {each % many for each in numbers if many and each is not None}
    return bool(known) and None not in numbers and len(known) < (many or 0)


def _length(given: ast.expr, program: Program) -> int | None:
    """How many items a list has that is written out, or made for each number of a range."""
    if isinstance(given, ast.List | ast.Tuple):
        return len(given.elts) if not any(isinstance(each, ast.Starred) for each in given.elts) else None
    if not isinstance(given, ast.ListComp | ast.GeneratorExp) or len(given.generators) > 1 or given.generators[0].ifs:
        return None
    through = given.generators[0].iter
    return _number(through.args[0]) if is_range(through, program) and len(through.args) == 1 else None


def _number(node: ast.expr) -> int | None:
    """An integer that is written out."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    value = getattr(node.operand if isinstance(node, ast.UnaryOp) and negative else node, "value", None)
    return None if not isinstance(value, int) else -value if negative else value


@remembered
def _passed(program: Program) -> frozenset[str]:
    """The attributes of which more is read than weights, where there are gradients, but for methods that no forward pass runs."""
    trees = [unit.tree for unit in program.units.values()]
    beside = {each for tree in trees for owner in nodes_in(tree, ast.ClassDef) for each in _beside(owner)}
    nodes = (node for tree in trees for node in nodes_in(tree, ast.Attribute) if isinstance(node.ctx, ast.Load))
    layers = (node for node in nodes if graded(program, node) and not _of_library(node, program))
    read = (node for node in layers if not _only_weighs(node, program))
    return frozenset(node.attr for node in read if not beside.intersection(program.ancestors(node)))


def _beside(owner: ast.ClassDef) -> Iterator[ast.AST]:
    """The methods of a model that its `forward` does not lead to, nor its constructor."""
    methods = {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
    first = [name for name in methods if name == "forward" or name.startswith("__") or "forward" not in methods]
    named = {name: {each.attr for each in nodes_in(method, ast.Attribute)} for name, method in methods.items()}
    led = {*closure(first, lambda name: named[name] & methods.keys())}
    yield from (each for name, each in methods.items() if name not in led)


def _of_library(node: ast.expr, program: Program) -> bool:
    """Whether an attribute is one of a library's modules: `models.vgg16`, and nothing that was made by it."""
    names = program.names(node)
    return bool(names) and not any("(" in name for name in names)


def _only_weighs(layer: ast.expr, program: Program) -> bool:
    """Whether what is read of a layer are its weights, to copy, count, freeze or initialize them: `self.old.conv.weight.data`."""
    for below, above in program.around(layer):
        if isinstance(above, ast.Attribute) and above.attr in _OF_WEIGHTS:
            return True
        if not isinstance(above, ast.Attribute | ast.Subscript) or above.value is not below:
            return False
    return False


_OF_WEIGHTS = frozenset(
    "data parameters named_parameters state_dict load_state_dict requires_grad requires_grad_ train eval apply size shape".split()
)
_WEIGHED = re.compile(
    r"torch\.nn\.([\w.]*(Linear|Conv|Embedding|LSTM|GRU|RNN|BatchNorm|LayerNorm|Sequential|Parameter|Module(List|Dict))|(modules\.)?(module\.)?Module\(\)$)"
    r"|torchvision\.models\.|timm\.create_model\(\)$"
)
"""What makes layers with weights: torch's, models of the program, and those of libraries."""


class Accumulation(NamedTuple):
    """A loop over backward passes, and the condition under which a step follows."""

    loop: ast.For
    test: ast.expr


def accumulation(study: Study) -> Accumulation | None:
    """The loop in which gradients of several turns are added up, where its counters alone tell when a step follows."""
    if len(study.steps) != 1 or len(study.backwards) != 1:
        return None
    step, backward = study.program.statement(study.steps[0].call), study.backwards[0]
    branch, loop = study.program.parent(step), study.loop(backward)
    if not isinstance(branch, ast.If) or not isinstance(loop, ast.For) or branch not in loop.body or branch.orelse:
        return None
    if step not in branch.body or any(above is branch for above in study.program.ancestors(backward)):
        return None
    read = names_in(branch.test)
    inside = [node for each in loop.body for node in walk(each)]
    stored = {node.id for node in inside if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    counters = names_in(loop.target)
    calls = list(nodes_in(branch.test, ast.Call))
    plain = all(isinstance(call.func, ast.Name) and call.func.id == "len" for call in calls)
    return Accumulation(loop, branch.test) if read & counters and not read & stored and plain else None
