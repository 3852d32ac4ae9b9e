"""What layers of the program set in themselves from the batches that go through them: each rank would set it to something else.

Weights that are set from the first batch stay different on each rank, since only gradients are averaged. Buffers are running
statistics, whoever keeps them: they are made the same as those of batch normalization are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.training.around import own_nodes
from distml.training.callsites import positional
from distml.training.program import Program
from distml.training.syntax import method_name, names_in, nodes_in, targets_of, values_given
from distml.training.values import Class, Foreign

_OF_SHAPE = frozenset(
    "shape size dim ndim ndimension device dtype numel type get_device is_cuda requires_grad training".split()
)
"""What is asked of a tensor that no element decides."""
_NEW = frozenset(
    "new_zeros new_ones new_empty new_full zeros_like ones_like empty_like full_like rand_like randn_like len".split()
)
"""What makes a tensor of the kind of another."""


def set_by_data(study: Study) -> Iterator[ast.stmt]:
    """The statements in models that set parameters from a batch: `self.loc.data.copy_(x.mean())` where `forward` leads."""
    yield from _set_in_models(study.program, "parameter")


def keeps_statistics(study: Study) -> bool:
    """Whether a model of the program sets its buffers from batches."""
    return any(_set_in_models(study.program, "buffer"))


def _set_in_models(program: Program, kind: str) -> Iterator[ast.stmt]:
    for unit in program.units.values():
        for owner in nodes_in(unit.tree, ast.ClassDef):
            lineage = program.lineage(Class(owner))
            if any(isinstance(base, Foreign) and base.name.startswith("torch.nn.") for base in lineage):
                classes = [base.node for base in lineage if isinstance(base, Class)]
                held = {f"self.{name}" for each in classes for name in _held(each, kind, program)}
                for method in _reached(classes) if held else ():
                    yield from _set_in(method, held)


def _held(owner: ast.ClassDef, kind: str, program: Program) -> Iterator[str]:
    """The names under which a class registers its parameters, or its buffers."""
    for node in nodes_in(owner, ast.Assign):
        if kind == "parameter" and any(name.endswith(".Parameter()") for name in program.names(node.value)):
            yield from (target.attr for target in node.targets if isinstance(target, ast.Attribute))
    for call in nodes_in(owner, ast.Call):
        name = call.args[0] if call.args else None
        if method_name(call) == f"register_{kind}" and isinstance(name, ast.Constant):
            yield str(name.value)


def _reached(classes: list[ast.ClassDef]) -> list[ast.FunctionDef]:
    """The methods of a class and those above it that a forward pass runs."""
    methods: dict[str, ast.FunctionDef] = {}
    for owner in reversed(classes):
        methods |= {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
    waiting, reached = ["forward"], set[str]()
    while waiting:
        name = waiting.pop()
        if name in methods and name not in reached:
            reached.add(name)
            calls = (each.func for each in nodes_in(methods[name], ast.Call))
            waiting += [
                each.attr for each in calls if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
            ]
    return [methods[name] for name in sorted(reached)]


def _set_in(method: ast.FunctionDef, held: set[str]) -> Iterator[ast.stmt]:
    """The statements of a method that give one of the `held` tensors what is computed from the method's arguments."""
    own, given = positional(method)[:1], set(positional(method)[1:])
    for _ in range(3):
        for each in nodes_in(method, ast.Assign):
            if _reads(each.value, given):
                given |= {name for target in each.targets for name in names_in(target)} - {*own}
    for node in own_nodes(method, ast.stmt):
        for place, value in _changes(node):
            text = "self" + _plain(place).removeprefix("".join(own))
            if text in held and _reads(value, given):
                yield node


def _changes(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The tensors that a statement sets, or changes in place, each with what it is given."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        yield from ((target, node.value) for target in targets_of(node))
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        inner = call.func.value
        in_place = call.func.attr.endswith("_") and not call.func.attr.endswith("__")
        yield from ((inner, given) for given in values_given(call) if in_place)


def _plain(place: ast.expr) -> str:
    """A tensor, without the part of it, or its `.data`."""
    while isinstance(place, ast.Subscript) or (isinstance(place, ast.Attribute) and place.attr == "data"):
        place = place.value
    return ast.unparse(place)


def _reads(node: ast.AST, names: set[str]) -> bool:
    """Whether the elements of one of some tensors decide what an expression is, and not only their shape."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute) and node.attr in _OF_SHAPE:
        return False
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else method_name(node)
        return name not in _NEW and any(_reads(each, names) for each in (node.func, *values_given(node)))
    return any(_reads(each, names) for each in ast.iter_child_nodes(node))
