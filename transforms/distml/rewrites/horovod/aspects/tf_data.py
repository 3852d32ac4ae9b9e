"""`tf.data` pipelines divided among the ranks, so that all of them take equally many steps.

Each rank takes every n-th element, behind what splits the data (`take`, `skip`) and in front of what shuffles it; what does
not come out even is left out first. Then whatever follows gives every rank equally many elements, and nobody waits for a
step that others do not take. https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shard
"""

from __future__ import annotations

import ast
import re
import textwrap
from copy import deepcopy
from dataclasses import dataclass

from distml.rewrites.horovod.aspects.downloads import downloads
from distml.rewrites.horovod.aspects.modes import never_trains, only_in_training
from distml.rewrites.horovod.aspects.one_order import in_graph, one_order
from distml.rewrites.horovod.aspects.origins import wholes
from distml.rewrites.horovod.aspects.pipelines import Path, callers_of, functions_of, is_passed, method_of, paths
from distml.rewrites.horovod.aspects.surveys import surveyed
from distml.rewrites.horovod.notes import FEWER
from distml.rewrites.horovod.plan import Note, Plan, World
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.syntax import nodes_in, targets_of, values_given

_NOTE = Note(
    "shard the dataset evenly across ranks",
    "ranks that process the same elements compute the same gradient; a rank with more elements blocks indefinitely",
    "shard-data",
)
_BATCHES = frozenset({"batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length"})
_SPLITS = frozenset({"take", "skip", "filter", "flat_map", "unbatch", "interleave", "window", "take_while", "rebatch"})
_UNCOUNTED = frozenset(
    {"filter", "flat_map", "unbatch", "interleave", "window", "take_while", "ignore_errors", "rebatch"}
)
_ALIKE = frozenset({"", "take", "skip", "repeat", "shuffle", "cache", "prefetch"})
"""Methods that leave the shape of elements as it is."""

_ENDLESS = frozenset({"repeat"})
_COUNTED = re.compile(
    r"tensorflow\.data\.Dataset\.(from_tensor_slices|from_tensors|range|list_files)|tensorflow_datasets\..*"
    r"|keras\..*_dataset_from_directory|keras\..*timeseries_dataset_from_array"
)
_SCALARS = re.compile(
    r"tensorflow\.data\.(TFRecordDataset|TextLineDataset|FixedLengthRecordDataset|experimental\.CsvDataset)"
)
_UNKNOWN = frozenset({"tensorflow.data.Dataset.from_generator"})
"""What never tells its number of elements."""

_TAKEN = re.compile(r"(tensorflow\.(Variable|train\.Checkpoint)|keras\.optimizers\.[\w.]+)\(\)(\.\w+(\(\))?)*")
"""What counts the steps that were taken, also before a program began anew."""
_ONE = 16
"""A literal number of batches below this is a try-out, not an amount of training."""


def shard(plan: Plan, data: ast.expr) -> bool:
    """Divide the pipeline behind `data` among the ranks, wherever in the program it is made.

    `data` is the expression that training takes its elements from: what a loop goes through, what `fit` is given. The
    changes are asked for where the pipeline is made; asked twice, they are made once. False means that `data` is no
    `tf.data` pipeline as far as anybody can see, and that nothing was asked for. Where a pipeline is divided but may give
    ranks unequal numbers of steps, HVD303 warns. Under `--shard steps` every rank goes through all of the data, for fewer
    steps; under `--shard none` nothing is done. Raises `Refuse` (HVD207) where another file would have to change.
    """
    found = paths(data, plan.program)
    if plan.options.shard == "none":
        return bool(found)
    taken = [path for path in found if not any(never_trains(node, plan.program) for node in path.nodes)]
    ours = {node for path in found for node in path.nodes}
    whole = [path for path in taken or found if "shard" not in path.methods and not plan.divided & {*path.nodes}]
    for path, cut in _cuts(whole, ours, in_graph(plan)):
        if plan.divided & {*path.nodes}:
            continue
        cut = next((n for n in range(cut, len(path.nodes)) if path.nodes[n] not in plan.whole), cut)
        plan.whole.update(path.nodes[:cut])
        if plan.options.shard == "steps":
            cut = max((n for n, method in enumerate(path.methods) if method), default=0)
            _insert(plan, path, cut, "{0}.take({0}.cardinality() // {size})")
        elif _of_one(path, cut):
            plan.warn(
                "HVD302",
                path.nodes[cut],
                "this dataset has a single element, which cannot be sharded: every rank trains on all of it",
                "create it with `from_tensor_slices` and batch the slices",
            )
        else:
            _divide(plan, path, cut)
        plan.divided.add(path.nodes[cut])
    return bool(found)


def is_one(data: ast.expr, program: Program) -> bool:
    """Whether a pipeline has a single element, so that each rank trains on all of it."""
    found = paths(data, program)
    return bool(found) and all(_of_one(path, len(path.methods)) and "map" not in path.methods for path in found)


def _of_one(path: Path, cut: int) -> bool:
    return path.source.endswith(".from_tensors") and not set(path.methods[: cut + 1]) & _SPLITS


def counts_divided(plan: Plan, steps: ast.expr) -> bool:
    """Whether a number of steps is the length of a pipeline that is divided where it is made."""
    for source in plan.program.sources(steps):
        if isinstance(source, ast.Name | ast.Attribute):
            nodes = {node for path in paths(source, plan.program) for node in path.nodes}
            if nodes & plan.divided and not any(node is source for node in plan.divided):
                return True
    return False


def _cuts(found: list[Path], ours: set[ast.expr], graph: bool) -> list[tuple[Path, int]]:
    """Where to divide each path; where one would be divided on its way that another has in common, both are later."""
    cuts = [_cut(path, ours, graph) for path in found]
    for _ in found:
        for one, path in enumerate(found):
            for two, other in enumerate(found):
                at = path.nodes[cuts[one]]
                if at in other.nodes[: cuts[two]]:
                    common = (
                        n for n in range(cuts[two], len(other.nodes)) if other.nodes[n] in path.nodes[cuts[one] :]
                    )
                    cuts[two] = next(common, cuts[two])
                    cuts[one] = path.nodes.index(other.nodes[cuts[two]])
    return list(zip(found, cuts, strict=True))


def _divide(plan: Plan, path: Path, cut: int) -> None:
    one_order(plan, path, cut)
    condition = only_in_training(path.nodes[cut], plan.program)
    template = _template(plan, path, cut)
    _insert(plan, path, cut, f"{template} if {condition} else {{0}}" if condition else template)
    if not condition:
        _limits(plan, path, cut)
    _files(plan, path)


def in_order(plan: Plan, data: ast.expr) -> None:
    """Let a pipeline give its elements in one order on every rank."""
    for path in paths(data, plan.program):
        one_order(plan, path, len(path.nodes))


def _cut(path: Path, ours: set[ast.expr], graph: bool) -> int:
    """The last expression that the parts are taken behind: what splits the data, makes its samples, or makes it.

    What comes from elsewhere and is not put into batches here is batches. Batches that are put into batches are samples.
    """
    cut, batched = 0, not path.source and not _BATCHES & set(path.methods)
    for number, (node, method) in enumerate(zip(path.nodes, path.methods, strict=True)):
        later = set(path.methods[number + 1 :])
        sample = method in _BATCHES and bool(later & _BATCHES) and not later & _UNCOUNTED
        batched = batched or (method in _BATCHES and not sample)
        if sample or (method in _SPLITS and (not batched or _is_split(node, path, ours))):
            cut = number
    cut = _past_sharing(path, _past_calls(path, cut, ours, graph), ours)
    whole = [n for n, node in enumerate(path.nodes[:-1]) if node in surveyed(path.program)]
    return _dataset_at(path, max([cut, *(n + 1 for n in whole)]))


def _dataset_at(path: Path, cut: int) -> int:
    """The last place up to a cut where there is a dataset, and not what only goes through one: `enumerate(data)`."""
    while cut and is_passed(path.nodes[cut], path.program):
        cut -= 1
    return cut


def _past_calls(path: Path, cut: int, ours: set[ast.expr], graph: bool) -> int:
    """Move behind a call of a function that makes other datasets too: evaluation would see a part of its data only."""
    for number in range(len(path.nodes) - 1, cut, -1):
        node = path.nodes[number]
        run = [call for each in functions_of(node, path.program) for call in callers_of(each, path.program)]
        others = [call for call in run if call not in ours]
        others = others or _other_calls(path, number)
        even = _evenness(path, number)
        if others and even.known and not even.endless:
            return number
        if others and (graph or not even.known) and not only_in_training(path.nodes[cut], path.program):
            return number
    return cut


def _other_calls(path: Path, number: int) -> list[ast.Call]:
    """The calls of a function that gives what a path goes on with together with other things, if it is called again."""
    program, node = path.program, path.nodes[number]
    left = program.function(path.nodes[number - 1])
    if left is None or left in program.ancestors(node) or isinstance(node, ast.Call):
        return []
    return calls if len(calls := list(program.calling(left))) > 1 else []


def _is_split(node: ast.expr, path: Path, ours: set[ast.expr]) -> bool:
    """Whether a `take` or `skip` of batches has a counterpart that gives the rest."""
    if method_of(node) == "skip":
        return True
    return method_of(node) == "take" and "skip" in _siblings(node, path, ours)


def _siblings(node: ast.expr, path: Path, ours: set[ast.expr]) -> set[str]:
    """The methods that are called on the same variable as in this expression, elsewhere."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return _uses(node.func.value, path, ours) if isinstance(node.func.value, ast.Name) else set()


def _uses(name: ast.Name, path: Path, ours: set[ast.expr]) -> set[str]:
    """The dataset methods called on a variable, other than by the pipelines of training."""
    unit = path.program.unit(name)
    owner = path.program.owner(name)
    found = set()
    for node in nodes_in(owner or unit.tree, ast.Call):
        if isinstance(node.func, ast.Attribute) and node not in ours:
            held = node.func.value
            if isinstance(held, ast.Name) and held.id == name.id and method_of(node):
                found.add(method_of(node))
    return found


def _past_sharing(path: Path, cut: int, ours: set[ast.expr]) -> int:
    """Move behind variables that others build their own pipelines from, a validation set for instance."""
    number = cut
    while number + 1 < len(path.nodes) and not path.methods[number + 1]:
        number += 1
    if number == len(path.nodes) - 1:
        return cut
    shared = [
        n for n in range(cut, number + 1) if isinstance(node := path.nodes[n], ast.Name) and _uses(node, path, ours)
    ]
    return shared[-1] if shared else cut


@dataclass(frozen=True)
class _Even:
    """How many elements come in front of the cut: a number that can be asked for, or not."""

    known: bool
    endless: bool
    scalars: bool


def _evenness(path: Path, cut: int) -> _Even:
    before = set(path.methods[: cut + 1])
    known = bool(_COUNTED.fullmatch(path.source)) and not before & _UNCOUNTED
    scalars = bool(_SCALARS.fullmatch(path.source)) and before <= _ALIKE
    generated = path.source in _UNKNOWN and _batched_as_they_are(path) and not before & _BATCHES
    scalars = scalars or generated
    return _Even(known, bool(before & _ENDLESS), scalars)


def _batched_as_they_are(path: Path) -> bool:
    """Whether the elements of a source are put into batches without a change, so that all must have one shape."""
    first = next((n for n, method in enumerate(path.methods) if method in _BATCHES), 0)
    return path.methods[first] == "batch" and set(path.methods[:first]) <= _ALIKE


def _template(plan: Plan, path: Path, cut: int) -> str:
    """The part of one rank, of a dataset `{0}`."""
    even = _evenness(path, cut)
    later = set(path.methods[cut + 1 :])
    graph = in_graph(plan)
    if even.known and not even.endless and not graph:
        code = "{0}.take(len({0}) // {size} * {size}).shard({size}, {rank})"
    elif even.scalars or (even.known and graph):
        code = "{0}.batch({size}, drop_remainder=True).unbatch().shard({size}, {rank})"
    elif not graph and not even.known:
        parts = "lambda *parts: {0}.zip(parts if parts[1:] else parts[0]).skip({rank}).take(1)"
        code = "{0}.window({size}, drop_remainder=True).flat_map(" + parts + ")"
    elif graph and _repeats(path, cut):
        code = "{0}.shard({size}, {rank})"
    elif graph:
        code = "{0}.zip(tuple({0}.shard({size}, each) for each in range({size}))).map(lambda *parts: parts[{rank}])"
    else:
        code = "{0}.take({0}.cardinality() // {size} * {size}).shard({size}, {rank})"
    if not _repeats(path, cut) and (_at_random(path, cut) or later & _UNCOUNTED):
        plan.warn(
            "HVD303",
            path.nodes[-1],
            "the length of this dataset is unknown, so ranks may take different numbers of steps",
            "make it endless with `repeat()` and limit the steps, or drop the remainder with `take`",
        )
    return code


def _at_random(path: Path, cut: int) -> bool:
    """Whether what stays of the elements is drawn, by every rank for itself."""
    tests = [
        test
        for node, method in zip(path.nodes[: cut + 1], path.methods, strict=False)
        if method in ("filter", "take_while") and isinstance(node, ast.Call)
        for test in values_given(node)
    ]
    bodies = [*tests, *(value for test in tests for value in path.program.functions(test))]
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("random", "random_uniform")
        for body in bodies
        for node in walk(body)
    )


def _repeats(path: Path, cut: int) -> bool:
    """Whether a dataset goes on without end behind the cut, so that only steps that are counted end it."""
    later = [
        node for node, method in zip(path.nodes[cut + 1 :], path.methods[cut + 1 :], strict=True) if method == "repeat"
    ]
    return any(isinstance(node, ast.Call) and not node.args and not node.keywords for node in later)


def _insert(plan: Plan, path: Path, number: int, template: str) -> None:
    """Put the part of one rank in the place of one expression of a path."""
    node = path.nodes[number]
    world, patch, program = plan.world(node), plan.patch(node), plan.program
    statement = program.statement(node)
    origin = path.unpacked
    if origin is not None and number == 0 and not (isinstance(node, ast.Name) and _uses(node, path, {*path.nodes})):
        name = ast.unparse(origin.target)
        code = _filled(template, name, plan.world(origin.statement))
        plan.patch(origin.statement).after(origin.statement, f"{name} = {code}", _NOTE)
        return
    name = _named(statement, node)
    if name and not isinstance(node, ast.Name | ast.Attribute):
        patch.after(statement, f"{name} = {_filled(template, name, world)}", _NOTE)
    elif _may_stand_before(node, statement, plan) and not _fetches(node, plan):
        name = patch.free("samples")
        if isinstance(node, ast.Name | ast.Attribute):
            patch.before(statement, f"{name} = {_filled(template, ast.unparse(node), world)}", _NOTE)
        else:
            patch.before(statement, f"{name} = {_text(node, plan)}\n{name} = {_filled(template, name, world)}", _NOTE)
        patch.wrap(node, name, _NOTE)
    elif isinstance(node, ast.Name | ast.Attribute):
        code = _filled(template, ast.unparse(node), world)
        patch.wrap(node, f"({code})" if " if " in code else code, _NOTE)
    else:
        name = patch.free("samples")
        patch.wrap(node, "{}.apply(lambda " + f"{name}: {_filled(template, name, world)})", _NOTE)


def _filled(template: str, name: str, world: World) -> str:
    return template.format(name, size=world.size, rank=world.rank)


def _named(statement: ast.stmt, node: ast.expr) -> str:
    """The one name that a statement gives to an expression."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is not node:
        return ""
    first, *more = targets_of(statement)
    return ast.unparse(first) if isinstance(first, ast.Name | ast.Attribute) and not more else ""


def _may_stand_before(node: ast.expr, statement: ast.stmt, plan: Plan) -> bool:
    """Whether an expression is evaluated once, whenever its statement is."""
    if isinstance(statement, ast.While | ast.AsyncFor | ast.FunctionDef | ast.ClassDef | ast.If):
        return False
    for above in plan.program.ancestors(node):
        if above is statement:
            return True
        if isinstance(
            above, ast.Lambda | ast.IfExp | ast.BoolOp | ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
        ):
            return False
    return False


def _fetches(node: ast.expr, plan: Plan) -> bool:
    """Whether an expression may download: its statement as a whole is what other ranks wait for."""
    return any(isinstance(each, ast.Call) and downloads(each, plan.program) for each in walk(node))


def _text(node: ast.expr, plan: Plan) -> str:
    """An expression as it is written, or with the arguments that were asked for in it."""
    source = plan.program.unit(node).source
    copy = deepcopy(node)
    asked = False
    for old, new in zip(walk(node), walk(copy), strict=True):
        if isinstance(old, ast.Call) and isinstance(new, ast.Call):
            for name, code in plan.patch(node).requests.keywords.get(old, {}).items():
                asked = True
                kept = [each for each in new.keywords if each.arg != name]
                new.keywords = [*kept, ast.keyword(name, ast.parse(code, mode="eval").body)]
    if asked:
        return ast.unparse(copy)
    text = source.segment(node)
    try:
        ast.parse(text)
    except SyntaxError:  # lines of a larger expression, whose parentheses hold them together
        first, _, rest = text.partition("\n")
        return f"(\n    {first}\n{textwrap.indent(textwrap.dedent(rest), '    ')}\n)"
    return text


def _limits(plan: Plan, path: Path, cut: int) -> None:
    """Numbers of batches behind the cut are numbers of steps."""
    batched = not path.source and not _BATCHES & set(path.methods)
    batched = batched or any(method in _BATCHES for method in path.methods[: cut + 1])
    for node, method in list(zip(path.nodes, path.methods, strict=True))[cut + 1 :]:
        batched = batched or method in _BATCHES
        if method == "take" and batched and isinstance(node, ast.Call):
            fewer(plan, node)


def fewer(plan: Plan, call: ast.Call) -> None:
    """Divide the number of batches that `take` is given by the number of ranks."""
    count = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "count"), None)
    if count is None or (isinstance(count, ast.Constant) and isinstance(count.value, int) and count.value < _ONE):
        return
    if not isinstance(count, ast.UnaryOp):
        divide_steps(plan, count)


def divide_steps(plan: Plan, count: ast.expr) -> None:
    """Divide a number of steps by the number of ranks, where it is used; or where it is made, if means are taken by it."""
    known = wholes(count, plan.program) if isinstance(count, ast.Name) else []
    if len(known) == 1 and isinstance(count, ast.Name) and _divides(count, plan):
        count = known[0]
    number = whole_number(count, plan.program)
    code = "{} // " if number is count else "({} // "
    plan.patch(number).wrap(number, f"{code}{plan.world(count).size}{')' * (number is not count)}", FEWER)


def whole_number(count: ast.expr, program: Program) -> ast.expr:
    """The number of all steps in what is left of them: `n` of `max(n - checkpoint.step, 0)`, where ranks count their own."""
    known = wholes(count, program)
    made = known if len(known) == 1 else [count]
    given = (part for each in made if isinstance(each, ast.Call) for part in values_given(each))
    for part in (*made, *given):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            held = part.right.args[:1] if isinstance(part.right, ast.Call) else []
            if any(program.matches(each, _TAKEN) for each in (part.right, *held)):
                return part.left
    return count


def _divides(count: ast.Name, plan: Plan) -> bool:
    """Whether something is divided by this number: a sum over the steps of an epoch."""
    lexical = plan.program.unit(count).lexical
    owner = plan.program.owner(count)
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and isinstance(node.right, ast.Name)
        and node.right.id == count.id
        for node in walk(owner or lexical.tree)
    )


def _files(plan: Plan, path: Path) -> None:
    """A cache on disk is one for each rank."""
    for node, method in zip(path.nodes, path.methods, strict=True):
        if method == "cache" and isinstance(node, ast.Call) and node.args:
            note = Note("a cache file for each rank", "ranks keep different elements in it", "cache-file")
            plan.patch(node).wrap(node.args[0], "{} + str(" + plan.world(node).rank + ")", note)
