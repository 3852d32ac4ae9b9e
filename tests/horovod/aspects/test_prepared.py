"""Files that are made when they are missing, and read then: one process of a machine makes them, before all others look."""

from __future__ import annotations

import ast

import pytest
from horovod.torch.programs import outcome

TORCH = """
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.ones(32, 4), torch.ones(32, 1))
for a, b in torch.utils.data.DataLoader(data, batch_size=8):
    optimizer.zero_grad()
    ((model(a) - b) ** 2).mean().backward()
    optimizer.step()
"""
TAPE = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for a, b in tf.data.Dataset.from_tensor_slices((tf.ones([32, 4]), tf.ones([32, 1]))).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
FIT = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
model.fit(np.ones((32, 4)), np.ones((32, 1)), epochs=2)
"""
HEAD = "import os\nimport pathlib\nimport numpy as np\nimport {}\n"
PROGRAMS = [pytest.param(TORCH, id="torch"), pytest.param(TAPE, id="tape"), pytest.param(FIT, id="fit")]
MAKES = {
    "open": "if not os.path.exists('d.txt'):\n    with open('d.txt', 'w') as out:\n        out.write('x')\n"
    "read = open('d.txt').read()\n",
    "a method of a path": "p = pathlib.Path('d.txt')\nif not p.exists():\n    p.write_text('x')\nread = p.read_text()\n",
    "numpy": "if not os.path.isfile('d.npy'):\n    np.save('d.npy', np.ones(3))\nread = np.load('d.npy')\n",
    "tofile": "if not os.path.exists('d.bin'):\n    np.random.RandomState(0).randint(0, 9, 40).astype(np.uint8).tofile('d.bin')\n"
    "read = np.memmap('d.bin', dtype=np.uint8, mode='r')\n",
    "records": "if not os.path.exists('d.rec'):\n    with tf.io.TFRecordWriter('d.rec') as out:\n"
    "        out.write(b'x')\nread = tf.data.TFRecordDataset('d.rec')\n",
    "pictures of older SciPy": "import scipy.misc\nif not os.path.exists('d.png'):\n"
    "    scipy.misc.imsave('d.png', np.ones((3, 3)))\nread = scipy.misc.imread('d.png')\n",
    "a loop over files": "folder = pathlib.Path('all')\nfor i in range(9):\n    each = folder / f'{i}.txt'\n"
    "    if not each.exists():\n        each.write_text('x')\nread = sorted(os.listdir(folder))\n",
}


def head(trains: str) -> str:
    """The imports of a program: the processes know of each other behind them."""
    return HEAD.format("torch" if trains == TORCH else "tensorflow as tf")


@pytest.mark.parametrize("makes", [each for each in MAKES if each != "records"])
@pytest.mark.parametrize("trains", PROGRAMS)
def test_one_process_makes_what_is_missing_before_the_others_look(makes: str, trains: str) -> None:
    check(head(trains) + MAKES[makes] + trains)


@pytest.mark.parametrize("trains", PROGRAMS[1:])
def test_so_it_does_with_records(trains: str) -> None:
    check(head(trains) + MAKES["records"] + trains)


def check(program: str) -> None:
    """Two waits, and what makes files or asks for them in between."""
    (file,) = outcome(program).files.values()
    body = ast.parse(file.source).body
    waits = [
        at for at, each in enumerate(body) if isinstance(each, ast.If) and "local_rank() " in ast.unparse(each.test)
    ]
    makes_at = [
        at for at, each in enumerate(body) if "exists()" in ast.unparse(each) or "path.exists" in ast.unparse(each)
    ]
    makes_at = makes_at or [at for at, each in enumerate(body) if "isfile" in ast.unparse(each)]
    assert len(waits) == 2 and [at for at in makes_at if isinstance(body[at], ast.If | ast.For)]
    assert all(waits[0] < at < waits[1] for at in makes_at)
    assert "!= 0" in ast.unparse(body[waits[0]]) and "== 0" in ast.unparse(body[waits[1]])


@pytest.mark.parametrize("trains", PROGRAMS)
def test_nobody_waits_for_what_is_only_written(trains: str) -> None:
    begun = "if not os.path.exists('log.txt'):\n    with open('log.txt', 'w') as out:\n        out.write('begun')\n"
    (file,) = outcome(head(trains) + begun + trains).files.values()
    assert "local_rank() !=" not in file.source
