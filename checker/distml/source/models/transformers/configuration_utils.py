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
    attn_implementation = None
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
        if hasattr(type(self), "rope_parameters"):
            self.convert_rope_params_to_dict(**kwargs)

    def convert_rope_params_to_dict(self, **kwargs):
        """How positions rotate: plainly, where the program says nothing of it."""
        if self.rope_parameters is None and kwargs.get("rope_scaling") is None:
            part = kwargs.get("partial_rotary_factor", getattr(self, "partial_rotary_factor", None))
            self.rope_parameters = {} if part is None else {"partial_rotary_factor": part}
            self.standardize_rope_params()
        return kwargs

    def standardize_rope_params(self):
        self.rope_parameters.setdefault("rope_type", "default")
        self.rope_parameters.setdefault("rope_theta", float(resolved()))

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

    @property
    def attends_eagerly(self):
        """Whether the program asks for the attention that gives its weights; what is taken otherwise depends on the machine."""
        return self.attn_implementation == "eager"

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
