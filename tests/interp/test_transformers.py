"""Models of transformers are followed, and what they stand on is `source/models/transformers`.

The library here has its modules and their names, and a model written for the tests in the way that its own are written; the
shapes that 26 of its model families have were held against it (benchmarks/README.md).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.interp.check import CheckResult, check_file
from distml.source.installed import environment_in
from distml.source.project import Project

CONFIGURATION = """
from huggingface_hub.dataclasses import strict
from ...configuration_utils import PreTrainedConfig
from ...utils import auto_docstring

@auto_docstring(checkpoint="tiny")
@strict
class TinyConfig(PreTrainedConfig):
    model_type = "tiny"
    attribute_map = {"hidden_size": "width"}
    width: int = 12
    heads: int = 3
    words: int = 50
    longest: int = 40
    pooled: int | None = None

    def __post_init__(self, **kwargs):
        if self.pooled is None:
            self.pooled = self.width
        super().__post_init__(**kwargs)
"""
MODELING = """
from dataclasses import dataclass
import torch
from torch import nn
from ...activations import ACT2FN
from ...cache_utils import DynamicCache
from ...generation import GenerationMixin
from ...masking_utils import create_causal_mask
from ...modeling_layers import GradientCheckpointingLayer
from ...modeling_utils import ALL_ATTENTION_FUNCTIONS, PreTrainedModel
from ...utils import ModelOutput, auto_docstring, can_return_tuple, logging
from ...utils.deprecation import deprecate_kwarg
from ...utils.generic import merge_with_config_defaults
from ...utils.output_capturing import OutputRecorder, capture_outputs
from .configuration_tiny import TinyConfig

logger = logging.get_logger(__name__)

@dataclass
class TinyOutput(ModelOutput):
    last_hidden_state: torch.FloatTensor | None = None
    pooled: torch.FloatTensor | None = None
    past_key_values: object | None = None
    hidden_states: tuple | None = None
    attentions: tuple | None = None

@dataclass
class ScoreOutput(ModelOutput):
    loss: torch.FloatTensor | None = None
    logits: torch.FloatTensor | None = None

def eager(module, query, key, value, mask, scaling=1.0, **kwargs):
    weights = query @ key.transpose(2, 3) * scaling
    if mask is not None:
        weights = weights + mask
    return (weights.softmax(-1) @ value).transpose(1, 2).contiguous(), weights

class Attend(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, query, key, value, mask, **kwargs):
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager)
        return attend(self, query, key, value, mask, **kwargs)

class TinyLayer(GradientCheckpointingLayer):
    def __init__(self, config, index):
        super().__init__()
        self.config, self.index = config, index
        self.size = config.hidden_size // config.heads
        self.three = nn.Linear(config.width, 3 * config.width)
        self.act = ACT2FN["gelu"]
        self.attend = Attend(config)

    @deprecate_kwarg("old_cache", "5.0", new_name="cache")
    def forward(self, x, mask=None, cache=None, **kwargs):
        shape = (*x.shape[:-1], -1, self.size)
        query, key, value = (part.view(shape).transpose(1, 2) for part in self.three(x).chunk(3, dim=-1))
        if cache is not None:
            key, value = cache.update(key, value, self.index)
        seen, _ = self.attend(query, key, value, mask, scaling=self.size**-0.5, **kwargs)
        return x + self.act(seen.reshape(*x.shape[:-1], -1))

@auto_docstring
class TinyPreTrainedModel(PreTrainedModel):
    config: TinyConfig
    base_model_prefix = "tiny"
    _can_record_outputs = {"hidden_states": TinyLayer, "attentions": OutputRecorder(Attend, index=1, layer_name="attend")}

@auto_docstring
class TinyModel(TinyPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.words, config.width)
        self.places = nn.Embedding(config.longest, config.width)
        self.layers = nn.ModuleList([TinyLayer(config, index) for index in range(2)])
        self.pool = nn.Linear(config.width, config.pooled)
        self.post_init()

    @merge_with_config_defaults
    @capture_outputs
    @auto_docstring
    def forward(self, input_ids=None, attention_mask=None, past_key_values=None, use_cache=None, **kwargs):
        x = self.embed_tokens(input_ids)
        if past_key_values is None:
            past_key_values = DynamicCache(config=self.config)
        mask = create_causal_mask(
            config=self.config, inputs_embeds=x, attention_mask=attention_mask, past_key_values=past_key_values
        )
        x = x + self.places(torch.arange(x.shape[1]))
        for layer in self.layers:
            x = layer(x, mask, old_cache=past_key_values)
        return TinyOutput(last_hidden_state=x, pooled=self.pool(x[:, 0]), past_key_values=past_key_values)

class TinyForScores(TinyPreTrainedModel, GenerationMixin):
    def __init__(self, config):
        super().__init__(config)
        self.tiny = TinyModel(config)
        self.score = nn.Linear(config.width, config.num_labels)
        self.post_init()

    @can_return_tuple
    def forward(self, input_ids=None, labels=None, **kwargs):
        logits = self.score(self.tiny(input_ids, **kwargs).last_hidden_state)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits, labels, vocab_size=self.config.words)
        return ScoreOutput(loss=loss, logits=logits)
"""
PARTS = """activations cache_utils configuration_utils generation masking_utils modeling_layers modeling_utils utils/__init__
utils/deprecation utils/generic utils/output_capturing""".split()
HEAD = """
import torch
from transformers import TinyConfig, TinyForScores, TinyModel

config = TinyConfig(width=24, heads=4, words=90, num_labels=5)
ids = torch.randint(0, 90, (3, 10))
model = TinyModel(config)
scores = TinyForScores(config)
out = model(ids)
"""
SHAPES = {
    "config.hidden_size": "24",
    "TinyConfig().hidden_size": "12",
    "TinyConfig(hidden_size=30).width": "30",
    "TinyConfig(id2label={0: 'a', 1: 'b', 2: 'c'}).num_labels": "3",
    "out.last_hidden_state": "Tensor[3, 10, 24]",
    "out[0]": "Tensor[3, 10, 24]",
    "out['pooled']": "Tensor[3, 24]",
    "model(ids, return_dict=False)[1]": "Tensor[3, 24]",
    "model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state": "Tensor[3, 10, 24]",
    "model(ids[:, :1], past_key_values=out.past_key_values).last_hidden_state": "Tensor[3, 1, 24]",
    "out.hidden_states": "None",
    "model(ids, output_hidden_states=True).hidden_states": "(Tensor[3, 10, 24], Tensor[3, 10, 24], Tensor[3, 10, 24])",
    "model(ids[:, 1:], output_hidden_states=True).hidden_states[1]": "Tensor[3, 9, 24]",
    "model(ids, output_hidden_states=[-1]).hidden_states": "unknown",
    "scores(ids, output_hidden_states=True).logits": "Tensor[3, 10, 5]",
    "TinyModel(TinyConfig(output_hidden_states=True))(ids).hidden_states[2]": "Tensor[3, 10, 12]",
    "model(ids, output_attentions=True).attentions": "unknown",
    "TinyModel(TinyConfig(attn_implementation='eager'))(ids, output_attentions=True).attentions[1]": "Tensor[3, 3, 10, 10]",
    "model(ids).hidden_states": "None",
    "scores(ids).logits": "Tensor[3, 10, 5]",
    "scores(ids, labels=ids)[1]": "Tensor[3, 10, 5]",
    "scores(ids, labels=ids).loss": "Tensor[]",
    "model.get_input_embeddings()(ids)": "Tensor[3, 10, 24]",
    "scores.get_input_embeddings()(ids)": "Tensor[3, 10, 24]",
    "scores.get_output_embeddings()": "None",
    "TinyModel.from_pretrained('somewhere')(ids)": "unknown",
    "scores.generate(ids)": "unknown",
}


def _check(folder: Path, program: str) -> CheckResult:
    site = folder / "site-packages"
    own = {"configuration_tiny": CONFIGURATION, "modeling_tiny": MODELING, "__init__": ""}
    files = {f"transformers/models/tiny/{name}.py": text for name, text in own.items()}
    files |= {f"transformers/{name}.py": "import torch\nraise RuntimeError('not this one')\n" for name in PARTS}
    files |= {"huggingface_hub/__init__.py": "", "huggingface_hub/dataclasses.py": "strict = 1 / 0\n"}
    imports = "from .models.tiny.configuration_tiny import *\nfrom .models.tiny.modeling_tiny import *\n"
    files |= {"transformers/__init__.py": f"import torch\n{imports}", "transformers/models/__init__.py": ""}
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "train.py").write_text(program)
    project = Project(str(folder), environment=environment_in((str(site.resolve()),)))
    return check_file(project.open("train.py"), project)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    asked = "".join(f"reveal_shape({expression})\n" for expression in SHAPES)
    result = _check(tmp_path_factory.mktemp("shapes"), HEAD + asked)
    assert not result.diagnostics
    return [each.text for each in result.revealed]


@pytest.mark.parametrize("place", range(len(SHAPES)), ids=SHAPES)
def test_the_shape_that_a_model_gives(shapes: list[str], place: int) -> None:
    assert shapes[place] == list(SHAPES.values())[place]


WRONG = {
    "torch.nn.Linear(25, 2)(out.last_hidden_state)": "SHP401",
    "torch.cat([out.pooled, torch.zeros(4, 24)], dim=1)": "SHP203",
    "TinyModel(TinyConfig(width=25, heads=4))(ids)": "SHP201",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_mistake_is_told_at_the_line_of_the_program(tmp_path: Path, line: str) -> None:
    (finding,) = _check(tmp_path, f"{HEAD}{line}\n").diagnostics
    assert (finding.code, finding.span.path, finding.span.line) == (WRONG[line], "train.py", HEAD.count("\n") + 1)
