"""The generators of all begin alike once: where the script begins, and ahead of what a module draws while it is imported."""

from __future__ import annotations

import pytest
from horovod.torch.programs import rewritten_files

SCRIPT = """\
import numpy as np
import tensorflow as tf
import data
import models

{first}


def main():
    x, y = data.load()
    model = models.made()
    model.compile("adam", "mse")
    for turn in range(3):
        {again}
        model.fit(x, y, batch_size=8)


if __name__ == "__main__":
    main()
"""
DATA = """\
import numpy as np
{imported}


def shuffled(x):
    order = np.random.permutation(len(x))
    return x[order]


def load():
    x = shuffled(np.load("x.npy"))
    return x, x[:, 0]


def fresh():
    {fresh}
    return np.random.uniform(size=4)
"""
MODELS = """\
import numpy as np
import tensorflow as tf
{imported}


def made():
    return tf.keras.Sequential([tf.keras.layers.Dense(1), tf.keras.layers.Dropout(np.random.uniform(0, 0.5))])
"""
SEED = "np.random.seed(0)"
IMPORTED = {
    "in neither": ("", ""),
    "in functions": ("def drawn():\n    return np.random.rand()", "def own():\n    return np.random.rand()"),
    "in the data": ("noise = np.random.rand(4)", ""),
    "in both": ("order = np.random.permutation(4)", "rate = np.random.uniform()"),
    "by a call": ("def drawn():\n    return np.random.rand()\n\n\nnoise = drawn()", ""),
}
FRESH = {
    "np.random.seed()": "",
    "np.random.seed(None)": "",
    "np.random.seed(3)": "np.random.seed(3)",
    "np.random.seed(seed=None)": "",
}


def program(
    first: str = "", again: str = "pass", data: str = "", models: str = "", fresh: str = "pass"
) -> dict[str, str]:
    files = {
        "script.py": SCRIPT.format(first=first, again=again),
        "data.py": DATA.format(imported=data, fresh=fresh),
        "models.py": MODELS.format(imported=models),
    }
    return {**files, **rewritten_files(files, "horovod")}


@pytest.mark.parametrize("way", IMPORTED)
def test_once_in_the_script_and_where_an_import_draws(way: str) -> None:
    data, models = IMPORTED[way]
    found = program(data=data, models=models)
    draws = {"script.py": 1, "data.py": way in ("in the data", "in both", "by a call"), "models.py": way == "in both"}
    assert {name: text.count(SEED) for name, text in found.items()} == draws
    for name, text in found.items():
        drawn = [
            text.find(each) for each in ("noise = ", "order = np.random.permutation(4)", "rate = ") if each in text
        ]
        assert not draws[name] or not drawn or text.index(SEED) < min(drawn)


@pytest.mark.parametrize("fresh", FRESH)
def test_what_begins_anywhere_in_a_function_goes_on(fresh: str) -> None:
    found = program(again="noise = data.fresh()", fresh=fresh)
    assert fresh not in found["data.py"] or fresh == FRESH[fresh]
    assert SEED not in found["data.py"]
    assert (SEED in found["script.py"]) == (not FRESH[fresh])


@pytest.mark.parametrize("first", ["np.random.seed()", "np.random.seed(None)"])
def test_what_begins_anywhere_in_the_script_begins_alike(first: str) -> None:
    found = program(first=first)
    assert first not in found["script.py"]
    assert SEED in found["script.py"]


COMMANDS = """\
import click
import numpy as np
import tensorflow as tf
import data
import models


{begin}


@click.group()
def cli():
    {first}


@cli.command("train")
def train():
    {train}
    x, y = data.load()
    model = models.made()
    model.compile("adam", "mse")
    model.fit(x, y, batch_size=8)


@cli.command("test")
def test():
    {test}
    print(models.made().predict(data.load()[0]))


if __name__ == "__main__":
    cli()
"""
BEGIN = "def begin():\n    np.random.seed(3)"
AT = {
    "nowhere": {},
    "in the other command": {"test": "begin()", "begin": BEGIN},
    "itself in the other": {"test": "np.random.seed(3)"},
}


@pytest.mark.parametrize("way", AT)
def test_what_another_command_begins_is_not_begun(way: str) -> None:
    parts = {"begin": "", "first": "pass", "train": "pass", "test": "pass", **AT[way]}
    files = {"script.py": COMMANDS.format(**parts), "data.py": DATA.format(imported="", fresh="pass")}
    files["models.py"] = MODELS.format(imported="")
    assert SEED in rewritten_files(files, "horovod")["script.py"]


ONE = SCRIPT.replace("def main():", "@hydra.main()\ndef main():\n    np.random.seed(3)").replace(
    "import data", "import hydra\nimport data"
)


def test_what_the_only_command_begins_is() -> None:
    files = {"script.py": ONE.format(first="", again="pass"), "data.py": DATA.format(imported="", fresh="pass")}
    files["models.py"] = MODELS.format(imported="")
    assert SEED not in rewritten_files(files, "horovod")["script.py"]
