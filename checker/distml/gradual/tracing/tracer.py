"""What all proxies of a run share: from what user code does with one to the rules that answer it."""

from __future__ import annotations

import ast
import dis
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from distml.gradual.tracing.lifting import lift, lower
from distml.gradual.tracing.proxies import Known, Sizes, TensorProxy, Truth, Unknown
from distml.gradual.tracing.watching import Refusal, Tested
from distml.interp import operators, subscripts
from distml.interp.arguments import Arguments
from distml.interp.attributes import find_attribute_of
from distml.interp.calls import call_library, call_value
from distml.interp.machine import OutOfSteps, OutOfTime, PathEnd
from distml.interp.patterns import unpack
from distml.values import Const, LibMethod, Many, Num, Opaque, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from distml.gradual.tracing.places import Places
    from distml.gradual.tracing.watching import PathWatcher
    from distml.interp.machine import Machine
    from distml.interp.trace import Demand


class RefusedError(RuntimeError):
    """What the user's code sees where the real library would raise."""

    def __init__(self, demand: Demand) -> None:
        super().__init__(demand.text)
        self.demand = demand


class Abandoned(BaseException):
    """The run cannot be followed any further. No `except Exception` of the user's code stops it."""


class Tracer:
    """Answers for the proxies of one run after another. They say that they are on `device`."""

    def __init__(self, vm: Machine, places: Places, device: torch.device) -> None:
        self.vm = vm
        self.places = places
        self.watcher: PathWatcher
        self.device = device
        self._base = torch.empty(0, device="meta")

    # --- making proxies -----------------------------------------------------------------

    def lift(self, value: Any) -> Value:
        """The abstract value of an object."""
        return lift(self, value)

    def tensor(self, value: Value) -> TensorProxy:
        """A tensor of some abstract value."""
        with torch._C.DisableTorchFunction():
            made: TensorProxy = torch.Tensor._make_subclass(TensorProxy, self._base)
        made.value, made.tracer = value, self
        return made

    def known(self, number: int) -> Known:
        """A size that is a plain number."""
        made = Known(number)
        made.tracer = self
        return made

    def sizes(self, items: Sequence[Any]) -> Sizes:
        """A shape of known rank."""
        made = Sizes(self.known(item) if type(item) is int else item for item in items)
        made.tracer = self
        return made

    def unknown(self, name: str) -> Unknown:
        """Something nothing is known of."""
        return Unknown(self, self.vm.opaque(name))

    # --- where the program stands -------------------------------------------------------------

    @contextmanager
    def entered(self) -> Iterator[FrameType]:
        """From the user's code into the rules: they learn where it stands, and it what they refuse."""
        vm = self.vm
        frame = self.places.frame_of(sys._getframe(2))
        if frame is None:
            raise Abandoned("no code of the model's own is running")
        place = self.places.place_of(frame)
        vm.frame, vm.node = place.module.frame, place.node
        vm.stack = [vm.frame]
        try:
            yield frame
        except Refusal as refusal:
            raise RefusedError(refusal.demand) from None
        except PathEnd:
            raise Abandoned(f"{self.where()} cannot be followed") from None
        except OutOfSteps:
            raise Abandoned("following it takes too much work") from None
        except OutOfTime:
            raise Abandoned("the time limit was reached") from None

    def where(self) -> str:
        """The place that was entered last."""
        return f"{self.vm.frame.module.source.path}:{getattr(self.vm.node, 'lineno', 1)}"

    # --- what is asked of numbers and sequences -------------------------------------------------

    def binary(self, operator: type[ast.operator], left: Value, right: Value) -> Any:
        """Arithmetic."""
        with self.entered():
            return lower(self, operators.binary(self.vm, operator(), left, right, self.vm.node))

    def compare(self, operator: type[ast.cmpop], left: Value, right: Value) -> Any:
        """A comparison of sizes or of tuples of them."""
        with self.entered():
            found = operators.compare(self.vm, operator(), left, right, self.vm.node)
            if isinstance(found, Const):
                return Truth(self, found)
            return lower(self, found)

    def joined(self, values: Sequence[Any], conjunction: bool) -> Truth:
        """`a & b` or `a | b` of truths."""
        with self.entered():
            return Truth(self, self.watcher.joined([lift(self, v) for v in values], conjunction))

    def negated(self, truth: Truth) -> Truth:
        """The opposite of a truth."""
        with self.entered():
            found = operators.unary(self.vm, ast.Not(), truth.value, self.vm.node)
            return Truth(self, found)

    def require(self, name: str, truth: Truth) -> None:
        """The program goes on only if this holds: `torch._assert`."""
        with self.entered():
            call_library(self.vm, name, Arguments([truth.value]), self.vm.node)
            self.watcher.learn(self.watcher.condition(truth.value))

    def decide(self, value: Value, about_shapes: bool) -> bool:
        """The truth of a value where the program needs it."""
        caller = sys._getframe(2)
        with self.entered():
            path = self.vm.frame.module.source.path
            leaf = self.places.leaf_at(caller)
            return self.watcher.decide_path(Tested(value, leaf, path, id(caller), about_shapes))

    def number(self, value: Value) -> int:
        """A size as the number it is; the run ends where it is not known."""
        with self.entered():
            if isinstance(value, Num):
                constant = self.vm.facts.dim(value.dim).constant
                if constant is not None:
                    return constant
            raise Abandoned(f"{self.where()}: Python needs a number where only {_shown(value)} is known")

    def length(self, proxy: Any) -> Any:
        """`len(proxy)`."""
        if isinstance(proxy, tuple):
            return self.known(tuple.__len__(proxy))
        with self.entered():
            value: Value = proxy.value
            return lower(self, call_library(self.vm, "builtins.len", Arguments([value]), self.vm.node))

    def item(self, value: Value, index: Any) -> Any:
        """`value[index]`."""
        with self.entered():
            return lower(self, subscripts.subscript(self.vm, value, lift(self, index), self.vm.node))

    def iterate(self, proxy: Any) -> Iterator[Any]:
        """The items of a proxy: as many as the target of an assignment has, where it is being unpacked."""
        unpacking = _unpacks(sys._getframe(2))
        if not unpacking and isinstance(proxy, tuple):
            return tuple.__iter__(proxy)
        with self.entered():
            vm, array = self.vm, isinstance(proxy, TensorProxy)
            items: Sequence[Value] | Many
            if unpacking and isinstance(vm.node, ast.Tuple | ast.List):
                items = unpack(vm, vm.node, lift(self, proxy))
            else:
                items = vm.iterate(lift(self, proxy))
            if isinstance(items, Many):
                raise Abandoned(f"{self.where()}: the number of iterations or items is not known")
            return iter([lower(self, item, array) for item in items])

    # --- what is asked of tensors ---------------------------------------------------------------

    def attribute(self, value: Value, name: str) -> Any:
        """`value.name` as the rules know it; a method that they do not know is an unknown one."""
        with self.entered():
            found = find_attribute_of(self.vm, value, name)
            if found is None or isinstance(found, LibMethod):
                self.vm.lose(f"{name} of a tensor is not known")
                found = self.vm.opaque(name)
            return lower(self, found)

    def call(self, name: str, arguments: Arguments, receiver: Value | None = None) -> Value:
        """Call a library's function, or the method of a receiver. To be used where `entered`."""
        vm = self.vm
        if receiver is None:
            found = call_library(vm, name, arguments, vm.node)
        else:
            found = call_value(vm, LibMethod(name, receiver), arguments, vm.node)
        if isinstance(found, Opaque):
            vm.lose(f"what {name} gives is not known")
        return found


def _shown(value: Value) -> str:
    return str(value.dim) if isinstance(value, Num) else str(value)


def _unpacks(frame: FrameType) -> bool:
    """Whether an assignment to several names is unpacking a value in this frame."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "UNPACK_SEQUENCE"
