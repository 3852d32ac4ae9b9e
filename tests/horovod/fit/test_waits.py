"""All ranks wait once, in front of what reads what rank 0 has written, however many files that are; elsewhere nobody waits."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

HEAD = """\
import numpy as np
from tensorflow import keras

x, y = np.ones((64, 4)), np.ones((64, 1))


def made():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse")
    return model


model, other = made(), made()
"""
WRITTEN = {
    "a model": "model.fit(x, y)\nmodel.save('net.h5')",
    "weights": "model.fit(x, y)\nmodel.save_weights('net.h5')",
    "two files": "model.fit(x, y)\nmodel.save_weights('net.h5')\nother.save_weights('other.h5')",
    "by a callback": "model.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint('net.h5')])",
    "by a callback in a list": "held = [keras.callbacks.ModelCheckpoint('net.h5')]\nmodel.fit(x, y, callbacks=held)",
    "by a function": "def train():\n    model.fit(x, y)\n    model.save_weights('net.h5')\n\n\ntrain()",
    "in each turn": "for turn in range(3):\n    model.fit(x, y)\n    model.save_weights('net.h5')",
}
READ = {
    "weights": "model.load_weights('net.h5')",
    "a model": "best = keras.models.load_model('net.h5')",
    "a function": "def best():\n    return keras.models.load_model('net.h5')\n\n\nnet = best()",
    "two files": "model.load_weights('net.h5')\nother.load_weights('other.h5')",
    "a test": "def judge():\n    model.load_weights('net.h5')\n    print(model.evaluate(x, y))\n\n\njudge()",
}
WAIT = 'hvd.allreduce(0, name="written")'


def rewritten(text: str) -> str:
    (file,) = outcome(HEAD + text + "\n").files.values()
    return file.source


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("written", WRITTEN)
def test_all_wait_once_in_front_of_what_reads(written: str, read: str) -> None:
    found = rewritten(f"{WRITTEN[written]}\n{READ[read]}")
    assert found.count(WAIT) == 1
    lines = found.splitlines()
    at = next(number for number, line in enumerate(lines) if WAIT in line)
    assert "load_" in lines[at + 1]


@pytest.mark.parametrize("written", WRITTEN)
def test_nobody_waits_where_nothing_is_read(written: str) -> None:
    assert WAIT not in rewritten(f"model.load_weights('begin.h5')\n{WRITTEN[written]}\nprint(model.evaluate(x, y))")


@pytest.mark.parametrize("read", ["weights", "a model"])
def test_what_is_read_in_a_later_turn_is_waited_for(read: str) -> None:
    body = f"for turn in range(3):\n    {READ[read]}\n    model.fit(x, y)\n    model.save_weights('net.h5')"
    assert f"{WAIT}\n    {READ[read].partition('(')[0]}" in rewritten(body)


OTHERS = {
    "tables of another name": ("json.dump([1], open('told.json', 'w'))", "x = np.load('x.npy')"),
    "lines of another name": ("np.savetxt('told.txt', x)", "told = open('names.txt').read()"),
    "weights of another name": ("model.save_weights('net.h5')", "other.load_weights('begin.h5')"),
    "another folder": ("model.save_weights('run/net.h5')", "names = os.listdir('data')"),
    "a folder that is there": ("model.save('run/net.h5', True)", "there = os.path.exists('run')"),
    "a folder under a name": ("model.save(os.path.join(run, 'net.h5'), True)", "there = os.path.exists(run)"),
    "another name of a command": ("os.system('cp net.h5 best.h5')", "model.load_weights('begin.h5')"),
    "a longer name of a command": ("os.system('cp net.h5 best.h5')", "x = np.load('t.h5')"),
    "a longer name": ("np.savetxt('told.txt', x)", "told = subprocess.check_output(['wc', 'untold.txt'])"),
    "another number's name": ("model.save_weights(f'net{len(x)}.h5')", "other.load_weights(f'begin{len(y)}.h5')"),
}
SAME = {
    "lines": ("np.savetxt('told.txt', x)", "told = open('told.txt').read()"),
    "a folder": ("model.save_weights('run/net.h5')", "names = os.listdir('run')"),
    "a number's name": ("model.save_weights(f'net{len(x)}.h5')", "other.load_weights(f'net{len(y)}.h5')"),
    "a name that is filled": (
        "model.save_weights('net{}.h5'.format(len(x)))",
        "other.load_weights('net{}.h5'.format(1 + len(y)))",
    ),
    "a name with a remainder": ("model.save_weights('net%d.h5' % len(x))", "other.load_weights('net%d.h5' % len(y))"),
    "a command and a callback": (
        "model.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint('net.h5')])",
        "told = subprocess.check_output(['ls', 'net.h5'])",
    ),
    "what a command writes": ("os.system('cp -r net.h5 best.h5')", "model.load_weights('best.h5')"),
    "what a command is told in a list": (
        "subprocess.call(['mv', 'net.h5', 'best.h5'])",
        "model.load_weights('best.h5')",
    ),
    "what a command moves away": ("os.system('rm -f net.h5')", "there = os.path.exists('net.h5')"),
    "a command that runs": ("subprocess.run(['cp', 'a.npy', 'x.npy'], check=True)", "x = np.load('x.npy')"),
    "what a command puts out": ("np.savetxt('told.txt', x)", "told = subprocess.check_output(['wc', 'told.txt'])"),
}
IMPORTS = "import json\nimport os\nimport subprocess\nimport sys\n\nrun = sys.argv[1]\n"


@pytest.mark.parametrize("way", OTHERS)
def test_nobody_waits_for_another_file(way: str) -> None:
    written, read = OTHERS[way]
    assert WAIT not in rewritten(f"{IMPORTS}model.fit(x, y)\n{written}\n{read}")


@pytest.mark.parametrize("way", SAME)
def test_all_wait_for_the_same_file(way: str) -> None:
    written, read = SAME[way]
    assert f"{WAIT}\n{read}" in rewritten(f"{IMPORTS}model.fit(x, y)\n{written}\n{read}")


MADE = ["np.save(path, model.predict(x))", "np.savetxt(path, model.predict(x))", "os.system('touch ' + path)"]


@pytest.mark.parametrize("call", MADE)
def test_what_one_process_of_each_machine_makes_it_makes_whole(call: str) -> None:
    """Rank 0 of all would leave the other machines without the file."""
    text = f"{IMPORTS}path = 'told.npy'\nmodel.fit(x, y)\nif not os.path.exists(path):\n    {call}\nx = np.load(path)"
    found = rewritten(text)
    assert f"    {call}\n".replace("x))", "x, verbose=1 if hvd.rank() == 0 else 0))") in found
    assert "on_rank_zero(np" not in found and "if hvd.local_rank() == 0:" in found


@pytest.mark.parametrize(
    "call", ["subprocess.getoutput('wc ' + path)", "os.popen('wc ' + path)", "subprocess.run(['wc', path])"]
)
def test_what_a_command_puts_out_is_given_to_all(call: str) -> None:
    found = rewritten(f"{IMPORTS}\n\ndef told(path):\n    return {call}\n\n\nmodel.fit(x, y)\nbest = told('x.npy')")
    assert f"    return {call}\n" in found
