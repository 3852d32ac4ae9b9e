"""The collectives of the libraries, and what tells a rank who it is.

Signatures as the libraries document them: `#` marks a tensor that must have one shape on all ranks, `@` the root, `!`
what is the same on all ranks afterwards. https://docs.pytorch.org/docs/stable/distributed.html,
https://horovod.readthedocs.io/en/stable/api.html, https://huggingface.co/docs/accelerate/package_reference/accelerator,
https://huggingface.co/docs/accelerate/package_reference/utilities,
https://mpi4py.readthedocs.io/en/stable/reference/mpi4py.MPI.Comm.html
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

RANKS = 2
"""How many ranks a program is followed for: two show every difference between the first rank and the others."""


class Operation(NamedTuple):
    """A call that communicates. `result` says that what it returns is the same on all ranks."""

    name: str
    parameters: tuple[str, ...]
    root: str = ""
    tensor: str = ""
    agreed: tuple[str, ...] = ()
    result: bool = False


_TORCH = """
all_reduce(#tensor!, op, group, async_op)
broadcast(#tensor!, @src, group, async_op, group_src)
reduce(#tensor, @dst, op, group, async_op, group_dst)
all_gather(tensor_list!, #tensor, group, async_op)
all_gather_into_tensor(output_tensor!, #input_tensor, group, async_op)
all_gather_coalesced(output_tensor_lists!, input_tensor_list, group, async_op)
all_reduce_coalesced(tensors!, op, group, async_op)
gather(#tensor, gather_list, @dst, group, async_op, group_dst)
scatter(#tensor, scatter_list, @src, group, async_op, group_src)
reduce_scatter(#output, input_list, op, group, async_op)
reduce_scatter_tensor(#output, input, op, group, async_op)
all_to_all(output_tensor_list, input_tensor_list, group, async_op)
all_to_all_single(output, input, output_split_sizes, input_split_sizes, group, async_op)
barrier(group, async_op, device_ids)
monitored_barrier(group, timeout, wait_all_ranks)
broadcast_object_list(object_list!, @src, group, device)
all_gather_object(object_list!, obj, group)
gather_object(obj, object_gather_list, @dst, group)
scatter_object_list(scatter_object_output_list, scatter_object_input_list, @src, group)
new_group(ranks, timeout, backend, pg_options)
new_subgroups(group_size, group, timeout, backend, pg_options)
new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout, backend, pg_options)
init_process_group(backend, init_method, timeout, world_size, rank)
"""

_HOROVOD = """
allreduce(#tensor) -> !
allreduce_(#tensor!) -> !
grouped_allreduce(tensors) -> !
grouped_allreduce_(tensors!) -> !
allgather(tensor) -> !
allgather_object(obj) -> !
broadcast(#tensor, @root_rank) -> !
broadcast_(#tensor!, @root_rank) -> !
broadcast_object(obj, @root_rank) -> !
broadcast_parameters(params, @root_rank)
broadcast_optimizer_state(optimizer, @root_rank)
broadcast_variables(variables, @root_rank)
broadcast_global_variables(@root_rank)
alltoall(tensor, splits)
reducescatter(tensor)
barrier(process_set)
add_process_set(process_set)
callbacks.BroadcastGlobalVariablesCallback(@root_rank, device)
callbacks.MetricAverageCallback(device)
"""

_ACCELERATOR = """
wait_for_everyone()
gather(tensor) -> !
gather_for_metrics(input_data, use_gather_object) -> !
reduce(tensor, reduction, scale) -> !
pad_across_processes(tensor, dim, pad_index, pad_first)
check_trigger() -> !
main_process_first()
local_main_process_first()
backward(loss)
"""

_ACCELERATE = """
wait_for_everyone()
gather(tensor) -> !
gather_object(object) -> !
broadcast(tensor, @from_process) -> !
broadcast_object_list(object_list!, @from_process) -> !
reduce(tensor, reduction, scale) -> !
pad_across_processes(tensor, dim, pad_index, pad_first)
"""

_FABRIC = """
barrier(name)
all_reduce(data, group, reduce_op) -> !
all_gather(data, group, sync_grads) -> !
broadcast(obj, @src) -> !
"""

_MPI = """
Barrier()
barrier()
bcast(obj, @root) -> !
Bcast(buf!, @root)
gather(sendobj, @root)
Gather(sendbuf, recvbuf, @root)
scatter(sendobj, @root)
Scatter(sendbuf, recvbuf, @root)
allgather(sendobj) -> !
Allgather(sendbuf, recvbuf!)
alltoall(sendobj)
reduce(sendobj, op, @root)
Reduce(sendbuf, recvbuf, op, @root)
allreduce(sendobj, op) -> !
Allreduce(sendbuf, recvbuf!, op)
"""

_DEEPSPEED = """
backward(loss)
step()
save_checkpoint(save_dir, tag)
load_checkpoint(load_dir, tag)
"""

_DETECTRON = """
synchronize()
all_gather(data, group) -> !
gather(data, @dst, group)
shared_random_seed() -> !
reduce_dict(input_dict, average)
"""

_SINGLE = """
torch.nn.parallel.DistributedDataParallel(module, device_ids, output_device, dim, broadcast_buffers, process_group)
torch.distributed.fsdp.FullyShardedDataParallel(module, process_group)
torch.distributed.device_mesh.init_device_mesh(device_type, mesh_shape)
jax.experimental.multihost_utils.sync_global_devices(name)
jax.experimental.multihost_utils.broadcast_one_to_all(in_tree) -> !
jax.experimental.multihost_utils.process_allgather(in_tree, tiled) -> !
"""

HOROVOD = ("horovod.torch", "horovod.tensorflow", "horovod.keras", "horovod.tensorflow.keras", "horovod.mxnet")
ACCELERATOR, FABRIC, COMMUNICATOR, ENGINE = (
    "accelerate.Accelerator",
    "lightning.Fabric",
    "mpi4py.Comm",
    "deepspeed.Engine",
)
JOINS = frozenset(f"{name}.join" for name in HOROVOD)
JOINED = "join"
WRAPPED, UNSYNCED = "torch.nn.parallel.DistributedDataParallel", "no_sync"
AVERAGING, AVERAGED_TAPE = "horovod.DistributedOptimizer", "horovod.DistributedGradientTape"

_TABLES = {
    ("torch.distributed", "torch.distributed.distributed_c10d", "deepspeed.comm"): _TORCH,
    HOROVOD: _HOROVOD,
    (ACCELERATOR,): _ACCELERATOR,
    ("accelerate.utils", "accelerate.utils.operations", "accelerate.utils.other"): _ACCELERATE,
    (FABRIC,): _FABRIC,
    (COMMUNICATOR,): _MPI,
    (ENGINE,): _DEEPSPEED,
    ("detectron2.utils.comm",): _DETECTRON,
    ("",): _SINGLE,
}
_ALIASES = {
    "torch.nn.parallel.distributed.DistributedDataParallel": WRAPPED,
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel": (
        "torch.distributed.fsdp.FullyShardedDataParallel"
    ),
    "torch.distributed.init_device_mesh": "torch.distributed.device_mesh.init_device_mesh",
}
DECIDES = frozenset({"EarlyStopping", "ReduceLROnPlateau", "MetricAverageCallback", "BroadcastGlobalVariablesCallback"})
"""Callbacks that all ranks need, for what they do or decide is done by all."""
MAKES = frozenset(
    {"new_group", "init_process_group", "new_subgroups", "new_subgroups_by_enumeration", "init_device_mesh"}
)

OBJECTS = {
    "accelerate.Accelerator": ACCELERATOR,
    "accelerate.accelerator.Accelerator": ACCELERATOR,
    **dict.fromkeys(
        (f"accelerate.{state}" for state in ("PartialState", "state.PartialState", "state.AcceleratorState")),
        ACCELERATOR,
    ),
    "lightning.Fabric": FABRIC,
    "lightning.fabric.Fabric": FABRIC,
    "lightning_fabric.Fabric": FABRIC,
    **{f"{name}.DistributedOptimizer": AVERAGING for name in HOROVOD},
    **{f"{name}.DistributedGradientTape": AVERAGED_TAPE for name in HOROVOD},
}
"""What calls of these return, where the object communicates later."""

RANK_CALLS = frozenset(
    {
        "torch.distributed.get_rank",
        "torch.distributed.distributed_c10d.get_rank",
        "torch.distributed.get_node_local_rank",
        "deepspeed.comm.get_rank",
        "deepspeed.comm.get_local_rank",
        "jax.process_index",
        "detectron2.utils.comm.get_rank",
        "detectron2.utils.comm.get_local_rank",
        *(f"{name}.{call}" for name in HOROVOD for call in ("rank", "local_rank")),
        *(f"{COMMUNICATOR}.{call}" for call in ("Get_rank",)),
    }
)
SIZE_CALLS = frozenset(
    {
        "torch.distributed.get_world_size",
        "torch.distributed.distributed_c10d.get_world_size",
        "deepspeed.comm.get_world_size",
        "jax.process_count",
        "detectron2.utils.comm.get_world_size",
        *(f"{name}.{call}" for name in HOROVOD for call in ("size", "local_size")),
        f"{COMMUNICATOR}.Get_size",
    }
)
TRUE_CALLS = frozenset(
    {
        "torch.distributed.is_available",
        "torch.distributed.is_initialized",
        "torch.distributed.is_torchelastic_launched",
        "torch.distributed.distributed_c10d.is_initialized",
        "torch.distributed.distributed_c10d._is_default_group",
        "deepspeed.comm.is_initialized",
        *(f"{name}.is_initialized" for name in HOROVOD),
    }
)
DESTROYS = frozenset(
    {"torch.distributed.destroy_process_group", "torch.distributed.distributed_c10d.destroy_process_group"}
)
WORLD = frozenset(
    {"torch.distributed.group.WORLD", "torch.distributed.GroupMember.WORLD", "torch.distributed.default_pg"}
)
COMMUNICATORS = frozenset({"mpi4py.MPI.COMM_WORLD"})

RANK_NAMES = frozenset(
    "rank local_rank global_rank world_rank process_index local_process_index proc_rank rank_id mpi_rank ddp_rank "
    "ddp_local_rank process_rank dist_rank get_rank get_local_rank get_global_rank get_world_rank".split()
)
SIZE_NAMES = frozenset("world_size num_processes get_world_size ddp_world_size".split())
MAIN_NAMES = frozenset(
    "is_main_process is_local_main_process is_master is_master_process is_main main_process master_process is_rank_zero "
    "is_rank0 is_global_zero is_world_process_zero is_local_process_zero is_root is_chief is_primary is_local_master "
    "is_global_primary is_local_primary is_first_worker is_coordinator".split()
)
LAST_NAMES = frozenset({"is_last_process"})
TELLING = RANK_NAMES | SIZE_NAMES | MAIN_NAMES | LAST_NAMES
"""What names tell by custom which process this is, or how many there are."""
MAIN_ONLY = frozenset(
    "rank_zero_only master_only main_process_only rank0_only only_on_master on_main_process rank_zero_fn".split()
)
"""Decorators of other projects that let the first rank alone run a function."""

RANK_VARIABLES = frozenset(
    "RANK LOCAL_RANK OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK PMI_RANK SLURM_PROCID SLURM_LOCALID".split()
)
SIZE_VARIABLES = frozenset("WORLD_SIZE LOCAL_WORLD_SIZE OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_NTASKS".split())

SAMPLER = "torch.utils.data.DistributedSampler"
DICE = frozenset(
    {
        *(f"random.{name}" for name in ("random", "randint", "choice", "uniform")),
        *(f"numpy.random.{name}" for name in ("rand", "randn", "random", "uniform", "normal", "randint", "choice")),
    }
)
CLOCKS = frozenset({"time.time", "time.perf_counter", "time.monotonic", "time.process_time"})
"""What differs between processes though the program says nothing of ranks."""


@cache
def operations() -> dict[str, Operation]:
    """Every call that communicates, by its qualified name."""
    found = {}
    for prefixes, table in _TABLES.items():
        for line in table.split("\n"):
            if line.strip():
                name, operation = _operation(line.strip())
                for prefix in prefixes:
                    found[f"{prefix}.{name}" if prefix else name] = operation
    found.update({alias: found[name] for alias, name in _ALIASES.items()})
    return found


@cache
def words() -> frozenset[str]:
    """The last names of all calls that may communicate."""
    return frozenset(name.rpartition(".")[2] for name in operations()) | {
        "DDP",
        "FSDP",
        "send",
        "recv",
        "DistributedOptimizer",
        "DistributedGradientTape",
        "spawn",
        "initialize",
    }


def _operation(line: str) -> tuple[str, Operation]:
    name, _, rest = line.partition("(")
    inside, _, result = rest.partition(")")
    marked = [part.strip() for part in inside.split(",") if part.strip()]
    bare = {part: part.strip("#@!") for part in marked}
    return name, Operation(
        name.rpartition(".")[2],
        tuple(bare.values()),
        next((bare[part] for part in marked if "@" in part), ""),
        next((bare[part] for part in marked if "#" in part), ""),
        tuple(bare[part] for part in marked if "!" in part),
        "!" in result,
    )


ALIKE = frozenset(
    "shape size dim ndim device dtype is_cuda numel type requires_grad output_types output_shapes output_classes"
    " element_spec".split()
)
"""What batches of different ranks usually have in common."""
