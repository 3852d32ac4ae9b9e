"""Programs that are distributed already, or leave training to something that distributes it itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.devices import several
from distml.rewrites.horovod.plan import Loop, Remark
from distml.training.callers import leading_to
from distml.training.program import Program
from distml.training.syntax import is_literal
from distml.training.values import Callable

_BACK_ENDS = {
    "horovod": "Horovod",
    "byteps": "BytePS",
    "deepspeed": "DeepSpeed",
    "colossalai": "Colossal-AI",
    "smdistributed": "SageMaker's distributed library",
    "torch_xla": "PyTorch/XLA",
    "fairscale": "FairScale",
    "bagua": "Bagua",
}
_CALLS = {
    "torch.distributed.init_process_group": "torch.distributed",
    "torch.nn.parallel.DistributedDataParallel": "DistributedDataParallel",
    "torch.utils.data.distributed.DistributedSampler": "DistributedSampler",
    "torch.utils.data.DistributedSampler": "DistributedSampler",
    "torch.distributed.fsdp.FullyShardedDataParallel": "FullyShardedDataParallel",
    "tensorflow.train.ClusterSpec": "a TensorFlow cluster",
    "tensorflow.train.replica_device_setter": "parameter servers",
    "tensorflow.train.SyncReplicasOptimizer": "parameter servers",
    "keras.utils.multi_gpu_model": "multi_gpu_model",
    "torch.distributed.run": "torchrun",
}
_STRATEGY = re.compile(r"tensorflow\.(contrib\.)?distribute\.(\w+\.)*\w+Strategy")
_TRAINERS = {
    "pytorch_lightning": "Lightning",
    "lightning": "Lightning",
    "lightning_fabric": "Lightning Fabric",
    "accelerate": "Accelerate",
    "fastai": "fastai",
    "ignite": "Ignite",
    "catalyst": "Catalyst",
    "skorch": "skorch",
    "composer": "Composer",
    "mmcv": "MMCV",
    "mmengine": "MMEngine",
    "detectron2": "Detectron2",
    "transformers": "the Trainer of Transformers",
    "sentence_transformers": "Sentence Transformers",
    "ultralytics": "Ultralytics",
    "trl": "TRL",
    "tensor2tensor": "Tensor2Tensor",
    "paddle": "PaddlePaddle",
    "mxnet": "MXNet",
    "jax": "JAX",
    "ray": "Ray",
    "opacus": "Opacus",
}
_TRAINS = (
    "Trainer",
    "Accelerator",
    "Learner",
    "Fabric",
    "Runner",
    "Seq2SeqTrainer",
    "SFTTrainer",
    "NeuralNetClassifier",
    "PrivacyEngine",
)
_MODULES = ("LightningModule", "LightningDataModule")
_SEARCHES = re.compile(r"(keras_tuner|kerastuner|autokeras)\.(\w+\.)*\w+\(\)\.(search|fit)")
"""What tries many models, of which each has its own layers and rates."""

_SPAWNS = (
    *(f"torch.multiprocessing.{each}" for each in ("spawn", "Process", "start_processes")),
    *("ray.tune.run", "ray.tune.Tuner"),
)


def distributed(program: Program) -> list[Remark]:
    """Why nothing of a program with training loops is to be changed, if so."""
    found = [*back_ends(program), *trainers(program), *_processes(program), *_keras_of_others(program)]
    return [*found, *_private(program), *_searched(program)][:1]


def left_alone(program: Program) -> list[Remark]:
    """Why a program in which no loop was found needs nothing, if so."""
    return [*trainers(program), *back_ends(program)][:1]


def of_tensorflow(loops: list[Loop], backend: str) -> Iterator[Remark]:
    """Why a back end of PyTorch cannot distribute a program, if so."""
    for loop in [loop for loop in loops if loop.start != "torch"][:1]:
        what = f"{backend} distributes programs of PyTorch, and this {loop.what} is TensorFlow's"
        yield Remark("HVD202", loop.node, what, "use --backend horovod, or tf.distribute")


def back_ends(program: Program) -> Iterator[Remark]:
    """What makes a program distributed already."""
    imported = [(node, _BACK_ENDS.get(name.partition(".")[0])) for node, name in _imports(program)]
    used = [(call, _strategy(name)) for call in program.calls for name in program.names(call.func)]
    clusters = [(node, "TF_CONFIG for a TensorFlow cluster") for node in _clusters(program)]
    for does, found in (("imports", imported), ("uses", used), ("sets", clusters)):
        for node, title in found:
            if title is not None and (does == "imports" or _reached(program, node)):
                yield Remark("HVD201", node, f"the program is already distributed: it {does} {title}")
    for call in several(program):
        if _reached(program, call):
            what = "the program divides its work among the GPUs of one process itself"
            yield Remark("HVD202", call, what, "train on one GPU, one for each process")


def _strategy(name: str) -> str | None:
    """What a function distributes with, if it does."""
    return f"tf.distribute ({name.rpartition('.')[2]})" if _STRATEGY.fullmatch(name) else _CALLS.get(name)


def _clusters(program: Program) -> Iterator[ast.stmt]:
    """Where a program tells TensorFlow of the processes of a cluster."""
    for node in program.nodes(ast.Assign):
        keys = (each.slice for each in node.targets if isinstance(each, ast.Subscript))
        if any(is_literal(key, "TF_CONFIG") for key in keys):
            yield node


def trainers(program: Program) -> Iterator[Remark]:
    """What trains for the program and can distribute it itself."""
    for call in program.calls:
        for name in program.names(call.func):
            title = _TRAINERS.get(name.partition(".")[0])
            if title is not None and name.rpartition(".")[2] in _TRAINS:
                yield _left_to(title, call)
    for node in program.nodes(ast.AST):
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            for name in program.names(base):
                if name.rpartition(".")[2] in _MODULES and name.partition(".")[0] in _TRAINERS:
                    assert isinstance(node, ast.ClassDef)
                    yield _left_to(_TRAINERS[name.partition(".")[0]], base)


def _left_to(title: str, node: ast.expr) -> Remark:
    return Remark(
        "HVD202",
        node,
        f"training is left to {title}, which handles several processes itself",
        f"tell {title} how many devices to use; nothing needs to be rewritten",
    )


def _processes(program: Program) -> Iterator[Remark]:
    for call in program.calls:
        if program.names(call.func) & set(_SPAWNS) and _reached(program, call):
            yield Remark(
                "HVD211",
                call,
                "the program starts training processes of its own",
                "train in one process, and start one such process for each GPU",
            )


def _keras_of_others(program: Program) -> Iterator[Remark]:
    """Where Keras is told to compute with another library than TensorFlow."""
    for node in program.nodes(ast.AST):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        keys = [each.slice for each in node.targets if isinstance(each, ast.Subscript)]
        chosen = any(is_literal(key, "KERAS_BACKEND") for key in keys)
        if chosen and node.value.value in ("jax", "torch"):
            what = f"Keras computes with {node.value.value} here, and Horovod's Keras with TensorFlow only"
            yield Remark("HVD202", node, what, "set KERAS_BACKEND to tensorflow, with Keras 2")


def _private(program: Program) -> Iterator[Remark]:
    """Optimizers that clip the gradient of each sample and add noise to what they average."""
    for call in program.calls:
        for name in program.names(call.func):
            if name.startswith("tensorflow_privacy.") and "DP" in name.rpartition(".")[2]:
                what = "TensorFlow Privacy adds noise to the gradients, and its privacy budget holds for one process"
                yield Remark("HVD202", call, what, "train in one process, or with an optimizer without noise")


def _searched(program: Program) -> Iterator[Remark]:
    """Searches for a model that compile and train one after another: ranks would try different ones."""
    for call in program.calls:
        for name in program.names(call.func):
            if _SEARCHES.fullmatch(name) and _reached(program, call):
                what = "each process would run its own search, and different models cannot be trained together"
                yield Remark("HVD202", call, what, "search in one process, and train the result in a separate script")


def _imports(program: Program) -> Iterator[tuple[ast.stmt, str]]:
    for node in program.nodes(ast.AST):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node, node.module or ""


def _reached(program: Program, node: ast.AST) -> bool:
    """Whether the function around a node is used: modules often hold more than the program at hand needs."""
    function = program.function(node)
    if function is None or program.unit(node) in program.roots:
        return True
    return bool(leading_to(function, program)) or any(
        isinstance(value, Callable) and value.node is function for values in program.values.values() for value in values
    )
