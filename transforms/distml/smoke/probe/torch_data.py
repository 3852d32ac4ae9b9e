"""PyTorch: batches as they are read, larger batches for one process that stands for several, and no chance."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .importing import Hook, wrap
from .plan import Plan
from .recorder import Recorder

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


def hooks(recorder: Recorder) -> dict[str, Hook]:
    """By the module after which they are made."""
    found: dict[str, Hook] = {
        "torch.utils.data.dataloader": lambda module: loaders(module, recorder),
        "accelerate.data_loader": lambda module: prepared(module, recorder),
    }
    if recorder.plan.still:
        found["torch.utils.data.sampler"] = lambda module: samplers(module, recorder.plan)
        found["torch.utils.data.distributed"] = distributed
        found["torch.nn.functional"] = dropouts
        found["torch.nn.modules.rnn"] = recurrent
    return found


def loaders(module: Any, recorder: Recorder) -> None:
    """Note the batches of DataLoaders, and multiply their sizes."""
    factor = recorder.plan.factor

    def init(original: Callable[..., None]) -> Callable[..., None]:
        def run(self: Any, dataset: Any, batch_size: Any = 1, *args: Any, **kwargs: Any) -> None:
            sampler = kwargs.get("batch_sampler") or (args[2] if len(args) > 2 else None)
            if sampler is not None:
                sampler.batch_size = getattr(sampler, "batch_size", 1) * factor
            elif batch_size is not None:
                batch_size *= factor
            original(self, dataset, batch_size, *args, **kwargs)

        return run

    def following(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any) -> Any:
            batch = original(self)
            if trained_on() and type(self._index_sampler).__name__ != "BatchSamplerShard":
                recorder.batch("loader", arrays(batch))
            return batch

        return run

    wrap(module.DataLoader, "__init__", init)
    wrap(module._BaseDataLoaderIter, "__next__", following)


def prepared(module: Any, recorder: Recorder) -> None:
    """A loader that accelerate deals out fetches each batch a turn before it hands it on."""

    def handed_on(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any) -> Iterator[Any]:
            for batch in original(self):
                if trained_on():
                    recorder.batch("loader", arrays(batch))
                yield batch

        return run

    wrap(module.DataLoaderShard, "__iter__", handed_on)


def trained_on() -> bool:
    """Whether a batch that is read now may be trained on: gradients are taken."""
    torch: Any = sys.modules["torch"]
    return bool(torch.is_grad_enabled())


def array(tensor: Any) -> Any:
    """The values of a tensor on any device; NumPy has no type for some, such as bfloat16."""
    try:
        return tensor.numpy(force=True)
    except TypeError:
        return tensor.float().numpy(force=True)


def arrays(batch: Any) -> list[Any]:
    """The tensors of a batch; of an object of a library, such as a graph of nodes, those of its `to_dict`."""
    torch: Any = sys.modules["torch"]
    if torch.is_tensor(batch):
        return [array(batch)]
    if isinstance(batch, Mapping):
        return arrays(list(batch.values()))
    if hasattr(batch, "to_dict"):
        return arrays(batch.to_dict())
    if isinstance(batch, (list, tuple)):
        return [found for item in batch for found in arrays(item)]
    return []


def samplers(module: Any, plan: Plan) -> None:
    """Shuffled data is read in order; processes that draw by random numbers of their own take turns."""

    def run(self: Any) -> Iterator[int]:
        own = self.replacement and self.generator is not None
        first, step = (plan.rank, plan.size) if own else (0, 1)
        return ((first + index * step) % len(self.data_source) for index in range(self.num_samples))

    wrap(module.RandomSampler, "__iter__", lambda original: run)


def distributed(module: Any) -> None:
    """The same for the sampler that shares data among processes."""

    def ordered(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any) -> Any:
            self.shuffle = False
            return original(self)

        return run

    wrap(module.DistributedSampler, "__iter__", ordered)


def dropouts(module: Any) -> None:
    """No dropout, which would draw other numbers in each process."""

    def identity(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 the name callers may use
            return input

        return run

    for name in DROPOUTS:
        wrap(module, name, identity)

    def attention(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(
            query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0, *rest: Any, **named: Any
        ) -> Any:
            return original(query, key, value, attn_mask, 0.0, *rest, **named)

        return run

    wrap(module, "scaled_dot_product_attention", attention)


def recurrent(module: Any) -> None:
    """Recurrent layers hand their dropout to one fused operation."""

    def init(original: Callable[..., None]) -> Callable[..., None]:
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            self.dropout = 0.0

        return run

    wrap(module.RNNBase, "__init__", init)
