"""Which parameters of a target are tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.gradual.targets import TargetError
from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.check import deep_recursion
from distml.interp.hints import hint_of, qualified_name
from distml.interp.machine import OutOfSteps, OutOfTime
from distml.interp.watch import Watcher
from distml.ops.dialect import LIBRARY_OF_CLASS
from distml.ops.registry import find_attribute, find_op
from distml.source.annotations import OptionalHint, ShapeHint, TypeHint
from distml.values import Opaque

if TYPE_CHECKING:
    from collections.abc import Collection

    from distml.gradual.targets import Program, Target
    from distml.interp.machine import Machine
    from distml.source.annotations import Hint
    from distml.values import Value

USUAL = ("x", "input", "inputs", "input_ids", "pixel_values", "input_features", "input_values", "hidden_states")
"""What the one input is called where every parameter may be left out, most usual first."""


class Input(NamedTuple):
    """A parameter of a target. One that is not `passed` keeps its default; `keyword` ones are passed by name."""

    name: str
    is_tensor: bool
    lib: str
    passed: bool
    keyword: bool

    def value(self, vm: Machine) -> Value:
        """What to pass for one that is not a tensor: something unknown."""
        return vm.opaque(self.name)


class _Parameter(NamedTuple):
    node: ast.arg
    has_default: bool
    keyword_only: bool


def find_inputs(
    program: Program, target: Target, wanted: Collection[str] = (), stated: Collection[str] = ()
) -> tuple[Input, ...]:
    """The parameters of a target and which of them are tensors.

    A parameter is a tensor if it is `stated` to be one, its annotation says so or the function uses it as one; one with a
    default is passed only if `wanted` or stated, or if there is no other. Raises `TargetError` for a wanted
    name that is not a tensor.
    """
    parameters = _parameters(target)
    names = [p.node.arg for p in parameters]
    for name in (*wanted, *stated):
        if name not in names:
            raise TargetError(f"{target.name} has no input {name!r}; it has {', '.join(names) or 'none'}")
    hinted = {p.node.arg: _library(program, target, p.node.annotation) for p in parameters}
    required = [p.node.arg for p in parameters if not p.has_default]
    chosen = {*required, *wanted, *stated}
    if not required:
        main = _main([p for p in parameters if _may_be_tensor(p, hinted)])
        chosen |= set() if main is None else {main}
    used = _used_as_tensors(program, target, parameters, chosen)
    found = []
    for p in parameters:
        name = p.node.arg
        lib = hinted[name] or used.get(name) or ("torch" if name in stated else None)
        is_tensor = lib is not None and name in chosen
        if name in wanted and not is_tensor:
            raise TargetError(f"{name} of {target.name} is not a tensor: the function never uses it as one")
        keyword = p.keyword_only or _after_gap(parameters, p, chosen)
        found.append(Input(name, is_tensor, lib or "torch", name in chosen, keyword))
    return tuple(found)


def _parameters(target: Target) -> list[_Parameter]:
    spec = target.function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    first = len(positional) - len(spec.defaults)
    found = [_Parameter(node, index >= first, False) for index, node in enumerate(positional)]
    if target.receiver is not None:
        found = found[1:]
    for node, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        found.append(_Parameter(node, default is not None, True))
    return found


def _after_gap(parameters: list[_Parameter], parameter: _Parameter, chosen: set[str]) -> bool:
    """Whether a parameter before this one is left out, so that this one must be named."""
    before = parameters[: parameters.index(parameter)]
    return any(p.node.arg not in chosen for p in before)


def _main(parameters: list[_Parameter]) -> str | None:
    names = [p.node.arg for p in parameters]
    return next((name for name in USUAL if name in names), names[0] if names else None)


def _may_be_tensor(parameter: _Parameter, hinted: dict[str, str | None]) -> bool:
    return hinted[parameter.node.arg] is not None or parameter.node.annotation is None


def _library(program: Program, target: Target, annotation: ast.expr | None) -> str | None:
    """The library whose tensors an annotation speaks of, None where it speaks of none."""
    if annotation is None:
        return None
    program.begin(target.state)
    return _of_hint(program.vm, hint_of(annotation))


def _of_hint(vm: Machine, hint: Hint) -> str | None:
    if isinstance(hint, OptionalHint):
        return _of_hint(vm, hint.inner)
    if isinstance(hint, ShapeHint):
        return "torch"
    if isinstance(hint, TypeHint):
        return LIBRARY_OF_CLASS.get(qualified_name(vm, hint.name))
    return None


def _used_as_tensors(
    program: Program, target: Target, parameters: list[_Parameter], chosen: set[str]
) -> dict[str, str]:
    """Parameters that the function computes with as tensors when it is run on unknown values."""
    vm = program.vm
    program.begin(target.state)
    values = {p.node.arg: vm.opaque(p.node.arg) for p in parameters if p.node.arg in chosen}
    given = Arguments([], dict(values))
    watcher = vm.watcher = Watcher(vm, lenient=True)
    try:
        with deep_recursion():
            vm.follow(lambda: call_value(vm, target.callee, given, target.function.node))
    except (OutOfSteps, OutOfTime, RecursionError):
        pass  # what was seen until then counts
    finally:
        vm.watcher = None
    return {name: "torch" for name, value in values.items() if _is_array(watcher, value)}


def _is_array(watcher: Watcher, value: Opaque) -> bool:
    vm = watcher.vm
    if value in watcher.arrays:
        return True
    attributes = [key[2] for key in vm.state.entries() if type(key) is tuple and key[0] == "attr" and key[1] is value]
    return any(_only_of_tensors(name) for name in attributes if isinstance(name, str))


def _only_of_tensors(name: str) -> bool:
    full = f"torch.Tensor.{name}"
    return name in ("shape", "size", "ndim", "dim") or (
        (find_op(full) is not None or find_attribute(full) is not None)
        and not any(find_op(f"builtins.{kind}.{name}") for kind in ("str", "list", "dict", "set", "int"))
    )
