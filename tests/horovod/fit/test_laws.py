"""What holds for every rewritten Keras program: each model is covered, nothing else is touched, twice is once."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import Outcome, rewrite
from distml.source.project import Project
from distml.training.program import Program

IMPORTS = (
    "import tensorflow as tf\nfrom tensorflow import keras\n",
    "import keras\n",
    "from tensorflow.keras import callbacks, layers, optimizers\nfrom tensorflow import keras as keras\n",
    "import os\n\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'\nfrom tensorflow import keras\n",
)
OPTIMIZERS = (
    "'adam'",
    "optimizer='SGD'",
    "keras.optimizers.RMSprop(0.01)",
    "optimizer=keras.optimizers.Adam(learning_rate=rate)",
    "optimizer=opt",
    "metrics=['accuracy']",
)
CALLBACKS = (
    "",
    ", callbacks=[]",
    ", callbacks=[stop]",
    ", callbacks=[stop, keras.callbacks.ModelCheckpoint('best.keras')]",
    ", callbacks=held",
    ", callbacks=None",
)
EXTRA = ("", ", epochs=3", ", verbose=2", ", batch_size=16, validation_split=0.1", ", steps_per_epoch=20, epochs=2")
TARGETS = ("", "history = ", "self_history = [] or ")
PLAIN = (
    "numbers = [n * n for n in range(3)]",
    "# nothing happens here",
    "part = 'taken'",
    "def hvd():\n    return 1",
    "",
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = [draw(st.sampled_from(IMPORTS)), "import numpy as np", "", "rate = 0.01"]
    lines += ["x, y = np.ones((64, 4)), np.ones((64, 1))", "opt = keras.optimizers.Nadam(0.002)"]
    lines += ["stop = keras.callbacks.EarlyStopping(patience=2)", "held = [stop]"]
    for number in range(draw(st.integers(1, 2))):
        lines += [draw(st.sampled_from(PLAIN)), f"model{number} = keras.Sequential([keras.layers.Dense(1)])"]
        lines.append(f"model{number}.compile({draw(st.sampled_from(OPTIMIZERS))}, loss='mse')")
        target, extra = draw(st.sampled_from(TARGETS)), draw(st.sampled_from(EXTRA))
        lines.append(f"{target}model{number}.fit(x, y{extra}{draw(st.sampled_from(CALLBACKS))})")
    return "\n".join([*lines, draw(st.sampled_from(PLAIN)), "print('done')"]) + "\n"


def rewritten(text: str, folder: Path, options: Options = Options()) -> Outcome:  # noqa: B008 - frozen
    project = Project(str(folder), overlay={str(folder / "main.py"): text.encode()})
    source = project.open(str(folder / "main.py"))
    return rewrite(Program([source], project), options, [source.location], {source.location: text})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws")


@given(program=programs())
@settings(max_examples=25)
def test_every_model_is_covered_once(folder: Path, program: str) -> None:
    (file,) = rewritten(program, folder).files.values()
    calls = [node for node in ast.walk(ast.parse(file.source)) if isinstance(node, ast.Call)]
    made = [ast.unparse(each.func) for each in calls]
    fits = [each for each in calls if ast.unparse(each.func).endswith(".fit")]
    models = [name for name in made if name.endswith(".DistributedOptimizer")]
    assert sum(name.endswith("BroadcastGlobalVariablesCallback") for name in made) == len(fits)
    assert sum(name.endswith("MetricAverageCallback") for name in made) == len(fits)
    assert len(models) == sum(name.endswith(".compile") for name in made) - _shared(program)
    for fit in fits:
        assert all("[part" in ast.unparse(each) for each in fit.args[:2])


def _shared(program: str) -> int:
    """Two models that share one optimizer have one that is distributed."""
    return max(program.count("optimizer=opt") - 1, 0)


@given(program=programs())
@settings(max_examples=25)
def test_other_lines_stay(folder: Path, program: str) -> None:
    (file,) = rewritten(program, folder).files.values()
    steps = difflib.ndiff(program.splitlines(), file.source.splitlines())
    gone = [line[2:] for line in steps if line.startswith("- ")]
    words = (".compile(", ".fit(", "print(", "keras.optimizers.", "ModelCheckpoint", "min_lr")
    assert all(any(word in line for word in words) for line in gone)


@given(program=programs())
@settings(max_examples=15)
def test_twice_is_once(folder: Path, program: str) -> None:
    (file,) = rewritten(program, folder).files.values()
    again = rewritten(file.source, folder)
    assert not again.files
    assert [each.code for each in again.plan.refusals] == ["HVD201"]


@pytest.mark.parametrize("options", [Options(scale_lr="none", shard="none"), Options(shard="steps", warmup=2)])
@given(program=programs())
@settings(max_examples=8)
def test_options_are_kept(folder: Path, program: str, options: Options) -> None:
    (file,) = rewritten(program, folder, options).files.values()
    assert ("slice(" in file.source) is (options.shard == "auto")
    assert ("LearningRateWarmupCallback" in file.source) is bool(options.warmup)
    rates = [node for node in ast.walk(ast.parse(file.source)) if isinstance(node, ast.BinOp)]
    scaled = any(isinstance(node.op, ast.Mult) and ast.unparse(node.right).endswith(".size()") for node in rates)
    assert scaled is (options.scale_lr == "linear")
