"""The short programs of `source/models` against the libraries they stand for.

Each program is run for real, with the library, and checked: what `reveal_shape` saw must be the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from distml.interp.check import check_file
from distml.source.libraries import TENSOR_LIBRARIES
from distml.source.project import MODELLED, MODELLED_PARTS, MODELLED_WITHIN, MODELS, Project

from interp.differential import compare_runs
from interp.programs import errors_of

PROGRAMS = {
    "absl": """
from absl import flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("model_width", 64, "width", lower_bound=1)
flags.DEFINE_integer("model_depth", "3", "depth")
flags.DEFINE_float("model_rate", 1, "rate")
flags.DEFINE_bool("model_bias", True, "bias")
flags.DEFINE_string("model_name", "base", "name")
flags.DEFINE_string("model_folder", None, "folder")
flags.DEFINE_enum("model_kind", "a", ["a", "b"], "kind")
flags.DEFINE_list("model_list", "8, 16", "list")
flags.DEFINE_spaceseplist("model_words", "8 16", "words")
flags.DEFINE_multi_integer("model_sizes", [4, 5], "sizes")
flags.DEFINE_multi_integer("model_size", 4, "sizes")
rows = flags.DEFINE_integer("model_rows", 7, "rows")
asked = flags.DEFINE_integer("model_asked", None, "asked")
reveal_shape(FLAGS(["program"]))
reveal_shape(FLAGS.model_width + FLAGS.model_depth)
reveal_shape(FLAGS.model_rate)
reveal_shape(FLAGS.model_bias)
reveal_shape(FLAGS.model_name)
reveal_shape(FLAGS.model_folder)
reveal_shape(FLAGS.model_kind)
reveal_shape(FLAGS.model_list)
reveal_shape(FLAGS.model_words)
reveal_shape(FLAGS.model_sizes)
reveal_shape(FLAGS.model_size)
reveal_shape(rows.value)
reveal_shape(asked.value)
reveal_shape(FLAGS["model_rows"].value)
FLAGS.model_width = 5
reveal_shape(FLAGS.model_width)
flags.set_default(rows, 9)
reveal_shape(rows.value)
""",
    "addict": """
from addict import Dict

d = Dict({"model": {"width": 3}}, depth=4)
reveal_shape(d.model.width + d.depth)
d.head.classes = 5
reveal_shape(d.head.classes)
reveal_shape(d["head"]["classes"])
d["rows"] = 6
reveal_shape(d.rows)
reveal_shape("rows" in d)
reveal_shape(d.to_dict()["model"]["width"])
""",
    "click": """
import functools
import os

import click

os.environ["MODEL_SEED"] = "3"


class Doubled(click.ParamType):
    name = "doubled"

    def convert(self, value, param, ctx):
        return 2 * int(value)


@click.command()
@click.option("--width", default=128, help="width")
@click.option("--depth", "-d", type=int, default="3")
@click.option("-r", "--rate", type=float, default=1)
@click.option("--kind", type=click.Choice(["a", "b"]), default="b")
@click.option("--count", type=click.IntRange(1, 9), default=5)
@click.option("--sizes", multiple=True, default=[5, 7], type=int)
@click.option("--none", type=int)
@click.option("--many", multiple=True)
@click.option("--pair", nargs=2, type=int, default=(3, 9))
@click.option("--tuple", "both", type=(int, str), default=(3, "x"))
@click.option("--bias", is_flag=True)
@click.option("--debug/--no-debug", default=True)
@click.option("-v", "--verbose", count=True)
@click.option("--seed", type=int, envvar="MODEL_SEED")
@click.option("--twice", type=Doubled(), default=4)
@click.option("--changed", default=3, callback=lambda ctx, param, value: value + 1)
@click.option("--hidden", default=1, expose_value=False)
@click.argument("path", default="model.pt")
@click.argument("files", nargs=-1)
def run(width, depth, rate, kind, count, sizes, none, many, pair, both, bias, debug, verbose, seed, twice, changed, path, files):
    reveal_shape(width + depth + count + twice + changed)
    reveal_shape(rate)
    reveal_shape(kind)
    reveal_shape(sizes)
    reveal_shape(none)
    reveal_shape(many)
    reveal_shape(pair)
    reveal_shape(both)
    reveal_shape((bias, debug))
    reveal_shape(verbose)
    reveal_shape(seed)  # vague
    reveal_shape(path)
    reveal_shape(files)
    return width


reveal_shape(run(args=[], standalone_mode=False))


@click.command()
@click.option("--width", default=16)
@click.option("--bias/--no-bias", default=True)
@click.option("--flag", is_flag=True)
def given(width, bias, flag):
    reveal_shape((width, bias, flag))


given(["--width", "5", "--no-bias", "--flag"], standalone_mode=False)
given(["--width=6"], standalone_mode=False)


@click.group(invoke_without_command=True)
@click.option("--seed", default=2)
@click.pass_context
def cli(ctx, seed):
    ctx.ensure_object(dict)
    ctx.obj["seed"] = seed
    reveal_shape(ctx.invoked_subcommand)


@cli.command()
@click.option("--width", default=8)
@click.pass_context
def train(ctx, width):
    reveal_shape(width + ctx.obj["seed"])


@cli.command("other")
@click.pass_obj
def second(obj):
    reveal_shape(obj["seed"])


cli(["train"], standalone_mode=False)
cli(["train", "--width", "4"], standalone_mode=False)
cli(["other"], standalone_mode=False)
cli([], standalone_mode=False)


def shared(f):
    @click.option("--rows", default=4)
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


@click.command()
@shared
@click.option("--cols", default=5)
def both(rows, cols):
    reveal_shape((rows, cols))


both([], standalone_mode=False)
reveal_shape(both.callback(rows=1, cols=2))
""",
    "configparser": """
import configparser

config = configparser.ConfigParser()
config.read("absent.ini")
reveal_shape(config.get("model", "rows", fallback=3))  # vague
""",
    "contextvars": """
from contextvars import ContextVar

width: ContextVar[int] = ContextVar("width", default=8)
rows = ContextVar("rows")
reveal_shape(width.get())
reveal_shape(width.get(3))
before = width.set(16)
reveal_shape(width.get())
reveal_shape(width.get(3))
width.reset(before)
reveal_shape(width.get())
reveal_shape(rows.get(2))
try:
    rows.get()
except LookupError:
    reveal_shape(rows.name)
rows.set(5)
reveal_shape(rows.get() + width.get())
""",
    "easydict": """
from easydict import EasyDict as edict

e = edict({"model": {"width": 3, "sizes": [1, 2]}}, depth=4)
reveal_shape(e.model.width + e.depth)
reveal_shape(e.model.sizes)  # vague
e.head = {"classes": 5}
reveal_shape(e.head.classes)
reveal_shape(e["head"]["classes"])
e.model.width = 7
reveal_shape(e["model"].width)
e["rows"] = 6
reveal_shape(e.rows)
reveal_shape(e.get("none", 8))
reveal_shape(sorted(e.keys()))
""",
    "fire": """
import fire


def train(width=24, *, depth=2):
    reveal_shape(width + depth)


fire.Fire(train, command=[])  # unknown path
fire.Fire(train)
""",
    "functools": """
from functools import singledispatch, singledispatchmethod


@singledispatch
def size(x, more=0):
    return more


@size.register
def _(x: int, more=0):
    return x + more


@size.register(list)
def of_list(x, more=0):
    return len(x) + more


size.register(str, lambda x, more=0: 7 + more)


class Model:
    @singledispatchmethod
    def width(self, x):
        return 1

    @width.register
    def _(self, x: tuple):
        return len(x)

    @width.register(bool)
    def _(self, x):
        return 9


reveal_shape(size(3))
reveal_shape(size(True, more=2))
reveal_shape(size([4, 5], 1))
reveal_shape(size("a"))
reveal_shape(size(2.5, 6))
reveal_shape(of_list([1, 2, 3]))
reveal_shape(Model().width((1, 2)))
reveal_shape(Model().width(True))
reveal_shape(Model().width(3))
""",
    "ml_collections": """
import ml_collections
from ml_collections import config_dict


def get_config():
    config = ml_collections.ConfigDict()
    config.width = 32
    config.model = ml_collections.ConfigDict(dict(classes=5, name="a"))
    config.optimizer = config_dict.ConfigDict({"rate": 2})
    config.model.depth = 3
    return config


c = get_config()
reveal_shape(c.width + c.model.classes + c.model["depth"] + c.optimizer.rate)
c.update({"model": {"classes": 6}})
reveal_shape(c.model.classes)
reveal_shape(c.model.depth)
with c.unlocked():
    c.rows = 2
reveal_shape(c.rows)
reveal_shape("rows" in c)
reveal_shape(c.get("none", 4))
reveal_shape(c.to_dict()["model"]["classes"])
c["width"] = 9
reveal_shape(c.width)
frozen = ml_collections.FrozenConfigDict({"width": 3})
reveal_shape(frozen.width)
late = ml_collections.ConfigDict({"width": ml_collections.FieldReference(3)})
reveal_shape(late.width)  # vague
""",
    "munch": """
from munch import Munch, munchify, unmunchify

m = Munch(width=3)
m.depth = 4
reveal_shape(m.width + m.depth)
reveal_shape(m["depth"])
n = munchify({"model": {"width": 5}, "sizes": [1, 2]})
reveal_shape(n.model.width)
reveal_shape(unmunchify(n)["model"]["width"])
n.model.width = 6
reveal_shape(n["model"]["width"])
""",
    "omegaconf": """
from omegaconf import DictConfig, OmegaConf

base = OmegaConf.create({"model": {"width": 10, "depth": 2}, "rate": 0.5})
reveal_shape(base.model.width)
cfg = OmegaConf.merge(base, {"model": {"width": 30}}, OmegaConf.create({"rows": 4}))
reveal_shape(cfg.model.width)
reveal_shape(cfg.model.depth)
reveal_shape(cfg["rows"])
reveal_shape(base.model.width)
reveal_shape(OmegaConf.to_container(cfg, resolve=True)["model"]["width"])
cfg.model.classes = 5
reveal_shape(cfg["model"].classes)
tied = OmegaConf.create({"width": 3, "hidden": "${width}"})
reveal_shape(tied.hidden)
reveal_shape(OmegaConf.merge(cfg, {"rows": 5}).rows)
reveal_shape("rows" in cfg)
""",
    "pathlib": """
import os
from pathlib import Path, PurePath

p = Path("a") / "b" / "c.tar.gz"
reveal_shape(str(p))
reveal_shape(os.fspath(p))
reveal_shape(f"{p}/d")  # vague
reveal_shape((p.name, p.stem, p.suffix))
reveal_shape(str(p.parent))
reveal_shape(str(p.parents[1]))
reveal_shape(str(Path("c").parent))
reveal_shape(str(Path()))
reveal_shape(str(Path("a", "b").joinpath("c", "d")))
reveal_shape(str("x" / Path("y")))
reveal_shape(str(p.with_suffix(".zip")))
reveal_shape(str(p.with_name("e")))
reveal_shape(p.as_posix())
reveal_shape(isinstance(p, PurePath))
reveal_shape(Path("none").exists())  # vague
reveal_shape(sorted(Path("none").glob("*")))  # vague
reveal_shape(len(list(Path("none").iterdir())) if p.is_dir() else 3)  # vague
reveal_shape(os.path.basename(Path("a/b")))
reveal_shape(os.path.join(p, "d"))
""",
    "typer": """
from typing import Annotated, List, Optional

import typer

app = typer.Typer(add_completion=False)


@app.command()
def run(
    width: int = 96,
    depth: int = typer.Option(3, "--depth", "-d"),
    text: int = typer.Option("5"),
    rows: Annotated[int, typer.Option("--rows", min=1)] = 7,
    cols: Annotated[Optional[int], typer.Option()] = None,
    many: List[int] = typer.Option([1, 2]),
    bias: bool = False,
    seed: int = typer.Option(3, envvar="NO_SEED"),
    path: str = typer.Argument("model.pt"),
):
    reveal_shape(width + depth + rows)
    reveal_shape(text)
    reveal_shape(cols)
    reveal_shape(many)
    reveal_shape(bias)
    reveal_shape(seed)  # vague
    reveal_shape(path)
    return width


reveal_shape(app(standalone_mode=False))

two = typer.Typer()


@two.callback(invoke_without_command=True)
def common(ctx: typer.Context, verbose: bool = False):
    reveal_shape(verbose)


@two.command()
def fit(samples: int = 100):
    return samples


two(standalone_mode=False)
""",
}


def test_every_model_is_compared() -> None:
    # Libraries that the tests do without: `test_` with the name has what was recorded of them, test_pictures.py PIL,
    # test_traced.py what runs a model.
    recorded = {
        "PIL",
        "accelerate",
        "hydra",
        "matplotlib",
        "pandas",
        "scipy",
        "sklearn",
        "thop",
        "torchinfo",
        "torchsummary",
    }
    # Names that begin with an underscore are parts of models: `_dispatch` of functools.
    whole = {name for name in MODELLED if not name.startswith("_")}
    assert set(PROGRAMS) == whole - recorded | {"functools"}
    # test_torchvision.py and test_transformers.py say what they do.
    parts = {name.partition(".")[0] for name in MODELLED_PARTS | MODELLED_WITHIN}
    assert {path.stem for path in Path(MODELS).glob("*") if not path.stem.startswith("__")} == MODELLED | parts


@pytest.mark.parametrize("library", sorted(MODELLED - {"_arrays"}))
def test_a_file_that_imports_a_library_with_arrays_is_looked_at(library: str) -> None:
    files = Path(MODELS, library).rglob("*.py") if Path(MODELS, library).is_dir() else [Path(MODELS, f"{library}.py")]
    arrays = any("import numpy" in each.read_text("utf-8") for each in files)
    assert arrays == (library in TENSOR_LIBRARIES)


@pytest.mark.parametrize("library", [pytest.param(name, marks=pytest.mark.requires(name)) for name in sorted(PROGRAMS)])
def test_a_model_does_what_the_library_does(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["program.py"])
    compared, problems = compare_runs(PROGRAMS[library], tmp_path, monkeypatch)
    assert not problems, "\n".join(problems)
    assert compared.exact()[1], "nothing is revealed"


def test_settings_that_meet_a_shape() -> None:
    program = (
        "import torch\nfrom omegaconf import OmegaConf\n"
        'cfg = OmegaConf.merge({"width": 10}, {"width": 30})\n'
        "torch.nn.Linear(cfg.width, 2)(torch.zeros(4, SIZE))\n"
    )
    assert [each.code for each in errors_of(program.replace("SIZE", "10"))] == ["SHP401"]
    assert errors_of(program.replace("SIZE", "30")) == []


@pytest.mark.parametrize(
    "change", ["def later(other):\n    cfg.width = other\n", "def later(name):\n    cfg[name] = 4\n"]
)
def test_settings_that_other_code_changes_are_unknown(change: str) -> None:
    program = (
        "import torch\nfrom munch import Munch\ncfg = Munch(width=3)\n{}\n"
        "def run():\n    return torch.zeros(2, cfg.width) @ torch.zeros(4, 2)\n"
    )
    assert [each.code for each in errors_of(program.format(""))] == ["SHP101"]
    assert errors_of(program.format(change)) == []


def test_a_module_of_the_project_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("munch.py").write_text("class Munch:\n    width = 7\n", "utf-8")
    Path("program.py").write_text("from munch import Munch\nreveal_shape(Munch().width)\n", "utf-8")
    project = Project()
    found = check_file(project.open("program.py"), project, None)
    assert [each.text for each in found.revealed] == ["7"]
