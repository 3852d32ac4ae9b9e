"""torchvision.models.feature_extraction: https://docs.pytorch.org/vision/stable/feature_extraction.html

A model runs until all that is asked for was seen. What is asked for by the name of an operation, not of a layer, is unknown.
"""

from _elsewhere import resolved
from torch import nn


class _AllSeen(Exception):
    pass


class DualGraphModule(nn.Module):
    """The layers of a model up to the last one whose output is asked for."""

    def __init__(self, model, nodes):
        super().__init__()
        self._whole = [model]
        self._nodes = nodes
        self._layers = dict(model.named_modules())
        left = {path.split(".")[0] for path in nodes}
        for name, child in model.named_children():
            if left:
                self.add_module(name, child)
            left.discard(name)

    def forward(self, *args, **kwargs):
        seen = {}
        layers = {path: self._layers[path] for path in self._nodes if path in self._layers}

        def keep(path):
            def hook(layer, given, output):
                seen[path] = output
                if len(seen) == len(self._nodes):
                    raise _AllSeen

            return hook

        handles = [layer.register_forward_hook(keep(path)) for path, layer in layers.items()]
        self._whole[0].training = self.training
        try:
            self._whole[0](*args, **kwargs)
        except _AllSeen:
            return {name: seen[path] for path, name in self._nodes.items()}
        finally:
            for handle in handles:
                handle.remove()
        return {name: resolved(seen) for name in self._nodes.values()}


def create_feature_extractor(
    model, return_nodes=None, train_return_nodes=None, eval_return_nodes=None, *args, **kwargs
):
    if return_nodes is None:
        return resolved(model)
    nodes = return_nodes if isinstance(return_nodes, dict) else {path: path for path in return_nodes}
    return DualGraphModule(model, {str(path): str(name) for path, name in nodes.items()})


def get_graph_node_names(model, *args, **kwargs):
    return resolved(model), resolved(model)
