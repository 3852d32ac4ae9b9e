"""The optimizers that models are compiled with: their gradients averaged over the ranks, their rates scaled.

`hvd.DistributedOptimizer` makes a new optimizer of the same class from the configuration of the old one, and averages in
`minimize`. Both legacy and current optimizers of TensorFlow 2.15 take it.
https://horovod.readthedocs.io/en/stable/keras.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.aspects.origins import origins
from distml.rewrites.horovod.aspects.rates import is_schedule, not_found, scale_optimizer, scaled_default
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit.models import TRAINING, Given, calls, literal, objects, own_method
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_literal, method_name, names_in, values_given
from distml.training.values import Class, Constant, Foreign, Instance

CLASSES = {
    name.lower(): name for name in "SGD Adam AdamW Adamax Nadam RMSprop Adagrad Adadelta Ftrl Adafactor Lion".split()
}
"""Keras's optimizers by the lower-case names that `compile` takes."""

_MADE = re.compile(
    r"(keras|tensorflow_addons|keras_contrib|transformers)\.(\w+\.)*(optimizers?|optimization)\.(\w+\.)*"
    rf"([A-Z]\w*|{'|'.join(CLASSES)})\(\)"
)
_CREATED = re.compile(r".*\.create_optimizer\(\)|keras\.optimizers\.(get|deserialize)\(\)")
_TF1 = re.compile(r"tensorflow\.(train|contrib\.opt)\.\w*Optimizer\(\)")
_COMPILED = re.compile(r"(keras|keras_\w+|tensorflow_\w+|transformers)\..*\.optimizer")
"""The optimizer of a model that is compiled already."""
_LOSS_SCALE = re.compile(r"keras\.mixed_precision\.(experimental\.)?LossScaleOptimizer\(\)")
_NOTE = Note(
    "gradients averaged over the ranks",
    "each rank computes the gradient of its own batch; all ranks must take the same step",
    "distributed-optimizer",
)


def distribute(plan: Plan, module: str, call: ast.Call) -> None:
    """Make the optimizers of one call of `compile` distributed. Raises `Refuse` (HVD205) where they cannot be seen."""
    program = plan.program
    arguments = Given(call, program)
    own = own_method(arguments.model, "compile", program)
    if arguments.on_super and arguments.text("optimizer") is None:
        return
    averaging = not steps_with_tape(program, *_classes(arguments, program))
    if own:
        for argument in values_given(call):
            if any(_is_made(value) for value in program.of(argument)):
                _Placing(plan, module, averaging).place(argument)
    given_ones = arguments.all("optimizer")
    if not given_ones and not own and _is_trained(arguments, program):
        _default(plan, module, call, averaging)
    for node in given_ones:
        if is_literal(node, None):
            _default(plan, module, call, averaging)
        elif not (arguments.on_super and isinstance(node, ast.Name) and _comes_from_callers(node, program)):
            _Placing(plan, module, averaging).place(node)


def _comes_from_callers(node: ast.Name, program: Program) -> bool:
    """Whether a method hands on an optimizer that its callers name: it is made where they call it; or nobody knows what."""
    values, function = program.of(node), program.function(node)
    if not values or function is None:
        return not values
    named = [Given(call, program).one("optimizer") for call in program.calling(function)]
    strings = bool(named) and all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in named)
    return strings and all(isinstance(value, Constant) for value in values)


def refuse_unseen(plan: Plan, trainings: Iterable[ast.AST]) -> None:
    """Raise `Refuse` (HVD205) where the program compiles no model and loads none: another file must do it."""
    program = plan.program
    seen = any(method_name(call) == "compile" for call in program.calls)
    loaded = any(name.endswith("load_model") for call in program.calls for name in program.names(call.func))
    for call in trainings:
        if isinstance(call, ast.Call) and not seen and not loaded:
            what = "cannot determine where this model is compiled and with which optimizer"
            raise Refuse("HVD205", call, what, "give the file that compiles it as well")


def steps_with_tape(program: Program, *classes: ast.ClassDef) -> bool:
    """Whether models of a class compute gradients in a step of their own, and apply them as they are.

    `apply_gradients` of a distributed optimizer does not average; the tape does that. `minimize` does.
    """
    for owner in classes:
        for function in owner.body:
            if isinstance(function, ast.FunctionDef) and function.name in ("train_step", "train_on_batch"):
                return any("tensorflow.GradientTape" in program.callee(node) for node in walk(function)) and not any(
                    isinstance(node, ast.Attribute) and node.attr == "minimize" for node in walk(function)
                )
    return False


def _classes(arguments: Given, program: Program) -> Iterator[ast.ClassDef]:
    """The classes of the program that the compiled model can be of."""
    if arguments.on_super:
        yield from (each for each in program.ancestors(arguments.call) if isinstance(each, ast.ClassDef))
    for value in objects(arguments.model, program):
        if isinstance(value, Instance):
            yield from program.own_bases(value.type)


def _is_trained(arguments: Given, program: Program) -> bool:
    """Whether what is compiled can be a model that the program trains; where that is not known, it is."""
    values = program.of(arguments.model)
    trained = [program.of(Given(call, program).model) for method in TRAINING for call in calls(program, method)]
    return not values or any(values & each or not each for each in trained)


def _is_made(value: object) -> bool:
    return isinstance(value, Foreign) and any(kind.fullmatch(value.name) for kind in (_MADE, _CREATED, _LOSS_SCALE))


def _is_optimizer(value: object) -> bool:
    return _is_made(value) and isinstance(value, Foreign) and ".schedules." not in value.name


def _default(plan: Plan, module: str, call: ast.Call, averaging: bool) -> None:
    """`compile` without an optimizer takes RMSprop."""
    if any(keyword.arg is None for keyword in call.keywords):
        raise Refuse(
            "HVD205", call, "the optimizer is in arguments that cannot be seen here", "give `compile` an `optimizer=`"
        )
    made = f"{spell(plan, call, 'keras.optimizers.RMSprop')}({scaled_default(plan, call, 'rmsprop')})"
    plan.patch(call).keyword(call, "optimizer", f"{module}.DistributedOptimizer({made})" if averaging else made, _NOTE)


class _Placing:
    """Finds where an optimizer is made, and changes it there."""

    def __init__(self, plan: Plan, module: str, averaging: bool, seen: set[ast.expr] | None = None) -> None:
        self._plan = plan
        self._program = plan.program
        self._module = module
        self._averaging = averaging
        self._seen = set() if seen is None else seen

    def place(self, node: ast.expr) -> None:
        """Make what an expression stands for distributed."""
        if node in self._seen:
            return
        self._seen.add(node)
        values = {each for each in self._program.of(node) if each != Constant(None)}
        names = {value.name for value in values if isinstance(value, Foreign)}
        if any(_TF1.fullmatch(name) for name in names):
            raise Refuse(
                "HVD205",
                node,
                "this is a TensorFlow 1 optimizer, which Horovod cannot wrap for a Keras model",
                "compile with one of `tf.keras.optimizers`",
            )
        if any(_COMPILED.fullmatch(name) for name in names):
            return
        made = [value.node for value in values if isinstance(value, Foreign) and _is_made(value)]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._string(node, node.value)
        elif isinstance(node, ast.Call) and (node in made or self._constructs(node)):
            self._made(node)
        elif made and len(made) == len(values) and all(isinstance(each, ast.Call) for each in made):
            self._each(node, [*dict.fromkeys(each for call in made for each in self._choices(call))])
        elif not self._assigned(node):
            self._anything(node)

    def _choices(self, call: ast.AST | None) -> list[ast.Call]:
        """An optimizer, and those beside it in a dictionary from which a setting chooses, whatever it says now."""
        display = self._program.parent(call) if call is not None else None
        beside = display.values if isinstance(display, ast.Dict) else [call]
        return [each for each in beside if isinstance(each, ast.Call) and any(map(_is_made, self._program.of(each)))]

    def _each(self, node: ast.expr, made: list[ast.Call]) -> None:
        """Change each optimizer that an expression may be. One that may be inside of another is averaged where it is used."""
        around = [_inner(call) for call in made if not self._scales_losses(call)]
        inside = {value.node for inner in around for value in self._program.of(inner) if isinstance(value, Foreign)}
        if not self._averaging or not inside & {*made}:
            for each in made:
                self._made(each)
            return
        within = self._inside()
        for each in made:
            within.place(each)
        self._average(node)

    def _scales_losses(self, call: ast.Call) -> bool:
        """Whether a call makes what scales losses around an optimizer, which stays the one that is averaged."""
        return any(_LOSS_SCALE.fullmatch(name) for name in self._program.names(call))

    def _inside(self) -> _Placing:
        """Places what is averaged by what stands around it."""
        return _Placing(self._plan, self._module, averaging=False, seen=self._seen)

    def _average(self, node: ast.expr) -> None:
        self._plan.patch(node).wrap(node, f"{self._module}.DistributedOptimizer({{}})", _NOTE)

    def _constructs(self, call: ast.Call) -> bool:
        return any(isinstance(value, Class) for value in self._program.of(call.func))

    def _assigned(self, node: ast.expr) -> bool:
        """Follow a variable to what was assigned to it."""
        found = origins(node, self._program)
        usable = [each.value for each in found if each.whole and isinstance(each.value, ast.Call)]
        if not found or len(usable) < len(found) or not all(self._constructs(each) for each in usable):
            return False
        for each in usable:
            self._made(each)
        return True

    def _made(self, call: ast.Call) -> None:
        names = self._program.names(call)
        inner = _inner(call)
        if self._scales_losses(call) and inner is not None:
            self.place(inner)
            return
        if any(_CREATED.fullmatch(name) for name in names):
            not_found(self._plan, call)
        elif inner is not None and any(_is_optimizer(value) for value in self._program.of(inner)):
            self._inside().place(inner)
        else:
            scale_optimizer(self._plan, call)
        if self._averaging:
            rate = argument(call, 0, "learning_rate", "lr")
            if rate is not None:
                _loadable(self._plan, rate)
            self._average(call)

    def _string(self, node: ast.expr, name: str) -> None:
        kind = CLASSES.get(name.lower())
        if kind is None:
            self._anything(node)
            return
        path = spell(self._plan, node, f"keras.optimizers.{kind}")
        made = f"{path}({scaled_default(self._plan, node, kind)})"
        code = f"{self._module}.DistributedOptimizer({made})" if self._averaging else made
        self._plan.patch(node).wrap(node, code, _NOTE)

    def _anything(self, node: ast.expr) -> None:
        """What may be a name or an optimizer: looked up at run time."""
        plan, patch = self._plan, self._plan.patch(node)
        found = f"{spell(plan, node, 'keras.optimizers')}.get({{}})"
        strings = {each for each in literal(node, self._program) if isinstance(each, str)}
        values = self._program.of(node)
        only = bool(values) and all(isinstance(each, Constant) for each in values)
        statement = self._program.statement(node)
        if (only or not strings) and (plan.options.scale_lr == "none" or not only):
            if plan.options.scale_lr != "none":
                not_found(plan, node)
            made = found
        else:
            name = made = patch.free("optimizer")
            text = ast.unparse(node)
            scaled = f"{name}.learning_rate = {name}.learning_rate * {plan.world(node).size}"
            own = {value.node for value in values if isinstance(value, Foreign) and _is_optimizer(value)}
            if own and all(isinstance(v, Constant) or (isinstance(v, Foreign) and v.node in own) for v in values):
                for each in own:  # what the program makes is scaled there, once
                    self._inside().place(each)  # type: ignore[arg-type]
                scaled = f"if isinstance({text}, str):\n    {scaled}"
            patch.before(statement, f"{name} = {found.format(text)}\n{scaled}", _NOTE)
        patch.wrap(node, f"{self._module}.DistributedOptimizer({made})" if self._averaging else made, _NOTE)


def _inner(call: ast.Call) -> ast.expr | None:
    """The optimizer that another is made of, if it is made of one."""
    return argument(call, 0, "inner_optimizer", "optimizer", "opt")


def _loadable(plan: Plan, rate: ast.expr) -> None:
    """Let a schedule of the program's own be made again from its configuration, as the wrapped optimizer does."""
    for value in plan.program.of(rate):
        if not isinstance(value, Instance) or not is_schedule(value, plan.program):
            continue
        owner = value.type.node
        note = Note(
            "the schedule can be made again from its configuration",
            "Horovod makes the distributed optimizer from the configuration of the one it is given",
            "loadable-schedule",
        )
        if not any(isinstance(each, ast.FunctionDef) and each.name == "get_config" for each in owner.body):
            plan.patch(owner).end(owner, _configuration(owner, rate), note)
        if not owner.decorator_list:
            registry = spell(plan, owner, "keras.utils.get_custom_objects")
            apart = "\n\n" if isinstance(plan.program.parent(owner), ast.Module) else "\n"
            plan.patch(owner).after(owner, f'{apart}{registry}()["{owner.name}"] = {owner.name}', note)


def _configuration(owner: ast.ClassDef, rate: ast.expr) -> str:
    """A `get_config` that gives back what `__init__` was given."""
    made = next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    names = [] if made is None else [each.arg for each in (*made.args.args[1:], *made.args.kwonlyargs)]
    kept: dict[str, str] = {}
    for node in walk(made) if made else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            inside = names_in(node.value) & {*names}
            if len(inside) == 1 and isinstance(node.value, ast.Name | ast.Call):
                kept.setdefault(inside.pop(), node.targets[0].attr)
    if any(name not in kept and name != "name" for name in names):
        raise Refuse(
            "HVD205",
            rate,
            f"the distributed optimizer is created from its configuration, and `{owner.name}` has no `get_config`",
            f"give `{owner.name}` a `get_config` that returns the arguments of its `__init__`",
        )
    items = ", ".join(f'"{name}": self.{kept[name]}' for name in names if name in kept)
    return f"\ndef get_config(self):\n    return {{{items}}}"
