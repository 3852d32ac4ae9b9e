"""What a loop does every so many iterations: evaluating and saving come as often in an epoch as they did.

An iteration of all ranks together goes through as much data as several iterations of one process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from distml.rewrites.horovod.aspects import named
from distml.rewrites.horovod.aspects.spelling import quotient
from distml.rewrites.horovod.notes import FEWER
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.around import LOOPS, Looping
from distml.training.callers import run_by
from distml.training.callsites import called, given_by, iterated, positional, takes_receiver
from distml.training.counting import COUNTS
from distml.training.program import Program
from distml.training.syntax import is_literal, names_in, nodes_in, receiver_of, remainder_of
from distml.training.values import Constant, Foreign

OFTEN = Note(
    "interval divided by the number of ranks",
    "a rank takes fewer iterations in an epoch: with the same interval this would happen less often",
    "fewer-steps",
)
SOONER = Note(
    "number of steps divided by the number of ranks",
    "a step of all ranks together uses the data of as many steps",
    "fewer-steps",
)
_SAID = re.compile(r"argparse\.ArgumentParser\(\)\.|(tensorflow\.(app\.)?|absl\.)flags\.")
_NUMBERS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
_READ = frozenset({"int", "numpy", "item", "eval", "read_value", "value", "global_step"})
"""What gives the number that a counter holds."""


def shorten(
    plan: Plan, loop: Looping, names: set[str], judges: Callable[[ast.If], bool], own: Callable[[ast.expr], bool]
) -> None:
    """Ask for shorter intervals in a loop whose iterations are counted by `names`: in branches that only judge.

    What is computed from the batches of a rank is shorter of its `own`.
    """
    for branch in nodes_in(loop, ast.If):
        for test in _tests(branch, loop) if judges(branch) else ():
            for interval in _intervals(test, names, plan.program):
                if not own(interval) and _remains(plan, interval):
                    _shorten(plan, interval, branch, loop)
    for interval, given in _told(loop, names, judges, plan.program):
        if not own(given) and _remains(plan, interval):
            fewer(plan, given)


def _tests(branch: ast.If, loop: Looping) -> Iterator[ast.expr]:
    """What a branch asks, and what the variables that it asks are set to in a loop: `due = i % 4 == 0`, `if due or last:`."""
    yield branch.test
    asked = names_in(branch.test)
    for node in nodes_in(loop, ast.Assign):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in asked:
            yield node.value


def sooner(plan: Plan, loop: Looping, names: set[str], acts: Callable[[ast.If], bool]) -> None:
    """Ask for smaller numbers of steps, counted by `names`, where a branch asks for them that `acts`: as in one process, it comes
    after as much data.
    """
    size = plan.world(loop).size
    for branch in (each for each in nodes_in(loop, ast.If) if acts(each)):
        if any(isinstance(each, ast.Break | ast.Return | ast.Raise) for each in branch.body):
            continue
        for number in bounds(branch.test, names):
            if _is_said(number, plan.program) and not plan.patch(number).requests.expressions.get(number):
                plan.patch(number).wrap(number, quotient(number, size), SOONER)
                for each in _dividing(number, loop, names):
                    plan.patch(each).wrap(each, f"({quotient(each, size)})", SOONER)
        for numbers in _listed(branch.test, names):
            plan.patch(numbers).wrap(numbers, f"[(each + {size} - 1) // {size} for each in {{}}]", SOONER)


def _dividing(number: ast.expr, loop: Looping, names: set[str]) -> Iterator[ast.expr]:
    """Where the same number divides the counters that it is compared with: `if step < n: rate = first * (step + 1) / n`."""
    for node in nodes_in(loop, ast.BinOp):
        if isinstance(node.op, ast.Div) and ast.dump(node.right) == ast.dump(number):
            if any(isinstance(each, ast.expr) and ast.unparse(each) in names for each in walk(node.left)):
                yield node.right


def as_often(
    plan: Plan,
    loop: Looping,
    names: set[str],
    judges: Callable[[ast.If], bool],
    acts: Callable[[ast.If], bool],
    ends: Iterable[ast.expr],
) -> None:
    """Ask for all that: shorter intervals, smaller numbers of steps, and fewer of them where the numbers of steps are at which
    a loop `ends`.
    """
    shorten(plan, loop, names, judges, lambda _: False)
    sooner(plan, loop, names, acts)
    named.told(plan, loop, names)
    for bound in ends:
        if not plan.patch(bound).requests.expressions.get(bound):
            end_sooner(plan, bound, FEWER)


def _listed(test: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    """The collections in which a condition looks for counters: `step in (1000, 5000)`."""
    for each in nodes_in(test, ast.Compare):
        counter = each.left.left if isinstance(each.left, ast.BinOp) else each.left
        if isinstance(each.ops[0], ast.In) and ast.unparse(_counter(counter)) in names:
            yield each.comparators[0]


def _is_said(number: ast.expr, program: Program) -> bool:
    """Whether a number is written out, as another than 0 or 1, or said on the command line: no data decide it."""
    if isinstance(number, ast.Constant):
        return isinstance(number.value, int | float) and number.value > 1
    values = program.of(number) if isinstance(number, ast.Name | ast.Attribute) else ()
    numbers = all(
        isinstance(each.value, int | float)
        if isinstance(each, Constant)
        else isinstance(each, Foreign) and _SAID.match(each.name)
        for each in values
    )
    return bool(values) and numbers


def _told(
    loop: Looping, names: set[str], judges: Callable[[ast.If], bool], program: Program
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The intervals of functions that judge when it is time, and what a loop gives for them: `every(100, i, save)`."""
    for call in nodes_in(loop, ast.Call):
        for function in run_by(call, program):
            if isinstance(function, ast.FunctionDef):
                tests = [each.test for each in nodes_in(function, ast.If) if judges(each)]
                yield from _asked_of(call, function, tests, names, program) if tests else ()


def fewer(plan: Plan, interval: ast.expr, code: str = "{}") -> None:
    """Ask for an interval that is as many times shorter as there are ranks."""
    patch = plan.patch(interval)
    if not patch.requests.expressions.get(interval):
        patch.wrap(interval, code.format(f"max(1, {{}} // {plan.world(interval).size})"), OFTEN)


def counted(loop: Looping, program: Program) -> set[str]:
    """What counts the iterations of a loop: by a range, by `enumerate`, or by an addition that each iteration makes."""
    found = {*added(loop)}
    if isinstance(loop, ast.While):
        return found
    names = [called(each, program) for each in nodes_in(iterated(loop.iter, program), ast.Call)]
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else None
    if isinstance(first, ast.Name) and "enumerate" in names:
        found.add(first.id)
    if isinstance(loop.target, ast.Name) and names[-1:] and names[-1] in COUNTS:
        found.add(loop.target.id)
    return found


def added(loop: Looping) -> list[str]:
    """What each iteration of a loop adds one to, or each of those that the number of an iteration chooses: `if i % 4 == 3:`."""
    numbers = names_in(loop.target) if isinstance(loop, ast.For) else set[str]()
    return _added(loop.body, numbers)


def _added(block: list[ast.stmt], numbers: set[str]) -> list[str]:
    found: list[str] = []
    for each in block:
        if (text := _added_to(each)) is not None:
            found.append(text)
        elif isinstance(each, ast.With | ast.Try):
            found += _added(each.body, {*numbers, *found})
        elif isinstance(each, ast.If) and any(_divisors(each.test, {*numbers, *found}, one=True)):
            found += _added([*each.body, *each.orelse], {*numbers, *found})
    return found


def limits(loop: Looping, names: set[str], program: Program) -> Iterator[ast.expr]:
    """The numbers of iterations at which a loop and those around it end: `if step >= most: break`, `while step < most:`."""
    around = [each for each in program.ancestors(loop) if isinstance(each, LOOPS)]
    around = [each for each in around if program.function(each) is program.function(loop)]
    outer = around[-1] if around else loop
    kept = {each.id for each in nodes_in(outer, ast.Name) if isinstance(each.ctx, ast.Store)}
    for node in walk(outer):
        leaves = isinstance(node, ast.If) and any(isinstance(each, ast.Break | ast.Return) for each in node.body)
        if isinstance(node, ast.If | ast.While) and (leaves or node in around):
            for bound in bounds(node.test, names):
                yield from _beyond(bound, kept)


def _beyond(bound: ast.expr, kept: set[str]) -> list[ast.expr]:
    """What a bound adds to a count that a loop keeps, as one of a rank's steps: `last + patience`; else all of it."""
    if not isinstance(bound, ast.BinOp) or not isinstance(bound.op, ast.Add | ast.Sub):
        return [bound]
    sides = [bound.left, bound.right]
    added = [each for each in sides if not names_in(each) & kept]
    return added if len(added) == 1 else [bound]


def bounds(test: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    """The numbers that a condition compares counters with, or counters and a number."""
    for each in nodes_in(test, ast.Compare):
        for op, *sides in zip(each.ops, (each.left, *each.comparators), each.comparators, strict=False):
            for side, other in (sides, sides[::-1]) if not isinstance(op, ast.Is | ast.In) else ():
                if any(ast.unparse(_counter(each)) in names for each in _multiples(side)):
                    yield other


def _multiples(side: ast.expr) -> list[ast.expr]:
    """What a condition may compare by its number: a counter, from another beginning, or as many times as each counts for."""
    if not isinstance(side, ast.BinOp) or not isinstance(side.op, ast.Add | ast.Sub | ast.Mult):
        return [side]
    return [side.left, side.right] if isinstance(side.op, ast.Mult) else [side.left]


def ends(loop: ast.While, names: set[str], program: Program) -> Iterator[ast.expr]:
    """The numbers of iterations that a loop's condition is about: it compares a counter with them, or what is computed by both.

    `step < most`, `most - step > 0`, `step / in_epoch < epochs`, or `epoch < epochs` where `epoch = step // in_epoch`, or where
    `epoch` is counted if `step % in_epoch == 0`.
    """
    tests = list(nodes_in(loop.test, ast.Compare))
    computed = [each for test in tests for each in (*_parts(test, names), *_rests(test, names))]
    compared = [each for test in tests for each in bounds(test, names)]
    asked = {ast.unparse(each) for test in tests for each in walk(test) if isinstance(each, ast.Name | ast.Attribute)}
    for node in walk(loop):
        if isinstance(node, ast.Assign) and {ast.unparse(each) for each in node.targets} & asked:
            computed += _parts(node.value, names)
        elif isinstance(node, ast.If) and {text for each in node.body if (text := _added_to(each))} & asked:
            computed += _intervals(node.test, names, program)
    yield from computed or compared


def _parts(node: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    """What counters are divided by, to tell how often they came so far."""
    for each in nodes_in(node, ast.BinOp):
        if isinstance(each.op, ast.Div | ast.FloorDiv):
            if names & {ast.unparse(part) for part in nodes_in(each.left, ast.expr)}:
                yield each.right


def _rests(test: ast.Compare, names: set[str]) -> Iterator[ast.expr]:
    """What counters are taken from."""
    for each in nodes_in(test, ast.BinOp):
        if isinstance(each.op, ast.Sub) and ast.unparse(_counter(each.right)) in names:
            yield each.left


def read_again(number: ast.expr, loop: Looping) -> Iterator[ast.expr]:
    """A number, and where else a loop reads it; what is written out may be another number elsewhere."""
    yield number
    for each in () if isinstance(number, ast.Constant) else walk(loop):
        if isinstance(each, type(number)) and each is not number and ast.dump(each) == ast.dump(number):
            yield each


def _counter(number: ast.expr) -> ast.expr:
    """The counter whose number is read: `int(step)`, `step.numpy()`."""
    while isinstance(number, ast.Call) and last_name(number.func) in _READ:
        inner = number.args[0] if isinstance(number.func, ast.Name) and number.args else None
        inner = number.func.value if isinstance(number.func, ast.Attribute) else inner
        if inner is None:
            break
        number = inner
    return number


def end_sooner(plan: Plan, bound: ast.expr, note: Note) -> None:
    """Ask for as many times fewer iterations as there are ranks."""
    whole = "({})" if isinstance(bound, ast.BinOp | ast.IfExp | ast.BoolOp) else "{}"
    plan.patch(bound).wrap(bound, f"{whole} // {plan.world(bound).size}", note)


def _added_to(node: ast.stmt) -> str | None:
    """The counter that a statement adds one to: `n += 1`, `n = n + 1`, or in `n.assign_add(1)`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is_one(node.value):
        return ast.unparse(node.target)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        target, sides = ast.unparse(node.targets[0]), [node.value.left, node.value.right]
        others = [each for each in sides if ast.unparse(each) != target]
        if len(others) == 1 and _is_one(others[0]):
            return target
    for each in walk(node) if isinstance(node, ast.Expr | ast.Assign) else ():
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "assign_add":
            if not each.args or _is_one(each.args[0]):
                return ast.unparse(each.func.value)
    return None


def numbered(loop: Looping, names: set[str], program: Program, *, sums: bool = True) -> set[str]:
    """The variables that hold the number of a loop's iterations that `names` count, or are `sums` of such numbers."""
    found = set(names)
    for node in nodes_in(loop, ast.Assign):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if (sums or not isinstance(node.value, ast.BinOp)) and _holds(node.value, found, program):
                found.add(node.targets[0].id)
    return found


def _holds(value: ast.expr, names: set[str], program: Program) -> bool:
    """Whether an expression is a counter's number, or a sum of some."""
    read = called(value, program) in _READ | {"assign_add"}
    return (read or isinstance(value, ast.BinOp)) and bool(names & {ast.unparse(each) for each in walk(value)})


def _shorten(plan: Plan, interval: ast.expr, branch: ast.If, loop: Looping) -> None:
    """The interval, and what else counts by it: the last iteration of one, a mean over one, how many there were."""
    for each in _same(interval, branch, loop, plan.program):
        within = isinstance(plan.program.parent(each), ast.BinOp)
        fewer(plan, each, "{}" if within or each is interval else "({})")


def remainder_by(interval: ast.expr, program: Program) -> ast.expr | None:
    """The remainder in which an interval is what something is divided by."""
    for above in islice(program.ancestors(interval), 2):
        divided = remainder_of(above)
        if isinstance(above, ast.expr) and divided is not None and divided[1] is interval:
            return above
    return None


def _remains(plan: Plan, interval: ast.expr) -> bool:
    """Ask for the remainder of a shorter interval, if it is another number than zero; False where that may be none of its, or
    any but one is asked for.
    """
    remainder = remainder_by(interval, plan.program)
    test = plan.program.parent(remainder) if remainder is not None else None
    if isinstance(test, ast.BoolOp | ast.If):  # any other than the one that is asked for
        return False
    if not isinstance(test, ast.Compare) or test.left is not remainder or len(test.ops) != 1:
        return True
    asked, length = test.comparators[0], getattr(interval, "value", None)
    number = written(asked)
    if not number:
        return True
    size = plan.world(asked).size
    last = isinstance(length, int) and number == length - 1
    if last or (isinstance(length, int) and number <= length // 2):
        plan.patch(asked).wrap(asked, f"max(1, {length} // {size}) - 1" if last else f"{{}} // {size}", OFTEN)
        return True
    return False


def _same(interval: ast.expr, branch: ast.If, loop: Looping, program: Program) -> Iterator[ast.expr]:
    """The places at which the interval is read, those of a number that is written out only where it divides."""
    yield from (each for each in read_again(interval, loop) if not _asks_for_any(each, program))
    for node in walk(branch) if isinstance(interval, ast.Constant) else ():
        if isinstance(node, ast.Constant) and node is not interval and ast.dump(node) == ast.dump(interval):
            above = program.parent(node)
            if isinstance(above, ast.BinOp | ast.AugAssign) and isinstance(above.op, ast.Div | ast.FloorDiv | ast.Mod):
                if node is (above.right if isinstance(above, ast.BinOp) else above.value):
                    yield node
            elif above is not None and (divided := remainder_of(above)) is not None and node is divided[1]:
                yield node


def _asks_for_any(interval: ast.expr, program: Program) -> bool:
    """Whether a condition only asks whether there is an interval: none stays none, however many ranks there are."""
    above = program.parent(interval)
    if isinstance(above, ast.Compare):
        return any(is_literal(each, nothing) for each in (above.left, *above.comparators) for nothing in (0, None))
    return isinstance(above, ast.BoolOp | ast.UnaryOp) or getattr(above, "test", None) is interval


def _intervals(test: ast.expr, names: set[str], program: Program) -> Iterator[ast.expr]:
    """What the numbers of iterations are divided by: `(i + 1) % every == 0`, `not i % every`, `due(i, every)`."""
    yield from _divisors(test, names)
    for call in nodes_in(test, ast.Call):
        for function in run_by(call, program):
            if isinstance(function, ast.FunctionDef | ast.Lambda):
                answers = _answers(function)
                yield from (given for _, given in _asked_of(call, function, answers, names, program))


def _answers(function: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [each.value for each in nodes_in(function, ast.Return) if each.value is not None]


def _asked_of(
    call: ast.Call, function: ast.FunctionDef | ast.Lambda, tests: list[ast.expr], names: set[str], program: Program
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The intervals by which a function tests whether it is time, and what it is given for them."""
    params, method = positional(function), takes_receiver(call, function, program)
    given = given_by(call, function, program)
    counters = {each for each, value in given.items() if ast.unparse(_counter(value)) in names}
    receiver, own = receiver_of(call), params[0] if method and params else ""
    for name in names - {*params}:  # a method may ask its object, by its own name for it
        root, _, rest = name.partition(".")
        if own and rest and receiver is not None and root == ast.unparse(receiver):
            counters.add(f"{own}.{rest}")
        elif root != own:
            counters.add(name)
    for test in tests:
        for interval in _divisors(test, counters):
            if isinstance(interval, ast.Name) and interval.id in given:
                yield interval, given[interval.id]
            elif not names_in(interval) & ({*params} - {own}):
                yield interval, interval


def _divisors(test: ast.expr, names: set[str], *, one: bool = False) -> Iterator[ast.expr]:
    """What counters are divided by for a remainder; `one`: also where that is written out as one."""
    for counted, interval in filter(None, map(remainder_of, walk(test))):
        if names & {ast.unparse(each) for each in nodes_in(counted, ast.expr)}:
            if all(isinstance(each, _NUMBERS) for each in walk(interval)) and (one or not _is_one(interval)):
                yield interval


def written(node: ast.expr) -> int | None:
    """The whole number that is written out, also as a sum or a difference: `99`, `100 - 1`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = written(node.left), written(node.right)
        if left is not None and right is not None:
            return left + right if isinstance(node.op, ast.Add) else left - right
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1
