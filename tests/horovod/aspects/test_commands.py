"""Functions that have a command write a file, and read it for what they write themselves, are left to rank 0 as a whole."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

SESSION = """\
import os
import re
import subprocess

import numpy as np
import tensorflow as tf


def score(path):
    {body}


x = tf.placeholder(tf.float32, [None, 4])
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.layers.dense(x, 1)))
data = np.ones([64, 4])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for epoch in range(3):
        for i in range(8):
            session.run(train, {{x: data[i * 8 : (i + 1) * 8]}})
        {call}
"""
TAPE = """\
import os
import re
import subprocess

import numpy as np
import tensorflow as tf


def score(path):
    {body}


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for epoch in range(3):
    for x in tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).batch(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    {call}
"""
PROGRAMS = {"session": SESSION, "tape": TAPE}
ALONE = {
    "os.system": (
        'os.system("wc -c < {} > temp".format(path))',
        'told = open("temp").read()',
        'with open(path, "a") as f:',
        "    f.write(told)",
        'os.remove("temp")',
    ),
    "what is found in it": (
        'os.system(f"wc -c < {path} > temp")',
        "try:",
        '    print(re.findall("[0-9]+", open("temp").read())[0])',
        "except IndexError:",
        "    pass",
    ),
    "subprocess": (
        'subprocess.run(["sort", path, "-o", "temp"])',
        'with open("temp") as f:',
        "    for line in f.readlines():",
        "        print(line)",
    ),
}
BESIDE = {
    "a function that gives something": ('os.system("wc > temp")', 'return open("temp").read()'),
    "one that computes with the model": ('os.system("wc > temp")', "print(train_or_evaluate(path))"),
    "one that reads nothing": ('os.system("wc > temp")', 'print("done")'),
}


def rewritten(framework: str, body: tuple[str, ...], call: str = 'score("result")') -> str:
    (file,) = outcome(PROGRAMS[framework].format(body="\n    ".join(body), call=call)).files.values()
    return file.source


@pytest.mark.parametrize("framework", PROGRAMS)
@pytest.mark.parametrize("way", ALONE)
def test_rank_zero_runs_and_reads(way: str, framework: str) -> None:
    text = rewritten(framework, ALONE[way])
    whole = "def score(path):\n    " + "\n    ".join(ALONE[way])
    assert whole in text and text.count("if hvd.rank() == 0:\n") == 1
    before, _, after = text.partition("if hvd.rank() == 0:\n")
    assert after.strip() == 'score("result")' and "def score" in before


@pytest.mark.parametrize("framework", PROGRAMS)
@pytest.mark.parametrize("way", BESIDE)
def test_what_others_need_is_called_by_all(way: str, framework: str) -> None:
    call = 'said = score("result")' if "return" in BESIDE[way][-1] else 'score("result")'
    (line,) = (each for each in rewritten(framework, BESIDE[way], call).splitlines() if each.strip() == call)
    assert len(line) - len(line.lstrip()) == (8 if framework == "session" else 4)


READING = {
    "check_output": 'return float(subprocess.check_output(["wc", "-l", path]).split()[0])',
    "run": 'return subprocess.run(["wc", "-l", path], capture_output=True).stdout',
    "Popen": 'found = subprocess.Popen(["wc", "-l", path], stdout=subprocess.PIPE)\n    return found.communicate()[0]',
    "popen": 'return os.popen("wc -l " + path).read()',
    "getoutput": 'return subprocess.getoutput(f"wc -l {path}")',
}
WRITING = {
    "savetxt": 'np.savetxt("told.txt", data)',
    "open": 'with open("told.txt", "w") as f:\n        f.write("told")',
    "json": 'json.dump(list(data), open("told.txt", "w"))',
}


@pytest.mark.parametrize("written", WRITING)
@pytest.mark.parametrize("read", READING)
def test_all_wait_for_what_a_command_reads_whose_output_all_have(read: str, written: str) -> None:
    call = f'{WRITING[written]}\n    best = score("told.txt")'
    text = "import json\n" + TAPE.replace("for epoch", "data = [1.0]\nfor epoch")
    (file,) = outcome(text.format(body=READING[read], call=call)).files.values()
    assert f"def score(path):\n    hvd.broadcast_object(None)\n    {READING[read]}\n" in file.source


@pytest.mark.parametrize("read", READING)
def test_nobody_waits_for_a_command_that_reads_something_else(read: str) -> None:
    call = 'np.savetxt("told.txt", [epoch])\n    best = score("/proc/meminfo")'
    (file,) = outcome(TAPE.format(body=READING[read], call=call)).files.values()
    assert "hvd.broadcast_object(None)" not in file.source
