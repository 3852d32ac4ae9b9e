"""Random numbers: the same on all ranks where data is made and split, different where samples and noise are drawn."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from distml.rewrites.horovod.aspects.anchors import anchor_of
from distml.rewrites.horovod.aspects.drawing import CHANCE, DRAWS, NOISE, draws, kinds_of
from distml.rewrites.horovod.aspects.purposes import Walk
from distml.rewrites.horovod.aspects.setup import at_start, behind_start
from distml.rewrites.horovod.flows.pytorch.optimizers import Place
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study, branches
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.ahead import Ahead
from distml.training.around import LOOPS
from distml.training.syntax import is_literal, method_name, names_in, nodes_in, runs_as_script, targets_of
from distml.training.unit import Unit
from distml.training.values import Box

SEEDS = {
    "torch": ("torch.manual_seed", "torch.random.manual_seed"),
    "numpy": ("numpy.random.seed",),
    "random": ("random.seed",),
}
_OWN = {
    "torch": "{name}.manual_seed({name}.initial_seed() + {rank})",
    "numpy": "{name}.random.seed({name}.random.randint(2**31 - 1) + {rank})",
    "random": "{name}.seed({name}.randrange(2**31) + {rank})",
}
ALIKE = {
    "torch": ("{name}.manual_seed({})", "{name}.initial_seed()"),
    "numpy": ("{name}.random.seed({})", "{name}.random.randint(2**31 - 1)"),
    "random": ("{name}.seed({})", "{name}.randrange(2**31)"),
}
_BY_RANK = Note(
    "random numbers of its own for each rank", "with one seed all ranks draw the same samples and noise", "seed-by-rank"
)
TOGETHER = Note(
    "one seed for all ranks",
    "data that is created or split at random, and copied models, must be the same on every rank",
    "seed-alike",
)
_PARAMETER = "torch.nn.Parameter()"
_MAKES = re.compile(r"torch\.nn\.(?!functional|init|utils)(\w+\.)*[A-Z]\w*(\.from_pretrained)?")
"""What makes weights of what it is given."""
_ITEMS = frozenset({"__getitem__", "__iter__"})
"""By which methods loaders ask data sets for samples."""


class Seeds:
    """Plans the seeds of a program."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling) -> None:
        self.study, self.plan, self.spelling = study, plan, spelling
        self.program = study.program
        calls = [each for each in self.program.calls if self._reached(each)]
        self.seeded = self._kinds_of(calls)
        self.together = set[str]()
        """The generators from which the order of samples is drawn in training."""
        self.surely = self._kinds_of([each for each in calls if not self._under_condition(each)])
        self._names: dict[tuple[ast.Module, str], str] = {}
        """How files call the modules of generators, also where the import is new."""

    def _kinds_of(self, calls: list[ast.Call]) -> set[str]:
        seeds = {name for each in calls if each.args or each.keywords for name in self.program.names(each.func)}
        return {kind for kind, names in SEEDS.items() if seeds & set(names)}

    def _under_condition(self, call: ast.Call) -> bool:
        """Whether a seed may be left out: `if seed is not None:`."""
        return any(isinstance(each, ast.If) and not runs_as_script(each) for each in branches(self.program, call, None))

    def _reached(self, call: ast.Call) -> bool:
        """Whether something calls the function in which a call stands, or it stands in none."""
        function = self.program.function(call)
        return function is None or self.program.unit(call) in self.program.roots or function in self.study.callers

    def alike(self, together: set[str], copied: bool) -> None:
        """One seed for all ranks, for what is drawn before training from generators that the program does not seed.

        `together`: from these the order of samples is drawn in training, and must be the same everywhere. `copied`: there are
        weights that nothing broadcasts.
        """
        needed = {kind for call in self.program.calls for kind in self._prepared(call)}
        needed |= {"torch"} if copied else set()
        needed = (needed | together) - self.surely
        for entry in self.program.roots:
            if self.study.stepping.holds_any(entry.tree.body) and entry.source.location in self.plan.editable:
                self._seed(entry, needed)
        self.together = together

    def _seed(self, entry: Unit, needed: set[str]) -> None:
        for kind in sorted(needed):
            anchor = anchor_of(entry, "torch")
            by_then = anchor.lineno if anchor is not None else 0
            name = self.plan.world(entry.tree).torch if kind == "torch" else name_of(entry.tree, kind, by_then)
            template, seed = ALIKE[kind]
            apart = "\n\n" if self.plan.options.backend == "ddp" else ""
            if name is None:
                name = self._imported(entry, kind, TOGETHER)
            given = self.spelling.first(entry.tree, seed.format(name=name))
            at_start(self.plan, entry, apart + template.replace("{name}", name).replace("{}", given), TOGETHER)
            self.seeded.add(kind)

    def _imported(self, unit: Unit, kind: str, note: Note) -> str:
        """The name under which a file imports the module of a generator from now on."""
        name = self._names[unit.tree, kind] = name_of(unit.tree, kind) or self.plan.patch(unit.tree).free(kind)
        behind_start(
            self.plan, unit, f"import {kind}" if name == kind else f"import {kind} as {name}", note, imports=True
        )
        return name

    def _prepared(self, call: ast.Call) -> set[str]:
        """The generators that a call draws from before training, where it draws no weights of models, which are broadcast."""
        kinds = draws(call, self.program)
        weight = any(_PARAMETER in self.program.names(each) for each in self.program.ancestors(call))
        if not kinds or weight:
            return set()
        return kinds if self.study.before.holds(call) or self._kept_by_model(call) else set()

    def _kept_by_model(self, call: ast.Call) -> bool:
        """Whether a model keeps what is drawn where it is made as something else than weights, or in an order that is drawn."""
        if not self._with_models.holds(call):
            return False
        walk = _Kept(self.program)
        walk.follow(call, ())
        return walk.kept or method_name(call) == "shuffle"

    @cached_property
    def _with_models(self) -> Ahead:
        """What runs before training, methods of models among it."""
        return Ahead(self.program, self.study.stepping, self.study.training, lambda _: False)

    def by_rank(self, places: list[Place], shuffled: bool) -> None:
        """Numbers of its own for each rank in training, for generators that are seeded alike: once in each script.

        `places`: where training begins. `shuffled`: loaders draw the order of samples from that of PyTorch.
        """
        trees = [unit.tree for unit in self.program.units.values()]
        loops = [node for tree in trees for node in walk(tree) if isinstance(node, LOOPS)]
        training = [loop for loop in loops if self.study.stepping.holds(loop)]
        asked = [node for tree in trees for node in nodes_in(tree, ast.FunctionDef) if node.name in _ITEMS]
        kinds = {kind for each in (*training, *asked) for kind in drawn(self.study, each, DRAWS, 3)}
        by_chance = any(self.program.matches(call.func, CHANCE) for call in self.program.calls)
        kinds |= {"torch"} if shuffled or by_chance else set()
        kinds -= {kind for loop in loops if isinstance(loop, ast.While) for kind in self._steering(loop)}
        noise = by_chance or any(drawn(self.study, loop, NOISE, 3) for loop in training)
        if noise and "torch" in self.together:
            what = "all ranks draw the same random numbers in training: the order of what is dealt out may come from there too"
            self.plan.warn("HVD305", places[0].statement, what, "shuffle by a generator of its own")
        firsts = {self.program.unit(each.statement): each for each in reversed(places)}
        scripts = [place for unit, place in firsts.items() if unit in self.program.roots]
        for place in scripts or places[:1]:
            for kind in sorted(kinds & self.seeded - self.together):
                self._own(place, kind)

    def _own(self, place: Place, kind: str) -> None:
        unit, world = self.program.unit(place.statement), self.plan.world(place.statement)
        name = world.torch if kind == "torch" else name_of(unit.tree, kind) or self._names.get((unit.tree, kind))
        code = _OWN[kind].format(rank=world.rank, name=name or self._imported(unit, kind, _BY_RANK))
        patch = self.plan.patch(place.statement)
        (patch.after if place.behind else patch.before)(place.statement, code, _BY_RANK)

    def _steering(self, loop: ast.While) -> set[str]:
        """The generators that decide how far a turn of a loop goes, and so how many turns it makes."""
        tested = names_in(loop.test)
        found: set[str] = set()
        for node in walk(loop):
            targets = targets_of(node)
            if isinstance(node, ast.Assign | ast.AugAssign) and any(
                isinstance(target, ast.Name) and target.id in tested for target in targets
            ):
                calls = (each for each in self.program.sources(node.value) if isinstance(each, ast.Call))
                found |= {kind for call in calls for kind in kinds_of(self.program.names(call.func), DRAWS)}
        return found


class _Kept(Walk):
    """Where something goes, up to the attributes in which an object keeps it; weights and buffers are those of rank 0 anyway."""

    kept = False

    def _given(self, node: ast.AST, call: ast.Call, stack: tuple[ast.Call, ...]) -> None:
        sent = [each for each in call.keywords if each.arg == "persistent" and is_literal(each.value, False)]
        if method_name(call) == "register_buffer":
            self.kept = self.kept or bool(sent)
        elif not self.program.matches(call.func, _MAKES):
            super()._given(node, call, stack)

    def _bound(self, target: ast.expr, stack: tuple[ast.Call, ...]) -> None:
        if isinstance(target, ast.Attribute):
            self.kept = self.kept or target.attr not in ("data", "weight", "bias")
        else:
            super()._bound(target, stack)


def drawn(study: Study, node: ast.AST, wanted: re.Pattern[str], depth: int, own: bool = False) -> set[str]:
    """The generators that running `node` draws from, by calls of the wanted functions; `own`: not inside models."""
    calls = drawing(study, node, wanted, depth, own)
    return {kind for call in calls for kind in kinds_of(study.program.names(call.func), wanted)}


def drawing(study: Study, node: ast.AST, wanted: re.Pattern[str], depth: int, own: bool = False) -> Iterator[ast.Call]:
    """The calls of the wanted functions that running `node` makes; `own`: not inside models."""
    for each in nodes_in(node, ast.Call):
        if study.program.matches(each.func, wanted):
            yield each
        for function in [*study.run_by(each), *_next_of(study, each)] if depth else ():
            if not (own and study.of_model(function)):
                yield from drawing(study, function, wanted, depth - 1, own)


def _next_of(study: Study, call: ast.Call) -> list[ast.AST]:
    """The generators of the program that `next(generator)` goes on with."""
    if "builtins.next" not in study.program.names(call.func) or not call.args:
        return []
    made = [value.node for value in study.program.of(call.args[0]) if isinstance(value, Box)]
    return [node for node in made if isinstance(node, ast.FunctionDef)]


def name_of(tree: ast.Module, module: str, line: int | None = None) -> str | None:
    """The name under which a file imports a module as a whole, up to a line."""
    for statement in tree.body if line is None else (each for each in tree.body if each.lineno <= line):
        for alias in statement.names if isinstance(statement, ast.Import) else ():
            if alias.name == module:
                return alias.asname or alias.name
    return None
