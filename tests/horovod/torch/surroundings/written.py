"""How the parts of a program are spelled: names, settings, functions, files and imports."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from horovod.torch.surroundings.chosen import OPTIONS
from horovod.torch.surroundings.library import helpers, imports
from horovod.torch.surroundings.passes import OF_A_PASS

NAMES = {
    "model": ["model", "net", "network", "clf"],
    "opt": ["optimizer", "optim", "opt_"],
    "crit": ["criterion", "loss_fn", "loss_func"],
    "loader": ["train_loader", "trainloader", "train_dl", "dataloader"],
    "val": ["val_loader", "valid_loader", "dev_dl"],
    "test": ["test_loader", "testloader", "test_dl"],
    "out": ["out_dir", "save_dir", "log_dir", "run_dir"],
    "step": ["global_step", "n_iter", "iteration"],
    "i": ["i", "batch_idx", "it"],
    "args": ["args", "hparams", "cfg"],
    "epoch": ["epoch", "ep", "e"],
    "best": ["best_acc", "best", "best_score"],
    "total": ["running_loss", "epoch_loss", "total_loss", "tr_loss"],
    "sched": ["scheduler", "lr_scheduler"],
    "meter": ["losses", "loss_meter", "avg_loss"],
}
_NAMED, _OPTION = re.compile(r"\$(\w+)"), re.compile(r"@([a-z_]+)\b")
_DATA = ("CsvSet", "TextSet", "build_vocab")


def block(lines: Iterable[str]) -> list[str]:
    """Lines one level further in."""
    return [f"    {each}" if each else "" for each in lines]


class Spelling:
    """The names and settings of one program."""

    def __init__(self, rng: random.Random, style: str) -> None:
        self.rng, self.style = rng, style
        self.names = {key: rng.choice(ways) for key, ways in NAMES.items()}

    def option(self, name: str) -> str:
        """How a setting is read."""
        if self.style == "constants":
            return name.upper()
        return f'CONFIG["{name}"]' if self.style == "dict" else f"$args.{name}"

    def bound(self, lines: Iterable[str], *, attributes: bool = False) -> str:
        """Lines with their settings and names; those that are shared are attributes in a class."""

        def name(found: re.Match[str]) -> str:
            key = found[1]
            own = self.names.get(key, key)
            local = key in OF_A_PASS or key in ("epoch", "start") or (key == "args" and self.style == "global args")
            return own if local or not attributes else f"self.{own}"

        return _NAMED.sub(name, self._with_options(lines))

    def shared(self, lines: Iterable[str]) -> list[str]:
        """The shared names in lines, in their order."""
        keys = dict.fromkeys(_NAMED.findall(self._with_options(lines)))
        hidden = OF_A_PASS | ({"args"} if self.style == "global args" else set())
        return [key for key in keys if key not in hidden]

    def _with_options(self, lines: Iterable[str]) -> str:
        return _OPTION.sub(lambda found: self.option(found[1]), "\n".join(lines))

    def settings(self, text: str, *, again: bool) -> str:
        """What stands at module level for the settings that a text reads; `again`: the number of epochs may be another."""
        reads = {name: re.escape(self.bound([f"@{name}"])) for name in OPTIONS}
        read = {name: OPTIONS[name] for name in reads if re.search(rf"{reads[name]}(?!\w)", text)}
        if self.style.endswith("args"):
            return self._parser(read)
        values = {name: repr(default) for name, (_, default) in read.items()}
        values |= {"epochs": 'int(os.environ.get("EPOCHS", 3))'} if again else {}
        if self.style == "constants":
            return "\n".join(f"{name.upper()} = {value}" for name, value in values.items())
        if self.style == "dict":
            return "\n".join(["CONFIG = {", *(f'    "{name}": {value},' for name, value in values.items()), "}"])
        lines = (f"    {name}: {read[name][0]} = {value}" for name, value in values.items())
        return "\n".join(["@dataclass", "class Config:", *lines])

    def _parser(self, read: dict[str, tuple[str, object]]) -> str:
        rows = ['parser = argparse.ArgumentParser(description="training")']
        for name, (kind, default) in read.items():
            shown = name.replace("_", self.rng.choice(["_", "-"]))
            way = 'action="store_true"' if kind == "flag" else f"type={kind}, default={default!r}"
            rows.append(f'parser.add_argument("--{shown}", {way})')
        if self.style == "args":
            return "\n".join(["def parse_args():", *block([*rows, "return parser.parse_args()"])])
        return self.bound([*rows, "$args = parser.parse_args()"])

    def begun(self) -> str:
        """The line by which `main` gets its settings."""
        made = {"args": "$args = parse_args()\n", "dataclass": "$args = Config()\n"}.get(self.style, "")
        return self.bound([made])


def program_files(
    spelling: Spelling, layout: str, functions: list[str], main: str, net: str, again: bool
) -> dict[str, str]:
    """The files of a program of functions and what is done at last."""
    main = spelling.begun() + main
    settings = spelling.settings("\n".join([*functions, main]), again=again)
    brought = helpers("\n".join([*functions, main]))
    if layout == "flat" and "raise SystemExit" not in main and spelling.rng.random() < 0.8:
        end = f"\n{main}\n"
    elif layout == "flat":
        end = "\nif __name__ == '__main__':\n" + "\n".join(block(main.split("\n"))) + "\n"
    else:
        end = "\ndef main():\n" + "\n".join(block(main.split("\n"))) + '\n\n\nif __name__ == "__main__":\n    main()\n'
    if "modules" not in layout or spelling.style == "global args":
        return {"train.py": _file([settings, net, *brought.values(), *functions], end, {})}
    files: dict[str, list[str]] = {"config.py": [settings], "model.py": [net], "train.py": []}
    files["data.py"] = [*(brought[key] for key in _DATA if key in brought), functions[0]]
    if rest := [text for key, text in brought.items() if key not in _DATA]:
        files["utils.py"] = rest
    files[spelling.rng.choice(["train.py", "engine.py"])] = functions[1:]
    defined = {name: file for file, blocks in files.items() for name in _defined("\n".join(blocks))}
    return {file: _file(blocks, end * (file == "train.py"), _others(defined, file)) for file, blocks in files.items()}


def _defined(text: str) -> list[str]:
    return [one or other for one, other in re.findall(r"^(?:def|class) (\w+)|^([A-Z_]+) = ", text, re.MULTILINE)]


def _others(defined: dict[str, str], file: str) -> dict[str, str]:
    return {name: other for name, other in defined.items() if other != file}


def _file(blocks: list[str], end: str, others: dict[str, str]) -> str:
    """A file with the imports that it needs: of libraries, and of other files of the program."""
    text = "\n\n".join(f"{each.strip()}\n" for each in blocks if each.strip()) + "\n" + end
    local: dict[str, list[str]] = {}
    for name, other in others.items():
        if re.search(rf"(?<![\w.]){name}\b" if name.isupper() else rf"(?<![\w.]){name}\(", text):
            local.setdefault(other.removesuffix(".py"), []).append(name)
    own = [f"from {module} import {', '.join(names)}" for module, names in local.items()]
    return "\n".join([*imports(text), *own, "", "", text])
