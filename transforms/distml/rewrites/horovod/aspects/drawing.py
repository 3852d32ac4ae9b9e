"""Calls that draw random numbers, by the global generator that they draw from: that of NumPy, of Python or of PyTorch."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from distml.rewrites.horovod.aspects.orders import makes_generator
from distml.training.around import own_nodes
from distml.training.callers import run_by
from distml.training.program import Program
from distml.training.syntax import closure, receiver_of
from distml.training.values import Constant, Foreign

_FILLED = (
    r"torch\.(?!nn\.(?!functional\.|.*\(\)\(\)))[^?]*\."
    r"(normal|uniform|bernoulli|random|exponential|log_normal|geometric|cauchy)_"
)
"""Methods that fill tensors with what they draw, but for the weights of layers."""
DRAWS = re.compile(
    r"numpy\.random\.(?!seed|get_state|set_state|default_rng)[a-z_]+|random\.(?!seed|getstate|setstate)[a-z]+"
    r"|torch\.(randint|randperm|rand|randn|randn_like|rand_like|randint_like|normal|multinomial|bernoulli|poisson)"
    r"|torch\.distributions\.(\w+\.)*\w+\(\)\.r?sample|torch\.utils\.data\.(dataset\.)?random_split"
    r"|sklearn\.(model_selection|cross_validation)\.(\w+\.)*(train_test_split|\w*ShuffleSplit|\w*KFold)"
    r"|sklearn\.(utils\.(\w+\.)?(shuffle|resample)|datasets\.make_\w+)|pandas\..*\.sample"
    r"|networkx\.(\w+\.)*\w*(random|gn[pm]_|erdos_renyi|barabasi_albert|watts_strogatz|powerlaw_cluster|stochastic_block|partition_graph)\w*"
    r"|torch_geometric\.datasets\.[\w.()\[\]]+\.shuffle|torchtext\.(legacy\.)?data\.(\w+\.)*\w*Iterator(\.splits)?"
    rf"|{_FILLED}"
)
CHANCE = re.compile(
    r"torch\.nn\.(modules\.dropout\.|functional\.)?\w*[dD]ropout\w*"
    r"|torchvision\.transforms\.(v2\.|transforms\.)?(Random\w+|ColorJitter|AutoAugment|RandAugment|TrivialAugmentWide|AugMix|ElasticTransform)"
)
"""Layers, functions and changes of pictures that do what chance says."""
NOISE = re.compile(rf"torch\.(rand|randn)(_like)?|torch\.(normal|bernoulli)|{_FILLED}")
_GENERATORS = {
    "sklearn": "numpy",
    "pandas": "numpy",
    "torch_geometric": "torch",
    **dict.fromkeys(("torchtext", "networkx"), "random"),
}
"""From which generator a library draws."""
_PLAIN = frozenset({"generator", "random_state", "seed"})
"""Keywords by which a call is told what to draw from."""
_FOLDS = re.compile(r"sklearn\.model_selection\.(\w+\.)*(?!\w*Shuffle)\w*KFold")
_PROCESS = re.compile(
    r"time\.\w+|datetime\.(datetime|date)\.(now|utcnow|today)|os\.(getpid|urandom|times)|uuid\.\w+|secrets\.\w+"
    r"|random\.SystemRandom\(\)\.\w+|torch\.(random\.)?(seed|Generator\(\)\.seed)"
)
"""What is another in each process."""
_OUTSIDE = re.compile(
    r"os\.path\.(exists|lexists|isfile|isdir|get\w+)|os\.(listdir|scandir|stat|access|walk)|glob\.i?glob|select\.select|sys\.stdin\.\w+"
    r"|pathlib\.\w*Path\(\)\.(exists|is_\w+|stat|read_\w+|r?glob|iterdir|open)|builtins\.(open|input)"
)
"""What others may change between two processes' looking at it: files, and what is typed."""


def draws(call: ast.Call, program: Program) -> set[str]:
    """The global generators that a call draws from: none where it is given one or a seed, or folds are not shuffled."""
    names = program.names(call.func)
    given = {each.arg: each.value for each in call.keywords}
    if any(name in given and program.of(given[name]) != {Constant(None)} for name in _PLAIN):
        return set()
    if any(map(_FOLDS.fullmatch, names)) and program.of(given.get("shuffle")) != {Constant(True)}:
        return set()
    return kinds_of(names, DRAWS)


def kinds_of(names: frozenset[str], wanted: re.Pattern[str]) -> set[str]:
    """The global generators of those of some paths that are wanted."""
    roots = {name.partition(".")[0] for name in names if wanted.fullmatch(name)}
    return {_GENERATORS.get(root, root) for root in roots}


def generators(call: ast.Call, program: Program) -> list[ast.Call]:
    """The calls that make the generators of their own of which a call is a method."""
    owner = receiver_of(call)
    made = [value.node for value in program.of(owner) if isinstance(value, Foreign)]
    return [each for each in made if isinstance(each, ast.Call) and makes_generator(each, program)]


def is_own(value: ast.expr, program: Program) -> bool:
    """Whether a value is another in each process."""
    return any(is_of_process(each, program) for each in program.sources(value) if isinstance(each, ast.Call))


def is_of_process(call: ast.Call, program: Program) -> bool:
    """Whether a call gives another value in each process, such as its time or its number."""
    return program.matches(call.func, _PROCESS)


def differs(calls: Iterable[ast.Call], program: Program, settled: Callable[[ast.AST], bool]) -> bool:
    """Whether a call may come out otherwise in each process: by a clock, chance or a file, in what it calls too.

    Calls for which `settled` holds are not looked at.
    """

    def behind(call: ast.Call) -> Iterator[ast.Call]:
        functions = () if settled(call) else run_by(call, program)
        return (each for function in functions for each in own_nodes(function, ast.Call))

    asked = (call for call in closure(calls, behind) if not settled(call))
    return any(
        is_of_process(each, program) or draws(each, program) or program.matches(each.func, _OUTSIDE) for each in asked
    )
