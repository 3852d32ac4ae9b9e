"""Random numbers of NumPy and Python: alike on all ranks where they split the data, different where they draw batches."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator

from distml.rewrites.horovod.aspects.drawing import draws, generators
from distml.rewrites.horovod.aspects.imported import runs_on_import
from distml.rewrites.horovod.aspects.orders import is_unseeded
from distml.rewrites.horovod.aspects.origins import computed_from
from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.callers import leading_to, run_by
from distml.training.callsites import argument, called
from distml.training.decided import calls_behind
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import closure, is_given, names_in, nodes_in, runs_as_script
from distml.training.values import Class, Constant, Foreign

ALIKE = Note(
    "drawn alike on every rank",
    "the parts that ranks take are disjoint only if all of them have split and shuffled the data in one way",
    "same-split",
)
_APART = Note(
    "another seed on every rank", "ranks with one seed would draw the same batches from the same data", "seed-by-rank"
)
_GLOBAL = re.compile(r"numpy\.random\.seed|random\.seed|keras\.utils\.(\w+\.)?set_random_seed")
_DRAWS = re.compile(
    r"(numpy\.random|random)\.(shuffle|permutation|choice|sample|rand|randn|randint|randrange|random|normal|uniform|random_sample"
    r"|binomial|standard_normal|multivariate_normal)"
)
_SPLITS = re.compile(
    r"sklearn\.(model_selection|cross_validation)\.(train_test_split|\w*ShuffleSplit)|sklearn\.utils\.(shuffle|resample)"
    r"|sklearn\.datasets\.make_\w+|pandas\..*\.sample"
)
_SHUFFLES = re.compile(r"tensorflow\.(random\.)?(random_)?shuffle")
_FOLDS = re.compile(r"sklearn\.model_selection\.(Stratified)?KFold")


def agree(
    plan: Plan,
    arrays: Iterable[ast.expr],
    inside: bool = True,
    classes: bool = True,
    apart: Iterable[ast.Call] = (),
) -> None:
    """Let all ranks hold the same arrays in the same order, so that the parts they take are disjoint.

    What is drawn in loops counts only if the parts are taken `inside` of them too, what methods of `classes` draw only if all
    that they give is divided; what some calls draw stays `apart`. Raises `Refuse` where a file that must not be changed
    draws them.
    """
    program = plan.program
    sources = _made_of([*arrays], program, classes).difference(*(_runs(each, program) for each in apart))
    sources |= {made for call in _arranging(program) for made in generators(call, program)}
    for source in () if is_seeded(program, "numpy") else sources:
        if isinstance(source, ast.Call) and _splits(source, program) and not _says(source, "random_state"):
            plan.patch(source).keyword(source, "random_state", "0", ALIKE)
    for source in sources:
        if isinstance(source, ast.Call) and is_unseeded(source, program) and (inside or _prepares(source, program)):
            plan.patch(source).argument(source, "0", ALIKE)
        if isinstance(source, ast.Call) and program.matches(source.func, _SHUFFLES) and not _says(source, "seed"):
            plan.patch(source).keyword(source, "seed", "0", ALIKE)
    for library in ("numpy", "random"):
        drawn = next((each for each in _draws(program, library, sources) if inside or not _looped(program, each)), None)
        if drawn is not None:
            _begin_alike(plan, library)
        if drawn is not None and not is_seeded(program, library):
            begin(plan, drawn, library)


def _made_of(arrays: list[ast.expr], program: Program, classes: bool = True) -> set[ast.AST]:
    """What arrays are computed from, and what is called in the functions, generators and `classes` that give them."""
    found = {source for each in computed_from(arrays, program) for source in program.sources(each)}
    makers: list[ast.AST] = [each for each in found if isinstance(each, ast.FunctionDef)]
    makers += [function for each in found for function in run_by(each, program)]
    called = {*_run_by_all([*makers, *_classes(arrays, program)] if classes else [], program, ())}
    return found | called | {made for each in called for made in generators(each, program)}


def noise(loop: ast.AST, sources: Iterable[ast.expr], order: Iterable[ast.expr], program: Program) -> list[ast.Call]:
    """The calls in a loop that draw what batches are computed from, and no part of the order in which samples come."""
    inside, ordering = set(walk(loop)), {each for part in order for each in walk(part)}
    held = [each for source in sources for each in nodes_in(source, ast.Call) if each in inside - ordering]
    found = [each for each in held if not _arranging(program) & _runs(each, program) and _draws_in(each, program)]
    return [each for each in dict.fromkeys(found) if not any(each in walk(a) for a in found if a is not each)]


def _runs(call: ast.Call, program: Program) -> set[ast.AST]:
    """A call, and those in the functions of the program that it runs."""
    return {call, *_run_by_all(run_by(call, program), program, ())}


def _draws_in(call: ast.Call, program: Program) -> bool:
    return bool(_libraries((each for each in _runs(call, program) if isinstance(each, ast.Call)), program))


def drawn(arrays: Iterable[ast.expr], program: Program) -> bool:
    """Whether what gives some arrays draws from a generator of all."""
    return bool(_libraries((each for each in _made_of([*arrays], program) if isinstance(each, ast.Call)), program))


def _classes(arrays: Iterable[ast.expr], program: Program) -> list[ast.AST]:
    """The classes of the objects that arrays come from."""
    made = (value for each in arrays for value in program.classes(each))
    return [each for kind in made for each in program.own_bases(kind)]


@remembered
def _arranging(program: Program) -> frozenset[ast.Call]:
    """The calls that shuffle something, outside of what gives batches."""
    shuffles = (each for each in program.calls if called(each, program) in ("shuffle", "permutation"))
    return frozenset(each for each in shuffles if not _within(program, each))


def _begin_alike(plan: Plan, library: str) -> None:
    """Let the global generator of a library begin alike where it is told to begin anywhere: `seed(None)`. In a function it goes
    on as it has begun: a number there would have it draw the same each time.
    """
    program = plan.program
    for call in (each for each in program.calls_of(SEED[library]) if _is_none(each, program)):
        given = argument(call, 0, "seed", "a")
        statement = program.statement(call)
        if given is not None and _is_asked_for(given, program):
            continue  # the program may be told that there is none
        if program.function(call) is not None and isinstance(statement, ast.Expr) and statement.value is call:
            plan.patch(statement).remove(statement, ALIKE)
        elif given is None:
            plan.patch(call).argument(call, "0", ALIKE)
        else:
            plan.patch(given).wrap(given, "0", ALIKE)


def _is_asked_for(given: ast.expr, program: Program) -> bool:
    """Whether a condition around what is given reads it."""
    guards = (each.test for each in program.ancestors(given) if isinstance(each, ast.If))
    return any(ast.unparse(given) in map(ast.unparse, walk(each)) for each in guards)


def _is_none(seed: ast.Call, program: Program) -> bool:
    """Whether a seed is none: the generator begins elsewhere in each process."""
    given = argument(seed, 0, "seed", "a")
    values = program.of(given)
    return (not seed.args and not seed.keywords) or (bool(values) and all(value == Constant(None) for value in values))


def together(plan: Plan, node: ast.AST, owners: Iterable[ast.AST], apart: Container[ast.AST] = ()) -> list[str]:
    """Let classes or functions draw alike on all ranks, where `node` stands; gives what seeds the generators of all.

    What some functions draw stays `apart`.
    """
    program, found = plan.program, []
    run = _run_by_all(owners, program, apart)
    calls = [each for each in dict.fromkeys(run) if program.function(each) not in apart]
    kept = {made for call in program.calls if program.function(call) in apart for made in generators(call, program)}
    kept -= _used_outside(apart, program)
    for call in calls:
        if is_unseeded(call, program) and call not in kept and plan.may_change(call):
            plan.patch(call).argument(call, "0", ALIKE)
    drawn = _libraries(calls, program)
    for library, path in SEED.items():
        if library in drawn:
            found.append(path)
            _begin_alike(plan, library)
            if not is_seeded(program, library):
                begin(plan, node, library)
    return found


def _run_by_all(owners: Iterable[ast.AST], program: Program, apart: Container[ast.AST]) -> Iterator[ast.Call]:
    """The calls in classes or functions, and in the functions of the program that these run."""

    def called(owner: ast.AST) -> Iterator[ast.AST]:
        functions = (each for call in nodes_in(owner, ast.Call) for each in run_by(call, program))
        return (each for each in functions if each not in apart)

    run = closure((each for each in owners if each not in apart), called)
    return (call for owner in run for call in nodes_in(owner, ast.Call))


def begin(plan: Plan, node: ast.AST, library: str) -> None:
    """Give the global generator of a library a seed where the program of a node begins: once in each script, and in a module
    that draws while it is imported, ahead of that.
    """
    program = plan.program
    scripts = [unit for unit in program.roots if plan.may_change(unit.tree)] or [program.unit(node)]
    ahead = (call for call in program.calls if library in draws(call, program) and runs_on_import(call, plan))
    for unit in dict.fromkeys([*scripts, *map(program.unit, ahead)]):
        plan.world(unit.tree)
        seed = spell(plan, unit.tree.body[-1], SEED[library], at_start=True)
        plan.spelled[(unit.source.location, SEED[library])] = seed
        behind_start(plan, unit, f"{seed}(0)", ALIKE)


def drawn_in(given: ast.expr, program: Program) -> list[str]:
    """What seeds the generators of all from which comes what is given, by what functions of the program are told for that."""
    made = [call for each in computed_from([given], program) for call in nodes_in(each, ast.Call)]
    return [SEED[each] for each in _libraries([*made, *calls_behind(made, program)], program)]


def drawn_by(functions: Container[ast.AST], program: Program) -> list[str]:
    """What seeds the generators of all from which functions draw."""
    calls = [each for each in program.calls if program.function(each) in functions]
    return [SEED[each] for each in _libraries(calls, program)]


def generators_apart(plan: Plan, node: ast.expr, functions: Container[ast.AST]) -> None:
    """Let generators of its own from which functions draw begin elsewhere on each rank.

    Where one draws outside of them too, what must be alike, that is warned of.
    """
    program = plan.program
    outside = _used_outside(functions, program)
    drawing = (each for each in program.calls if program.function(each) in functions)
    for made in dict.fromkeys(made for call in drawing for made in generators(call, program)):
        if made in outside:
            what = (
                "one generator draws what must be alike on all ranks, and the samples of a batch: ranks draw the same"
            )
            plan.warn("HVD302", node, what, "draw the samples from a generator of their own")
        else:
            _begin_apart(plan, made)


def _used_outside(functions: Container[ast.AST], program: Program) -> set[ast.AST]:
    """The generators that draw elsewhere than in some functions."""
    calls = (each for each in program.calls if program.function(each) not in functions)
    return {made for call in calls for made in generators(call, program)}


def _libraries(calls: Iterable[ast.Call], program: Program) -> list[str]:
    """The libraries from whose generator of all some calls draw."""
    names = {name for call in calls for name in program.names(call.func) if _DRAWS.fullmatch(name)}
    return [each for each in SEED if any(name.startswith(each + ".") for name in names)]


SEED = {"numpy": "numpy.random.seed", "random": "random.seed"}


def _splits(call: ast.Call, program: Program) -> bool:
    names = program.names(call.func)
    if any(_FOLDS.fullmatch(name) for name in names):
        return any(keyword.arg == "shuffle" for keyword in call.keywords)
    return any(_SPLITS.fullmatch(name) for name in names)


def _says(call: ast.Call, name: str) -> bool:
    return any(keyword.arg in (name, None) for keyword in call.keywords)


def _draws(program: Program, library: str, sources: set[ast.AST]) -> Iterator[ast.Call]:
    """The calls that draw by which what is trained on is drawn, or that shuffle something outside of what gives batches."""
    for call in program.calls:
        names = {name for name in program.names(call.func) if _DRAWS.fullmatch(name)}
        if any(name.startswith(library + ".") for name in names):
            if call in sources or call in _arranging(program):
                yield call


def _looped(program: Program, node: ast.AST) -> bool:
    return any(isinstance(above, ast.For | ast.While) for above in program.ancestors(node))


def _within(program: Program, node: ast.AST) -> bool:
    """Whether a node stands in a generator, or in what a library calls: a class that is derived from one of its own."""
    for above in program.ancestors(node):
        if isinstance(above, ast.ClassDef) and any(isinstance(each, Foreign) for each in program.lineage(Class(above))):
            return True
        if isinstance(above, ast.FunctionDef) and any(isinstance(each, ast.Yield) for each in walk(above)):
            return True
    return False


def is_seeded(program: Program, library: str) -> bool:
    """Whether the program seeds the global generator of a library, whatever it is set to."""
    calls = program.calls_of(SEED[library], "keras.utils.set_random_seed")
    return any(not _is_none(each, program) and _surely(each, program) for each in calls)


def _surely(node: ast.AST, program: Program, depth: int = 4) -> bool:
    """Whether a program comes to a node in each run: no branch is around it, nor around the calls that lead there."""
    for above in program.ancestors(node):
        if isinstance(above, ast.If) and not runs_as_script(above):
            return False
        if isinstance(above, ast.ExceptHandler | ast.IfExp | ast.BoolOp | ast.While):
            return False
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            calls = leading_to(above, program)
            if not calls:
                return not _is_one_of_several(above, program)
            return depth > 0 and any(_surely(each, program, depth - 1) for each in calls)
    return True


def _is_one_of_several(function: ast.AST, program: Program) -> bool:
    """Whether a function is one of several that nobody calls and that decorators are given, such as commands: one runs."""
    found = (each for each in program.unit(function).tree.body if isinstance(each, ast.FunctionDef))
    several = [each for each in found if each.decorator_list and not leading_to(each, program)]
    return function in several and len(several) > 1


def begun_alike(plan: Plan) -> bool:
    """Whether a global generator is given a seed here that the program does not give it: all ranks draw the same from then on."""
    return any(path in SEED.values() for _, path in plan.spelled)


def orders(program: Program, loop: ast.AST, arrays: Iterable[ast.expr]) -> bool:
    """Whether a loop draws, by itself, which samples it takes, or shuffles something."""
    sources = {source for each in arrays for source in program.sources(each)}
    for call in nodes_in(loop, ast.Call):
        draws = program.matches(call.func, _DRAWS) or bool(generators(call, program))
        if _splits(call, program) or (draws and (call in sources or call in _arranging(program))):
            return True
    return False


def _prepares(made: ast.Call, program: Program) -> bool:
    """Whether the generator that a call makes draws in front of all loops."""
    return any(made in generators(each, program) and not _looped(program, each) for each in program.calls)


def apart(plan: Plan, loop: ast.stmt, arrays: Iterable[ast.expr]) -> None:
    """Let the generators by which a loop takes its samples begin elsewhere on each rank, those that are given a seed.

    Raises `Refuse` where one draws outside of the loop too, what must be alike.
    """
    program, inside = plan.program, set(walk(loop))
    sources = {source for each in arrays for source in program.sources(each)}
    used = {made for each in sources if isinstance(each, ast.Call) for made in generators(each, program)}
    for made in program.ordered(used):
        if any(made in generators(each, program) for each in program.calls if each not in inside):
            what = "one generator draws the batches, which ranks must draw apart, and what must be alike on all of them"
            raise Refuse("HVD213", loop, what, "draw the batches from a generator of their own")
        _begin_apart(plan, made)


def _begin_apart(plan: Plan, made: ast.Call, position: int = 0) -> None:
    seed = argument(made, position, "seed")
    if seed is not None and is_given(seed) and not is_unseeded(made, plan.program):
        plan.patch(seed).wrap(seed, "{} + " + plan.world(seed).rank, _APART)


def differ(plan: Plan, call: ast.Call, x: ast.expr | None = None) -> None:
    """Let each rank draw other batches: by its own seed, from where training begins."""
    program, world, patch = plan.program, plan.world(call), plan.patch(call)
    statement = program.statement(call)
    last = {}
    for seed in program.calls:
        if program.matches(seed.func, _GLOBAL) and program.unit(seed) is program.unit(call):
            last[ast.unparse(seed.func)] = _of_rank(plan, seed, call)
    code = [f"{function}({value})" for function, value in last.items() if value]
    begun = {name for _, name in plan.spelled} & {*SEED.values()}
    code += [f"{spell(plan, call, name)}({world.rank})" for name in sorted(begun)]
    if code:
        patch.before(statement, "\n".join(dict.fromkeys(code)), _APART)
    for made in program.made(x):
        _begin_apart(plan, made, -1)


def _of_rank(plan: Plan, seed: ast.Call, place: ast.Call) -> str | None:
    """The seed of a rank, by that which a call gives: by the rank alone where its names mean something else at `place`, or where
    none was given; None where that leaves the generator to begin anywhere.
    """
    program, rank = plan.program, plan.world(place).rank
    given = argument(seed, 0, "seed", "a")
    if given is None or _is_none(seed, program):
        requests = plan.patch(seed).requests
        return rank if requests.arguments.get(seed) or (given and requests.expressions.get(given)) else None
    text, lexical = ast.unparse(given), program.unit(seed).lexical
    if any(lexical.owner_at(name, seed) is not lexical.owner_at(name, place) for name in names_in(given)):
        return rank
    asked = not isinstance(given, ast.Constant) and _is_asked_for(given, program)
    if asked or Constant(None) in program.of(given):
        return f"{text} + {rank} if {text} is not None else None"
    return f"{text} + {rank}"
