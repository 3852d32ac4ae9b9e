"""Arrays divided among the ranks where they are given to `fit`: every rank takes every n-th sample, all equally many."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows.fit.kinds import Kind, kind_of
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import is_false, is_literal
from distml.training.unit import Unit

SHARD = Note(
    "shard the samples evenly across ranks",
    "ranks that process the same samples compute the same gradient; a rank with more batches blocks indefinitely",
    "shard-data",
)
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load, ast.UnaryOp, ast.USub, ast.Slice, ast.Index)


def divide(plan: Plan, call: ast.Call, *arrays: ast.expr | None, batch: ast.expr | None = None) -> None:
    """Let `call` be given one part of each of its array arguments. The first tells how many samples there are."""
    present = [each for each in arrays if each is not None]
    kinds = [kind_of(each, True, plan.program) for each in present]
    length = _length(plan, call, present, kinds)
    patch, statement = plan.patch(call), plan.program.statement(call)
    part = _part(plan, call, statement, length, batch)
    for node, kind in zip(present, kinds, strict=True):
        if kind == "list" and isinstance(node, ast.List | ast.Tuple):
            for element in node.elts:
                patch.wrap(element, f"{{}}[{part}]", SHARD)
        elif kind == "list":
            patch.wrap(node, f"[each[{part}] for each in {{}}]", SHARD)
        elif kind == "dict" and isinstance(node, ast.Dict):
            for value in node.values:
                patch.wrap(value, f"{{}}[{part}]", SHARD)
        elif kind == "dict":
            patch.wrap(node, f"{{key: each[{part}] for key, each in {{}}.items()}}".replace("{}", "{}"), SHARD)
        else:
            patch.wrap(node, f"{{}}[{part}]", SHARD)


def _length(plan: Plan, call: ast.Call, arrays: list[ast.expr], kinds: list[Kind]) -> str:
    """How the number of samples is said, without computing anything twice."""
    found = [text for node, kind in zip(arrays, kinds, strict=True) if (text := _counted(node, kind, plan.program))]
    if found:
        return found[0]
    name = plan.patch(call).free("samples")
    plan.patch(call).before(plan.program.statement(call), f"{name} = {ast.unparse(arrays[0])}", SHARD)
    plan.patch(call).wrap(arrays[0], name, SHARD)
    return {"list": f"len({name}[0])", "dict": f"len(next(iter({name}.values())))"}.get(kinds[0], f"len({name})")


def _counted(node: ast.expr, kind: Kind, program: Program) -> str:
    if kind == "list":
        if isinstance(node, ast.List | ast.Tuple):
            return _counted(node.elts[0], "array", program) if node.elts else ""
        return f"len({ast.unparse(node)}[0])" if _is_simple(node) else ""
    if kind == "dict":
        if isinstance(node, ast.Dict):
            return _counted(node.values[0], "array", program) if node.values else ""
        return f"len(next(iter({ast.unparse(node)}.values())))" if _is_simple(node) else ""
    sparse = any("sparse" in name or "feature_extraction" in name for name in program.names(node))
    text = ast.unparse(node)
    return "" if not _is_simple(node) else f"{text}.shape[0]" if sparse else f"len({text})"


def _is_simple(node: ast.expr) -> bool:
    return all(isinstance(each, _SIMPLE) for each in walk(node))


def _part(plan: Plan, call: ast.Call, statement: ast.stmt, length: str, batch: ast.expr | None) -> str:
    """The slice of one rank, made in front of the statement."""
    world, patch = plan.world(call), plan.patch(call)
    name = _free(plan, call, statement, "part")
    fixed, stateful = _batches(plan.program, plan.program.unit(call))
    if fixed and batch is not None:
        every = f"({ast.unparse(batch)} * {world.size})"
        if stateful:
            count = _free(plan, call, statement, "count")
            code = f"{count} = {length} // {every} * {ast.unparse(batch)}\n"
            code += f"{name} = slice({world.rank} * {count}, ({world.rank} + 1) * {count})"
        else:
            code = f"{name} = slice({world.rank}, {length} // {every} * {every[1:-1]}, {world.size})"
    else:
        code = f"{name} = slice({world.rank}, {length} // {world.size} * {world.size}, {world.size})"
    patch.before(statement, code, SHARD)
    return name


def _free(plan: Plan, call: ast.Call, statement: ast.stmt, name: str) -> str:
    """One name for a file, which each statement gives its own value; another where a statement needs two."""
    key = (plan.program.unit(call).source.location, f"fit.{name}")
    known = plan.spelled.setdefault(key, "") or plan.patch(call).free(name)
    plan.spelled[key] = known
    taken = any(f"{known} = " in code for code in plan.patch(call).requests.statements[statement].before)
    return plan.patch(call).free(name) if taken else known


def carries_state(program: Program, unit: Unit) -> bool:
    """Whether models in a file remember across batches."""
    return _batches(program, unit)[1]


@remembered
def _batches(program: Program, unit: Unit) -> tuple[bool, bool]:
    """Whether models in this file fix the size of their batches, and whether they remember across batches."""
    fixed = stateful = False
    for call in program.calls:
        if program.unit(call) is not unit:
            continue
        for keyword in call.keywords:
            fixed = fixed or (keyword.arg in ("batch_input_shape", "batch_shape") and not _is_open(keyword.value))
            stateful = stateful or (keyword.arg == "stateful" and not is_false(keyword.value))
        if "keras.Input" in program.names(call.func):
            fixed = fixed or argument(call, -1, "batch_size") is not None
    return fixed or stateful, stateful


def _is_open(shape: ast.expr) -> bool:
    """Whether a shape leaves the size of batches open."""
    first = shape.elts[0] if isinstance(shape, ast.Tuple | ast.List) and shape.elts else None
    return is_literal(first, None)
