"""TensorFlow: steps, losses and weights in tapes, functions and sessions, and the collectives of Horovod."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from .graphs import eager, note, tensorflow
from .importing import Hook, wrap
from .recorder import Recorder, Source, fields_of

COLLECTIVES = ("allreduce", "allgather", "broadcast", "alltoall", "reducescatter", "join", "barrier")


class Weights(Source):
    """The variables that optimizers were applied to, then what the optimizers hold."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self.optimizers: list[Any] = []
        self.session: Any = None
        self.run: Callable[..., Any] | None = None

    def add(self, optimizer: Any, variables: list[Any]) -> None:
        """Remember an optimizer and what it was applied to."""
        known = {id(variable) for variable in self.variables}
        self.variables += [variable for variable in variables if id(variable) not in known]
        if all(optimizer is not other for other in self.optimizers):
            self.optimizers.append(optimizer)

    def settled(self) -> bool:
        """Not in a session."""
        return self.session is None

    def read(self) -> list[Any] | None:
        """Variables as arrays; in a session, of its graph."""
        if self.session is not None:
            return self._read_session(self._of_session())
        if not eager():
            return None
        return [(variable.name, variable.numpy()) for variable in self.variables]

    def _of_session(self) -> list[Any]:
        return list(self.session.graph.get_collection("trainable_variables"))

    def _all_of_session(self) -> list[Any]:
        found = [value for value in self.session.graph.get_collection("variables") if value.dtype.is_floating]
        return self._of_session() + [value for value in found if all(value is not own for own in self._of_session())]

    def _read_session(self, variables: list[Any]) -> list[Any] | None:
        if not variables or self.run is None:
            return None
        try:
            return list(zip([variable.name for variable in variables], self.run(self.session, variables)))
        except tensorflow().errors.FailedPreconditionError:
            return None

    def _state(self) -> list[Any]:
        """What optimizers hold besides their rates."""
        found: list[Any] = []
        for optimizer in self.optimizers:
            held = getattr(optimizer, "variables", [])
            found += [value for value in (held() if callable(held) else held) if "learning_rate" not in value.name]
        return found

    def save(self, path: str) -> None:
        """As NumPy's own archive, by position."""
        if self.session is not None:
            found = self._read_session(self._all_of_session())
        else:
            found = [(value.name, value.numpy()) for value in [*self.variables, *self._state()]]
        if found:
            with open(path, "wb") as file:
                _numpy().savez(file, *[value for _, value in found])

    def load(self, path: str) -> str:
        """Assign by position."""
        archive = _numpy().load(path)
        saved = [archive[name] for name in archive.files]
        own = self._all_of_session() if self.session is not None else [*self.variables, *self._state()]
        if [value.shape for value in saved] != [tuple(value.shape) for value in own]:
            return f"{len(saved)} variables were saved, {len(own)} of other shapes are here"
        for variable, value in zip(own, saved):
            if self.session is not None:
                variable.load(value, self.session)
            else:
                variable.assign(value)
        return ""


class TensorFlow:
    """The hooks, over one recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.weights = Weights()
        self.depth = 0
        self.losses: dict[int, Any] = {}

    def hooks(self) -> dict[str, Hook]:
        """By the module after which they are made."""
        return {
            "tensorflow": self.seed,
            "tensorflow.python.eager.polymorphic_function.polymorphic_function": self.functions,
            "tensorflow.python.eager.backprop": self.tapes,
            "tensorflow.python.training.optimizer": self.optimizers,
            "tensorflow.python.client.session": self.sessions,
            "horovod.tensorflow.mpi_ops": self.horovod,
        }

    def seed(self, module: Any) -> None:
        """What the script leaves to chance."""
        recorder = self.recorder
        recorder.source = self.weights
        _numpy().random.seed(recorder.plan.seed + recorder.plan.rank)
        module.random.set_seed(recorder.plan.seed + recorder.plan.rank)
        module.compat.v1.set_random_seed(recorder.plan.seed + recorder.plan.rank)

    def step(self, optimizer: Any, variables: list[Any], loss: Any = None) -> Any:
        """An optimizer is applied: the operation that notes it in a graph."""
        self.weights.add(optimizer, variables)
        recorder = self.recorder

        def stepped(*values: Any) -> None:
            self.taken(*values)
            recorder.stepped()

        return note(stepped, [] if loss is None else [loss])

    def taken(self, *losses: Any) -> None:
        """Gradients are taken of `losses`."""
        for loss in losses:
            self.recorder.loss(float(loss.mean()))

    def outside(self) -> bool:
        """Whether the script itself starts what comes now: no other operation, and no thread that feeds a queue."""
        return self.depth == 0 and threading.current_thread() is threading.main_thread()

    def boundary(self) -> None:
        """Between two operations that the script starts itself."""
        if self.outside() and eager():
            self.recorder.boundary()

    def functions(self, module: Any) -> None:
        """A call of a `tf.function` from outside of any other lies between two steps."""
        hooks = self

        def outermost(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(self: Any, *args: Any, **kwargs: Any) -> Any:
                if str(getattr(self.python_function, "__module__", "")).startswith("horovod"):
                    return original(self, *args, **kwargs)
                hooks.boundary()
                hooks.depth += 1
                try:
                    return original(self, *args, **kwargs)
                finally:
                    hooks.depth -= 1

            return call

        wrap(module.Function, "__call__", outermost)

    def tapes(self, module: Any) -> None:
        """Losses are what gradients are taken of; a tape that is opened lies between two steps."""
        hooks = self

        def gradient(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
                found = [value for value in tensorflow().nest.flatten(target) if hasattr(value, "dtype")][:1]
                note(hooks.taken, found)
                return original(self, target, *args, **kwargs)

            return run

        def enter(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any) -> Any:
                hooks.boundary()
                return original(self)

            return run

        wrap(module.GradientTape, "gradient", gradient)
        wrap(module.GradientTape, "__enter__", enter)

    def optimizers(self, module: Any) -> None:
        """Optimizers of `tf.compat.v1.train`."""
        hooks, rate = self, self.recorder.plan.rate

        def compute(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
                if not eager() and hasattr(loss, "graph"):
                    hooks.losses[id(loss.graph)] = loss
                return original(self, loss, *args, **kwargs)

            return run

        def apply(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
                pairs = list(grads_and_vars)
                _scale(self, rate)
                done = original(self, pairs, *args, **kwargs)
                if type(self).__module__.startswith("horovod"):
                    return done  # it hands on to the optimizer it wraps
                return hooks.applied(self, [variable for _, variable in pairs], done)

            return run

        wrap(module.Optimizer, "compute_gradients", compute)
        wrap(module.Optimizer, "apply_gradients", apply)

    def applied(self, optimizer: Any, variables: list[Any], done: Any) -> Any:
        """`done`, once the step is noted too."""
        if eager():
            self.step(optimizer, variables)
            return done
        tf = tensorflow()
        graph = tf.compat.v1.get_default_graph()
        with tf.control_dependencies([done] if done is not None and hasattr(done, "graph") else []):
            noted = self.step(optimizer, variables, self.losses.get(id(graph)))
        return done if graph.building_function else tf.group(done, noted)

    def sessions(self, module: Any) -> None:
        """Each run of a session lies between two steps; what is fed to one that takes a step is a batch."""
        hooks, weights, recorder = self, self.weights, self.recorder

        def run(original: Callable[..., Any]) -> Callable[..., Any]:
            weights.run = original

            def call(self: Any, fetches: Any, feed_dict: Any = None, *args: Any, **kwargs: Any) -> Any:
                if threading.current_thread() is not threading.main_thread():
                    return original(self, fetches, feed_dict, *args, **kwargs)
                weights.session = self
                fed: list[Any] = []
                if hooks.outside():
                    recorder.boundary()
                    fed = [value for value in (feed_dict or {}).values() if getattr(value, "shape", ())]
                steps = recorder.steps
                if fed:
                    recorder.begun()
                hooks.depth += 1
                try:
                    return original(self, fetches, feed_dict, *args, **kwargs)
                finally:
                    hooks.depth -= 1
                    if fed and recorder.steps > steps:
                        recorder.batch("feed", fed, steps)

            return call

        def close(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(self: Any) -> Any:
                if weights.session is self:
                    recorder.weights()
                    weights.session = None
                return original(self)

            return call

        wrap(module.BaseSession, "run", run)
        wrap(module.BaseSession, "close", close)

    def horovod(self, module: Any) -> None:
        """Put a listener between Horovod's Python and its operations."""
        if hasattr(module, "MPI_LIB"):
            module.MPI_LIB = Listener(module.MPI_LIB, self.recorder)


class Listener:
    """Horovod's operations, each collective noted before it runs."""

    def __init__(self, library: Any, recorder: Recorder) -> None:
        self._library = library
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        kind = name.replace("horovod_", "", 1)
        if not kind.replace("grouped_", "").startswith(COLLECTIVES):
            return function

        def call(*args: Any, **kwargs: Any) -> Any:
            given = args[0] if args else None
            tensors = list(given) if isinstance(given, (list, tuple)) else [given]
            label = kwargs.get("name") or ""
            told = [(str(label), fields_of(tensor)) for tensor in tensors]

            def tell() -> None:
                for text, fields in told:
                    self._recorder.collective(kind, text, **fields)

            noted = note(tell, [])
            if noted is None:
                return self._eagerly(function, args, kwargs)
            with tensorflow().control_dependencies([noted]):
                return function(*args, **kwargs)

        return call

    def _eagerly(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self._recorder.waits(True)
        try:
            return function(*args, **kwargs)
        finally:
            self._recorder.waits(False)


def _scale(optimizer: Any, factor: float) -> None:
    """Multiply the learning rate of an optimizer of `tf.compat.v1`, once, where its class keeps it."""
    if factor == 1.0 or getattr(optimizer, "_smoke_scaled", False):
        return
    optimizer._smoke_scaled = True
    for name in ("_lr", "_learning_rate"):
        rate = getattr(optimizer, name, None)
        if callable(rate):
            setattr(optimizer, name, lambda rate=rate: rate() * factor)
        elif rate is not None:
            setattr(optimizer, name, rate * factor)


def _numpy() -> Any:
    return sys.modules["numpy"]
