"""Whole programs of seeded choices: their parts are put together in the ways programs are laid out."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from horovod.torch.surroundings import keeping, logs, passes
from horovod.torch.surroundings.chosen import Chosen, Way
from horovod.torch.surroundings.library import NETS
from horovod.torch.surroundings.written import Spelling, block, program_files

Arguments = tuple[str, ...]
LAYOUTS = ("flat", "main", "functions", "functions", "class", "class", "modules", "modules of a class")
STYLES = ("args", "args", "args", "global args", "constants", "dict", "dataclass")


@dataclass(frozen=True)
class Run:
    """A way to start a program: arguments, environment, and the checkpoint that it reads as `resume.pt`, or ""."""

    arguments: Arguments = ()
    environment: tuple[tuple[str, str], ...] = ()
    resumes: str = ""


@dataclass(frozen=True)
class Made:
    """A program: its files, the ways it is started one after the other, and what was chosen."""

    files: dict[str, str]
    runs: tuple[Run, ...]
    notes: str


@dataclass
class Parts:
    """What one program is put together from."""

    setup: list[str]
    data: list[str]
    model: list[str]
    trains: Way
    judges: Way
    ways: list[Way]
    """What is kept of epochs, in the order in which it stands there."""
    resumes: str = ""
    resume: tuple[str, ...] = ()

    @property
    def state(self) -> list[str]:
        """The lines in front of all epochs."""
        return [line for each in self.ways for line in each.before]

    @property
    def end(self) -> list[str]:
        """The lines behind them."""
        return [line for each in self.ways for line in each.after]


def joined(*ways: Way) -> Way:
    """Several ways in one pass, one after the other."""
    results = {key: value for each in ways for key, value in each.results.items()}
    loop = next((each.loop for each in ways if each.loop), passes.LOOP)
    mean = next((each.mean for each in ways if each.mean), "")
    lines = [tuple(chain.from_iterable(getattr(way, key) for way in ways)) for key in ("before", "each", "after")]
    lines[1] = tuple(line.replace("!mean", mean) for line in lines[1])
    return Way(*lines, results=results, loop=loop)


def training(c: Chosen) -> Way:
    """The pass that trains."""
    begins = Way(before=(c.rng.choice(["$model.train()", "$model.train(True)"]),))
    step = passes.STEPS[c.name("step", *passes.STEPS)]
    total = passes.TOTALS[c.name("totals", *passes.TOTALS)]
    scores, shown = c.way("scores", passes.SCORES, 0.4), c.way("shown", passes.SHOWN)
    within = c.way("within", passes.WITHIN, 0.5)
    counts = any("$step" in line for each in (shown, within) for line in each.each) or c.chance(0.3)
    return joined(begins, step, total, scores, Way(each=("$step += 1",) * counts), shown, within)


def judging(c: Chosen) -> Way:
    """The pass that evaluates."""
    found = joined(passes.EVALUATES, c.way("evaluation", passes.JUDGED))
    taken = c.rng.choice(["", "x, y = batch", "x, y = x.to($device), y.to($device)"])
    loop = "for batch in $loader:" if "batch" in taken else c.rng.choice(["for x, y in $loader:", passes.LOOP])
    return Way(
        found.before, (taken, *found.each) if taken else found.each, found.after, results=found.results, loop=loop
    )


def modelled(c: Chosen, text: bool, trains: Way) -> list[str]:
    """The lines that make the model, its optimizer and its schedule: what draws in front of it would make other weights."""
    lines = ["torch.manual_seed(1)", f"$model = Net({'len(vocab)' * text})"]
    lines += c.way("model beside", keeping.MODELLED, 0.4).before
    lines += [f"$opt = {keeping.OPTIMIZERS[c.name('optimizer', *keeping.OPTIMIZERS)]}", "$crit = nn.CrossEntropyLoss()"]
    lines += ['$scaler = GradScaler("cpu", enabled=False)'] * any("$scaler" in each for each in trains.each)
    if "$sched.step()" in trains.each:
        lines += [f"$sched = {keeping.BY_BATCH[c.name('by batch', *keeping.BY_BATCH)]}"]
    elif c.chance(0.6):
        lines += [f"$sched = {keeping.BY_EPOCH[c.name('by epoch', *keeping.BY_EPOCH)]}"]
    return lines


def chosen(c: Chosen, style: str) -> Parts:
    """The parts of one program."""
    trains, judges = training(c), judging(c)
    data = keeping.DATA[(kind := c.name("data", *keeping.DATA))].split("\n")
    more = c.rng.choice(["", "", ", drop_last=True", ", num_workers=0"])
    data += [*keeping.LOADERS.replace("!more", more).split("\n"), *c.way("beside", keeping.BESIDE, 0.4).before]
    model = modelled(c, kind in ("text", "words"), trains)
    tables = (keeping.TOLD, keeping.BEST, keeping.CHECKPOINTS, logs.LOGS, logs.ENDS)
    ways = [c.way(name, table, 0.1) for name, table in zip(("told", "best", "checkpoints", "log", "end"), tables)]
    if any("$sched" in each for each in model) and "$sched.step()" not in trains.each:
        ways.insert(0, Way(each=("$sched.step(val_loss)" if "Plateau" in model[-1] else "$sched.step()",)))
    end = ways.pop()
    c.rng.shuffle(ways)
    parts = Parts([], data, model, trains, judges, [*ways, end])
    if any("$step" in line for line in trains.each):
        parts.ways.insert(0, Way(before=("$step = 0",)))
    parts.setup = setup(c, parts, style)
    return parts


def setup(c: Chosen, parts: Parts, style: str) -> list[str]:
    """The lines in front of data and model: seeds, the device, the folder, and what is written through the run."""
    seed = "@seed" if c.chance(0.3) else "1"
    lines = [f"random.seed({seed})", f"np.random.seed({seed})"] * c.chance(0.3) + [f"torch.manual_seed({seed})"]
    unless = " and not @no_cuda" if style.endswith("args") and c.chance(0.4) else ""
    lines += [f'$device = torch.device("cuda" if torch.cuda.is_available(){unless} else "cpu")']
    if style.endswith("args") and c.chance(0.3):
        lines += [c.rng.choice(["print($args)", "print(vars($args))"])]
    lines += keeping.FOLDERS[c.name("folder", *keeping.FOLDERS)].split("\n")
    used = "\n".join((*parts.trains.each, *parts.state, *(line for each in parts.ways for line in each.each)))
    lines += ['$writer = SummaryWriter(os.path.join($out, "tb"))'] * ("$writer." in used)
    lines += ['$logger = get_logger(os.path.join($out, "train.log"))'] * ("$logger." in used)
    return [*lines, *c.way("set up", keeping.SETTINGS, 0.6).before]


class Writer:
    """Lays one program out."""

    def __init__(self, seed: int) -> None:
        self.c = c = Chosen(random.Random(seed))
        self.layout, self.style = c.name("layout", *LAYOUTS), c.name("options", *STYLES)
        self.classy = "class" in self.layout
        self.spelling = Spelling(c.rng, self.style)
        self.parts = chosen(c, self.style)
        self.judge = c.rng.choice(["evaluate", "validate", "test", "run_eval"])
        self.written_out = self.layout in ("flat", "main") and c.chance(0.3)
        self.evaluates = False
        self.resume = self._resume()

    def _resume(self) -> list[str]:
        resumed = [each for each in self.parts.ways if each.resumes]
        if not resumed or self.c.chance(0.2):
            return []
        way = self.c.rng.choice(resumed)
        fixed = any(line.startswith("$out = 'checkpoints'") for line in self.parts.setup)
        if not self.style.endswith("args") and not fixed:
            return []
        self.parts.resumes = way.resumes
        if not self.style.endswith("args"):
            path = f"os.path.join($out, {way.resumes!r})"
            return [f"if os.path.isfile({path}):", *block([f"ckpt = torch.load({path})", *way.resume])]
        lines = ["if @resume:", *block(["ckpt = torch.load(@resume)", *way.resume])]
        if self.c.chance(0.4):
            self.evaluates = True
            lines += ["if @evaluate:", "    !val", '    print("evaluation:", val_loss, val_acc)', "    !stop"]
        return lines

    # Passes

    def judge_lines(self, loader: str, to: str) -> list[str]:
        """The pass of evaluation, written out for a loader."""
        j = self.parts.judges
        results = [f"{_result(key, to)} = {value}" for key, value in j.results.items()]
        lines = [*j.before, "with torch.no_grad():", *block([j.loop, *block(j.each)]), *j.after, *results]
        return [line.replace("$loader", loader) for line in lines]

    def judge_function(self) -> list[str]:
        """The function that evaluates."""
        j = self.parts.judges
        body = self.judge_lines("loader", "val")[: -len(j.results)]
        body += ["$model.train()"] * self.c.chance(0.2)
        body += [f"return {', '.join(j.results.values())}".replace("$loader", "loader")]
        given = ["self"] if self.classy else [f"${key}" for key in self.judge_needs()]
        return [f"def {self.judge}({', '.join([*given, 'loader'])}):", *block(body)]

    def judge_needs(self) -> list[str]:
        """The names that the function of evaluation is given."""
        return self.spelling.shared(self.judge_lines("loader", "val"))

    def judge_call(self, loader: str, to: str) -> list[str]:
        """The lines that evaluate."""
        if self.written_out:
            return self.judge_lines(loader, to)
        given = [loader] if self.classy else [*(f"${key}" for key in self.judge_needs()), loader]
        names = ", ".join(_result(key, to) for key in self.parts.judges.results)
        return [f"{names} = {'self.' * self.classy}{self.judge}({', '.join(given)})"]

    def train_lines(self, *, results: bool) -> list[str]:
        """The pass of training."""
        t = self.parts.trains
        found = [f"{key} = {value}" for key, value in t.results.items()] if results else []
        return [*t.before, t.loop, *block(t.each), *t.after, *found]

    def filled(self, lines: Iterable[str]) -> list[str]:
        """Lines in which evaluations are called or written out."""
        stop = "return" if self.layout != "flat" else "raise SystemExit"
        told = ['print("step", $step, "val", val_loss, val_acc)', "$model.train()"]
        words = {
            "!test": self.judge_call("$test", "test"),
            "!val": self.judge_call("$val", "val"),
            "!evaluate_within": [*self.judge_call("$val", "val"), *told],
            "!stop": [stop],
        }
        found: list[str] = []
        for line in lines:
            indent = line[: len(line) - len(line.lstrip())]
            found += [f"{indent}{each}" for each in words.get(line.strip(), [line.strip()])]
        return found

    def loop_lines(self, trains: Sequence[str]) -> list[str]:
        """The loop of epochs."""
        ways = self.parts.ways
        body = [*trains, *self.judge_call("$val", "val"), *(line for each in ways for line in each.each)]
        body += [line for each in ways for line in each.last]
        head = f"for $epoch in range({'$start, ' * bool(self.resume)}@epochs):"
        return [*["$start = 0"] * bool(self.resume), *self.resume, head, *block(body), *self.parts.end]

    # Layouts

    def compose(self) -> dict[str, str]:
        """The files of the program."""
        p = self.parts
        if self.classy:
            functions, main = self._class()
        elif self.layout in ("flat", "main"):
            functions = [] if self.written_out else [self.spelling.bound(self.judge_function())]
            lines = [*p.setup, *p.data, *p.model, *p.state, *self.loop_lines(self.train_lines(results=True))]
            main = self.spelling.bound(self.filled(lines))
        else:
            functions, main = self._functions()
        return program_files(self.spelling, self.layout, functions, main, NETS[self._net()], bool(p.resumes))

    def _net(self) -> str:
        text = "len(vocab)" in "\n".join(self.parts.model)
        return "text" if text else self.c.name("model", *(each for each in NETS if each != "text"))

    def _functions(self) -> tuple[list[str], str]:
        p, body = self.parts, self.filled(self.train_lines(results=False))
        results = dict(p.trains.results)
        keys = self.spelling.shared([*body, *results.values()])
        if "step" in keys:
            results["$step"] = "$step"
        params = ", ".join(f"${key}" for key in keys)
        name = self.c.rng.choice(["train", "train_epoch", "train_one_epoch", "fit_epoch"])
        trains = [f"def {name}({params}):", *block([*body, f"return {', '.join(results.values())}"])]
        loads, call = self._data_function()
        loop = self.loop_lines([f"{', '.join(results)} = {name}({params})"])
        functions = [self.spelling.bound(each) for each in (loads, self.judge_function(), trains)]
        return functions, self.spelling.bound(self.filled([*p.setup, call, *p.model, *p.state, *loop]))

    def _data_function(self) -> tuple[list[str], str]:
        """The function that gives loaders, and its call."""
        given = ["$loader", "$val", "$test", *["vocab"] * ("len(vocab)" in "\n".join(self.parts.model))]
        params = ", ".join(f"${key}" for key in self.spelling.shared(self.parts.data) if f"${key}" not in given)
        lines = [f"def get_data({params}):", *block([*self.parts.data, f"return {', '.join(given)}"])]
        return lines, f"{', '.join(given)} = get_data({params})"

    def _class(self) -> tuple[list[str], str]:
        p = self.parts
        loads, call = self._data_function()
        within = "vocab" not in call and self.c.chance(0.5)
        built = [*(p.model if within else ()), *p.state]
        results = p.trains.results
        train = self.filled([*self.train_lines(results=False), f"return {', '.join(results.values())}"])
        run = self.filled(self.loop_lines([f"{', '.join(results)} = self.train_epoch($epoch)"]))
        judged = self.judge_lines("loader", "val")
        assigned = {key for line in built for key in _assigned(line)}
        needs = [
            key
            for key in self.spelling.shared([*built, *train, *run, *judged])
            if key not in assigned | {"epoch", "start"}
        ]
        names = [self.spelling.names.get(key, key) for key in needs]
        kept = [f"self.{name} = {name}" for name in names]
        go = self.c.rng.choice(["fit", "run", "train"])
        methods = [
            [f"def __init__(self, {', '.join(names)}):", *block([*kept, *built])],
            ["def train_epoch(self, $epoch):", *block(train)],
            self.judge_function(),
            [f"def {go}(self):", *block(run)],
        ]
        body = "\n\n".join("\n".join(block(self.spelling.bound(each, attributes=True).split("\n"))) for each in methods)
        name = self.c.rng.choice(["Trainer", "Runner", "Learner"])
        made_by = [f"trainer = {name}({', '.join(f'${key}' for key in needs)})", f"trainer.{go}()"]
        main = self.spelling.bound([*p.setup, call, *(() if within else p.model), *made_by])
        return [self.spelling.bound(loads), f"class {name}:\n{body}"], main


def _assigned(line: str) -> list[str]:
    left, found, _ = line.partition(" = ")
    return re.findall(r"\$(\w+)", left) if found and "(" not in left and not line.startswith((" ", "with")) else []


def _result(key: str, to: str) -> str:
    return f"{to}_{key.removeprefix('val_')}"


def program(seed: int) -> Made:
    """The program of a seed."""
    writer = Writer(seed)
    files, resumes = writer.compose(), writer.parts.resumes
    runs = [Run()]
    if resumes and writer.style.endswith("args"):
        runs.append(Run(("--epochs", "5", "--resume", "resume.pt"), resumes=resumes))
        runs += [Run(("--resume", "resume.pt", "--evaluate"), resumes=resumes)] * writer.evaluates
    elif resumes:
        runs.append(Run(environment=(("EPOCHS", "5"),)))
    return Made(files, tuple(runs), "; ".join(writer.c.notes))
