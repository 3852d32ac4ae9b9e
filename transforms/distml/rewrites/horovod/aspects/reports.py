"""What a program reports: what it prints, logs, writes, draws, shows beside a bar, or puts as text on an object of a library."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.outputs import is_bar, kind_of
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import method_name, targets_of
from distml.training.values import Foreign

_SHOWN = re.compile(
    r"tensorflow\.(contrib\.)?summary\.\w+|keras\.utils\.(\w+\.)*Progbar\(\)\.(update|add)"
    r"|(wandb|mlflow|comet_ml|neptune)\..*\.?log\w*|keras\.callbacks\.(\w+\.)*(TensorBoard|CSVLogger|RemoteMonitor)\(\)\.on_\w+"
    r"|progress\.(bar|spinner|counter)\.\w+\(\)\.(next|goto|finish|update|writeln|write)"
    r"|matplotlib\.[\w.()\[\]]+\.(plot|semilog[xy]|loglog|errorbar|step|fill_between|bar|barh|title|suptitle|set_title|text|annotate)"
)
"""What shows or records numbers, beside what is known as output."""
_OF_GRAPHS = re.compile(r"tensorflow\.summary\.(scalar|text|merge|merge_all)")
"""Without a step these only put an op into a graph; who runs it and adds what it gives reports that."""
_ON_BARS = frozenset("set_postfix set_postfix_str set_description set_description_str".split())
_EXAMPLES = re.compile(
    r".*\.(add|log)_(image|figure|video|audio|embedding|graph|mesh|histogram|artifact)s?\w*|.*\.(image|histogram)"
    r"|.*\.(save_image|im(write|save|show)|mim(write|save)|save_img|write_(image|gif|video|videofile|png|jpeg)|toimage)"
    r"|PIL\.Image\..*\.save|(scipy\.io\.wavfile|soundfile)\.write|torchaudio\.save"
    r"|torch\.onnx\.export|(shutil|os|subprocess)\..*|.*\.(gfile|Path\(\))\.(?!write).*"
)
"""What shows examples of the data or weights, or only moves files."""
_COLLECTS = frozenset(
    {"append", "appendleft", "extend", "insert", "put", "put_nowait", "join", "format", "add_argument"}
)
"""Methods that only keep or join what they are given."""


def reports(call: ast.Call, program: Program) -> bool:
    """Whether a call reports what it is given, in a place where people take it for what the whole run gives."""
    if any(_EXAMPLES.fullmatch(name) for name in program.names(call.func)):
        return False
    if program.matches(call.func, _OF_GRAPHS) and argument(call, 2, "step") is None:
        return False
    on_bar = method_name(call) in _ON_BARS and is_bar(call.func, program)
    return on_bar or program.matches(call.func, _SHOWN) or kind_of(call, program) in ("output", "log", "file")


def shown_at(node: ast.AST, program: Program) -> Iterator[str]:
    """Where a statement puts something on an object that a library made: an attribute, or a method that is called for that.

    A text that is put there is read by people. Nothing is known of the rest.
    """
    if isinstance(node, ast.Assign | ast.AugAssign):
        places = [each for each in targets_of(node) if isinstance(each, ast.Attribute)]
    else:
        called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        places = [called] if isinstance(called, ast.Attribute) and called.attr not in _COLLECTS else []
    for place in places:
        if is_bar(place, program) or _of_library(place.value, program):
            yield ast.unparse(place)


def _of_library(node: ast.expr, program: Program) -> bool:
    """Whether an object is sure to be one that a function of a library gave, and none of Python's own."""
    owners = program.of(node)
    made = [each for each in owners if isinstance(each, Foreign) and each.node is not None]
    return bool(owners) and len(made) == len(owners) and not any(each.name.startswith("builtins.") for each in made)
