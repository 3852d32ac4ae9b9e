"""Where gradients of a tape reach variables: the updates of a program, and the gradients each of them applies.

A tape whose gradients go elsewhere (a gradient penalty, a saliency map) belongs to one rank and stays as it is. Hence the
search starts at what updates variables and goes back to the tapes.
https://www.tensorflow.org/api_docs/python/tf/GradientTape
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import partial

from distml.training.callsites import called
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import is_false, method_name, nodes_in
from distml.training.values import Callable, Foreign, Instance

_TAPE = "tensorflow.GradientTape()"
_GRAPH = frozenset({"compute_gradients", "gradients", "get_gradients"})
_OWN = re.compile(r"keras\.|tensorflow\.|tensorflow_addons\.|tensorflow_probability\.")
_BY_HAND = frozenset({"assign", "assign_sub", "assign_add", "scatter_sub", "scatter_add", "scatter_nd_sub"})


@dataclass(frozen=True, eq=False)
class Update:
    """A call that changes variables by gradients of tapes, and the calls that compute these.

    `kind` tells `apply_gradients` from Keras 3's `apply`, from `minimize`, which has a tape of its own, and from changes
    made `by hand`.
    """

    call: ast.Call
    kind: str
    gradients: tuple[ast.Call, ...] = ()

    @property
    def optimizer(self) -> ast.expr:
        """The optimizer, or the variable that is changed by hand."""
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.value


@remembered
def updates(program: Program) -> list[Update]:
    """The updates of a program, in no order; those of TensorFlow 1's graphs are not among them."""
    if not any(_TAPE.removesuffix("()") in program.callee(call) or _minimizes(call, program) for call in program.calls):
        return []
    found = [update for call in program.calls if (update := _update(call, program)) is not None]
    return _gathered(found, program)


def _gathered(found: list[Update], program: Program) -> list[Update]:
    """Additions to variables that an optimizer is given as gradients later belong to its update."""
    by_hand = [each for each in found if each.kind == "by hand" and isinstance(each.call.func, ast.Attribute)]
    sums = {each: _made(each.optimizer, program) for each in by_hand if each.optimizer is not each.call}
    taken: set[Update] = set()
    kept: list[Update] = []
    for update in found:
        if update.kind != "apply_gradients" or not sums:
            kept.append(update)
            continue
        pairs = update.call.args[0] if update.call.args else update.call.keywords[0].value
        sources = program.sources(pairs, partial(is_gradient, program=program))
        own = [each for each, made in sums.items() if made & sources and not made & _sources_made(each, program)]
        taken |= set(own)
        more = [gradient for each in own for gradient in each.gradients if gradient not in update.gradients]
        kept.append(Update(update.call, update.kind, (*update.gradients, *more)))
    return [each for each in kept if each not in taken]


def _made(node: ast.expr, program: Program) -> set[ast.AST]:
    return {value.node for value in program.of(node) if isinstance(value, Foreign) and value.node is not None}


def _sources_made(update: Update, program: Program) -> set[ast.AST]:
    """What makes the variables that the gradients of an update are asked for."""
    asked = [each.args[1] for each in update.gradients if len(each.args) > 1]
    return {made for each in asked for made in program.sources(each)}


def _update(call: ast.Call, program: Program) -> Update | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == "apply_gradients":
        return None if _is_super(call.func.value) else _applied(call, program)
    if call.func.attr == "apply" and len(call.args) == 2:
        found = reaching(call.args[0], program)
        return Update(call, "apply", tuple(found)) if found else None
    if _minimizes(call, program):
        return Update(call, "minimize")
    if call.func.attr in _BY_HAND and call.args and not _inside_optimizer(call, program):
        found = reaching(call.args[0], program)
        return Update(call, "by hand", tuple(found)) if found else None
    return None


def _applied(call: ast.Call, program: Program) -> Update | None:
    pairs = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "grads_and_vars"), None)
    if pairs is None:
        return None
    if any(_hands_on(value) for value in program.functions(call.func)):
        return None
    if _own_optimizer(call, program):
        return None if _changes_itself(call, program) else Update(call, "by hand", tuple(reaching(pairs, program)))
    found = reaching(pairs, program)
    if not found and any(called(each, program) in _GRAPH for each in program.sources(pairs)):
        return None
    return Update(call, "apply_gradients", tuple(found))


def _hands_on(function: ast.AST) -> bool:
    """Whether a method of the program of this name leaves it to others: it is their calls that update."""
    calls = [node.func for node in nodes_in(function, ast.Call)]
    named = [func for func in calls if isinstance(func, ast.Attribute) and func.attr == "apply_gradients"]
    return any(not _is_super(func.value) for func in named)


def _changes_itself(call: ast.Call, program: Program) -> bool:
    """Whether the method that is called changes the variables: then that is where they are changed by hand."""
    own = program.functions(call.func)
    calls = (node.func for each in own for node in nodes_in(each, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in _BY_HAND for func in calls)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _own_optimizer(call: ast.Call, program: Program) -> bool:
    """Whether `apply_gradients` is the program's own, and not that of an optimizer it derives."""
    own = [value for value in program.of(call.func) if isinstance(value, Callable) and value.bound is not None]
    return any(isinstance(value.bound, Instance) and not _derived(value.bound, program) for value in own)


def _derived(instance: Instance, program: Program) -> bool:
    bases = program.lineage(instance.type)
    return any(_OWN.match(base.name) for base in bases if hasattr(base, "name"))


def _inside_optimizer(call: ast.Call, program: Program) -> bool:
    """Whether a call stands in an optimizer that the program derives from a library's."""
    for above in program.ancestors(call):
        if isinstance(above, ast.ClassDef):
            bases = [name for base in above.bases for name in program.names(base)]
            return any("optimizers." in name or name.endswith("Optimizer") for name in bases)
    return False


def _minimizes(call: ast.Call, program: Program) -> bool:
    """Whether a call minimizes a function, as optimizers of TensorFlow 2 do."""
    if method_name(call) != "minimize":
        return False
    if any(keyword.arg == "tape" for keyword in call.keywords):
        return True
    if program.names(call.func) & {"scipy.optimize.minimize"}:
        return False
    loss = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "loss"), None)
    held = program.of(loss)
    return bool(held) and all(isinstance(value, Callable) for value in held)


def reaching(node: ast.expr, program: Program) -> list[ast.Call]:
    """The calls of `tape.gradient` that an expression is computed from."""
    stop = partial(is_gradient, program=program)
    return [each for each in program.sources(node, stop) if isinstance(each, ast.Call) and stop(each)]


def is_gradient(node: ast.AST, program: Program) -> bool:
    """Whether an expression asks a tape for gradients."""
    if not isinstance(node, ast.Call) or method_name(node) != "gradient":
        return False
    names = program.names(node.func)
    if f"{_TAPE}.gradient" in names:
        return True
    return len(node.args) > 1 and all(name.startswith("?") for name in names)


def tape_item(gradient: ast.Call, program: Program) -> tuple[ast.With, ast.withitem] | None:
    """The `with` that opens the tape of a gradient in the same function, and its item."""
    assert isinstance(gradient.func, ast.Attribute)
    tape = gradient.func.value
    if not isinstance(tape, ast.Name | ast.Attribute):
        return None
    scope = program.unit(gradient).lexical.scope(gradient)
    text = ast.unparse(tape)
    opened = [node for node in nodes_in(scope, ast.With) if node.lineno <= gradient.lineno]
    found = [
        (node, item)
        for node in opened
        for item in node.items
        if item.optional_vars is not None and ast.unparse(item.optional_vars) == text
    ]
    return max(found, key=lambda each: each[0].lineno, default=None)


def is_persistent(item: ast.withitem) -> bool:
    """Whether a tape can be asked several times."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "persistent"), None)
    return given is not None and not is_false(given)
