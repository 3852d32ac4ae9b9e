"""`module:factory`: importing a module and building the model that is asked about.

This runs the user's code. Models of Hugging Face's transformers are built from a configuration
class or a model class with its defaults, without weights.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from distml.gradual.inputs import USUAL
from distml.gradual.questions import QuestionError

if TYPE_CHECKING:
    from collections.abc import Collection

    import torch

NEEDS_TORCH = "--trace needs torch: pip install 'distml[torch]'"
WHOLE_NUMBERS = ("input_ids", "decoder_input_ids", "attention_mask", "token_type_ids", "position_ids")
"""Inputs that hold integers wherever they are called so (transformers)."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of the model's `forward` that is passed: a tensor, or the `plain` value the user gives."""

    name: str
    is_tensor: bool
    keyword: bool
    dtype: str | None = None
    rank: int | None = None
    plain: Any = None


@dataclass(frozen=True)
class Model:
    """A model that was built, and what its `forward` is to be given."""

    spec: str
    module: torch.nn.Module
    examples: dict[str, Any] = field(default_factory=dict)
    main_input: str | None = None

    @property
    def name(self) -> str:
        """What to call its function."""
        return f"{type(self.module).__name__}.forward"

    @property
    def device(self) -> torch.device:
        """Where the model's parameters are."""
        import torch

        return next((p.device for p in self.module.parameters()), torch.device("cpu"))

    def parameters(self, wanted: Collection[str] = ()) -> list[Parameter]:
        """What to pass: what the examples hold, or else every parameter without a default, and what is `wanted`.

        Raises `QuestionError` for a wanted name that `forward` does not have.
        """
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        signature = inspect.signature(self.module.forward)
        known = [p for p in signature.parameters.values() if p.kind not in kinds]
        names = [p.name for p in known]
        for name in wanted:
            if name not in names:
                raise QuestionError(f"{self.name} has no input {name!r}; it has {', '.join(names) or 'none'}")
        chosen = set(self.examples) or {p.name for p in known if p.default is p.empty}
        chosen |= {self.main_input} if self.main_input and not self.examples else set()
        if not chosen:
            chosen = {next((name for name in USUAL if name in names), *names[:1])} if names else set()
        chosen |= set(wanted)
        found, gap = [], False
        for parameter in known:
            if parameter.name not in chosen:
                gap = True
                continue
            found.append(self._parameter(parameter.name, gap or parameter.kind is parameter.KEYWORD_ONLY))
        return found

    def _parameter(self, name: str, keyword: bool) -> Parameter:
        import torch

        from distml.gradual.tracing.lifting import kind_of

        example = self.examples.get(name)
        if isinstance(example, torch.Tensor):
            return Parameter(name, True, keyword, kind_of(example.dtype), example.dim())
        if example is not None:
            return Parameter(name, False, keyword, plain=example)
        return Parameter(name, True, keyword, "int" if name in WHOLE_NUMBERS else None)


def load_model(spec: str) -> Model:
    """Import the module and make the model. Raises `QuestionError` where that does not work."""
    if find_spec("torch") is None:
        raise QuestionError(NEEDS_TORCH)
    import torch

    factory = _find(spec)
    built = factory if isinstance(factory, torch.nn.Module) else _made(spec, factory)
    examples: Any = ()
    if isinstance(built, tuple) and len(built) == 2:
        built, examples = built
    if not isinstance(built, torch.nn.Module):
        raise QuestionError(f"--trace {spec}: it returns a {type(built).__name__}, not a torch.nn.Module")
    built.eval()
    main = getattr(built, "main_input_name", None)
    named = _named(spec, built, examples)
    return Model(spec, built, named, main if isinstance(main, str) else None)


def _find(spec: str) -> Any:
    name, colon, attribute = spec.partition(":")
    if not colon or not name or not attribute:
        raise QuestionError(f"--trace {spec}: write MODULE:FACTORY, such as models:build")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        asked = name == missing or name.startswith(f"{missing}.")
        text = f"no module named {name!r}" if asked else f"importing {name} needs {missing}, which is not installed"
        raise QuestionError(f"--trace {spec}: {text}") from None
    except Exception as error:
        raise QuestionError(f"--trace {spec}: importing {name} raised {_one_line(error)}") from None
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise QuestionError(f"--trace {spec}: {name} has no {attribute!r}") from None
        except Exception as error:
            raise QuestionError(f"--trace {spec}: {attribute} raised {_one_line(error)}") from None
    if not callable(found):
        raise QuestionError(f"--trace {spec}: {attribute} cannot be called")
    return found


def _made(spec: str, factory: Any) -> Any:
    try:
        configured = _configured(factory)
        return factory() if configured is None else configured
    except Exception as error:
        raise QuestionError(f"--trace {spec}: it raised {_one_line(error)}") from None


def _configured(factory: Any) -> Any:
    """A model of transformers made from its default configuration, None for any other factory."""
    transformers: Any = sys.modules.get("transformers")
    if transformers is None or not isinstance(factory, type):
        return None
    import torch

    with torch.device("meta"):
        if issubclass(factory, getattr(transformers, "PretrainedConfig", ())):
            return transformers.AutoModel.from_config(factory())
        if issubclass(factory, getattr(transformers, "PreTrainedModel", ())):
            model_class: Any = factory
            return model_class(model_class.config_class())
    return None


def _named(spec: str, module: torch.nn.Module, examples: Any) -> dict[str, Any]:
    """Example inputs by the names of the parameters they are for."""
    if isinstance(examples, dict):
        return dict(examples)
    given = examples if isinstance(examples, tuple | list) else (examples,)
    try:
        return dict(inspect.signature(module.forward).bind(*given).arguments) if given else {}
    except TypeError as error:
        raise QuestionError(f"--trace {spec}: forward does not take the example inputs: {error}") from None


def _one_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
