"""torch: what has no shape: gradients off and on, devices, seeds, compilation, files.

https://docs.pytorch.org/docs/stable/torch.html. A context manager that is also a decorator gives a
name of its own, `torch.no_grad.applied`, which called with a function gives that function.
"""

from __future__ import annotations

from distml.ops.call import NONE, Call
from distml.ops.registry import attribute, layer, op
from distml.ops.rules.limits import limits_of
from distml.ops.rules.widths import CHOSEN
from distml.source.libraries import CHOOSES_FLOATS
from distml.values import Const, InstanceRecord, Lib, Many, Prim, Ref, Tup, Value

CONTEXT = "torch.autograd.function.FunctionCtx"
SAVED = "__saved__"

_MANAGERS = (
    *("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast"),
    *("amp.autocast", "cuda.amp.autocast", "cpu.amp.autocast", "autograd.no_grad", "autograd.enable_grad"),
    *("autograd.inference_mode", "autograd.set_grad_enabled", "autograd.set_detect_anomaly"),
    *("autograd.detect_anomaly", "autograd.profiler.profile", "profiler.record_function"),
)


@op(*(f"torch.{name}" for name in _MANAGERS))
def manager(call: Call, *args: Value, **options: Value) -> Value:
    """torch.no_grad() and its like; `@torch.no_grad` without brackets gives the function itself"""
    if len(args) == 1 and not options and not isinstance(args[0], Const | Prim) and "profiler" not in call.name:
        return args[0]
    return Lib(f"{call.name}.applied")


@op(*(f"torch.{name}.applied" for name in _MANAGERS), "torch.compile.applied", "torch.jit.ignore.applied")
def applied(call: Call, function: Value = NONE) -> Value:
    """The decorator that a call of torch.no_grad or torch.compile has made"""
    return function


@op("torch.compile", "torch.jit.script", "torch.jit.ignore", "torch.jit.export", "torch.jit.unused")
@op("torch.jit.script_method", "torch.jit.freeze", "torch.jit.optimize_for_inference", "torch.compiler.disable")
@op("torch._dynamo.disable", "torch.compiler.allow_in_graph", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd")
@op("torch.amp.custom_fwd", "torch.amp.custom_bwd", "torch.fx.wrap", "torch.jit.script_if_tracing")
@op("torch.autograd.function.once_differentiable", "torch.compiler.assume_constant_result")
@op("torch.nn.SyncBatchNorm.convert_sync_batchnorm", "torch.fx.symbolic_trace")
def compile(call: Call, model: Value = NONE, *args: Value, **options: Value) -> Value:
    """torch.compile(model) computes what the model computes; with options alone it makes a decorator"""
    return Lib("torch.compile.applied") if model == NONE else model


@op(
    "torch.cuda.is_available",
    "torch.backends.mps.is_available",
    "torch.is_grad_enabled",
    "torch.is_inference_mode_enabled",
)
@op("torch.cuda.is_bf16_supported", "torch.distributed.is_available", "torch.distributed.is_initialized")
@op(
    "torch.backends.cudnn.is_available", "torch.xpu.is_available", "torch.is_autocast_enabled", "torch.jit.is_scripting"
)
@op(
    "torch.jit.is_tracing",
    "torch.compiler.is_compiling",
    "torch.is_storage",
    "torch.can_cast",
    "torch.mps.is_available",
)
@op("torch.are_deterministic_algorithms_enabled", "torch.is_distributed", "torch.cuda.is_initialized")
def question(call: Call, *args: Value, **options: Value) -> Value:
    """torch.cuda.is_available() and what else depends on the machine"""
    return Prim("bool")


@op("torch.cuda.device_count", "torch.get_num_threads", "torch.cuda.current_device", "torch.cuda.memory_allocated")
@op("torch.cuda.max_memory_allocated", "torch.cuda.memory_reserved", "torch.distributed.get_rank")
@op("torch.cuda.max_memory_reserved")
@op("torch.distributed.get_world_size", "torch.get_num_interop_threads", "torch.xpu.device_count")
def count(call: Call, *args: Value, **options: Value) -> Value:
    """torch.cuda.device_count() and what else counts"""
    return Prim("int")


@op("torch.finfo", "torch.iinfo")
def limits(call: Call, *args: Value, **options: Value) -> Value:
    """torch.finfo(dtype): https://docs.pytorch.org/docs/stable/type_info.html"""
    return limits_of(call)


@op("torch.device")
def device(call: Call, *args: Value, **options: Value) -> Value:
    """torch.device(...): unknown, but no dtype"""
    found = call.unknown("device")
    call.world.put(("is device", found), True)
    return found


@op("torch.jit.load", "torch.cuda.get_device_name")
@op("torch.cuda.get_device_properties", "torch.cuda.Event", "torch.cuda.Stream", "torch.cuda.stream")
@op("torch.get_default_device")
@op("torch.cuda.get_device_capability", "torch.cuda.device", "torch.amp.GradScaler", "torch.cuda.amp.GradScaler")
@op("torch.func.linearize", "torch.func.functionalize", "torch.func.replace_all_batch_norm_modules_")
@op("torch.profiler.profile", "torch.hub.load", "torch.hub.load_state_dict_from_url")
def unknown(call: Call, *args: Value, **options: Value) -> Value:
    """torch.hub.load(...) and what else shapes cannot be told of"""
    return call.unknown()


@op(*CHOOSES_FLOATS["torch"])
def choose(call: Call, *args: Value, **options: Value) -> Value:
    """torch.set_default_dtype(dtype): what floats are from there on"""
    call.world.put(CHOSEN, True)
    return NONE


@op("torch.set_default_device", "torch.jit.save")
@op("torch.set_num_threads", "torch.set_num_interop_threads", "torch.set_printoptions", "torch.cuda.synchronize")
@op(
    "torch.cuda.empty_cache",
    "torch.cuda.set_device",
    "torch.use_deterministic_algorithms",
    "torch.set_float32_matmul_precision",
)
@op("torch.cuda.reset_peak_memory_stats", "torch.autograd.backward", "torch.set_flush_denormal")
@op("torch.mps.empty_cache")
def nothing(call: Call, *args: Value, **options: Value) -> Value:
    """torch.jit.save(module, file) and what else gives nothing back"""
    return NONE


@op("torch.autograd.Function.apply", "torch.autograd.function.Function.apply")
def function_apply(call: Call, self: Value, *args: Value) -> Value:
    """Function.apply(*args): the interpreter runs what the class defines (`interp/gradients`)"""
    return call.unknown()


@layer(CONTEXT)
class FunctionCtx:
    """https://docs.pytorch.org/docs/stable/autograd.html#context-method-mixins"""

    bases = ()


@op(f"{CONTEXT}.save_for_backward")
def save_for_backward(call: Call, self: Value, *tensors: Value) -> Value:
    """ctx.save_for_backward(*tensors): what ctx.saved_tensors gives"""
    record = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(record, InstanceRecord) and isinstance(self, Ref):
        call.world.replace(self, record.having({SAVED: Tup(tensors)}))
    return NONE


@attribute(f"{CONTEXT}.saved_tensors", f"{CONTEXT}.saved_variables")
def saved_tensors(call: Call, self: Value) -> Value:
    """ctx.saved_tensors"""
    return (call.attrs(self) or {}).get(SAVED) or call.unknown()


@op(*(f"{CONTEXT}.{name}" for name in ("mark_dirty", "mark_non_differentiable", "set_materialize_grads")))
@op(f"{CONTEXT}.save_for_forward")
def marked(call: Call, self: Value, *args: Value) -> Value:
    """ctx.mark_dirty(...) and what else no shape depends on"""
    return NONE


@attribute(f"{CONTEXT}.needs_input_grad")
def needs_input_grad(call: Call, self: Value) -> Value:
    """ctx.needs_input_grad: which inputs need a gradient is not known"""
    return call.unknown()


@op("torch.utils.checkpoint.checkpoint")
def checkpoint(call: Call, function: Value, *args: Value, **options: Value) -> Value:
    """torch.utils.checkpoint.checkpoint(function, *args): what the function gives"""
    own = ("use_reentrant", "context_fn", "determinism_check", "debug", "preserve_rng_state", "early_stop")
    return call.apply(function, *args, kwargs={k: v for k, v in options.items() if k not in own})


@op("torch.utils.checkpoint.checkpoint_sequential")
def checkpoint_sequential(call: Call, functions: Value, segments: Value, input: Value, **options: Value) -> Value:
    """torch.utils.checkpoint.checkpoint_sequential(functions, segments, input): each on what the one before gives"""
    found = call.iterate(functions)
    if isinstance(found, Many):
        return call.unknown()
    for function in found:
        input = call.apply(function, input)
    return input


_CONSTANTS = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "inf": float("inf"),
    "nan": float("nan"),
    "newaxis": None,
}


@attribute(*(f"torch.{name}" for name in _CONSTANTS))
def constant(call: Call, self: Value = NONE) -> Value:
    """torch.pi, torch.inf, torch.newaxis"""
    return Const(_CONSTANTS[call.name.rpartition(".")[2]])
