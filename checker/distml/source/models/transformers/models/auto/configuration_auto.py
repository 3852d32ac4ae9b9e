"""transformers.models.auto.configuration_auto: which class of configurations goes with which type of model"""

from _elsewhere import located, resolved
from transformers.models.auto.auto_mappings import CONFIG_MAPPING_NAMES


class _Configs:
    """Classes of configurations by type of model."""

    def __getitem__(self, key):
        name = CONFIG_MAPPING_NAMES.get(key)
        return located("transformers." + name) if isinstance(name, str) else resolved(key)

    def __contains__(self, key):
        return bool(resolved(key))


CONFIG_MAPPING = _Configs()


class AutoConfig:
    """Configurations by type of model, or by what is stored."""

    @classmethod
    def for_model(cls, model_type, *args, **kwargs):
        return CONFIG_MAPPING[model_type](*args, **kwargs)

    @classmethod
    def from_pretrained(cls, *args, **kwargs):
        return resolved(cls)

    @staticmethod
    def register(model_type, config, exist_ok=False):
        return resolved(model_type, config)


def model_type_to_module_name(key):
    return key.replace("-", "_")


def replace_list_option_in_docstrings(*args, **kwargs):
    def kept(function):
        return function

    return kept
