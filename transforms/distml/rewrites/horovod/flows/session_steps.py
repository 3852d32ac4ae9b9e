"""Numbers of steps, divided by the number of ranks: one step of all ranks uses the data of that many steps of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from distml.rewrites.horovod.aspects.anchors import anchor_of
from distml.rewrites.horovod.aspects.origins import origins, wholes
from distml.rewrites.horovod.aspects.spelling import quotient
from distml.rewrites.horovod.flows.session_frames import reads, targets
from distml.rewrites.horovod.flows.session_graph import gives_count, is_counter
from distml.rewrites.horovod.notes import FEWER
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, Looping, between, block_of, leaving, own_nodes, owner_of
from distml.training.callsites import called
from distml.training.counting import BARS, RANGES
from distml.training.program import Program
from distml.training.syntax import method_name, nodes_in

_KEPT = re.compile(r"tensorflow\.train\.(get_checkpoint_state|latest_checkpoint|global_step)")
_FEW = 10
"""A literal number of turns up to this is part of a step: the turns of a critic for each of its generator."""


def divide(plan: Plan, loop: Looping) -> bool:
    """Divide the number of turns of a loop; False where nobody can see it."""
    if isinstance(loop, ast.While):
        return bool(_end_sooner(plan, _bounds(loop, plan.program)))
    if isinstance(loop, ast.For) and (stop := stop_of(loop, plan.program)) is not None:
        divide_stop(plan, loop, stop)
        return True
    return False


def limit(plan: Plan, loops: Iterable[Looping]) -> None:
    """Divide the numbers of steps at which loops are left, where a session says how many were taken."""
    for loop in loops:
        _end_sooner(plan, _bounds(loop, plan.program, own=False))


def _end_sooner(plan: Plan, bounds: list[ast.expr]) -> list[ast.expr]:
    """Divide numbers of steps that end loops, and those that end loops around by the same comparison."""
    alike = [each for bound in bounds for each in _alike(bound, plan.program)]
    for bound in (*bounds, *alike):
        divide_number(plan, bound)
    return bounds


def range_of(loop: ast.For, program: Program) -> ast.Call | None:
    """The call of `range` that a loop goes through: bare, in a progress bar, or in a variable that only it goes through."""
    return next((call for call, bar in _around_range(loop, program) if not bar), None)


def _around_range(loop: ast.For, program: Program) -> Iterator[tuple[ast.Call, bool]]:
    """The progress bars around the range of a loop, and the call of `range`; whether each is a bar."""
    call = _held(loop.iter, program)
    while isinstance(call, ast.Call):
        names = program.names(call.func) | ({ast.unparse(call.func)} if isinstance(call.func, ast.Name) else set())
        last = {name.rpartition(".")[2] for name in names}
        if last & RANGES:
            yield call, False
            return
        if not last & BARS or not call.args:
            return
        yield call, True
        call = call.args[0]


def _held(iterated: ast.expr, program: Program) -> ast.expr:
    """What a loop goes through: where that is a variable, what it was given, if nothing else reads it as a whole."""
    if not isinstance(iterated, ast.Name):
        return iterated
    found = wholes(iterated, program)
    unit = program.unit(iterated)
    owner = program.owner(iterated)
    uses = [n for n in nodes_in(owner or unit.tree, ast.Name) if n.id == iterated.id]
    read = [n for n in uses if isinstance(n.ctx, ast.Load) and not isinstance(program.parent(n), ast.Attribute)]
    same = [n for n in read if any(each.value in found for each in origins(n, program))]
    return found[0] if len(found) == 1 and same == [iterated] else iterated


def stop_of(loop: ast.For, program: Program) -> ast.expr | None:
    """The end of the range a loop counts through."""
    call = range_of(loop, program)
    if call is None or (call.keywords and not call.args) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return call.args[0] if len(call.args) == 1 else call.args[1] if len(call.args) in (2, 3) else None


def few(loop: Looping, program: Program) -> bool:
    """Whether a loop makes a fixed small number of turns, inside one step of another loop."""
    stop = stop_of(loop, program) if isinstance(loop, ast.For) else None
    if isinstance(stop, ast.Constant):
        return isinstance(stop.value, int) and stop.value <= _FEW
    values = program.of(stop)
    numbers = [value for each in values if isinstance(value := getattr(each, "value", None), int)]
    return bool(numbers) and len(numbers) == len(values) and max(numbers) <= _FEW


def divide_stop(plan: Plan, loop: ast.For, stop: ast.expr) -> ast.expr | None:
    """Divide the turns of a loop over a range, that begins at 0, 1 or elsewhere; the place as in `divide_number`.

    Where it begins at what a checkpoint says, that counts steps of all ranks already.
    """
    call = range_of(loop, plan.program)
    start = call.args[0] if call is not None and len(call.args) > 1 else None
    number = _without_one(stop)
    asked = list(_lasts(loop, number))
    if start is None or resumed(start, plan.program) or (isinstance(start, ast.Constant) and start.value in (0, 1)):
        place = divide_number(plan, stop)
        for total in _totals(loop, stop, plan.program) if place is number else ():
            divide_number(plan, total)
        for test, code in asked if place is number else ():
            plan.patch(test).wrap(test, code.format(plan.world(stop).size), FEWER)
        if place is number:
            relate(plan, loop, number)
        return place
    if not already_divided(plan, stop):
        first = (
            ast.unparse(start)
            if isinstance(start, ast.Name | ast.Attribute | ast.Constant)
            else f"({ast.unparse(start)})"
        )
        patch = plan.patch(stop)
        code = f"{first} + ({{}} - {first}) // {plan.world(stop).size}"
        if asked and number is stop:
            name = patch.free("steps")
            patch.before(loop, f"{name} = {code.format(ast.unparse(stop))}", FEWER)
            for test, _ in asked:
                patch.wrap(test, name, FEWER)
            code = name
        patch.wrap(stop, code, FEWER)
    return None


def resumed(start: ast.expr, program: Program) -> bool:
    """Whether a number is computed from the count of steps that a checkpoint or a variable of the graph holds."""
    calls = (each for each in program.sources(start) if isinstance(each, ast.Call))
    return any(program.matches(each.func, _KEPT) or gives_count(each, program) for each in calls)


def _totals(loop: ast.For, stop: ast.expr, program: Program) -> Iterator[ast.expr]:
    """Where a progress bar is told again how many turns there are."""
    for bar, is_bar in _around_range(loop, program):
        for keyword in bar.keywords if is_bar else ():
            if keyword.arg == "total" and ast.unparse(keyword.value) == ast.unparse(stop):
                yield keyword.value


def relate(plan: Plan, loop: ast.For, number: ast.expr) -> None:
    """Divide also what is computed and told by the same number of turns: rates, means, counts, and the axis of a plot."""
    alike, size = ast.dump(number), plan.world(loop).size
    literal = isinstance(number, ast.Constant)
    found = _written_out(loop, plan.program) if literal else _uses(loop, number, plan.program)
    for each in found:
        if ast.dump(each) == alike and not _has(plan, each):
            computed = isinstance(plan.program.parent(each), ast.BinOp | ast.UnaryOp | ast.Compare)
            plan.patch(each).wrap(each, f"({{}} // {size})" if computed else f"{{}} // {size}", FEWER)


def _uses(loop: ast.For, number: ast.expr, program: Program) -> Iterator[ast.expr]:
    """What is read in the turns of a loop, and what is divided by around it, up to the loop behind that goes its own way.

    So is what a number of steps is compared with, and divided by: `counter - epoch * in_epoch`, `counter % in_epoch`.
    """
    for statement in loop.body:
        yield from (each for each in walk(statement) if isinstance(each, type(number)))
    block = block_of(loop, program)
    at = block.index(loop) if loop in block else 0
    until = next((at + 1 + n for n, each in enumerate(block[at + 1 :]) if isinstance(each, LOOPS)), len(block))
    later = {node for each in block[until:] for node in walk(each)}
    for node in own_nodes(owner_of(loop, program)):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div) and node not in later:
            yield from _factors(node.right if isinstance(node, ast.BinOp) else node.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.BinOp):
            if isinstance(node.right.op, ast.Mult) and resumed(node.left, program):
                yield from (node.right.left, node.right.right)
        elif (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod) and resumed(node.left, program)
        ):
            yield node.right
        elif isinstance(node, ast.Call) and "builtins.divmod" in program.callee(node) and len(node.args) == 2:
            yield from node.args[1:] if resumed(node.args[0], program) else ()


def _factors(divisor: ast.expr) -> Iterator[ast.expr]:
    """A divisor, and what it is a product of: `n`, `n * 2`, `float(n)`."""
    yield divisor.args[0] if _converted(divisor) else divisor
    if isinstance(divisor, ast.BinOp) and isinstance(divisor.op, ast.Mult):
        yield from (*_factors(divisor.left), *_factors(divisor.right))


def _written_out(loop: ast.For, program: Program) -> Iterator[ast.expr]:
    """Where a number of iterations that is a literal is written again: in axes, and in what divides a sum of the loop."""
    yield from _axes(loop, program)
    sums = {name for node in own_nodes(loop) if isinstance(node, ast.Assign | ast.AugAssign) for name in _summed(node)}
    for node in own_nodes(owner_of(loop, program), ast.BinOp):
        if isinstance(node.op, ast.Div) and node.lineno > loop.lineno and reads(node.left) & sums:
            yield from _factors(node.right)


def _summed(node: ast.Assign | ast.AugAssign) -> set[str]:
    """The variables that a statement adds to, by an operator or a function such as `np.add`."""
    return (
        targets(node.target)
        if isinstance(node, ast.AugAssign)
        else {name for target in node.targets for name in targets(target) & reads(node.value)}
    )


def _converted(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether a number is only made another sort of number: `float(n)`."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("float", "int") and len(node.args) == 1


def _axes(loop: ast.For, program: Program) -> Iterator[ast.expr]:
    """Where numbers that are plotted behind a loop begin and end."""
    for call in own_nodes(owner_of(loop, program), ast.Call):
        if called(call, program) in RANGES and call.lineno > loop.lineno:
            above = program.parent(call)
            yield from call.args[:2] if called(above, program) == "plot" else ()


def _without_one(stop: ast.expr) -> ast.expr:
    """The number of turns in `number + 1`, and in `int(number)`."""
    plus = isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add) and isinstance(stop.right, ast.Constant)
    number = stop.left if plus and isinstance(stop, ast.BinOp) else stop
    if _converted(number) and isinstance(number.args[0], ast.Name | ast.Attribute):
        return number.args[0]
    return number


def _lasts(loop: ast.For, number: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Where a loop compares its turn with their number, and what to make of that: `turn == number - 1` is the last one."""
    if not isinstance(loop.target, ast.Name):
        return
    turn, text = loop.target.id, ast.unparse(number)
    for node in own_nodes(loop):
        if not isinstance(node, ast.Compare) or turn not in reads(node):
            continue
        if isinstance(number, ast.Constant):
            yield from _literal_last(node, turn, number.value)
        elif reads(node) <= {turn} | reads(number):
            found = [part for part in nodes_in(node, ast.expr) if ast.unparse(part) == text]
            yield from ((part, "{{}} // {}") for part in found)


def _literal_last(test: ast.Compare, turn: str, number: object) -> Iterator[tuple[ast.expr, str]]:
    """The last turn as it is written where the number of turns is a literal: `turn == 999`, or `turn + 1 == 1000`."""
    right = test.comparators[0]
    if not isinstance(number, int) or not isinstance(test.ops[0], ast.Eq) or not isinstance(right, ast.Constant):
        return
    if ast.unparse(test.left) == turn and right.value == number - 1:
        yield right, f"{number} // {{}} - 1"
    elif ast.unparse(test.left) == f"{turn} + 1" and right.value == number:
        yield right, "{{}} // {}"


def _alike(bound: ast.expr, program: Program) -> Iterator[ast.expr]:
    """The bounds of the same comparison elsewhere in a function: loops around are left on it too."""
    test = program.parent(bound)
    for node in own_nodes(owner_of(bound, program)):
        if isinstance(test, ast.Compare) and node is not test and isinstance(node, ast.Compare):
            if ast.dump(node) == ast.dump(test):
                yield node.comparators[0] if bound is test.comparators[0] else node.left


def divide_number(plan: Plan, number: ast.expr, some: bool = False) -> ast.expr | None:
    """Divide a number of steps where it is computed if other places rely on it too, else where it is used.

    `some` steps there must be: zero is an error.
    Gives the place, or None where it was divided before.
    """
    if already_divided(plan, number):
        return None
    if (inner := _without_one(number)) is not number:
        return divide_number(plan, inner)
    place = _definition(plan, number) or number
    size = plan.world(place).size
    plan.patch(place).wrap(place, quotient(place, size) if some else f"{{}} // {size}", FEWER)
    return place


def already_divided(plan: Plan, number: ast.expr) -> bool:
    """Whether a number is computed from one that was divided."""
    given = _definitions(number, plan.program)
    if len(given) > 1 and len(reaching := wholes(number, plan.program)) == 1:
        return _has(plan, number) or _has(plan, reaching[0])
    return any(_has(plan, each) for each in plan.program.sources(number) if isinstance(each, ast.expr)) or any(
        _has(plan, value) for value in given
    )


def _has(plan: Plan, node: ast.expr) -> bool:
    patch = plan.patches.get(plan.program.unit(node).source.location)
    asked = patch.requests.expressions.get(node, []) if patch else []
    return any("// " in each for each in asked)


def _definition(plan: Plan, number: ast.expr) -> ast.expr | None:
    """The one expression a variable is computed by, where more than the loop's head reads the variable."""
    if not isinstance(number, ast.Name):
        return None
    values = _definitions(number, plan.program)
    values = wholes(number, plan.program) if len(values) > 1 else values
    literal = len(values) == 1 and isinstance(values[0], ast.Constant)
    if len(values) != 1 or not (_numbered(number, plan.program) if literal else _shared(number, plan.program)):
        return None
    unit = plan.program.unit(number)
    start = anchor_of(unit, "tensorflow")
    early = plan.program.function(values[0]) is None and start is not None and values[0].lineno <= start.lineno
    return None if early else values[0]


def _definitions(number: ast.expr, program: Program) -> list[ast.expr]:
    """What is assigned to the variable that `number` is, in the scope that owns it."""
    if not isinstance(number, ast.Name):
        return []
    owner = program.owner(number)
    if owner is None:
        return []
    return [
        node.value
        for node in own_nodes(owner, ast.Assign)
        if any(isinstance(t, ast.Name) and t.id == number.id for t in node.targets)
    ]


def _shared(number: ast.Name, program: Program) -> bool:
    """Whether a variable is read elsewhere too, with the same value."""
    unit = program.unit(number)
    owner = program.owner(number)
    uses = [n for n in nodes_in(owner or unit.tree, ast.Name) if n.id == number.id]
    others = [each for each in uses if isinstance(each.ctx, ast.Load) and each is not number]
    if len(_definitions(number, program)) > 1:
        given = wholes(number, program)
        return any(wholes(each, program) == given for each in others)
    return bool(others)


def _numbered(number: ast.Name, program: Program) -> bool:
    """Whether the steps are numbered behind their loop, as the axis of a plot is: with as many numbers as steps."""
    unit = program.unit(number)
    owner = program.owner(number)
    for call in own_nodes(owner or unit.tree, ast.Call):
        if called(call, program) in RANGES and call.lineno > number.lineno:
            looped = isinstance(program.parent(call), ast.For | ast.comprehension)
            if not looped and any(isinstance(each, ast.Name) and each.id == number.id for each in call.args):
                return True
    return False


def _bounds(loop: Looping, program: Program, own: bool = True) -> list[ast.expr]:
    """What numbers of steps are compared with, in the head of a `while` loop or in front of a `break`.

    A `while` loop may count them itself, if they are its `own`; a session gives them to any loop.
    """
    changes = [node for node in own_nodes(loop) if isinstance(node, ast.AugAssign | ast.Assign)]
    counters = {name for node in changes if isinstance(node, ast.Assign) for name in fetched(node, program)}
    tests: list[ast.expr] = []
    if isinstance(loop, ast.While) and own:
        counters |= {name for node in changes if not _in_branch(node, loop, program) for name in _counted(node)}
        tests.append(loop.test)
    broken = (each for each in leaving(loop, program) if any(isinstance(end, ast.Break) for end in each.body))
    compares = [each for test in (*tests, *(each.test for each in broken)) for each in nodes_in(test, ast.Compare)]
    found = []
    for compare in compares:
        left, right = compare.left, compare.comparators[0]
        if len(compare.comparators) == 1 and isinstance(compare.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq):
            if reads(left) & counters and not reads(right) & counters:
                found.append(right)
            elif reads(right) & counters and not reads(left) & counters:
                found.append(left)
    return found


def _in_branch(node: ast.stmt, loop: ast.While, program: Program) -> bool:
    """Whether only some turns of a loop come to a statement."""
    return any(isinstance(above, ast.If) for above in between(node, loop, program))


def fetched(node: ast.Assign, program: Program) -> set[str]:
    """The variables that a session gives the number of its steps."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or method_name(call) != "run":
        return set()
    asked = call.args[0] if call.args else None
    pairs: list[tuple[ast.expr, ast.expr]] = [(target, asked)] if asked is not None else []
    if isinstance(target, ast.Tuple | ast.List) and isinstance(asked, ast.Tuple | ast.List):
        pairs = [*zip(target.elts, asked.elts, strict=False)]
    return {name for place, each in pairs if is_counter(each, program) for name in targets(place)}


def _counted(node: ast.AugAssign | ast.Assign) -> set[str]:
    """The variables that a statement counts up."""
    if isinstance(node, ast.AugAssign):
        return targets(node.target) if isinstance(node.op, ast.Add) else set()
    sums = isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add)
    names = {name for target in node.targets for name in targets(target)}
    return names & reads(node.value) if sums else set()
