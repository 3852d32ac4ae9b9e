"""transformers.modeling_utils"""

import torch
from _elsewhere import resolved
from torch import nn
from transformers.generation import GenerationMixin


class _Attentions:
    """Ways to compute attention, of which each model brings the plain one."""

    def get_interface(self, name=None, default=None):
        return default

    def __getitem__(self, name):
        return resolved(name)

    def get(self, name, default=None):
        return default


ALL_ATTENTION_FUNCTIONS = _Attentions()


class ModuleUtilsMixin:
    """What all models can do."""

    @property
    def device(self):
        return torch.device("cpu")

    @property
    def dtype(self):
        return torch.float32

    def invert_attention_mask(self, encoder_attention_mask):
        return resolved(encoder_attention_mask)

    def get_extended_attention_mask(self, attention_mask, *args, **kwargs):
        return resolved(attention_mask)

    def get_head_mask(self, head_mask, num_hidden_layers, is_attention_chunked=False):
        return [None] * num_hidden_layers if head_mask is None else resolved(head_mask)

    def num_parameters(self, *args, **kwargs):
        return resolved(self)


class PreTrainedModel(nn.Module, ModuleUtilsMixin):
    """PreTrainedModel(config)"""

    config_class = None
    base_model_prefix = ""
    main_input_name = "input_ids"
    _input_embed_layer = "embed_tokens"
    supports_gradient_checkpointing = False
    gradient_checkpointing = False
    _can_record_outputs = None

    def __init__(self, config, *inputs, **kwargs):
        super().__init__()
        self.config = config

    @property
    def generation_config(self):
        return resolved(self)

    def post_init(self):
        return None

    def init_weights(self):
        return None

    def tie_weights(self, *args, **kwargs):
        return None

    def gradient_checkpointing_enable(self, *args, **kwargs):
        return None

    def gradient_checkpointing_disable(self):
        return None

    def set_attn_implementation(self, attn_implementation, *args, **kwargs):
        self.config.attn_implementation = attn_implementation

    def warn_if_padding_and_no_attention_mask(self, *args, **kwargs):
        return None

    @property
    def base_model(self):
        return getattr(self, self.base_model_prefix, self)

    def get_input_embeddings(self):
        name = self._input_embed_layer
        for holder in (self, getattr(self, "embeddings", None), getattr(self, "model", None)):
            if hasattr(holder, name):
                return getattr(holder, name)
        inner = getattr(self, "language_model", self.base_model)
        return resolved(self) if inner is self else inner.get_input_embeddings()

    def get_output_embeddings(self):
        return getattr(self, "lm_head", None)

    def loss_function(self, *args, **kwargs):
        return torch.zeros(())

    def resize_token_embeddings(self, *args, **kwargs):
        resolved(self)
        return resolved(self)

    @classmethod
    def from_pretrained(cls, *args, **kwargs):
        return resolved(cls)

    @classmethod
    def _from_config(cls, config, **kwargs):
        return cls(config)


def slice_logits_to_keep(hidden_states, logits_to_keep=0):
    if isinstance(logits_to_keep, int) and logits_to_keep == 0:
        return hidden_states
    return resolved(hidden_states)
