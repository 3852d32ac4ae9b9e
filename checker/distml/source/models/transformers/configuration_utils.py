"""transformers.configuration_utils: a configuration keeps what it is given, beside the defaults of its class."""

from _elsewhere import resolved


class PreTrainedConfig:
    """PretrainedConfig(**kwargs)"""

    model_type = ""
    base_config_key = ""
    sub_configs = {}
    sub_configs_defaults = {}
    attribute_map = {}
    has_no_defaults_at_init = False
    architectures = None
    output_hidden_states = False
    output_attentions = False
    return_dict = True
    dtype = None
    chunk_size_feed_forward = 0
    is_encoder_decoder = False
    is_decoder = False
    add_cross_attention = False
    cross_attention_hidden_size = None
    tie_word_embeddings = True
    tie_encoder_decoder = False
    pruned_heads = {}
    use_cache = True
    torchscript = False
    problem_type = None
    pad_token_id = None
    bos_token_id = None
    eos_token_id = None
    sep_token_id = None
    decoder_start_token_id = None
    _attn_implementation = "eager"
    _experts_implementation = "eager"
    num_labels = 2
    id2label = None
    label2id = None

    def __init__(self, *args, **kwargs):
        if args:
            kwargs = resolved(args)
        for name in kwargs:
            setattr(self, self.attribute_map.get(name, name), kwargs[name])
        self.__post_init__(**kwargs)

    def __post_init__(self, **kwargs):
        """What a class sets itself from what it was given, it sets before: nothing of that is given again."""
        if self.id2label is not None:
            self.num_labels = len(self.id2label)

    def __getattr__(self, name):
        if name in self.attribute_map:
            return getattr(self, self.attribute_map[name])
        if name in ("rope_parameters", "rope_scaling", "layer_types", "name_or_path"):
            return resolved(name)
        raise AttributeError(name)

    @property
    def use_return_dict(self):
        return self.return_dict

    def get_text_config(self, *args, **kwargs):
        return self

    def to_dict(self):
        return resolved(self)

    @classmethod
    def from_pretrained(cls, *args, **kwargs):
        return resolved(cls)

    @classmethod
    def from_dict(cls, *args, **kwargs):
        return resolved(cls)


PretrainedConfig = PreTrainedConfig


def layer_type_validation(*args, **kwargs):
    return None
