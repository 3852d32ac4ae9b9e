"""How a generated program is put together: choices by a seed, names for roles, and layouts in which pieces are written out.

Pieces are lines with roles: `$model` is the model wherever a layout keeps it (a local, an attribute, an item of a dict),
`$o_epochs` an option however options are given, `$f_evaluate(` a call of a function of the program, with the roles that it needs.
A program with scale 2 is the same one with batches and rates twice as large and half as many steps: what two ranks of the
rewritten program compute together.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import TypeVar

T = TypeVar("T")
_ROLE = re.compile(r"\$(\w+)")
_CALL = re.compile(r"\$f_(\w+)\(")
NAMES = {
    "model": ("model", "net", "network", "m"),
    "opt": ("optimizer", "opt", "adam", "updater"),
    "train": ("train_ds", "train_data", "training", "dataset"),
    "val": ("val_ds", "valid", "dev_set", "held_out"),
    "test": ("test_ds", "test_data", "unseen"),
    "best": ("best", "best_acc", "top", "record"),
    "wait": ("wait", "bad", "patience_left", "stale"),
    "history": ("history", "log", "curves", "hist"),
    "writer": ("writer", "summary_writer", "board", "sw"),
    "saver": ("saver", "ckpt", "keeper"),
    "manager": ("manager", "ckpts", "mgr"),
    "folder": ("out_dir", "logdir", "folder", "save_dir", "workdir"),
    "loss_fn": ("loss_fn", "criterion", "loss_object", "ce"),
    "args": ("args", "opts", "hparams", "config"),
    "count": ("global_step", "it", "iteration", "n_iter"),
    "state": ("state", "stats", "track"),
    "start": ("start", "first", "begin", "initial_epoch"),
    "rate": ("rate", "lr", "cur_lr"),
    "began": ("began", "t0", "start_time"),
    "sess": ("sess", "session", "s"),
    "csv": ("csv_file", "table", "out"),
}
STATE = frozenset({"best", "wait", "history", "count", "rate"})
"""What an iteration changes, which a program may keep together in one place."""


@dataclass
class Program:
    """A generated program. `loose` are files whose contents tell of options, `runs` the arguments of each run in turn."""

    files: dict[str, str]
    runs: list[list[str]]
    loose: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    lag: bool = False
    script: str = "train.py"


@dataclass
class Draft:
    """What a program is made of, and the choices for it."""

    seed: int
    scale: int = 1
    roles: dict[str, str] = field(default_factory=dict)
    options: dict[str, tuple[str, object]] = field(default_factory=dict)
    slots: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, tuple[Sequence[str], str]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    runs: list[list[str]] = field(default_factory=lambda: [[]])
    loose: list[str] = field(default_factory=list)
    traits: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    lag: bool = False
    drawn: bool = False
    restore: str | None = None
    counted: bool = False
    decorators: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.layout = self.of("module", "main", "class", "modules", "functions", trait="layout")
        self.keeping = self.of("plain", "plain", "dict", "object")
        self.asked = self.of("constants", "argparse", "absl", "dict", "class", trait="options")
        for role, names in NAMES.items():
            self.roles[role] = self.of(*names)

    def of(self, *choices: T, trait: str = "") -> T:
        """One of the choices."""
        found = self.random.choice(choices)
        if trait:
            self.traits.append(f"{trait}={found}")
        return found

    def chance(self, share: float, trait: str = "") -> bool:
        """Whether something is there."""
        found = self.random.random() < share
        if found and trait:
            self.traits.append(trait)
        return found

    def add(self, slot: str, *lines: str) -> None:
        """Write lines at a place of the program."""
        self.slots.setdefault(slot, []).extend(lines)

    def option(self, name: str, value: object, kind: str = "int") -> str:
        """An option of the program, as the role that stands for it."""
        self.options[name] = (kind, value)
        return f"$o_{name}"

    def function(self, name: str, parameters: str, *body: str) -> None:
        """A function of the program."""
        self.functions[name] = (body, parameters)

    def half(self, number: int) -> int:
        """A number of steps in which the program does as much."""
        return number // self.scale

    # What roles are called.

    def role(self, name: str) -> str:
        """What a role is called in the body of the program."""
        if name.startswith("o_"):
            return self._option(name[2:])
        own = self.roles.get(name, name)
        holder = "self." if self.layout == "class" else ""
        if name in STATE and self.keeping == "dict" and name not in self.held:
            return f"{holder}{self.roles['state']}['{own}']"
        if name in STATE and self.keeping == "object" and name not in self.held:
            return f"{holder}{self.roles['state']}.{own}"
        return f"{holder}{own}"

    def _option(self, name: str) -> str:
        if self.asked == "constants":
            return name.upper()
        if self.asked == "absl":
            return f"FLAGS.{name}"
        if self.asked == "dict":
            return f"CFG['{name}']"
        if self.asked == "class":
            return f"Config.{name}"
        return f"{self.roles['args']}.{name}"

    def needs(self, lines: Iterable[str], seen: frozenset[str] = frozenset()) -> list[str]:
        """The roles that lines need, those of functions which they call included; what functions are given."""
        found: dict[str, None] = {}
        for name in _ROLE.findall("\n".join(lines)):
            if name.startswith("f_"):
                if name not in seen:
                    found.update(dict.fromkeys(self.needs(self.functions[name[2:]][0], seen | {name})))
            elif not name.startswith("o_"):
                found[name] = None
        return list(found)

    def written(self, lines: Iterable[str]) -> str:
        """Lines with their roles filled in."""

        def call(match: re.Match[str]) -> str:
            name = match[1]
            if self.layout == "class":
                return f"self.{name}("
            given = "".join(f"{self.role(each)}, " for each in self.needs(self.functions[name][0]))
            return f"{name}({given}"

        text = _CALL.sub(call, "\n".join(lines))
        return _ROLE.sub(lambda match: self.role(match[1]), text).replace(", )", ")")

    def defined(self, name: str) -> str:
        """A function written out."""
        body, parameters = self.functions[name]
        given = ["self"] if self.layout == "class" else [self.roles.get(each, each) for each in self.needs(body)]
        head = f"def {name}({', '.join([*given, *([parameters] if parameters else [])])}):\n"
        head = f"@{self.decorators[name]}\n{head}" if name in self.decorators else head
        return head + indent(self.written(body), "    ") + "\n"


def stated(draft: Draft) -> list[str]:
    """What options the program has, in its way."""
    if draft.asked == "constants":
        return [f"{name.upper()} = {value!r}" for name, (_, value) in draft.options.items()]
    if draft.asked == "dict":
        return ["CFG = {", *(f'    "{name}": {value!r},' for name, (_, value) in draft.options.items()), "}"]
    if draft.asked == "class":
        return ["class Config:", *(f"    {name} = {value!r}" for name, (_, value) in draft.options.items()), ""]
    if draft.asked == "absl":
        define = {"int": "integer", "float": "float", "str": "string", "flag": "bool"}
        lines = [
            f'flags.DEFINE_{define[kind]}("{name}", {value!r}, "{name}")'
            for name, (kind, value) in draft.options.items()
        ]
        return ["FLAGS = flags.FLAGS", *lines]
    parser, own = draft.of("parser", "ap", "p"), draft.roles["args"]
    lines = [f"{parser} = argparse.ArgumentParser()"]
    for name, (kind, value) in draft.options.items():
        how = 'action="store_true"' if kind == "flag" else f"type={kind}, default={value!r}"
        lines.append(f'{parser}.add_argument("--{name}", {how})')
    return [*lines, f"{own} = {parser}.parse_args()"]


def put_together(draft: Draft) -> Program:
    """The files of the program."""
    if draft.asked == "argparse":
        draft.add("import", "import argparse")
    if draft.asked == "absl":
        draft.add("import", "from absl import app, flags")
    if draft.keeping == "object":
        draft.add("import", "from types import SimpleNamespace")
    keep = {"dict": "{}", "object": "SimpleNamespace()"}.get(draft.keeping)
    setup = [*([f"$state = {keep}"] if keep else []), *draft.slots.get("setup", [])]
    body = [*draft.slots.get("loop", []), *draft.slots.get("end", [])]
    write = {"class": _class, "main": _main, "functions": _main, "modules": _main, "module": _module}[draft.layout]
    rest = write(draft, setup, body)
    imports = list(dict.fromkeys(draft.slots.get("import", [])))
    plain = sorted(each for each in imports if not re.search("numpy|tensorflow|tqdm|matplotlib|absl", each))
    other = [each for each in imports if each not in plain]
    stars, own = draft.chance(0.2), []
    for name, held in draft.modules.items():
        given = "*" if stars else ", ".join(re.findall(r"^def (\w+)", held, re.MULTILINE))
        own.append(f"from {name.removesuffix('.py')} import {given}")
    head = [*plain, "", *other, *own, "", *draft.slots.get("top", []), *stated(draft), ""]
    text = "\n".join(head) + "\n" + rest
    return Program({**draft.modules, "train.py": text}, draft.runs, tuple(draft.loose), tuple(draft.traits), draft.lag)


def _functions(draft: Draft) -> str:
    return "\n\n".join(draft.defined(name) for name in draft.functions) + "\n\n"


def _started(draft: Draft) -> str:
    """How main() is called."""
    if draft.asked == "absl":
        return 'if __name__ == "__main__":\n    app.run(main)\n'
    return 'if __name__ == "__main__":\n    main()\n'


def _module(draft: Draft, setup: list[str], body: list[str]) -> str:
    first = "FLAGS(sys.argv)\n" if draft.asked == "absl" else ""
    if first:
        draft.add("import", "import sys")
    return first + _functions(draft) + draft.written(setup) + "\n\n" + draft.written(body) + "\n"


def _main(draft: Draft, setup: list[str], body: list[str]) -> str:
    head = f"def main({'_' if draft.asked == 'absl' else ''}):\n"
    inside = indent(draft.written(setup) + "\n" + draft.written(body), "    ")
    return _functions(draft) + head + inside + "\n\n\n" + _started(draft)


def _class(draft: Draft, setup: list[str], body: list[str]) -> str:
    name, run = draft.of("Trainer", "Solver", "Experiment", "Learner"), draft.of("train", "fit", "run")
    methods = [f"    def __init__(self):\n{indent(draft.written(setup), ' ' * 8)}\n"]
    methods += [indent(draft.defined(each), "    ") for each in draft.functions]
    methods.append(f"    def {run}(self):\n{indent(draft.written(body), ' ' * 8)}\n")
    made = f"{name}().{run}()" if draft.of(True, False) else f"trainer = {name}()\n    trainer.{run}()"
    main = f"def main({'_' if draft.asked == 'absl' else ''}):\n    {made}\n"
    return f"class {name}:\n" + "\n".join(methods) + f"\n\n{main}\n\n{_started(draft)}"
