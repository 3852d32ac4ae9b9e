"""The layers within keras.applications by name: those that are listed, as Keras makes them."""

from __future__ import annotations

import json
import subprocess

import pytest

from distml.ops.bindings.keras.inner_layers import inner_layers

from interp.programs import errors_of, revealed
from smoke.environments import horovod_python

NETWORKS = "VGG16 ResNet50 ResNet50V2 MobileNet MobileNetV2 DenseNet121 EfficientNetB0 EfficientNetB3".split()
"""One of each kind, and one that is scaled; Keras takes minutes to make them all."""
MADE = """
import json, os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
from tensorflow import keras
found = {}
for name in sys.argv[1:]:
    network = getattr(keras.applications, name)(weights=None, include_top=False, input_shape=(64, 96, 3))
    found[name] = {each.name: each.output_shape for each in network.layers}
    keras.backend.clear_session()
print(json.dumps(found))
"""
HEAD = """import tensorflow as tf
from tensorflow import keras
base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(64, 96, 3))
"""
FULL = "keras.Model(base.input, [base.get_layer(n).output for n in ('block_1_expand_relu', 'out_relu')])"
TOLD = [
    ("base.get_layer('block_3_expand_relu').output", "Tensor[batch, 16, 24, 144]"),
    ("base.get_layer('nowhere')", "unknown"),
    ("base.get_layer('block_3_pad')", "unknown"),
    (f"[x.shape[1] for x in {FULL}(tf.zeros((2, 64, 96, 3)))]", "[32, 2]"),
    ("keras.applications.VGG16(weights=None, input_shape=(64, 70, 3)).get_layer('block1_pool')", "unknown"),
    ("keras.applications.MobileNetV2(weights=None, alpha=0.5).get_layer('block_3_expand_relu')", "unknown"),
    ("keras.applications.ResNet50(weights=None, include_top=False).get_layer('conv1_relu')", "unknown"),
    ("keras.applications.resnet50.ResNet50().get_layer('conv1_relu').output", "unknown"),
]


@pytest.mark.parametrize(("asked", "told"), TOLD)
def test_a_layer_within_a_network(asked: str, told: str) -> None:
    assert revealed(f"{HEAD}reveal_shape({asked})\n") == [told]


ASKED = ("{}.layers", "len({}.layers)", "{}.get_layer('mine')", "{}.get_layer(index=2)")
MODELS = (
    "keras.applications.ResNet50(weights=None, include_top=False, input_shape=({size}, 64, 3))",
    "keras.applications.Xception(weights=None, include_top=False, input_shape=({size}, 96, 3))",
    "keras.Model(base.input, keras.layers.GlobalAveragePooling2D(name='mine')(base.output))",
    "keras.Model(keras.Input(({size},)), keras.Input((3,)))",
)


@pytest.mark.parametrize("size", [64, 75, None])
@pytest.mark.parametrize("model", MODELS)
def test_the_layers_of_a_network_can_be_asked_for(model: str, size: int | None) -> None:
    made = f"{HEAD}model = {model.format(size=size)}\n"
    assert errors_of(made + "".join(f"{each.format('model')}\n" for each in ASKED)) == []


def test_layers_are_as_keras_makes_them() -> None:
    command = [horovod_python("tensorflow"), "-W", "ignore", "-c", MADE, *NETWORKS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1200)
    real = json.loads(done.stdout.splitlines()[-1])
    assert real.keys() == {*NETWORKS}
    for network, layers in real.items():
        mine = {name: [None, 64 >> level, 96 >> level, count] for name, (level, count) in inner_layers(network).items()}
        assert {name: layers.get(name) for name in mine} == mine, network
        assert len(mine) > 0.6 * len(layers)


BATCHES = """import tensorflow as tf
from tensorflow import keras
a, b = keras.Input((3,)), keras.Input((3,))
model = keras.Model([a, b], {output})
model([tf.zeros(({rows}, 3)), tf.zeros((5, 3))])
"""
TOGETHER, APART = "keras.layers.Concatenate()([a, b])", "[keras.layers.Dense(2)(a), keras.layers.Dense(2)(b)]"


@pytest.mark.parametrize(("output", "rows", "codes"), [(TOGETHER, 4, ["SHP104"]), (TOGETHER, 5, []), (APART, 4, [])])
def test_inputs_that_a_graph_brings_together_have_one_batch(output: str, rows: int, codes: list[str]) -> None:
    assert [each.code for each in errors_of(BATCHES.format(output=output, rows=rows))] == codes
