"""`distml horovod` as a command: modes, forms, exit codes, notebooks, programs of several files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distml.cli.main import main

TRAIN = """import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8, shuffle=True)

for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
CLOSURE = TRAIN.replace("SGD(model.parameters(), lr=0.1)", "LBFGS(model.parameters())").replace(
    "optimizer.step()", "optimizer.step(lambda: model(x).sum())"
)
LIGHTNING = "import lightning\nimport torch\nlightning.Trainer().fit(None)\n"


@pytest.fixture
def script(folder: Path) -> Path:
    path = folder / "train.py"
    path.write_text(TRAIN)
    return path


def test_check_finds_one_loop_and_changes_nothing(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["horovod", "--check", "--format", "json", "train.py"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["code"], finding["line"], finding["severity"]) == ("HVD106", 9, "warning")
    assert script.read_text() == TRAIN
    assert main(["horovod", "--check", "--exit-zero", "train.py"]) == 0


@pytest.mark.parametrize("form", ["text", "concise", "sarif", "github", "markdown"])
def test_every_form_of_report(script: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["horovod", "--check", "--format", form]) == 1
    assert "HVD106" in capsys.readouterr().out


def test_a_review_gives_a_reason_for_each_edit(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["horovod", "train.py"]) == 1
    said = capsys.readouterr().out
    assert "train.py:5: learning rate times the number of ranks" in said
    assert script.read_text() == TRAIN


def test_a_reason_is_given_once_for_each_program_and_with_each_edit_in_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = 'print("one"); print("two")\nprint("three")\n'
    for name in ("a.py", "b.py"):
        (folder / name).write_text(TRAIN + two)
    assert main(["horovod", "."]) == 1
    said = capsys.readouterr().out.splitlines()
    printed = [line for line in said if "printed by rank 0" in line]
    assert [line.partition(": ")[0] for line in printed] == ["a.py:13", "a.py:14", "b.py:13", "b.py:14"]
    assert sum("every rank would print the same line" in line for line in said) == 2
    assert main(["horovod", "--diff", "--format", "json", "a.py"]) == 1
    (program,) = json.loads(capsys.readouterr().out)
    assert all(edit["reason"] for edit in program["edits"])
    assert sum(edit["what"] == "printed by rank 0" for edit in program["edits"]) == 3


def test_diff_and_write_agree_and_the_second_time_nothing_changes(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["horovod", "--diff", "train.py"]) == 1
    patch = capsys.readouterr().out
    assert patch.startswith("--- a/train.py\n+++ b/train.py\n")
    assert main(["horovod", "--write", "train.py"]) == 0
    written = script.read_text()
    added = [line[1:] for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert all(line in written.splitlines() for line in added)
    capsys.readouterr()
    assert main(["horovod", "--write", "train.py"]) == 0
    assert "HVD201" in capsys.readouterr().out
    assert main(["horovod", "--diff", "train.py"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["horovod", "--check", "train.py"]) == 0
    assert script.read_text() == written


def test_the_review_for_programs(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["horovod", "--diff", "--format", "json", "train.py"]) == 1
    (program,) = json.loads(capsys.readouterr().out)
    assert program["loops"][0]["code"] == "HVD106"
    assert all(edit["reason"] and edit["rule"] and edit["path"] == "train.py" for edit in program["edits"])
    assert program["diffs"]["train.py"].startswith("--- a/train.py")


def test_a_refusal_changes_nothing_and_says_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(CLOSURE)
    assert main(["horovod", "--write", "train.py"]) == 1
    assert "refused: HVD204" in capsys.readouterr().out
    assert (folder / "train.py").read_text() == CLOSURE
    assert main(["horovod", "--check", "train.py"]) == 1


def test_other_trainers_are_refused_and_are_no_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(LIGHTNING)
    assert main(["horovod", "--write", "train.py"]) == 1
    assert "HVD202" in capsys.readouterr().out
    assert main(["horovod", "--check", "train.py"]) == 0


def test_scripts_side_by_side_do_not_stop_each_other(folder: Path) -> None:
    (folder / "a.py").write_text(TRAIN)
    (folder / "b.py").write_text(CLOSURE)
    assert main(["horovod", "--write", "."]) == 1
    assert "horovod" in (folder / "a.py").read_text()
    assert (folder / "b.py").read_text() == CLOSURE


def test_scripts_that_would_change_one_file_are_one_program(folder: Path) -> None:
    parts = "import torch\n\ndef make(model):\n    return torch.optim.SGD(model.parameters(), lr=0.1)\n"
    (folder / "parts.py").write_text(parts)
    uses = TRAIN.replace("torch.optim.SGD(model.parameters(), lr=0.1)", "make(model)")
    (folder / "a.py").write_text("from parts import make\n" + uses)
    (folder / "b.py").write_text("from parts import make\n" + uses.replace(".step()", ".step(lambda: model(x).sum())"))
    before = {path.name: path.read_text() for path in folder.glob("*.py")}
    assert main(["horovod", "--write", "."]) == 1
    assert {path.name: path.read_text() for path in folder.glob("*.py")} == before
    (folder / "b.py").unlink()
    assert main(["horovod", "--write", "."]) == 0
    assert "hvd.size()" in (folder / "parts.py").read_text()


def test_modules_that_a_package_hands_on_belong_to_the_script(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").write_text("from .trainer import run\n")
    (folder / "parts" / "trainer.py").write_text(
        "import torch\n\n\ndef run(data, model):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    for x in data:\n        model(x).mean().backward()\n        optimizer.step()\n"
    )
    (folder / "main.py").write_text(
        "import torch\nfrom torch.utils.data import DataLoader\nfrom parts import run\n"
        "run(DataLoader(torch.ones(8, 4), 2), torch.nn.Linear(4, 1))\n"
    )
    assert main(["horovod", "--write", "."]) == 0
    assert "DistributedSampler" in (folder / "main.py").read_text()
    assert "zip(" not in (folder / "parts" / "trainer.py").read_text()


def test_scripts_that_name_no_framework_are_known_by_what_they_import(folder: Path) -> None:
    (folder / "model.py").write_text(
        "from keras.layers import *\nfrom keras.models import *\n\n\ndef made():\n"
        "    model = Sequential([Dense(1)])\n    model.compile('sgd', 'mse')\n    return model\n"
    )
    (folder / "data.py").write_text("def batches():\n    while True:\n        yield load()\n")
    (folder / "main.py").write_text(
        "from model import *\nfrom data import *\n\nmade().fit(batches(), steps_per_epoch=100)\n"
    )
    (folder / "other.py").write_text("from sklearn.svm import SVC\n\nSVC().fit(x, y)\n")
    before = (folder / "other.py").read_text()
    assert main(["horovod", "--write", "."]) == 0
    assert "islice(batches(), hvd.rank(), None, hvd.size())" in (folder / "main.py").read_text()
    assert (folder / "other.py").read_text() == before


def test_logs_that_another_module_writes_are_those_of_rank_zero(folder: Path) -> None:
    (folder / "logger.py").write_text(
        "from torch.utils.tensorboard import SummaryWriter\n\n\nclass Logger:\n    def __init__(self):\n"
        "        self.writer = SummaryWriter()\n\n    def scalar(self, name, value):\n"
        "        self.writer.add_scalar(name, value)\n"
    )
    (folder / "main.py").write_text("from logger import Logger\n" + TRAIN + "\nLogger().scalar('done', 1)\n")
    assert main(["horovod", "--write", "."]) == 0
    first = "if not hvd.is_initialized() or hvd.rank() == 0:"
    assert f"{first}\n            self.writer.add_scalar(name, value)" in (folder / "logger.py").read_text()


def test_a_file_that_is_not_given_is_not_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = "import torch\n\ndef make(model):\n    return torch.optim.SGD(model.parameters(), lr=0.1)\n"
    (folder / "parts.py").write_text(parts)
    (folder / "a.py").write_text(
        "from parts import make\n" + TRAIN.replace("torch.optim.SGD(model.parameters(), lr=0.1)", "make(model)")
    )
    assert main(["horovod", "--write", "a.py"]) == 1
    assert "HVD207" in capsys.readouterr().out
    assert (folder / "parts.py").read_text() == parts


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("where", ["", "src/"])
def test_modules_are_found_from_the_root_of_the_repository(
    folder: Path, marked: bool, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = folder / where / "lib" / "trainer.py"
    script = folder / "projects" / "adder" / "adder.py"
    for path in (module, script):
        path.parent.mkdir(parents=True, exist_ok=True)
    if not marked:
        (folder / "pyproject.toml").unlink()
    module.write_text(
        "import torch\n\n\ndef run(data, model):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    for x in data:\n        model(x).mean().backward()\n        optimizer.step()\n"
    )
    script.write_text(
        "import torch\nfrom torch.utils.data import DataLoader\nfrom lib.trainer import run\n"
        "run(DataLoader(torch.ones(8, 4), 2), torch.nn.Linear(4, 1))\n"
    )
    assert main(["horovod", "projects/adder/adder.py"]) == 1
    said = capsys.readouterr().out
    assert "HVD106" in said
    assert f"give {where}lib/trainer.py as well" in said
    assert main(["horovod", "--write", "."]) == 0
    assert "hvd.DistributedOptimizer" in module.read_text()
    assert "DistributedSampler" in script.read_text()


def test_notebooks_are_rewritten_in_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, loop = TRAIN.split("\nfor ")
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {}, "execution_count": 3, "outputs": [{"text": ["é\n"], "x": 1e-05}],
         "source": ["%matplotlib inline\n", "!pip install torch\n", *head.splitlines(keepends=True)]},
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": "%%bash\nls"},
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": f"for {loop}"[:-1]},
    ]  # fmt: skip
    text = json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False
    )
    (folder / "train.ipynb").write_text(text + "\n")
    assert main(["horovod", "--check", "--format", "json", "train.ipynb"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["line"], finding["cell"]) == (2, 4)
    assert main(["horovod", "--write", "train.ipynb"]) == 0
    new = (folder / "train.ipynb").read_text()
    after = json.loads(new)["cells"]
    assert [{**cell, "source": 0} for cell in after] == [{**cell, "source": 0} for cell in cells]
    assert after[0] == cells[0]
    assert after[2] == cells[2]
    first = "".join(after[1]["source"])
    assert first.startswith("%matplotlib inline\n!pip install torch\nimport torch\n")
    assert "hvd.init()" in first
    assert "\nfor epoch in range(2):\n    " in after[3]["source"]
    assert "set_epoch(epoch)" in after[3]["source"]
    kept = [line for line in text.splitlines() if '"source"' not in line and '    "' not in line]
    assert all(line in new.splitlines() for line in kept)


def test_lines_of_a_notebook_that_go_on_with_a_percent_sign_are_no_magic(folder: Path) -> None:
    text = "%matplotlib inline\nprint('%d of %d'\n      %(1, 2))\n"
    cells = [
        {"cell_type": "code", "source": source, "outputs": [], "metadata": {}, "execution_count": None}
        for source in (text, "print('%d'\n      %1)\n", TRAIN)
    ]
    (folder / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    assert main(["horovod", "--write", "n.ipynb"]) == 0
    first = json.loads((folder / "n.ipynb").read_text())["cells"][0]["source"]
    assert "%matplotlib inline\n" in first
    assert "%(1, 2))" in first


def test_a_command_of_the_shell_may_go_on_in_the_next_lines(folder: Path) -> None:
    text = "!wget --quiet \\\n    https://example.org/data.zip \\\n    -O data.zip\nx = 1"
    cells = [
        {"cell_type": "code", "source": source, "outputs": [], "metadata": {}, "execution_count": None}
        for source in (text, TRAIN)
    ]
    (folder / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    assert main(["horovod", "--write", "n.ipynb"]) == 0
    first, second = json.loads((folder / "n.ipynb").read_text())["cells"]
    assert first["source"] == text
    assert "hvd.init()" in second["source"]


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', "{", '{"cells": [{"cell_type": "code"}]}'])
def test_what_is_no_notebook_is_a_finding_in_that_file(
    folder: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.ipynb").write_text(text)
    assert main(["horovod", "--check", "--format", "concise", "."]) == 1
    assert "SRC108" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["nowhere.py"], ["--warmup", "-1"], ["--diff", "--write"], ["--diff", "--format", "sarif"], ["--backend", "mpi"]],
)
def test_wrong_use_is_one_line(folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["horovod", *arguments])
    except SystemExit as stop:
        code = int(str(stop.code))
    assert code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("distml")


def test_a_file_that_does_not_parse_does_not_stop_the_others(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (script.parent / "broken.py").write_text("import torch\nloss.backward(\n")
    assert main(["horovod", "--write", "."]) == 1
    assert "SRC101" in capsys.readouterr().err
    assert "hvd.init()" in script.read_text()


def test_suppressed_loops_are_not_reported(script: Path) -> None:
    script.write_text(TRAIN.replace("in loader:", "in loader:  # distml: ignore[HVD106]"))
    assert main(["horovod", "--check", "train.py"]) == 0
    assert main(["check", "train.py"]) == 0


def test_a_script_that_names_no_framework_begins_the_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "front.py").write_text(
        "import numpy\nfrom tensorflow import keras\n\n\ndef train(samples, labels, rate):\n"
        "    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile(keras.optimizers.SGD(rate), 'mse')\n"
        "    model.fit(numpy.array(samples), numpy.array(labels))\n"
    )
    (folder / "main.py").write_text(
        'import os\nimport front\n\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nfront.train([1], [1], 0.1)\n'
    )
    assert main(["horovod", "--write", "."]) == 0
    assert "SGD(rate * hvd.size())" in (folder / "front.py").read_text()
    assert "CUDA_VISIBLE_DEVICES" not in (folder / "main.py").read_text()
    assert "HVD102" in capsys.readouterr().out


def test_files_of_one_program_each_import_what_they_use(folder: Path) -> None:
    (folder / "models.py").write_text(
        "import tensorflow as tf\n\n\nclass Net(tf.keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.dense = tf.keras.layers.Dense(1)\n\n    def call(self, x):\n        return self.dense(x)\n\n"
        "    def train_on_batch(self, x, y):\n        with tf.GradientTape() as tape:\n"
        "            loss = tf.reduce_mean((self(x) - y) ** 2)\n"
        "        gradients = tape.gradient(loss, self.trainable_variables)\n"
        "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n        return loss\n\n"
        "    def keep(self):\n        self.save_weights('net.h5')\n        self.load_weights('net.h5')\n"
    )
    (folder / "main.py").write_text(
        "import numpy as np\nimport tensorflow as tf\nfrom models import Net\n\nnet = Net()\n"
        "net.compile(tf.keras.optimizers.SGD(0.1))\nfor _ in range(50):\n"
        "    net.train_on_batch(np.random.rand(8, 4), np.random.rand(8, 1))\nnet.keep()\n"
        "head = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nhead.compile('adam', 'mse')\n"
        "head.fit(np.ones([64, 4]), np.ones([64, 1]))\n"
    )
    assert main(["horovod", "--write", "."]) == 0
    models, script = ((folder / name).read_text() for name in ("models.py", "main.py"))
    assert "import horovod.tensorflow.keras as hvd_keras" in script
    assert "        hvd.broadcast_object(None)\n        self.load_weights('net.h5')" in models
    assert "tape = hvd.DistributedGradientTape(tape)" in models
    assert "net.compile(tf.keras.optimizers.SGD(0.1 * hvd.size()))" in script
    assert "head.compile(hvd_keras.DistributedOptimizer(" in script


def test_folders_without_training_say_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("x = 1\n")
    assert main(["horovod"]) == 0
    assert capsys.readouterr().out == "no training loops found\n"


def test_a_program_that_takes_too_long_does_not_stop_the_others(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.rewrites.horovod import tree

    planned = tree.rewrite

    def slow(program: Any, *rest: Any) -> Any:
        while program.roots[0].source.path == "slow.py":
            pass
        return planned(program, *rest)

    monkeypatch.setattr(tree, "rewrite", slow)
    (script.parent / "slow.py").write_text(TRAIN)
    assert main(["horovod", "--write", "--time-limit", "0.5", "."]) == 1
    assert "slow.py:1: SRC105 the analysis of the program was stopped after 0.5 s" in capsys.readouterr().err
    assert "hvd.init()" in script.read_text()
