"""Whether an expression is the same on every rank because of what it is made from.

Settings, counters, lengths and what loops over ranges give are. Losses, scores, times and random numbers are not, and
neither is what nobody knows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator

from distml.rewrites.horovod.aspects.origins import Origin, origins
from distml.source.nodes import walk
from distml.training.around import loops_around, own_nodes, turns_around
from distml.training.callers import callers, upwards
from distml.training.callsites import argument, called, iterated, stored
from distml.training.counting import COUNTS
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import (
    closure,
    is_literal,
    mentions,
    method_name,
    names_in,
    nodes_in,
    receiver_of,
    root_of,
    targets_of,
    values_given,
    yields,
)
from distml.training.values import Callable, Class, Constant, Foreign, Function

_SETTINGS = tuple(
    "argparse. configargparse. docopt. gflags. optparse. absl.flags tensorflow.app.flags tensorflow.flags sys.argv os.environ"
    " yaml. omegaconf.".split()
)
_CALLS = "len all any int float str bool min max abs sum range getattr round sorted list tuple dict".split()
_KINDS = frozenset(f"builtins.{each}" for each in ("isinstance", "issubclass", "hasattr", "type", "callable"))
_KINDS |= {"torch.is_tensor"}
"""Functions that ask of what kind something is: the batches of all ranks are of one kind, whatever is in them."""
_READS = frozenset("builtins.open torch.load json.load pickle.load numpy.load pandas.read_csv".split())
"""Functions that read a file, which says the same to all ranks."""
_SAME = frozenset({"torch.cuda.is_available", "torch.cuda.device_count", *(f"builtins.{each}" for each in _CALLS)})
_SAME |= {f"os.path.{each}" for each in ("join", "splitext", "split", "basename", "dirname", "abspath")}
_LOOKS = frozenset(f"os.path.{each}" for each in ("exists", "isfile", "isdir"))
"""Functions that look for a file: it is there for all ranks or for none, until something is done again and again."""
_COMPUTES = re.compile(r"math\.\w+|numpy\.(?!load|from|genfrom|empty|random|save|mem)\w+")
"""Functions that give the same for the same."""
_METHODS = frozenset(
    "__len__ size dim startswith endswith lower upper strip keys get split format named_parameters modules read".split()
)
_OWN = (
    *(ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom),
    *(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp),
)
"""Expressions with names or turns of their own."""
ITERATIONS = re.compile(r"keras\.optimizers\.[\w.]+\(\)\.iterations(\.\w+\(\))?")
"""The steps that an optimizer of Keras has taken."""
_VARIABLE = "tensorflow.Variable()"
_READ = r"(assign|assign_add|assign_sub|numpy|read_value|value)"
_COUNTED = re.compile(rf"tensorflow\.Variable\(\)(\.{_READ}\(\))*\.{_READ}")
_CHANGES = frozenset({"assign", "assign_add", "assign_sub"})
_OBJECTS = re.compile(
    r"torch\.(optim|utils\.tensorboard|cuda\.amp|amp)\.(\w+\.)*[A-Z]\w*\(\)|tensorboardX?\.(\w+\.)*[A-Z]\w*\(\)"
)
"""Objects of libraries that are no numbers: optimizers, schedules, writers."""
_CHOOSES = frozenset(
    "where nonzero argwhere flatnonzero masked_select boolean_mask unique compress extract filter filterfalse takewhile nms"
    " batched_nms dropna query".split()
)
"""Functions that keep those for which something is so, and so decide how many there are."""
DEEPEST = 12


class Uniform:
    """Answers for one program. `dealt` is what loops count with where each rank has numbers of its own; `collecting` says
    that every rank collects samples from an environment of its own; what the `agreed` statements set is the same on all.
    """

    def __init__(
        self,
        program: Program,
        dealt: Container[ast.AST] = (),
        collecting: bool = False,
        agreed: Container[ast.AST] = (),
    ) -> None:
        self.program, self.dealt, self.collecting, self.agreed = program, dealt, collecting, agreed
        self.callers = callers(program)
        self._known: dict[tuple[ast.AST | None, str], bool] = {}

    def holds(self, node: ast.expr | None, depth: int = DEEPEST) -> bool:
        """Whether `node` is the same on every rank."""
        if node is None or isinstance(node, ast.Constant):
            return True
        if depth == 0 or node in self.dealt:
            return False
        names = self.program.names(node)
        if any(name.startswith(_SETTINGS) or ITERATIONS.fullmatch(name) for name in names):
            return self._kept(node, names, depth - 1)
        if _VARIABLE in names and isinstance(node, ast.Name | ast.Attribute):
            return self._counted(node, depth - 1)
        if isinstance(node, ast.Compare) and all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops):
            if not any(type(getattr(each, "value", None)) is int for each in node.comparators):  # else it means `==`
                return self._of_one_kind(node.left, True, depth - 1)
        if names and all(map(_OBJECTS.fullmatch, names)) and self._there(node):
            return True
        if isinstance(node, ast.Name):
            return self._name(node, depth - 1)
        if isinstance(node, ast.Attribute | ast.Call):
            return self._call(node, depth - 1) if isinstance(node, ast.Call) else self._attribute(node, depth - 1)
        return not isinstance(node, _OWN) and all(
            self.holds(child, depth - 1) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
        )

    def _kept(self, node: ast.expr, names: Iterable[str], depth: int) -> bool:
        """Whether no loop puts something of a rank's own under the name by which a setting is read here."""
        key = getattr(node.slice if isinstance(node, ast.Subscript) else None, "value", None)
        keys = {str(key) if name.endswith("?") else name.rpartition(".")[2] for name in names}
        for each in [each for name in keys for each in _overwritten(self.program).get(name, ())]:
            place = (each, "")
            if place not in self._known:
                self._known[place] = True
                self._known[place] = self.holds(each, depth) and self.steady(each)
            if not self._known[place]:
                return False
        return True

    def _of_one_kind(self, node: ast.expr, empty: bool, depth: int) -> bool:
        """Whether something is of one class on all ranks, or, for `empty`, is None on all or on none: no condition of a rank's
        own makes it that.
        """
        root = node if empty else root_of(node)
        owner = self.program.unit(node).lexical.owner_at(root.id, root) if isinstance(root, ast.Name) else None
        if owner is None or not isinstance(root, ast.Name) or not depth:
            return True
        key = (owner, f"{root.id} {empty}")
        if key not in self._known:
            self._known[key] = True  # what is made of itself under a question for its kind is of one if it was
            self._known[key] = self._made_alike(owner, root.id, empty, depth)
        return self._known[key]

    def _made_alike(self, owner: ast.AST, name: str, empty: bool, depth: int) -> bool:
        """Whether all that a variable is given, for `empty` None alone, it is given by all ranks or by none."""
        made = [each for each in nodes_in(owner, ast.Assign) if not empty or is_literal(each.value, None)]
        made = [each for each in made if any(ast.unparse(target) == name for target in each.targets)]
        if not all(map(self.steady, made)):
            return False
        shift = 1 if isinstance(self.program.parent(owner), ast.ClassDef) else 0
        calls = self.callers.get(owner, ()) if isinstance(owner, Function) else ()
        given = [each for call in calls for each in _given(owner, name, call, shift)]  # type: ignore[arg-type]
        return all(self._of_one_kind(each, empty, depth - 1) for each in given)

    def _there(self, node: ast.expr) -> bool:
        """Whether an expression stands for objects or None alone: to ask for its truth is to ask if there is any."""
        values = self.program.of(node)
        return all(isinstance(each, Foreign) or each in (Constant(None), Constant(False)) for each in values)

    def _call(self, node: ast.Call, depth: int) -> bool:
        given = values_given(node)
        if self.collecting and self._collected(node):
            return False
        if isinstance(node.func, ast.Name) and node.func.id == "len":
            return not any(self._chosen(each, depth) for each in given)
        names = self.program.names(node.func)
        if any(_COUNTED.fullmatch(name) for name in names) and isinstance(node.func, ast.Attribute):
            return self._counted(node.func.value, depth)
        if names & (_KINDS | _READS) and given:
            return self.holds(given[0], depth) if names & _READS else self._of_one_kind(given[0], False, depth)
        looks = names & _LOOKS and not _again(node, self.program)
        if looks or names & _SAME or (names and all(map(_COMPUTES.fullmatch, names))):
            return all(self.holds(each, depth) for each in given)
        own = self.program.functions(node.func)
        if own:
            return all(self._returns(each, depth) for each in own)
        method, receiver = method_name(node), receiver_of(node)
        if method in ("size", "dim", "__len__") and receiver is not None:
            return not self._chosen(receiver, depth)
        return method in _METHODS and all(self.holds(each, depth) for each in (receiver, *given))

    def _returns(self, function: ast.AST, depth: int) -> bool:
        """Whether a function of the program gives the same on all ranks: all that it returns is, and so is which of it."""
        if isinstance(function, ast.Lambda):
            return self.holds(function.body, depth)
        key = (function, "")
        if key not in self._known:
            self._known[key] = not yields(function)
            given = own_nodes(function, ast.Return)
            self._known[key] = not yields(function) and all(
                self.holds(each.value, depth) and self.steady(each) for each in given
            )
        return self._known[key]

    def _counted(self, variable: ast.expr, depth: int) -> bool:
        """Whether all that a variable of TensorFlow is made of, and set to by its methods, is the same on every rank."""
        while isinstance(variable, ast.Call) and isinstance(variable.func, ast.Attribute):
            variable = variable.func.value
        held = {value for value in self.program.of(variable) if isinstance(value, Foreign) and value.name == _VARIABLE}
        given = [arg for value in held if isinstance(value.node, ast.Call) for arg in value.node.args[:1]]
        for call in self.program.calls:
            if method_name(call) in _CHANGES and held & self.program.of(receiver_of(call)):
                given += call.args
        return bool(held) and all(self.holds(each, depth) for each in given)

    def _collected(self, node: ast.Call) -> bool:
        """Whether a call measures what was collected from an environment, such as `len(memory)` or `memory.size()`."""
        if isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            return isinstance(node.args[0], ast.Name | ast.Attribute)
        own = method_name(node) in ("size", "__len__") and not node.args
        return own and bool(self.program.functions(node.func))

    def _chosen(self, node: ast.expr, depth: int) -> bool:
        """Whether how many there are of something was decided, within a loop, by what each rank has of its own."""

        def behind(each: ast.AST) -> Iterator[ast.AST]:
            yield from () if self._chooses(each) else self.program.behind(each)
            yield from stored(each, self.program) if isinstance(each, ast.Name) else ()

        found = {*closure([node], behind)}
        uneven = {name for each in loops_around(node, self.program) for name in self._uneven(each)}
        if any(isinstance(each, ast.Name) and each.id in uneven for each in found):
            return True
        made = [each for each in found if isinstance(each, ast.expr) and self._chooses(each)]
        inside = (each for each in made if any(loops_around(each, self.program)))
        return any(not all(self.holds(part, depth) for part in _decides(each)) for each in inside)

    def _uneven(self, loop: ast.AST) -> set[str]:
        """The variables of a loop whose batches are dealt out, of which the last may be shorter, and what is made of them."""
        names = names_in(loop.target) if isinstance(loop, ast.For) and loop in self.dealt else set[str]()
        for each in nodes_in(loop, ast.Assign) if names else ():
            names |= {name for target in each.targets for name in names_in(target) if mentions(each.value, names)}
        return names

    def _chooses(self, node: ast.AST) -> bool:
        """Whether an expression keeps those for which something is so."""
        if isinstance(node, ast.Call):
            fixed = called(node, self.program) == "where" and len(node.args) + len(node.keywords) > 1
            return not fixed and called(node, self.program) in _CHOOSES
        if isinstance(node, ast.Subscript):
            return any(isinstance(each, ast.Compare) for each in self.program.sources(node.slice))
        return isinstance(node, ast.expr) and any(each.ifs for each in getattr(node, "generators", ()))

    def _attribute(self, node: ast.Attribute, depth: int) -> bool:
        if node.attr == "batch_size" and any(name.endswith("DataLoader()") for name in self.program.names(node.value)):
            return True
        own = bool(self.program.classes(node.value))
        if node.attr == "data" and not own:  # of a tensor: whatever objects of the program keep under that name
            return self.holds(node.value, depth)
        if node.attr == "shape":
            return not self._chosen(node.value, depth)
        if (node.attr.isupper() and not own) or node.attr in (
            "training",
            "ndim",
            "requires_grad",
            "dtype",
            "device",
            "type",
            "is_cuda",
        ):
            return True
        found = self.program.of(node)
        if found and all(isinstance(each, Constant | Callable) for each in found):
            return self._stored(node.attr, depth) is not False
        return self._stored(node.attr, depth) or False

    def _stored(self, name: str, depth: int) -> bool | None:
        """Whether all that is stored in attributes of a name, anywhere, is the same on every rank; None for nothing."""
        key = (None, name)
        if key not in self._known:
            self._known[key] = True
            values = [*_attributes(self.program).get(name, ())]
            values += self._of_classes(name)
            if not values:
                del self._known[key]
                return None
            own = (each for each in values if self.program.statement(each) not in self.agreed)
            self._known[key] = all(self.holds(each, depth) and self.steady(each) for each in own)
        return self._known[key]

    def _of_classes(self, name: str) -> Iterator[ast.expr]:
        """What classes give an attribute for all their objects, and what it is given where these are made."""
        for owner in _classes(self.program):
            fields = [each for each in owner.body if isinstance(each, ast.AnnAssign)]
            names = [each.target.id for each in fields if isinstance(each.target, ast.Name)]
            for each in owner.body:
                targets = targets_of(each)
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    yield from (each.value,) if isinstance(each, ast.Assign | ast.AnnAssign) and each.value else ()
            if name in names:
                makers = [call for call in self.program.calls if Class(owner) in self.program.of(call.func)]
                given = (argument(call, names.index(name), name) for call in makers)
                yield from (each for each in given if each is not None)

    def _name(self, node: ast.Name, depth: int) -> bool:
        owner = self.program.owner(node)
        if self._comprehended(node):
            return False
        if owner is None:
            return not any(isinstance(v, Foreign) and v.node is not None for v in self.program.of(node))
        last = self._last(node, owner)
        if last:
            return all(self.holds(each.value, depth) and self.steady(each.statement) for each in last)
        key = (owner, node.id)
        if key not in self._known:
            self._known[key] = True
            self._known[key] = self._variable(owner, node.id, depth)
        return self._known[key]

    def _last(self, node: ast.Name, owner: ast.AST) -> list[Origin]:
        """The assignments of which one has set a variable where it is read; none where loops or methods may change it."""
        unit = self.program.unit(node)
        again = (each for loop in loops_around(node, self.program) for each in nodes_in(loop, ast.Name))
        changed = any(each.id == node.id and isinstance(each.ctx, ast.Store) for each in again)
        changed = changed or any(each.lineno < node.lineno for each in _put(self.program, owner).get(node.id, ()))
        if changed or unit.lexical.scope(node) is not owner:
            return []
        found = origins(node, self.program)
        return found if all(each.whole and isinstance(each.statement, ast.Assign) for each in found) else []

    def _variable(self, owner: ast.AST, name: str, depth: int) -> bool:
        unit = self.program.unit(owner)
        for node in nodes_in(owner, ast.Name):
            if node.id == name and not isinstance(node.ctx, ast.Load):
                if unit.lexical.owner_at(name, node) is not owner or self._comprehended(node):
                    continue
                if not self._bound(node, depth):
                    return False
        put = (
            each for each in _put(self.program, owner).get(name, ()) if self.program.statement(each) not in self.agreed
        )
        if not all(self.holds(each, depth) and self.steady(each) for each in put):
            return False
        if isinstance(owner, Function):
            return self._parameter(owner, name, depth)
        return True

    def _comprehended(self, name: ast.Name) -> bool:
        """Whether a name is a variable of a comprehension around it: no other has to do with it."""
        for above in self.program.ancestors(name):
            for each in getattr(above, "generators", ()) if isinstance(above, ast.expr) else ():
                if name.id in names_in(each.target):
                    return True
            if isinstance(above, ast.stmt):
                return False
        return False

    def _bound(self, node: ast.Name, depth: int) -> bool:
        """Whether what a name is bound to here is the same on every rank."""
        if self.program.statement(node) in self.agreed:
            return True
        above = self.program.parent(node)
        around = self.program.parent(above) if isinstance(above, ast.Tuple) else None
        if isinstance(above, ast.Tuple) and isinstance(around, ast.For):
            through = iterated(around.iter, self.program)
            if not isinstance(through, ast.Call) or called(through, self.program) != "enumerate":
                return False
            return above.elts[0] is node or self._turns(through.args[0], depth)
        if isinstance(around, ast.Assign):
            given = around.value
            if isinstance(above, ast.Tuple) and isinstance(given, ast.Tuple) and len(given.elts) == len(above.elts):
                given = given.elts[above.elts.index(node)]
            return self.holds(given, depth) and self.steady(around.value)
        if isinstance(above, ast.withitem):
            return self.holds(above.context_expr, depth)
        if isinstance(above, ast.For) and above.target is node:
            return self._turns(above.iter, depth)
        if isinstance(above, ast.Assign) and node in above.targets:
            return self.holds(above.value, depth) and self.steady(above.value)
        if isinstance(above, ast.AnnAssign | ast.AugAssign):
            return self.holds(above.value, depth) and self.steady(above)
        return False

    def steady(self, node: ast.AST) -> bool:
        """Whether a binding is made under conditions that are the same on every rank."""
        for above in self.program.ancestors(self.program.statement(node)):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                break
            if isinstance(above, ast.If) and not self.holds(above.test, DEEPEST // 2):
                return False
        return True

    def _turns(self, node: ast.expr, depth: int) -> bool:
        if node in self.dealt:
            return False
        node = iterated(node, self.program)
        if isinstance(node, ast.Call):
            names = self.program.names(node.func)
            if any(name.rpartition(".")[2] in COUNTS for name in names):
                # Wherever it ends: the numbers that it gives are the same as far as they go.
                begins = len(node.args) > 1 or any("count" in name for name in names)
                return all(self.holds(each, depth) for each in (node.args[:1] if begins else []) + node.args[2:])
        inside = self.program.held(self.program.of(node))
        return bool(inside) and all(isinstance(each, Constant) for each in inside)

    def _parameter(self, function: Function, name: str, depth: int) -> bool:
        """Whether all that calls give for a parameter is the same on every rank."""
        shift = 1 if isinstance(self.program.parent(function), ast.ClassDef) else 0
        calls = self.callers.get(function, ())
        return all(self.holds(each, depth) for call in calls for each in _given(function, name, call, shift))


def _decides(node: ast.expr) -> list[ast.expr]:
    """What decides how many an expression keeps."""
    if isinstance(node, ast.Call):
        return [*values_given(node), *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    if isinstance(node, ast.Subscript):
        return [node.slice]
    generators = getattr(node, "generators", ())
    own = {name for each in generators for name in names_in(each.target)}
    asked = (name for each in generators for test in each.ifs for name in nodes_in(test, ast.Name))
    return [*(each.iter for each in generators), *(name for name in asked if name.id not in own)]


def _given(function: Function, name: str, call: ast.Call, shift: int) -> Iterator[ast.expr]:
    """What a call gives for a parameter, as far as it is written; what comes by `*` or `**` may be for any behind it."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][shift:]
    several, named = function.args.vararg, {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    begins = len(names) if several is not None and several.arg == name else names.index(name) if name in names else None
    if begins is not None:
        spread = (at for at, each in enumerate(call.args) if isinstance(each, ast.Starred))
        first = min(begins, next(spread, begins))
        last = None if begins == len(names) or first < begins else begins + 1
        yield from (each.value if isinstance(each, ast.Starred) else each for each in call.args[first:last])
    rest = function.args.kwarg is not None and function.args.kwarg.arg == name
    for keyword in call.keywords:
        if keyword.arg in (name, None) or (rest and keyword.arg not in named):
            yield keyword.value


@remembered
def _put(program: Program, owner: ast.AST) -> dict[str, list[ast.expr]]:
    """What is added to the lists, sets and dicts in a scope, by how they are written there."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(owner):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("append", "add", "extend", "update", "insert", "appendleft"):
                found.setdefault(ast.unparse(node.func.value), []).extend(node.args)
        elif isinstance(node, ast.Assign):
            for each in node.targets:
                if isinstance(each, ast.Subscript):
                    found.setdefault(ast.unparse(each.value), []).append(node.value)
    return found


@remembered
def _overwritten(program: Program) -> dict[str, list[ast.expr]]:
    """What loops put among the settings of a program, by its names there."""
    found: dict[str, list[ast.expr]] = {}
    for node in program.nodes(ast.AST):
        held: list[tuple[ast.expr, object, ast.expr | None]] = []
        if isinstance(node, ast.Call) and "builtins.setattr" in program.callee(node) and len(node.args) == 3:
            held = [(node.args[0], getattr(node.args[1], "value", None), node.args[2])]
        for each in targets_of(node):
            if isinstance(each, ast.Attribute | ast.Subscript):
                key = each.attr if isinstance(each, ast.Attribute) else getattr(each.slice, "value", None)
                held.append((each.value, key, getattr(node, "value", None)))
        for settings, key, value in held:
            if isinstance(key, str) and value is not None and _are_settings(settings, program):
                if _again(node, program):
                    found.setdefault(key, []).append(value)
    return found


def _again(node: ast.AST, program: Program) -> bool:
    """Whether a node runs in a loop, or is come to from one."""
    return any(any(turns_around(each, program)) for each in upwards([node], program))


def _are_settings(node: ast.expr, program: Program) -> bool:
    return any(name.startswith(_SETTINGS) for name in program.names(node))


@remembered
def _attributes(program: Program) -> dict[str, list[ast.expr]]:
    """What is stored in attributes, by their names."""
    found: dict[str, list[ast.expr]] = {}
    for node in program.nodes(ast.AST):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            for name in {target.attr for target in targets_of(node) if isinstance(target, ast.Attribute)}:
                found.setdefault(name, []).append(node.value)
    return found


@remembered
def _classes(program: Program) -> list[ast.ClassDef]:
    """The classes that a program defines."""
    nodes = program.nodes(ast.AST)
    return [each for each in nodes if isinstance(each, ast.ClassDef)]
