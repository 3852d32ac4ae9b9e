"""Which object reaches which expression: the questions that rewriters of training code ask."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from distml.source.project import Project
from distml.training import program as limits
from distml.training.program import Program, followed

HEAD = "import torch\nimport tensorflow as tf\nfrom tensorflow import keras\n"


@pytest.fixture
def read(folder: Path):  # type: ignore[no-untyped-def]
    def program(main: str, **others: str) -> Program:
        for name, text in {"main": HEAD + dedent(main), **others}.items():
            (folder / f"{name}.py").write_text(dedent(text))
        project = Project(str(folder))
        return Program([project.open("main.py")], project)

    return program


def found(program: Program, text: str) -> set[str]:
    """The library paths of the expressions that are written `text`."""
    nodes = (n for unit in program.units.values() for n in ast.walk(unit.tree) if isinstance(n, ast.expr))
    return {name for node in nodes if ast.unparse(node) == text for name in program.names(node)}


FILLED = [
    "self.__dict__.update(given)",
    "self.__dict__.update(**given)",
    "self.__dict__ = given",
    "vars(self).update(given)",
    "vars(self)['o'] = given['o']",
    "for key, value in given.items():\n            setattr(self, key, value)",
    "for key in given:\n            self.__dict__[key] = given[key]",
    "setattr(self, 'o', given['o'])",
]
"""How an object is given attributes that no statement names."""
GIVEN = [
    "whole = C({'o': keras.optimizers.Adam()})",
    "whole = C(dict(o=keras.optimizers.Adam()))",
    "def make():\n    o = keras.optimizers.Adam()\n    return C(locals())\nwhole = make()",
    "class D:\n    pass\nd = D()\nvars(d).update(o=keras.optimizers.Adam())\nwhole = C(vars(d))",
]


@pytest.mark.parametrize(
    "text",
    [
        "import keras\nopt = keras.optimizers.Adam()",
        "opt = tf.keras.optimizers.Adam()",
        "opt = tf.optimizers.Adam()",
        "from tensorflow.keras.optimizers import Adam as A\nopt = A()",
        "K = tf.keras\nopt = K.optimizers.Adam()",
        "make = keras.optimizers.Adam\nopt = make()",
        "from tensorflow.keras.optimizers import *\nopt = Adam()",
        "opt = tf.compat.v1.keras.optimizers.Adam()",
        "opt = keras.optimizers.legacy.Adam()",
        "opt = getattr(keras.optimizers, 'Adam')()",
        "opt = {'a': keras.optimizers.Adam}['a']()",
        "opt = keras.optimizers.Adam() if flag else None",
        "opt = None\nif flag:\n    opt = keras.optimizers.Adam()",
        "opt, other = keras.optimizers.Adam(), 1",
        "class C:\n    def __init__(self):\n        self.o = keras.optimizers.Adam()\nopt = C().o",
        "def make():\n    return keras.optimizers.Adam()\nopt = make()",
        "def use(o):\n    global opt\n    opt = o\nuse(o=keras.optimizers.Adam())",
        "opts = []\nopts.append(keras.optimizers.Adam())\nfor opt in opts:\n    pass",
        "opts = dict(a=keras.optimizers.Adam())\nopt = opts['a']",
        "def pair():\n    return 1, keras.optimizers.Adam()\n_, opt = pair()",
        "make = lambda: keras.optimizers.Adam()\nopt = make()",
        "opt = (a := keras.optimizers.Adam())",
        "def g():\n    yield keras.optimizers.Adam()\nopt = next(g())",
        "import functools\nopt = functools.partial(keras.optimizers.Adam, 0.1)()",
        *(
            f"class C:\n    def __init__(self, given, **named):\n        {filled}\n{made}\nopt = whole.o"
            for filled in FILLED
            for made in GIVEN
        ),
    ],
)
def test_an_optimizer_is_known_however_it_gets_there(read, text: str) -> None:  # type: ignore[no-untyped-def]
    assert "keras.optimizers.Adam().apply_gradients" in found(
        read(text + "\nopt.apply_gradients()"), "opt.apply_gradients"
    )


def test_objects_cross_modules(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        "from parts import make, Trainer\nimport parts as p\nTrainer(make(), p.rate).run()",
        parts="""
        import torch
        rate = 0.1
        def make():
            return torch.optim.SGD([], lr=rate)
        class Trainer:
            def __init__(self, opt, rate):
                self.opt = opt
            def run(self):
                self.opt.step()
        """,
    )
    assert found(program, "self.opt.step") == {"torch.optim.SGD().step"}
    assert {unit.source.path for unit in program.units.values()} == {"main.py", "parts.py"}


def test_names_come_by_stars_through_modules_that_name_no_framework(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        "from middle import *\nfrom elsewhere import *\nprint(torch.nn.Linear(rate, 1))",
        middle="from settings import *\nname = 'x'",
        settings="import torch\nrate = 4",
    )
    assert "torch.nn.Linear" in found(program, "torch.nn.Linear")
    assert "builtins.print" in found(program, "print")


def test_a_module_that_is_read_later_is_no_longer_unknown(read) -> None:  # type: ignore[no-untyped-def]
    """An import comes before what it imports was looked at; nothing of that moment may stay."""
    program = read(
        "from later import made\nspec = made()\noptimizer = spec['optimizer']",
        later="import torch\n\ndef made():\n    spec = {}\n    spec['optimizer'] = torch.optim.SGD([])\n    return spec\n",
    )
    assert found(program, "optimizer") == {"torch.optim.SGD()"}


def test_a_script_in_a_package_finds_what_is_beside_it(read, folder: Path) -> None:  # type: ignore[no-untyped-def]
    (folder / "__init__.py").write_text("")
    program = read("import parts\nopt = parts.made()", parts="import torch\ndef made(): return torch.optim.SGD([])")
    assert found(program, "opt") == {"torch.optim.SGD()"}


def test_methods_of_classes_of_the_program_and_of_what_they_are_derived_from(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        """
        class Base(keras.Model):
            def call(self, x):
                return x
        class Net(Base):
            pass
        net = Net()
        net.fit(1)
        """
    )
    assert found(program, "net.fit") == {"keras.Model().fit"}
    assert found(program, "net") == {"keras.Model()"}


def test_modules_keep_their_kind_through_to_and_train(read) -> None:  # type: ignore[no-untyped-def]
    program = read("net = torch.nn.Linear(2, 3).to('cpu').train()\nnet.parameters()")
    assert found(program, "net.parameters") == {"torch.nn.Linear().parameters"}


def test_sources_follow_gradients_to_their_tape(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        """
        opt = keras.optimizers.Adam()
        def step(w, x):
            with tf.GradientTape() as tape, tf.GradientTape() as penalty:
                loss = w * x
            gradients = tape.gradient(loss, [w])
            other = penalty.gradient(loss, [x])
            gradients = [tf.clip_by_norm(g, 1.0) for g in gradients]
            opt.apply_gradients(zip(gradients, [w]))
        """
    )
    (call,) = program.calls_of("apply_gradients", method=True)
    reached = {ast.unparse(node) for node in program.sources(call.args[0])}
    assert "tape.gradient(loss, [w])" in reached
    assert "penalty.gradient(loss, [x])" not in reached


def test_loops_over_wrapped_loaders(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        """
        from torch.utils.data import DataLoader
        from tqdm import tqdm
        loaders = {"train": DataLoader([]), "test": DataLoader([])}
        for number, (x, y) in enumerate(tqdm(loaders["train"], total=3), 1):
            x.to("cpu")
        """
    )
    assert found(program, "x") == {"torch.utils.data.DataLoader()[][]"}
    (loop,) = [node for node in ast.walk(program.roots[0].tree) if isinstance(node, ast.For)]
    makers = {ast.unparse(node) for node in program.sources(loop.iter) if isinstance(node, ast.Call)}
    assert "DataLoader([])" in makers


def test_callers_of_functions_and_of_methods(read) -> None:  # type: ignore[no-untyped-def]
    program = read("def f(): pass\nf()\nclass C:\n    def m(self): self.m()\nC().m()")
    functions = {n.name: n for n in ast.walk(program.roots[0].tree) if isinstance(n, ast.FunctionDef)}
    assert [call.lineno for call in program.calling(functions["f"])] == [5]
    assert {call.lineno for call in program.calling(functions["m"])} == {7, 8}


def test_annotations_speak_where_nobody_calls(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        """
        def train(model: torch.nn.Module, opt: "torch.optim.Optimizer"):
            opt.step()
        def called(opt: torch.optim.Optimizer):
            opt.zero_grad()
        called(torch.optim.SGD([], 0.1))
        """
    )
    assert found(program, "opt.step") == {"torch.optim.Optimizer().step"}
    assert found(program, "opt.zero_grad") == {"torch.optim.SGD().zero_grad"}


def test_a_name_shadowed_in_a_function_is_its_own(read) -> None:  # type: ignore[no-untyped-def]
    program = read("opt = torch.optim.SGD([], 0.1)\ndef f(opt):\n    opt.minimize()\nf(keras.optimizers.Adam())")
    assert found(program, "opt.minimize") == {"keras.optimizers.Adam().minimize"}


def test_growing_containers_and_recursion_come_to_an_end(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        """
        def f(x):
            return f([x, f(x)])
        ds = tf.data.Dataset.range(3)
        while True:
            ds = ds.map(f).batch(2)
            x = f(ds)
            f = lambda y, g=f: g(y)
        """
    )
    assert not program.too_large


def test_what_is_too_large_says_so(read, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(limits, "MOST_STEPS", 10)
    assert read("a = 1\n" * 30).too_large


def test_models_are_left_out_of_what_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_STEPS", 300)
    (folder / "models.py").write_text("import torch\n" + "class Net(torch.nn.Module):\n    size = 1\n" * 200)
    (folder / "main.py").write_text(HEAD + "from models import Net\nopt = torch.optim.SGD(Net().parameters(), 0.1)\n")
    project = Project(str(folder))
    program = followed([project.open("main.py")], project)
    assert not program.too_large
    assert found(program, "opt") == {"torch.optim.SGD()"}


@pytest.mark.parametrize(
    "settings",
    [
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n    every: int = 2\n",
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass Settings:\n    every: int = 2\n",
        "from typing import NamedTuple\n\n\nclass Settings(NamedTuple):\n    every: int = 2\n",
        "import argparse\n\nSettings = argparse.ArgumentParser().parse_args\n",
    ],
)
def test_settings_in_a_module_of_their_own_are_followed(settings: str, folder: Path) -> None:
    (folder / "settings.py").write_text(settings)
    (folder / "main.py").write_text(HEAD + "from settings import Settings\nsettings = Settings()\n")
    project = Project(str(folder))
    program = followed([project.open("main.py")], project)
    assert {Path(location).name for location in program.units} == {"main.py", "settings.py"}


def test_the_program_is_never_run(read) -> None:  # type: ignore[no-untyped-def]
    read("raise SystemExit('this was run')", parts="raise SystemExit('this too')")


def test_pairs_are_taken_apart_by_a_starred_zip(read) -> None:  # type: ignore[no-untyped-def]
    program = read("""
        opt = tf.train.AdamOptimizer()
        grads, variables = zip(*opt.compute_gradients(loss))
        grads, norm = tf.clip_by_global_norm(grads, 5.0)
        step = opt.apply_gradients(zip(grads, variables))
    """)
    (update,) = program.calls_of("apply_gradients", method=True)
    (made,) = program.calls_of("compute_gradients", method=True)
    assert made in program.sources(update.args[0])


def test_a_function_that_is_given_to_a_class_knows_its_object(read) -> None:  # type: ignore[no-untyped-def]
    program = read(
        """
        class Window:
            def make(self):
                return tf.data.Dataset.range(3)


        @property
        def train(self):
            return self.make()


        Window.train = train
        data = Window().train
        """
    )
    assert "tensorflow.data.Dataset.range()" in found(program, "data")


def test_a_star_comes_before_the_module_it_takes_from(read, folder: Path) -> None:  # type: ignore[no-untyped-def]
    """`from .Net import *` in a package binds the class of that name, and no longer the module."""
    (folder / "nets").mkdir()
    (folder / "nets" / "__init__.py").write_text("from .Net import *\n")
    (folder / "nets" / "Net.py").write_text("import torch\nclass Net(torch.nn.Module):\n    pass\n")
    assert "torch.nn.Module()" in found(read("import nets\nmodel = nets.Net()"), "model")


@pytest.mark.parametrize("called", ["getattr(net, 'cuda')()", "(net.cuda if big else net.cpu)()", "[net.cuda][0]()"])
def test_a_method_that_gives_its_object_back_may_be_called_by_any_expression(read, called: str) -> None:  # type: ignore[no-untyped-def]
    program = read(f"net = torch.nn.Linear(1, 1)\nmade = {called}")
    assert found(program, "made") <= {"torch.nn.Linear()"}


CHOSEN = {
    "an attribute by its name": "getattr(nets, name)",
    "a table of names": "vars(nets)[name]",
    "the file's own names": "globals()[name]",
    "a module by its name": "getattr(importlib.import_module('nets'), name)",
    "a dict": "{'a': nets.Net, 'b': nets.Deep}[name]",
    "a dict with a default": "{'a': nets.Net}.get(name, nets.Deep)",
    "a function with branches": "chosen(name)",
}


@pytest.mark.parametrize("way", CHOSEN)
def test_a_class_that_is_chosen_by_a_name_nobody_knows_is_any_of_them(read, way: str) -> None:  # type: ignore[no-untyped-def]
    program = read(
        "import sys, importlib\nimport nets\nfrom nets import Net, Deep\nname = sys.argv[1]\n"
        "def chosen(name):\n    if name == 'a':\n        return nets.Net\n    return nets.Deep\n"
        f"kind = {CHOSEN[way]}\nmade = kind()\nheld = made.optimizer",
        nets="from tensorflow import keras\n"
        "class Net:\n    def __init__(self):\n        self.optimizer = keras.optimizers.Adam()\n"
        "class Deep:\n    def __init__(self):\n        self.optimizer = keras.optimizers.SGD()",
    )
    assert {"keras.optimizers.Adam()", "keras.optimizers.SGD()"} <= found(program, "held")
