"""Gradients averaged over all ranks, where the program computes them.

A tape is wrapped behind its `with`; one that is asked for gradients inside it is wrapped where it is made, since a wrapper
around a tape that records cannot be asked. Where only some gradients of a tape reach an optimizer, or where they are no
flat list, it is the calls that are changed.
https://horovod.readthedocs.io/en/stable/api.html#horovod.tensorflow.DistributedGradientTape
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.origins import origins
from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.tape.updates import Update, is_gradient, is_persistent, tape_item
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.program import Program
from distml.training.syntax import is_false, nodes_in, place_of

_NOTE = Note(
    "gradients averaged over all ranks",
    "each rank computes the gradients of its own batch; all ranks must take the same step",
    "wrap-tape",
)
_COMPILED = Note(
    "not compiled by XLA", "the exchange of gradients between ranks is no operation that XLA compiles", "wrap-tape"
)


def average(plan: Plan, found: list[Update]) -> None:
    """Average the gradients of all of these updates. Raises `Refuse` (HVD209) where a tape cannot be followed."""
    wanted = {gradient for update in found for gradient in update.gradients}
    for gradient in sorted(wanted, key=place_of):
        _average(plan, gradient, wanted)
    for update in found:
        if update.kind == "minimize":
            _minimize(plan, update)


def _average(plan: Plan, gradient: ast.Call, wanted: set[ast.Call]) -> None:
    program = plan.program
    place = tape_item(gradient, program)
    _not_compiled(plan, gradient)
    kind = sources_kind(gradient, program)
    if kind != "list" or any(keyword.arg == "unconnected_gradients" for keyword in gradient.keywords):
        _reduce(plan, gradient, kind)
        return
    assert isinstance(gradient.func, ast.Attribute)
    if place is None:
        plan.patch(gradient).wrap(gradient.func.value, f"{wrapper(plan, gradient)}({{}})", _NOTE)
        return
    opened, item = place
    asked = _asked(gradient, opened, item, program)
    inside = any(opened in program.ancestors(each) for each in asked)
    if all(each in wanted and sources_kind(each, program) == "list" for each in asked):
        _wrap(plan, opened, item, inside)
    elif inside and not is_persistent(item):
        _reduce(plan, gradient, kind)
    else:
        plan.patch(gradient).wrap(gradient.func.value, f"{wrapper(plan, gradient)}({{}})", _NOTE)


def _wrap(plan: Plan, opened: ast.With, item: ast.withitem, inside: bool) -> None:
    name = wrapper(plan, opened)
    if inside:
        plan.patch(opened).wrap(item.context_expr, f"{name}({{}})", _NOTE)
        return
    assert item.optional_vars is not None
    tape = ast.unparse(item.optional_vars)
    plan.patch(opened).after(opened, f"{tape} = {name}({tape})", _NOTE)


def _asked(gradient: ast.Call, opened: ast.With, item: ast.withitem, program: Program) -> list[ast.Call]:
    """All calls that ask the tape that this `with` opens for gradients."""
    scope = program.unit(gradient).lexical.scope(gradient)
    calls = [node for node in nodes_in(scope, ast.Call) if is_gradient(node, program)]
    return [each for each in calls if tape_item(each, program) == (opened, item)]


def wrapper(plan: Plan, node: ast.AST) -> str:
    """How the file of `node` spells the wrapper of a tape."""
    return _of_tensorflow(plan, node, "DistributedGradientTape")


def _of_tensorflow(plan: Plan, node: ast.AST, name: str) -> str:
    """How a file spells what Horovod has for tensors in graphs; its part for Keras has no tapes, and averages numbers only."""
    world = plan.world(node)
    if not any(loop.start == "keras" for loop in plan.loops) or any(loop.start == "tensorflow" for loop in plan.loops):
        return f"{world.module}.{name}"
    key = (plan.program.unit(node).source.location, name)
    if key not in plan.spelled:
        plan.spelled[key] = plan.patch(node).free(name)
        code = f"from horovod.tensorflow import {name}"
        code += f" as {plan.spelled[key]}" if plan.spelled[key] != name else ""
        behind_start(plan, plan.program.unit(node), code, _NOTE)
    return plan.spelled[key]


def _reduce(plan: Plan, gradient: ast.Call, kind: str) -> None:
    """Average what a tape gives, whatever form it has."""
    average = _of_tensorflow(plan, gradient, "allreduce")
    patch = plan.patch(gradient)
    if kind == "one":
        patch.wrap(gradient, f"{average}({{}})", _NOTE)
    elif kind == "list":
        each = patch.free("grad")
        patch.wrap(gradient, f"[None if {each} is None else {average}({each}) for {each} in {{}}]", _NOTE)
    else:
        patch.wrap(gradient, f"{spell(plan, gradient, 'tensorflow.nest')}.map_structure({average}, {{}})", _NOTE)


def sources_of(gradient: ast.Call) -> ast.expr | None:
    """The variables that a tape is asked for."""
    if len(gradient.args) > 1:
        return gradient.args[1]
    return next((keyword.value for keyword in gradient.keywords if keyword.arg == "sources"), None)


def sources_kind(gradient: ast.Call, program: Program) -> str:
    """Whether a tape is asked for a flat `list` of variables, for `one`, or for `other` structures."""
    sources = sources_of(gradient)
    return "list" if sources is None else _kind(sources, program, 4)


def _kind(node: ast.expr, program: Program, depth: int) -> str:
    if isinstance(node, ast.Dict | ast.DictComp):
        return "other"
    if isinstance(node, ast.List | ast.Tuple):
        inner = [each for each in node.elts if not isinstance(each, ast.Starred)]
        nested = [each for each in inner if _kind(each, program, depth - 1) == "other" or _is_list(each)]
        return "other" if nested else "list"
    if _is_list(node):
        return "list"
    if isinstance(node, ast.Name | ast.Attribute) and depth:
        known = origins(node, program)
        kinds = {_kind(each.value, program, depth - 1) for each in known if each.whole}
        if len(kinds) == 1:
            return kinds.pop()
    names = program.names(node)
    if "tensorflow.Variable()" in names or any(name.endswith((".add_weight()", "_variables[]")) for name in names):
        return "one"
    if isinstance(node, ast.Attribute) and node.attr in ("kernel", "bias", "embeddings", "gamma", "beta"):
        return "one"
    return "list"


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in (
        "trainable_variables",
        "trainable_weights",
        "variables",
        "weights",
        "non_trainable_variables",
    )


def _minimize(plan: Plan, update: Update) -> None:
    """An optimizer that opens its own tape is given a wrapped one."""
    call, program = update.call, plan.program
    module = wrapper(plan, call)
    names = program.names(update.optimizer)
    if any(name.startswith("tensorflow.train.") for name in names):
        plan.patch(call).wrap(update.optimizer, plan.world(call).module + ".DistributedOptimizer({})", _NOTE)
        return
    if any(keyword.arg == "tape" for keyword in call.keywords):
        plan.patch(call).keyword(call, "tape", f"{module}({{}})", _NOTE)
        return
    if any(isinstance(each, ast.Starred) for each in call.args):
        raise Refuse(
            "HVD209", call, "the arguments of `minimize` are passed as `*args` or `**kwargs`", "name them one by one"
        )
    tape = spell(plan, call, "tensorflow.GradientTape")
    plan.patch(call).keyword(call, "tape", f"{module}({tape}())", _NOTE)


def _not_compiled(plan: Plan, gradient: ast.Call) -> None:
    """Take XLA away from the functions around a gradient."""
    for above in plan.program.ancestors(gradient):
        if not isinstance(above, ast.FunctionDef):
            continue
        for decorator in above.decorator_list:
            if isinstance(decorator, ast.Call):
                for keyword in decorator.keywords:
                    compiled = keyword.arg in ("jit_compile", "experimental_compile")
                    if compiled and not is_false(keyword.value):
                        assert keyword.arg is not None
                        plan.patch(decorator).drop(decorator, keyword.arg, _COMPILED)
