"""What a sum over divided data is told as: the sum over all ranks, or a mean that a count of the same part divides.

A sum is told itself, or divided by what counts samples, batches or turns. Counts of all the data ask for the sum over all ranks;
counts of a rank's part (the length of a loader with a sampler, a counter of turns) are the same for the mean of both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from distml.rewrites.horovod.aspects.containers import begins
from distml.rewrites.horovod.aspects.filling import assigned, is_size
from distml.rewrites.horovod.aspects.tf_data import counts_divided
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.bindings import last_name
from distml.source.nodes import SCOPES, walk
from distml.training.around import Looping, owner_of
from distml.training.callers import run_by
from distml.training.program import Program
from distml.training.syntax import elements, method_name, nodes_in, root_of
from distml.training.values import BoxMethod

COUNT = Note("count over all ranks", "the sum that it divides is over all ranks", "mean-of-sums")


class Shares(Protocol):
    """What a flow knows of the parts that it gave to ranks."""

    def known(self, loop: Looping) -> bool:
        """Whether it is known what part of the data a rank has in a loop."""

    def factor(self, loop: Looping, at: ast.AST) -> str:
        """By what the mean over the ranks of a sum becomes the sum over all data, as it is written where `at` stands.

        Nothing where that cannot be said there.
        """

    def own(self, count: ast.expr) -> bool:
        """Whether a number counts the part of a rank."""


class EqualShares:
    """Every rank goes through as much of the data as all others, in each loop that divides it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def known(self, loop: Looping) -> bool:
        """It is the same for all."""
        return True

    def factor(self, loop: Looping, at: ast.AST) -> str:
        """The mean over the ranks of a sum is that part of the sum over all data."""
        return self.plan.world(at).size

    def own(self, count: ast.expr) -> bool:
        """Whether a number is computed from one that was divided."""
        if counts_divided(self.plan, count):
            return True
        return any(isinstance(each, ast.expr) and self._divided(each) for each in self.plan.program.sources(count))

    def _divided(self, node: ast.expr) -> bool:
        patch = self.plan.patches.get(self.plan.program.unit(node).source.location)
        return patch is not None and bool(patch.requests.expressions.get(node))


@dataclass
class Told:
    """How a sum is told: what it is divided by, whether it is shown as it is, and whether anything else is done with it."""

    divisors: list[list[ast.expr]] = field(default_factory=list)
    shown: bool = False
    lost: bool = False


class Totals:
    """Decides for the sums of one loop."""

    def __init__(self, plan: Plan, uniform: Uniform, shares: Shares) -> None:
        self.plan, self.program, self.uniform, self.shares = plan, plan.program, uniform, shares

    def of(self, loop: Looping, sums: dict[str, bool]) -> set[str]:
        """The places, of those in which a loop adds up and of its counters, that become sums over all ranks.

        What the other ones are divided by is made to count the same, where it has to be.
        """
        if not self.shares.known(loop):
            return set()
        added = _added(loop)
        if isinstance(self.shares, EqualShares):
            for place in self._count_samples(loop, added):
                sums.pop(place, None)
        told = {place: self._told(place, loop) for place in sorted({*sums, *added})}
        whole: set[str] = set()
        for group in _groups(told, {**dict.fromkeys(added, False), **sums}):
            own = any(self._is_mean_already(loop, added.get(place, [])) for place in group)
            fit = all(self._whole_may_be(place, loop, added, sums, told[place]) for place in group)
            asked = any(self._asks_for_sum(told[place], loop, group) for place in group & set(sums))
            asked = asked or any(told[each].shown and _counts_samples(added[each], loop) for each in group - set(sums))
            if asked and fit and not own:
                whole |= group
            for place in group & set(sums):
                self._counts(told[place], loop, group, summed=place in whole, own=own)
        return whole

    def _count_samples(self, loop: Looping, added: dict[str, list[ast.expr]]) -> Iterator[str]:
        """Let places in which several passes together count samples count those of all ranks, and say which they are."""
        counting = {place for place, values in added.items() if _counts_samples(values, loop)}
        counting = {place for place in counting if not begins(place, loop, self.program)}
        divisors = map(divisor, walk(self.program.unit(loop).tree)) if counting else ()
        dividing = {ast.unparse(each) for each in divisors if each is not None}
        for place in sorted(counting - dividing):
            for each in added[place]:
                self.plan.patch(each).wrap(each, f"{{}} * {self.plan.world(each).size}", COUNT)
            yield place

    def divide_items(self, loop: Looping, container: str) -> None:
        """Make what divides sums that a container holds, each of them a mean over the ranks, count the part of one."""
        adding = [
            each for place, values in _added(loop).items() if place.startswith(f"{container}[") for each in values
        ]
        if not adding or not self.shares.known(loop) or self._is_mean_already(loop, adding):
            return
        behind = self._behind(container, owner_of(loop, self.program), loop)
        items = (each for each in behind if isinstance(each, ast.Subscript) and ast.unparse(each.value) == container)
        for item in sorted({ast.unparse(each) for each in items}):
            self._counts(self._told(item, loop), loop, {item}, summed=False, own=False)

    def _asks_for_sum(self, told: Told, loop: Looping, group: set[str]) -> bool:
        return told.shown or any(self._kind_of_all(each, loop, group) == "all" for each in told.divisors)

    def _whole_may_be(
        self, place: str, loop: Looping, added: dict[str, list[ast.expr]], sums: dict[str, bool], told: Told
    ) -> bool:
        """Whether a place is a number that begins anew with each pass, or a list that is summed up, and only read so in sight."""
        if told.lost:
            return False
        if sums.get(place, False):
            return self.shares.factor(loop, loop) == self.plan.world(loop).size and self._summed_up(place, loop)
        return place in added and begins(place, loop, self.program)

    def _summed_up(self, place: str, loop: Looping) -> bool:
        """Whether nothing but sums of a list are read behind a loop."""
        scope = owner_of(loop, self.program)
        found = [each for each in self._behind(place, scope, loop) if ast.unparse(each) == place]
        calls = [self.program.parent(each) for each in found if isinstance(each.ctx, ast.Load)]
        return "." not in place and all(isinstance(each, ast.Call) and last_name(each.func) == "sum" for each in calls)

    def _is_mean_already(self, loop: Looping, adding: list[ast.expr]) -> bool:
        """Whether what is added is divided by a count of the rank's part: `total += loss / len(loader)`."""
        parts = [part for each in adding for part in walk(each)]
        counts = [count for part in parts if (count := divisor(part)) is not None]
        return any(self._kind(count, loop, set()) == "own" for count in counts)

    def _counts(self, told: Told, loop: Looping, group: set[str], *, summed: bool, own: bool) -> None:
        """Make what is divided by count the same data as the sum."""
        for count, *others in told.divisors:
            kind = self._kind_of_all([count, *others], loop, group)
            if kind != ("own" if summed else "all") or own or group & {ast.unparse(count)}:
                continue
            scale = self.shares.factor(loop, count)
            if scale:
                self.plan.patch(count).wrap(count, f"({{}} {'*' if summed else '/'} {scale})", COUNT)

    # What counts

    def _kind_of_all(self, counts: list[ast.expr], loop: Looping, group: set[str]) -> str:
        """What the product of numbers counts, by which something is divided one after the other."""
        kinds = {self._kind(each, loop, group) for each in counts}
        return next(each for each in ("with", "own", "", "all") if each in kinds)

    def _kind(self, count: ast.expr, loop: Looping, group: set[str]) -> str:
        """What a number counts: all data, the rank's own part, the same as a sum of the group (`with`), or nobody knows."""
        parts = [*walk(count)]
        if any(isinstance(each, ast.expr) and ast.unparse(each) in group for each in (*parts, *self._made_of(count))):
            return "with"
        filled = any(_bound_in(loop, each) for each in (*parts, *self.program.sources(count)))
        if filled or self._changed(parts) or self.shares.own(count):
            return "own"
        return "all" if self.uniform.holds(count) or self._known_before(count, loop) else ""

    def _made_of(self, count: ast.expr) -> Iterator[ast.AST]:
        """What a number is computed from by variables of its function, where each is set behind all of what it is set to."""
        owner = owner_of(count, self.program)
        for name in (each for each in self.program.sources(count) if isinstance(each, ast.Name)):
            if owner_of(name, self.program) is owner and name.lineno < count.lineno:
                yield name

    def _known_before(self, count: ast.expr, loop: Looping) -> bool:
        """Whether a variable is set in front of a loop only: what a rank sees in the loop cannot be in it."""
        owner = owner_of(loop, self.program)
        same = [each for each in nodes_in(owner, ast.Name) if isinstance(count, ast.Name) and each.id == count.id]
        stores = [each for each in same if isinstance(each.ctx, ast.Store)]
        return bool(stores) and all(each.lineno < loop.lineno for each in stores)

    def _changed(self, parts: list[ast.AST]) -> bool:
        """Whether a number is changed to one of the rank's part already."""
        patch = self.plan.patch(parts[0])
        return any(isinstance(each, ast.expr) and patch.requests.expressions.get(each) for each in parts)

    # What is told

    def _told(self, place: str, loop: Looping) -> Told:
        found = Told()
        scope: ast.AST = owner_of(loop, self.program)
        if "." in place:
            scope = next((each for each in self.program.ancestors(loop) if isinstance(each, ast.ClassDef)), scope)
        self._follow(place, scope, loop, found, 3)
        found.divisors += [counts for each in self._in_methods(place, loop) if (counts := _divided(each, self.program))]
        return found

    def _in_methods(self, place: str, loop: Looping) -> Iterator[ast.Attribute]:
        """Where methods read what is added up in their object, which is the only one of its class: under another name."""
        whole, _, name = place.rpartition(".")
        held = [each for each in nodes_in(owner_of(loop, self.program), ast.Name) if each.id == whole]
        types = {each for node in held for each in self.program.classes(node)}
        made = [each for each in self.program.calls if types & self.program.of(each.func)]
        for owner in types if len(made) == 1 else ():
            grown = {
                each.target.attr
                for each in nodes_in(owner.node, ast.AugAssign)
                if isinstance(each.target, ast.Attribute)
            }
            for node in nodes_in(owner.node, ast.Attribute):
                read = node.attr == name and isinstance(node.ctx, ast.Load)
                counts = _divided(node, self.program) if read else None
                parts = {getattr(part, "attr", None) for count in counts or () for part in walk(count)}
                if read and not parts & grown:
                    yield node

    def _follow(self, place: str, scope: ast.AST, made: ast.stmt, found: Told, depth: int) -> None:
        """Note what is done with a place in a scope behind the statement that makes it, up to one that sets it anew."""
        base = place.partition("[")[0]
        for node in self._behind(place, scope, made):
            if isinstance(node.ctx, ast.Load) and ast.unparse(node) == place:
                self._use(node, found, depth)
            elif base != place and ast.unparse(node) == base:
                changed = ast.Subscript if isinstance(node.ctx, ast.Load) else ast.Assign
                found.lost = found.lost or not isinstance(self.program.parent(node), changed)
            elif isinstance(node.ctx, ast.Store) and ast.unparse(node) == place:
                statement = self.program.parent(node)
                if isinstance(statement, ast.AugAssign):
                    count = divisor(statement)
                    found.divisors += [[count]] if count is not None else []
                    found.lost = found.lost or count is None

    def _behind(self, place: str, scope: ast.AST, made: ast.stmt) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
        """The names, attributes and items of a scope behind a statement, up to where a place is set anew."""
        owner, begin, end = owner_of(made, self.program), made.end_lineno or made.lineno, float("inf")
        nodes = [*_within(scope)]
        for node in nodes:
            if isinstance(node, ast.Assign) and node.lineno > begin and owner_of(node, self.program) is owner:
                if place in {ast.unparse(part) for target in node.targets for part in elements(target)}:
                    end = min(end, node.lineno)
        for node in nodes:
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                if owner_of(node, self.program) is not owner or begin < node.lineno <= end:
                    yield node

    def _use(self, node: ast.expr, found: Told, depth: int) -> None:
        """Follow a sum to what divides it, or to where it is told."""
        counts = _divided(node, self.program)
        if counts is not None:
            found.divisors += [counts] if counts else []
            return
        below: ast.AST = node
        for above in self.program.ancestors(node):
            if isinstance(above, ast.Return | ast.Assign):
                self._pass_on(above, below, found, depth)
                return
            if isinstance(above, ast.Compare | ast.If | ast.While | ast.IfExp | ast.Assert | ast.Raise):
                if not isinstance(above, ast.IfExp) or below is above.test:
                    return
            if isinstance(above, ast.stmt) or (
                isinstance(above, ast.Call) and not self._given(above, below, found, depth)
            ):
                found.lost = True
                return
            if isinstance(above, ast.Call) and isinstance(self.program.parent(above), ast.Expr):
                return
            below = above if not isinstance(above, ast.Tuple) else below

    def _given(self, call: ast.Call, given: ast.AST, found: Told, depth: int) -> bool:
        """Whether nothing divides a number that a call is given: it tells it, keeps it in a container, or computes with it."""
        if run_by(call, self.program):
            return False
        boxed = any(isinstance(each, BoxMethod) for each in self.program.of(call.func))
        last = isinstance(self.program.parent(call), ast.Expr)
        if given is call.func:
            return boxed or not last
        if boxed and isinstance(call.func, ast.Attribute):
            self._kept(call.func.value, call, found, depth)
        else:
            found.shown = found.shown or last
        return True

    def _kept(self, container: ast.expr, at: ast.AST, found: Told, depth: int) -> None:
        """Follow a number into a container."""
        root = root_of(container)
        statement = self.program.statement(at)
        if not depth or root is None or (isinstance(container, ast.Attribute) and root.id == "self"):
            found.lost = True
        else:
            self._follow(root.id, owner_of(statement, self.program), statement, found, depth - 1)

    def _pass_on(self, statement: ast.Return | ast.Assign, value: ast.AST, found: Told, depth: int) -> None:
        """Follow a number into the variable that it is assigned to, or to where a function is called."""
        given = statement.value
        at = given.elts.index(value) if isinstance(given, ast.Tuple) and value in given.elts else None
        if not depth or (isinstance(given, ast.Tuple) and at is None):
            found.lost = True
        elif isinstance(statement, ast.Assign):
            self._assigned(statement, at, found, depth - 1)
        else:
            calls = self.uniform.callers.get(owner_of(statement, self.program), [])
            found.lost = found.lost or not calls
            for call in calls:
                above = self.program.parent(call)
                if at is None and not isinstance(above, ast.Assign):
                    self._use(call, found, depth - 1)
                elif isinstance(above, ast.Assign) and above.value is call:
                    self._assigned(above, at, found, depth - 1)
                else:
                    found.lost = True

    def _assigned(self, statement: ast.Assign, at: int | None, found: Told, depth: int) -> None:
        target = statement.targets[0]
        if at is not None:
            items = target.elts if isinstance(target, ast.Tuple) else []
            target = items[at] if at < len(items) else target
        if isinstance(target, ast.Name) and len(statement.targets) == 1:
            self._follow(target.id, owner_of(statement, self.program), statement, found, depth)
        elif isinstance(target, ast.Subscript) and len(statement.targets) == 1:
            self._kept(target.value, statement, found, depth)
        else:
            found.lost = True


def divisor(node: ast.AST) -> ast.expr | None:
    """What something is divided by."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div | ast.FloorDiv):
        return node.right if isinstance(node, ast.BinOp) else node.value
    return None


def _divided(node: ast.AST, program: Program) -> list[ast.expr] | None:
    """What an expression is divided by in its statement, one after the other: none where it divides, None where neither."""
    counts: list[ast.expr] = []
    for below, above in program.around(node):
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div | ast.FloorDiv):
            if below is above.right:
                return []
            counts.append(above.right)
        elif isinstance(above, ast.AugAssign) and divisor(above) is below:
            return []
        elif not isinstance(above, ast.BinOp | ast.Call | ast.Attribute):
            break
    return counts or None


def _parts(told: Told) -> list[ast.AST]:
    """The parts of what a sum is divided by."""
    return [part for counts in told.divisors for count in counts for part in walk(count)]


def _added(loop: Looping) -> dict[str, list[ast.expr]]:
    """What a loop adds to places, where nothing else sets them there."""
    found: dict[str, list[ast.expr]] = {}
    anew: set[str] = set()
    for node in _within(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            found.setdefault(ast.unparse(node.target), []).append(node.value)
        for target, value in _sets(node):
            place = ast.unparse(target)
            rest = _added_to(value, place)
            if rest is None:
                anew |= {ast.unparse(part) for part in elements(target)}
            else:
                found.setdefault(place, []).append(rest)
    return {place: adding for place, adding in found.items() if place not in anew}


def _sets(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives to which place."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from assigned(target, node.value)


def _added_to(value: ast.expr, place: str) -> ast.expr | None:
    """What is added to a place where it becomes `value`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            again = any(isinstance(each, ast.expr) and ast.unparse(each) == place for each in walk(other))
            if ast.unparse(one) == place and not again:
                return other
    return None


def _groups(told: dict[str, Told], places: dict[str, bool]) -> Iterator[set[str]]:
    """Places of which one is divided by another are told alike."""
    groups = {place: {place} for place in told}
    for place, each in told.items():
        names = {ast.unparse(part) for part in _parts(each) if isinstance(part, ast.expr)}
        for other in names & set(places) & set(told) - {place}:
            joined = groups[place] | groups[other]
            groups |= dict.fromkeys(joined, joined)
    seen: set[str] = set()
    for place, group in groups.items():
        if place not in seen:
            seen |= group
            yield group


def _bound_in(loop: Looping, node: ast.AST) -> bool:
    """Whether a name is set, or a list filled, in a loop."""
    if not isinstance(node, ast.Name):
        return False
    same = [each for each in nodes_in(loop, ast.Name) if each.id == node.id]
    filled = (each.func for each in nodes_in(loop, ast.Call) if method_name(each) in ("append", "extend"))
    return any(isinstance(each.ctx, ast.Store) for each in same) or any(root_of(each) in same for each in filled)


def _counts_samples(adding: list[ast.expr], loop: Looping) -> bool:
    """Whether all that is added are sizes of batches; what counts iterations stays a rank's."""
    return all(is_size(each) and any(_bound_in(loop, part) for part in walk(each)) for each in adding)


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope; methods belong to their class."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, SCOPES) or isinstance(scope, ast.ClassDef):
            yield from _within(child)
