"""PyTorch: optimizer steps, losses, weights, and the collectives of Horovod and torch.distributed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from .importing import Hook, wrap
from .recorder import Recorder, Source, fields_of
from .torch_data import array, arrays

SCALED = "_distml_scale"
"""The attribute of a loss that says by how much it was multiplied."""
PATIENCE = timedelta(seconds=20)
"""How long a process waits for the others before it leaves."""
TRACE = ("_dump_fr_trace_json", "_dump_nccl_trace_json")


def hooks(recorder: Recorder) -> dict[str, Hook]:
    """By the module after which they are made."""
    found = Torch(recorder)
    return {
        "torch.optim.optimizer": found.optimizers,
        "torch": found.tensors,
        "torch.amp.grad_scaler": scalers,
        "torch.distributed.distributed_c10d": found.groups,
        "horovod.torch.mpi_ops": found.horovod,
        "horovod.torch.functions": found.horovod_functions,
    }


def scalers(module: Any) -> None:
    """Losses are noted as they were before they were multiplied for half precision."""

    def noted(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any, outputs: Any) -> Any:
            scaled = original(self, outputs)
            if hasattr(scaled, "backward") and self.is_enabled():
                setattr(scaled, SCALED, self.get_scale())
            return scaled

        return run

    wrap(module.GradScaler, "scale", noted)


class Weights(Source):
    """The parameters of every optimizer, in the order in which the optimizers were made."""

    def __init__(self) -> None:
        self.optimizers: list[Any] = []
        self.models: list[Any] = []
        self.last: list[Any] = []
        """The weights as they were last read, on the processor."""

    def parameters(self) -> list[Any]:
        """Each parameter once."""
        seen: dict[int, Any] = {}
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    seen.setdefault(id(parameter), parameter)
        return list(seen.values())

    def read(self) -> list[Any] | None:
        """Parameters as arrays; those that are sharded among the processes are gathered, which all of them do."""
        names: dict[int, str] = {}
        for model in self.models:
            names.update({id(value): name for name, value in model.named_parameters()})
        with self._gathered():
            parameters = self.parameters()
            self.last = [_whole(each).detach().cpu().clone() for each in parameters]
        told = [names.get(id(each), f"parameter {index}") for index, each in enumerate(parameters)]
        return [(name, array(value.float())) for name, value in zip(told, self.last)]

    def _gathered(self) -> contextlib.ExitStack:
        """While it is open, the parameters of models in `FullyShardedDataParallel` are whole."""
        stack = contextlib.ExitStack()
        sharded: Any = getattr(sys.modules.get("torch.distributed.fsdp"), "FullyShardedDataParallel", None)
        for model in self.models if sharded else ():
            if isinstance(model, sharded):
                stack.enter_context(sharded.summon_full_params(model, writeback=False))
        return stack

    def save(self, path: str) -> None:
        """The parameters that were last read as one file of torch."""
        torch: Any = sys.modules["torch"]
        torch.save(self.last, path)

    def load(self, path: str) -> str:
        """Copy by position."""
        torch: Any = sys.modules["torch"]
        saved, own = torch.load(path), self.parameters()
        if [value.shape for value in saved] != [value.shape for value in own]:
            return f"{len(saved)} parameters were saved, {len(own)} of other shapes are here"
        with torch.no_grad():
            for parameter, value in zip(own, saved):
                parameter.copy_(value)
        return ""


class Torch:
    """The hooks, over one recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.weights = Weights()
        self.depth = 0
        self.forward = 0
        self.rates: list[tuple[dict[str, Any], Any]] = []

    def optimizers(self, module: Any) -> None:
        """Notice optimizers when they are made and when they step."""
        weights = self.weights
        self.recorder.source = weights

        def constructor(original: Callable[..., None]) -> Callable[..., None]:
            def init(self: Any, *args: Any, **kwargs: Any) -> None:
                original(self, *args, **kwargs)
                weights.optimizers.append(self)

            return init

        wrap(module.Optimizer, "__init__", constructor)
        module.register_optimizer_step_pre_hook(self._before)
        module.register_optimizer_step_post_hook(self._after)

    def _before(self, optimizer: Any, *_: Any) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        if self.recorder.due() and not self.recorder.suppressed:
            self.recorder.weights()
        for group in optimizer.param_groups if self.recorder.plan.rate != 1.0 else ():
            # For the length of a step, so that it does not matter whether a schedule or the script set the rate.
            if group.get("lr") is not None:
                self.rates.append((group, group["lr"]))
                group["lr"] = group["lr"] * self.recorder.plan.rate

    def _after(self, *_: Any) -> None:
        self.depth -= 1
        if self.depth:
            return
        for group, rate in self.rates:
            group["lr"] = rate
        self.rates.clear()
        self.recorder.stepped()
        if self.recorder.enough():
            self.recorder.boundary()

    def tensors(self, torch: Any) -> None:
        """Losses, the inputs of models, seeds, and an end of torch.distributed without noise."""
        recorder = self.recorder
        torch.manual_seed(recorder.plan.seed + recorder.plan.rank)

        def backward(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, *args: Any, **kwargs: Any) -> Any:
                recorder.loss(float(self.detach().float().mean()) / getattr(self, SCALED, 1.0))
                return original(self, *args, **kwargs)

            return run

        wrap(torch.Tensor, "backward", backward)
        modules = torch.nn.modules.module
        modules.register_module_forward_pre_hook(self._enter)
        modules.register_module_forward_hook(self._leave, always_call=True)
        recorder.at_end.append(lambda: self._flight(torch))

    def _enter(self, module: Any, inputs: Any) -> None:
        self.forward += 1
        if module.training and type(module).__name__.startswith("BatchNorm"):
            self.recorder.apart("batch normalization")
        if self.forward != 1 or not self.weights.optimizers:
            return
        if module not in self.weights.models:
            self.weights.models.append(module)
        if self.recorder.plan.load:
            self.recorder.boundary()
        found = arrays(inputs) if module.training else []
        if found:
            self.recorder.batch("input", found)

    def _leave(self, *_: Any) -> None:
        self.forward -= 1

    def groups(self, module: Any) -> None:
        """What torch noted of collectives is gone with the process group: it is read before."""

        def noted(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                self._flight(sys.modules["torch"])
                return original(*args, **kwargs)

            return run

        wrap(module, "destroy_process_group", noted)

    def _flight(self, torch: Any) -> None:
        """What torch's flight recorder knows of collectives, those of DistributedDataParallel included."""
        binding = getattr(torch._C, "_distributed_c10d", None)
        distributed = sys.modules.get("torch.distributed")
        if binding is None or distributed is None or not distributed.is_initialized():
            return
        for name in TRACE:
            dump = getattr(binding, name, None)
            content = dump() if dump else b""
            if content:
                with open(self.recorder.plan.file(name), "wb") as file:
                    file.write(content if isinstance(content, bytes) else content.encode())

    def horovod(self, module: Any) -> None:
        """Put a listener between Horovod's Python and its library."""
        if hasattr(module, "mpi_lib"):
            module.mpi_lib = Listener(module.mpi_lib, self.recorder)

    def horovod_functions(self, module: Any) -> None:
        """`broadcast_optimizer_state` makes a step that is none."""
        recorder = self.recorder

        def quiet(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                recorder.suppressed += 1
                try:
                    return original(*args, **kwargs)
                finally:
                    recorder.suppressed -= 1

            return run

        wrap(module, "broadcast_optimizer_state", quiet)


def _whole(parameter: Any) -> Any:
    """A parameter; of one that `fully_shard` has divided, all of it."""
    return parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter


def leave_together() -> None:
    """Wait until all processes have come to their end, for a while: what one sends last is lost when it leaves.

    The processes meet in the store that they found each other by, which begins no collective.
    """
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return
    store = distributed.distributed_c10d._get_default_store()
    ranks = [f"distml/{rank}" for rank in range(distributed.get_world_size())]
    store.set(ranks[distributed.get_rank()], "left")
    store.wait(ranks, PATIENCE)


class Listener:
    """Horovod's library, each collective noted before it is handed on."""

    def __init__(self, library: Any, recorder: Recorder) -> None:
        self._library = library
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        kind = name.replace("horovod_torch_", "").split("_async_")[0]
        if kind == "wait_and_clear":
            return lambda handle: self._wait(function, handle)
        if "_async_" not in name and kind not in ("join", "barrier"):
            return function

        def call(*args: Any) -> Any:
            label = next((arg for arg in args if isinstance(arg, (str, bytes))), "")
            text = label.decode() if isinstance(label, bytes) else label
            values = args[0] if args and isinstance(args[0], (list, tuple)) else args[:1]
            for value in values or [None]:
                self._recorder.collective(kind, text, **fields_of(value))
            return function(*args)

        return call

    def _wait(self, function: Callable[[Any], Any], handle: Any) -> Any:
        self._recorder.waits(True)
        try:
            return function(handle)
        finally:
            self._recorder.waits(False)
