"""transformers.generation"""

from _elsewhere import resolved


class GenerationMixin:
    """Models that write texts."""

    def generate(self, *args, **kwargs):
        return resolved(self)

    def prepare_inputs_for_generation(self, *args, **kwargs):
        return resolved(self)
