"""transformers.utils.output_capturing: hooks collect what the layers of a class give, where a caller or a configuration asks."""

from contextvars import ContextVar
from functools import wraps

from _elsewhere import resolved
from transformers.utils.generic import as_asked

_collecting = ContextVar("collecting", default=None)


class OutputRecorder:
    """Which outputs of which layers are collected."""

    def __init__(
        self, target_class=None, index=0, layer_name=None, class_name=None, capture_initial_hidden_state=True, **_
    ):
        self.target_class = target_class
        self.index = index
        self.layer_name = layer_name
        self.class_name = class_name
        self.capture_initial_hidden_state = capture_initial_hidden_state


def _recorders(model):
    """Pairs of a name and what is collected under it, of a model's class."""
    found = []
    for key, listed in (getattr(model, "_can_record_outputs", None) or {}).items():
        for each in listed if isinstance(listed, list) else [listed]:
            if isinstance(each, str):
                each = OutputRecorder(None, 0 if "hidden_states" in key else 1, class_name=each)
            elif not isinstance(each, OutputRecorder):
                each = OutputRecorder(each, 0 if "hidden_states" in key else 1)
            found.append((key, each))
    return found


def _hooked(module, key, recorder):
    def hook(module, args, output):
        collected = _collecting.get()
        if collected is None or key not in collected:
            return
        if key == "hidden_states" and recorder.capture_initial_hidden_state and len(collected[key]) == 0:
            collected[key].append(args[0])
        value = output[recorder.index] if isinstance(output, tuple) else output
        if value is not None:
            collected[key].append(value)

    module.register_forward_hook(hook)


def _meant(modules, recorder):
    """The modules, by path, that a recorder is for."""
    if recorder.target_class is not None:
        found = [pair for pair in modules if isinstance(pair[1], recorder.target_class)]
    else:
        found = [pair for pair in modules if pair[0].endswith(recorder.class_name)]
    if recorder.layer_name is None:
        return found
    return [pair for pair in found if f".{recorder.layer_name.strip('.')}." in f".{pair[0]}."]


def _hook_all(model, keys):
    """Hooks on a model and all below it; models within it have recorders of their own."""
    from transformers.modeling_utils import PreTrainedModel

    modules = list(model.named_modules())
    inner = [pair for pair in modules if pair[0] and isinstance(pair[1], PreTrainedModel)]
    for path, module in inner:
        modules = [pair for pair in modules if pair[0] != path and not pair[0].startswith(path + ".")]
        _hook_all(module, keys)
    for key, recorder in _recorders(model):
        if key in keys and key not in getattr(model, "_recorded", ()):
            for _, module in _meant(modules, recorder):
                _hooked(module, key, recorder)
    model._recorded = (*getattr(model, "_recorded", ()), *keys)


def _wanted(model, kwargs):
    """The names under which something is to be collected."""
    found = []
    for key, _ in _recorders(model):
        option = "output_attentions" if key.endswith("attentions") else f"output_{key}"
        if key not in found and kwargs.get(option, getattr(model.config, option, False)):
            found.append(key)
    return found


def _tied(model, tie, outputs, states):
    """The last of the hidden states is what the model gives as such."""
    asked = getattr(model.config, "tie_last_hidden_states", None)
    for name in ("vision_hidden_states", "last_hidden_state"):
        if (tie if asked is None else asked) and states and hasattr(outputs, name):
            return [*states[:-1], getattr(outputs, name)]
    return states


def _collected(model, func, tie, args, kwargs):
    wanted = _wanted(model, kwargs)
    collected = {key: [] for key in wanted}
    if wanted:
        _hook_all(model, wanted)
    token = _collecting.set(collected)
    try:
        outputs = func(model, *args, **kwargs)
    finally:
        _collecting.reset(token)
    chosen = not isinstance(kwargs.get("output_hidden_states", True), bool)
    for key in wanted:
        states = key == "hidden_states"
        if (states and chosen) or (key.endswith("attentions") and not model.config.attends_eagerly):
            outputs[key] = resolved(key)
        else:
            outputs[key] = tuple(_tied(model, tie, outputs, collected[key]) if states else collected[key])
    return outputs


def capture_outputs(func=None, *, tie_last_hidden_states=True, **options):
    def decorate(func):
        @wraps(func)
        def wrapper(self, *args, **kwargs):
            asked = kwargs.pop("return_dict", None)
            return as_asked(self, _collected(self, func, tie_last_hidden_states, args, kwargs), asked)

        return wrapper

    return decorate if func is None else decorate(func)
