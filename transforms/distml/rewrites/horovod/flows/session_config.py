"""Sessions of TensorFlow 1, each on the GPU of its process."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.spelling import module_of
from distml.rewrites.horovod.notes import ONE_GPU
from distml.rewrites.horovod.plan import Plan
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_given
from distml.training.values import Foreign

_MADE = re.compile(
    r"tensorflow\.(Session|InteractiveSession|train\.(MonitoredTrainingSession|SingularMonitoredSession|ChiefSessionCreator"
    r"|Supervisor\(\)\.(managed_session|prepare_or_wait_for_session)))"
)
POSITIONS = {
    "Session": 2,
    "InteractiveSession": 2,
    "MonitoredTrainingSession": 9,
    "ChiefSessionCreator": 2,
    "managed_session": 1,
    "prepare_or_wait_for_session": 1,
}
"""Where sessions take `config` by position; 99 where nobody gives it so."""


def configure(plan: Plan) -> None:
    """Give every session that the program makes a configuration that names the GPU of its process."""
    for call in plan.program.calls:
        names = [name for name in plan.program.names(call.func) if _MADE.fullmatch(name)]
        if names and plan.may_change(call):
            place(plan, call, "config", POSITIONS.get(names[0].rpartition(".")[2], 99), module_of(call, plan.program))


def place(plan: Plan, call: ast.Call, name: str, position: int, module: str) -> None:
    """Let the configuration that `call` takes as `name` say which GPU to use."""
    given = argument(call, position, name)
    if not is_given(given):
        _fresh(plan, call, name, module, given)
        return
    made = _made(given, "tensorflow.ConfigProto()", plan.program)
    for config in made:
        _extend(plan, config, module)
    if not made:
        plan.warn(
            "HVD310",
            given,
            "cannot determine how this session is configured; every process may allocate all GPUs",
            "set `gpu_options.visible_device_list` to the local rank",
        )


def _fresh(plan: Plan, call: ast.Call, name: str, module: str, given: ast.expr | None) -> None:
    patch = plan.patch(call)
    if patch.requests.keywords.get(call, {}).get(name) or any(
        each.startswith(f"{name}=") for each in patch.requests.arguments.get(call, ())
    ):
        return
    text = new(plan, call, module)
    if given is not None:
        patch.wrap(given, text, ONE_GPU)
    else:
        patch.keyword(call, name, text, ONE_GPU)


def new(plan: Plan, node: ast.expr, module: str) -> str:
    """Make a configuration in front of the statement of `node`, and give its name; one made above serves again."""
    world, patch = plan.world(node), plan.patch(node)
    statement = plan.program.statement(node)
    for above, known in plan.configurations:
        if plan.program.parent(above) is plan.program.parent(statement) and above.lineno <= statement.lineno:
            return known
    name = patch.free("config")
    plan.configurations.append((statement, name))
    lines = [f"{name} = {module}.ConfigProto()", f"{name}.gpu_options.visible_device_list = str({world.local_rank})"]
    patch.before(statement, "\n".join(lines), ONE_GPU)
    return name


def _made(node: ast.expr, name: str, program: Program) -> list[ast.Call]:
    found = [v.node for v in program.of(node) if isinstance(v, Foreign) and v.name == name]
    return [each for each in found if isinstance(each, ast.Call)]


def _extend(plan: Plan, config: ast.Call, module: str) -> None:
    """Name the GPU in a configuration that the program makes."""
    options = next((k.value for k in config.keywords if k.arg == "gpu_options"), None)
    devices = f"str({plan.world(config).local_rank})"
    if options is None:
        code = f"{module}.GPUOptions(visible_device_list={devices})"
        plan.patch(config).keyword(config, "gpu_options", code, ONE_GPU)
        return
    for call in _made(options, "tensorflow.GPUOptions()", plan.program):
        plan.patch(call).keyword(call, "visible_device_list", devices, ONE_GPU)
