"""transformers.utils.output_capturing"""

from transformers.utils.generic import captured


class OutputRecorder:
    """Which outputs of which layers are collected."""

    def __init__(self, target_class, index=0, layer_name=None, class_name=None):
        self.target_class = target_class
        self.index = index


def capture_outputs(func=None, *, tie_last_hidden_states=True):
    if func is None:
        return captured
    return captured(func)
