"""What cannot be made distributed by averaging gradients in front of a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch.batch_state import BatchState
from distml.rewrites.horovod.flows.pytorch.study import ENVIRONMENTS, Study
from distml.rewrites.horovod.plan import Refuse
from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.callsites import positional, stored
from distml.training.program import Program
from distml.training.syntax import holds_grad, is_literal, method_name, names_in, nodes_in, values_given

_VARIABLES = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
_CHANGES = frozenset({"add_", "sub_", "addcdiv_", "addcmul_", "copy_", "set_", "mul_"})


def manual_updates(study: Study) -> Iterator[ast.stmt]:
    """The statements that change weights by their gradients themselves: `w -= rate * w.grad`."""
    for node in study.program.nodes(ast.stmt):
        if _updates(node) and not study.inside_optimizer(node):
            if all(_is_input(each, study.program) for each in _with_grad(node)):
                continue
            yield node


def _updates(node: ast.stmt) -> bool:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub | ast.Add):
        return _has_grad(node.value) and not holds_grad(node.target)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Call):
        target = node.targets[0]
        value = node.value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub) and _has_grad(value.right):
            return ast.unparse(target).removesuffix(".data") == ast.unparse(value.left).removesuffix(".data")
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, func = node.value, node.value.func
        given = values_given(call)
        return func.attr in _CHANGES and not holds_grad(func.value) and any(_has_grad(each) for each in given)
    return False


def _has_grad(node: ast.AST) -> bool:
    """Whether an expression reads the `.grad` of a tensor, and more of it than a number: the norm by which others are scaled.

    `torch.autograd.grad(...)` is a function.
    """
    if isinstance(node, ast.Call):
        parts = [*values_given(node), *([node.func.value] if isinstance(node.func, ast.Attribute) else ())]
        return last_name(node.func) not in _MEASURES and any(map(_has_grad, parts))
    if isinstance(node, ast.Attribute) and node.attr == "grad":
        return True
    return any(map(_has_grad, ast.iter_child_nodes(node)))


_MEASURES = frozenset(
    "norm vector_norm item sum mean max min std var numel float len isnan isinf isfinite any all".split()
)


def _with_grad(node: ast.AST) -> list[ast.expr]:
    """The tensors whose gradients are read."""
    return [each.value for each in nodes_in(node, ast.Attribute) if each.attr == "grad"]


def _is_input(tensor: ast.expr, program: Program) -> bool:
    """Whether a tensor is one of the data that asks for gradients, as an attack on a model does, and no weight."""
    made = stored(tensor, program) if isinstance(tensor, ast.Name) else ()
    asking = [each for each in made if isinstance(each, ast.Call) and any(map(_asks, each.keywords)) and each.args]
    given = [each.args[0] for each in asking if program.names(each.func) & _VARIABLES]
    return bool(given) and len(given) == len(asking) and all(_is_handed(each, tensor, program) for each in given)


def _is_handed(node: ast.expr, tensor: ast.expr, program: Program) -> bool:
    """Whether a tensor is a parameter or what a loop goes through, made of it by its methods, or the same tensor again."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name) or ast.unparse(node) == ast.unparse(tensor):
        return isinstance(node, ast.Name)
    function = program.function(node)
    given = isinstance(function, ast.FunctionDef) and node.id in positional(function)
    around = (each.target for each in program.ancestors(node) if isinstance(each, ast.For))
    return given or any(isinstance(each, ast.Name) and each.id == node.id for one in around for each in walk(one))


def _asks(keyword: ast.keyword) -> bool:
    return keyword.arg == "requires_grad" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


def own_updates(study: Study) -> Iterator[ast.Call]:
    """The calls of optimizers of the program that change weights by their gradients elsewhere than in `step`."""
    for call in study.program.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr != "step" and study.makers(func.value):
            if not study.inside_optimizer(call) and any(_changes(each) for each in study.run_by(call)):
                yield call


def _changes(function: ast.AST) -> bool:
    """Whether a function reads gradients and changes other tensors."""
    calls = (each.func for each in nodes_in(function, ast.Call))
    changed = (f for f in calls if isinstance(f, ast.Attribute) and f.attr in _CHANGES and not holds_grad(f.value))
    return _has_grad(function) and any(changed)


def refuse(study: Study, state: BatchState) -> None:
    """Raises `Refuse` where the program trains in a way that is not followed here."""
    for statement in manual_updates(study):
        raise Refuse(
            "HVD203",
            statement,
            "weights are updated by hand with the gradient of one rank: the models would diverge",
            "let an optimizer of torch.optim make the update",
        )
    for call in own_updates(study):
        raise Refuse(
            "HVD203",
            call,
            f"`{ast.unparse(call.func)}` changes weights by the gradient of one rank: the models would diverge",
            "make the update in `step` of the optimizer, which sees the gradients of all ranks",
        )
    for statement in state.refused():
        raise Refuse(
            "HVD203",
            statement,
            "weights are set from a batch, which differs between ranks: the models would diverge",
            "set them on rank 0 before training, and broadcast them",
        )
    for call in study.unknown_steps() if not study.steps else ():
        raise Refuse(
            "HVD205",
            call,
            f"cannot determine where `{ast.unparse(call.func.value)}` is created"
            if isinstance(call.func, ast.Attribute)
            else "",
            "give the script that makes the optimizer and calls this",
        )
    _environment(study)
    for step in study.steps:
        _closure(study, step.call)
    for maker in sorted({maker for step in study.steps for maker in step.makers}, key=lambda each: each.lineno):
        if any(name.rpartition(".")[2] == "LBFGS" for name in study.program.names(maker.func)):
            raise Refuse(
                "HVD204",
                maker,
                "LBFGS evaluates the loss several times per step, and the ranks would diverge",
                "use an optimizer that steps once for each gradient",
            )
        _without_model(study, maker)


def _closure(study: Study, call: ast.Call) -> None:
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "closure")]
    scaled = any(step.call is call and step.scaled for step in study.steps)
    if given and not scaled and not is_literal(given[0], None):
        raise Refuse(
            "HVD204",
            call,
            f"`{ast.unparse(call)}` lets the optimizer decide when gradients are computed",
            "call `backward()` and then `step()` without a closure",
        )


def _without_model(study: Study, maker: ast.Call) -> None:
    given = [*maker.args[:1], *(k.value for k in maker.keywords if k.arg == "params")]
    if not given or study.parameters_in(given[0]):
        return
    if isinstance(given[0], ast.List) and not any(isinstance(each, ast.Dict | ast.Starred) for each in given[0].elts):
        if study.leave(maker):
            return
        raise Refuse(
            "HVD213",
            maker,
            f"`{ast.unparse(maker.func)}` optimizes single tensors, not a model: there is no data to shard",
            "run several such programs, each in its own process",
        )


def _environment(study: Study) -> None:
    """Programs that learn from an environment make as many steps as their episodes are long."""
    for call in study.program.calls:
        if method_name(call) == "step":
            names = study.program.names(call.func)
            loop = study.loop(call)
            steps = loop is None or study.stepping.holds(loop) or _in_episode(study, call)
            if steps and any(name.partition(".")[0] in ENVIRONMENTS for name in names):
                raise Refuse(
                    "HVD214",
                    call,
                    "steps follow an environment, whose episodes end at different times on different ranks",
                    "collect episodes in several processes and let one of them train",
                )


def _in_episode(study: Study, call: ast.Call) -> bool:
    """Whether training steps are made until an episode ends: `while not done:`, where the environment says so."""
    found = {each.id for each in nodes_in(study.program.statement(call), ast.Name) if isinstance(each.ctx, ast.Store)}
    return any(
        isinstance(above, ast.While) and study.stepping.holds(above) and names_in(above.test) & found
        for above in study.program.ancestors(call)
    )
