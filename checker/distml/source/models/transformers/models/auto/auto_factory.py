"""transformers.models.auto.auto_factory: which class of models goes with which class of configurations"""

from _elsewhere import located, resolved


class _LazyAutoMapping:
    """_LazyAutoMapping(config_mapping, model_mapping): classes of models by the type of model that a configuration names"""

    def __init__(self, config_mapping, model_mapping):
        self._model_mapping = model_mapping

    def __getitem__(self, key):
        name = self._model_mapping.get(key.model_type)
        return located("transformers." + name) if isinstance(name, str) else resolved(key)

    def register(self, key, value, exist_ok=False):
        self._model_mapping = resolved(key, value)


class _BaseAutoModelClass:
    """What the classes Auto... have in common."""

    _model_mapping = None

    @classmethod
    def from_config(cls, config, **kwargs):
        return cls._model_mapping[type(config)]._from_config(config)

    @classmethod
    def from_pretrained(cls, *args, **kwargs):
        return resolved(cls)

    @classmethod
    def register(cls, config_class, model_class, exist_ok=False):
        cls._model_mapping.register(config_class, model_class)


class _BaseAutoBackboneClass(_BaseAutoModelClass):
    """The same for backbones."""


def auto_class_update(cls, checkpoint_for_example="", head_doc=""):
    return cls


def getattribute_from_module(module, attr):
    return resolved(module, attr)
