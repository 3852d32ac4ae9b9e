"""Equal weights on all ranks: rank 0 gives its own to the others right after the first step.

By then all variables exist, those of models that are built by their first batch and those that optimizers make for
themselves. What tells the first step apart is a variable of Python in a plain loop. A function that is traced would look
at that only while it is traced, so there it is a variable of TensorFlow.
https://horovod.readthedocs.io/en/stable/tensorflow.html
"""

from __future__ import annotations

import ast
from collections import defaultdict

from distml.rewrites.horovod.aspects.origins import origins, parameter
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit.vocabularies import keeps_words
from distml.rewrites.horovod.flows.tape.gradients import sources_of
from distml.rewrites.horovod.flows.tape.updates import Update, updates
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import loops_around
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, root_of
from distml.training.values import Class, Foreign, Instance

_NOTE = Note(
    "broadcast the weights and optimizer state of rank 0 after the first step",
    "each rank starts with its own weights; averaged gradients keep weights equal only if they start equal",
    "broadcast-state",
)
_FLAG = Note("flag for the initial broadcast", "the state is broadcast once, after the first step", "broadcast-state")
_LISTS = {
    "trainable_variables": "variables",
    "trainable_weights": "weights",
    "variables": "variables",
    "weights": "weights",
}
_BLOCKS = ("body", "orelse", "finalbody")


def broadcast(plan: Plan, found: list[Update]) -> None:
    """Broadcast after the last of these updates in each block of statements."""
    blocks: dict[tuple[ast.AST | None, str], list[Update]] = defaultdict(list)
    for update in found:
        statement = plan.program.statement(update.call)
        blocks[_block(plan.program, statement)].append(update)
    given: list[list[str]] = []
    flags: dict[tuple[ast.stmt, str], str] = {}
    for group in sorted(blocks.values(), key=lambda each: each[0].call.lineno):
        group.sort(key=lambda each: (each.call.lineno, each.call.col_offset))
        _group(plan, group, given, flags)


def _block(program: Program, statement: ast.stmt) -> tuple[ast.AST | None, str]:
    above = program.parent(statement)
    return above, next((name for name in _BLOCKS if statement in (getattr(above, name, None) or ())), "")


def _group(plan: Plan, group: list[Update], given: list[list[str]], flags: dict[tuple[ast.stmt, str], str]) -> None:
    """Broadcast what one block updates.

    `given` is what the module has given already, once and for all; `flags` are the names that tell it, by loop.
    """
    program = plan.program
    last = program.statement(group[-1].call)
    module = plan.world(last).module
    lists: dict[str, None] = {}
    for update in group:
        lists |= dict.fromkeys(_tensors(each, program) for each in variables(plan, update))
    for update in group:
        if update.kind != "by hand":
            asked = "variables" if update.kind == "apply" else "variables()"
            lists[f"{ast.unparse(update.optimizer)}.{asked}"] = None
    lines = [f"{module}.broadcast_variables({each}, root_rank=0)" for each in lists]
    loops = list(loops_around(last, program))
    in_lambda = any(isinstance(above, ast.Lambda) for above in program.ancestors(last))
    if lines in given and program.function(last) is None:
        return
    if isinstance(program.parent(last), ast.Module):
        given.append(lines)
        _put(plan, last, lines)
    elif loops and not is_traced(program, program.function(last)) and not in_lambda:
        _in_loop(plan, last, lines, loops[-1], flags)
    elif _several(program, group) and not _shared(program, group):
        first = f"{ast.unparse(group[-1].optimizer)}.iterations == 1"
        _put(plan, last, [f"if {first}:", *(f"    {line}" for line in lines)])
    elif _several(program, group) and is_traced(program, program.function(last)):
        _put(plan, last, lines)
    elif _several(program, group):
        root = root_of(group[-1].optimizer)
        _in_objects(plan, last, lines, root.id if root is not None else "")
    else:
        _in_step(plan, last, lines)


def _tensors(variables: str, program: Program) -> str:
    """A list of variables without the vocabularies that Keras keeps among them."""
    return f'[each for each in {variables} if hasattr(each, "ref")]' if keeps_words(program) else variables


def _several(program: Program, group: list[Update]) -> bool:
    """Whether one function updates several models: given as arguments, or held by several objects of its class."""
    optimizer = group[-1].optimizer
    root = root_of(optimizer)
    if group[-1].kind == "by hand" or root is None or parameter(root, program) is None:
        return False
    owners = {value.node for value in program.classes(root)}
    made = [
        call
        for call in program.calls
        for value in program.of(call.func)
        if isinstance(value, Class) and value.node in owners
    ]
    makers = {value.node for value in program.of(optimizer) if isinstance(value, Foreign)}
    return len(made) > 1 or len(makers) > 1


def _shared(program: Program, group: list[Update]) -> bool:
    """Whether the optimizer steps elsewhere too, so that its count of steps does not tell which are the first here."""
    last = group[-1]
    made = program.of(last.optimizer)
    return any(each.call is not last.call and made & program.of(each.optimizer) for each in updates(program))


def _put(plan: Plan, statement: ast.stmt, lines: list[str]) -> None:
    """Behind a statement, or in front of one that leaves the function."""
    code = "\n".join(lines)
    if isinstance(statement, ast.Return):
        plan.patch(statement).before(statement, code, _NOTE)
    else:
        plan.patch(statement).after(statement, code, _NOTE)


def _in_loop(
    plan: Plan, statement: ast.stmt, lines: list[str], outermost: ast.stmt, flags: dict[tuple[ast.stmt, str], str]
) -> None:
    patch = plan.patch(statement)
    key = (outermost, "\n".join(lines))
    if key not in flags:
        flags[key] = patch.free("broadcast_done")
        patch.before(outermost, f"{flags[key]} = False", _FLAG)
    flag = flags[key]
    _put(plan, statement, [f"if not {flag}:", *(f"    {line}" for line in lines), f"    {flag} = True"])


def _in_objects(plan: Plan, statement: ast.stmt, lines: list[str], held: str) -> None:
    """Once for each of the objects that a function updates."""
    flag = _before_owner(plan, statement, "[]")
    told = f"if not any(each is {held} for each in {flag}):"
    _put(plan, statement, [told, *(f"    {line}" for line in lines), f"    {flag}.append({held})"])


def _before_owner(plan: Plan, statement: ast.stmt, value: str) -> str:
    """A new variable in front of the function or class that a statement stands in."""
    function = plan.program.function(statement)
    owner: ast.stmt = function if function is not None else statement
    while isinstance(above := plan.program.parent(owner), ast.ClassDef):
        owner = above
    patch = plan.patch(statement)
    flag = patch.free("broadcast_done")
    gap = "\n\n" if isinstance(plan.program.parent(owner), ast.Module) else "\n"
    patch.before(owner, f"{flag} = {value}{gap}", _FLAG)
    return flag


def _in_step(plan: Plan, statement: ast.stmt, lines: list[str]) -> None:
    variable = spell(plan, statement, "tensorflow.Variable")
    flag = _before_owner(plan, statement, f"{variable}(False, trainable=False)")
    _put(plan, statement, [f"if not {flag}:", *(f"    {line}" for line in lines), f"    {flag}.assign(True)"])


def is_traced(program: Program, function: ast.AST | None, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a function is run by `tf.function`, as itself or in one that calls it."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or function in seen:
        return False
    if any(_traces(program, each) for each in function.decorator_list):
        return True
    if function in _handed_over(program):
        return True
    callers = {program.function(call) for call in program.calling(function)}
    return any(is_traced(program, each, seen | {function}) for each in callers)


@remembered
def _handed_over(program: Program) -> set[ast.AST]:
    """The functions that are given to `tf.function`."""
    given = (arg for call in program.calls if _traces(program, call.func) for arg in call.args)
    return {value for arg in given for value in program.functions(arg)}


def _traces(program: Program, node: ast.expr) -> bool:
    name = node.func if isinstance(node, ast.Call) else node
    found = program.names(name)
    return bool(found & {"tensorflow.function", "tensorflow.contrib.eager.defun"}) or (
        "functools.partial" in found
        and (isinstance(node, ast.Call) and any("tensorflow.function" in program.names(each) for each in node.args))
    )


def variables(plan: Plan, update: Update) -> list[str]:
    """The lists of variables that an update changes, as they are spelled where it stands."""
    if update.kind == "by hand":
        return [f"[{ast.unparse(update.optimizer)}]"]
    call = update.call
    if update.kind == "apply":
        return _spelled(plan, call.args[1])
    if update.kind == "minimize":
        given = argument(call, 1, "var_list")
        if given is not None and not isinstance(given, ast.Lambda):
            return _spelled(plan, given)
        return _spelled(plan, given.body) if isinstance(given, ast.Lambda) else []
    pairs = argument(call, 0, "grads_and_vars")
    assert pairs is not None
    second = _paired(pairs, plan.program)
    if second is None:
        here = plan.program.function(call)
        known = [
            each for each in update.gradients if plan.program.function(each) is here and sources_of(each) is not None
        ]
        second = sources_of(known[0]) if len(known) == 1 else None
    if second is not None:
        return _spelled(plan, second)
    return _from_pairs(plan, pairs)


def _paired(pairs: ast.expr, program: Program) -> ast.expr | None:
    """The second list of the `zip` that makes pairs of gradients and variables."""
    if isinstance(pairs, ast.Call) and isinstance(pairs.func, ast.Name):
        if pairs.func.id == "zip" and len(pairs.args) == 2:
            return pairs.args[1]
        if pairs.func.id in ("list", "tuple") and pairs.args:
            return _paired(pairs.args[0], program)
    if isinstance(pairs, ast.ListComp | ast.GeneratorExp):
        return _paired(pairs.generators[0].iter, program)
    if isinstance(pairs, ast.List) and all(isinstance(each, ast.Tuple) and len(each.elts) == 2 for each in pairs.elts):
        seconds = [each.elts[1] for each in pairs.elts if isinstance(each, ast.Tuple)]
        return ast.List(seconds, ast.Load())
    if isinstance(pairs, ast.Name):
        known = [each for each in origins(pairs, program) if each.whole]
        if len(known) == 1 and program.function(known[0].statement) is program.function(pairs):
            return _paired(known[0].value, program)
    return None


def _spelled(plan: Plan, node: ast.expr) -> list[str]:
    """Lists of variables as code: of all variables of a model where some of them are named."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_spelled(plan, node.left), *_spelled(plan, node.right)]
    if isinstance(node, ast.Attribute) and node.attr in _LISTS:
        whole = _LISTS[node.attr] if _is_model(node.value, plan.program) else node.attr
        return [f"{ast.unparse(node.value)}.{whole}"]
    if isinstance(node, ast.Name):
        known = [each for each in origins(node, plan.program) if each.whole]
        if len(known) == 1 and _same_place(known[0].value, node, plan.program):
            inner = _spelled(plan, known[0].value)
            if all("." in each and "(" not in each for each in inner):
                return inner
    one = not isinstance(node, ast.List | ast.Tuple) and "tensorflow.Variable()" in plan.program.names(node)
    return [f"[{ast.unparse(node)}]" if one else ast.unparse(node)]


def _same_place(value: ast.expr, use: ast.expr, program: Program) -> bool:
    """Whether the names in an expression mean the same where the name it was given to is used."""
    theirs, ours = program.unit(value).lexical, program.unit(use).lexical
    if theirs is not ours:
        return False
    names = list(nodes_in(value, ast.Name))
    return all(theirs.owner(each.id, theirs.scope(value)) is ours.owner(each.id, ours.scope(use)) for each in names)


def _is_model(node: ast.expr, program: Program) -> bool:
    """Whether an object has `variables` beside its `trainable_variables`: all but classes that derive from nothing."""
    values = program.of(node)
    own = [value for value in values if isinstance(value, Instance)]
    derived = [v for v in own if any(isinstance(base, Foreign) for base in program.lineage(v.type))]
    return not own or bool(derived)


def _from_pairs(plan: Plan, pairs: ast.expr) -> list[str]:
    """Variables of pairs that come from elsewhere: kept in a list, since what `zip` gives can be read once only."""
    statement = plan.program.statement(pairs)
    patch = plan.patch(statement)
    name = patch.free("pairs")
    patch.before(statement, f"{name} = list({ast.unparse(pairs)})", _NOTE)
    patch.wrap(pairs, name, _NOTE)
    variable = patch.free("variable")
    return [f"[{variable} for _, {variable} in {name}]"]
