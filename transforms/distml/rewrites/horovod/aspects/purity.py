"""Whether evaluating the arguments of an output statement changes nothing that other ranks rely on.

What is put under rank 0 is not evaluated on the others. That is only right for reading: formatting, arithmetic, looking
at tensors. A call nobody knows may draw the next batch, update a metric, or hold a collective.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from distml.source.nodes import walk
from distml.spmd.library import operations
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.syntax import nodes_in, targets_of
from distml.training.values import BoxMethod, Callable, Constant

_BUILTINS = frozenset(
    "abs all any ascii bin bool bytes chr dict divmod enumerate filter float format frozenset getattr hasattr hash hex id "
    "int isinstance issubclass len list map max min oct ord pow range repr reversed round set slice sorted str sum tuple "
    "type vars zip".split()
)
_METHODS = frozenset(
    "item numpy cpu detach tolist mean sum std min max size dim ndim numel result format join strip lstrip rstrip split "
    "upper lower title capitalize replace ljust rjust center zfill startswith endswith count index get keys values items "
    "total_seconds strftime isoformat time perf_counter memory_allocated max_memory_allocated get_last_lr get_lr eval_str "
    "argmax argmin astype reshape view squeeze unsqueeze flatten float int long double t transpose permute norm abs sqrt "
    "exp log pow round clone contiguous as_list as_string decode encode state_dict named_parameters parameters children "
    "clamp clamp_ nelement ndimension expand repeat chunk unbind byte half bool mul div sub sigmoid softmax tanh "
    "trace count_params summary hex to_string avg average value get_shape read_value element_size group groups".split()
)
_MODULES = frozenset(
    "collections numpy csv math re time datetime os.path json pprint statistics operator string platform socket sys textwrap "
    "tensorflow torch keras.backend torchvision sklearn.metrics".split()
)
_MEDIA = re.compile(r"(wandb|swanlab|trackio|comet_ml)\.[A-Z]\w*")
"""What loggers are given, such as a picture in a file, is made where it is told."""
_FRESH = frozenset("builtins.dict builtins.list builtins.set collections.OrderedDict collections.Counter".split())
_EFFECTS = frozenset(
    "run evaluate predict fit train train_on_batch test_on_batch predict_on_batch step backward next update update_state "
    "append extend pop popleft clear add remove insert restore load load_state_dict load_weights load_model backprop "
    "seed manual_seed set_seed get_next next_batch apply_gradients minimize reset_states reset_state write read readline "
    "eval input backward zero_grad sleep rand randn randint normal uniform random choice shuffle permutation "
    "randperm multinomial categorical sample dropout bernoulli".split()
)


def reads_only(node: ast.AST, program: Program, depth: int = 3, harmless: Collection[ast.AST] = ()) -> bool:
    """Whether evaluating an expression, or running what it calls, does nothing but read; calls may be known as `harmless`."""
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        return False
    if isinstance(node, ast.Call) and node not in harmless and not _call(node, program, depth):
        return False
    return all(reads_only(child, program, depth, harmless) for child in ast.iter_child_nodes(node))


def _call(node: ast.Call, program: Program, depth: int) -> bool:
    of_box = (value.name for value in program.of(node.func) if isinstance(value, BoxMethod))
    name = called(node, program) or next(of_box, "")
    own = [value for value in program.of(node.func) if isinstance(value, Callable)]
    if own:
        return depth > 0 and all(_function(value, program, depth - 1) for value in own)
    if name in _EFFECTS:
        return False
    names = program.names(node.func)
    if isinstance(node.func, ast.Name):
        return names <= {f"builtins.{each}" for each in _BUILTINS} | {n for n in names if _pure_library(n)} and bool(
            names
        )
    text = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant | ast.JoinedStr)
    known = any(isinstance(value, Constant) for value in program.of(getattr(node.func, "value", None)))
    return text or known or name in _METHODS or (bool(names) and all(_pure_library(each) for each in names))


def _pure_library(name: str) -> bool:
    """Whether a path is a function of a library that computes and does no more: no collective, no method of something made."""
    module = name.rpartition(".")[0]
    return bool(_MEDIA.fullmatch(name)) or (
        "()" not in name
        and name not in operations()
        and any(module == each or module.startswith(each + ".") for each in _MODULES)
    )


def _function(value: Callable, program: Program, depth: int) -> bool:
    """Whether a function of the program computes and does no more."""
    if isinstance(value.node, ast.Lambda):
        return reads_only(value.node.body, program, depth)
    own = made_within(value.node, program)
    for node in walk(value.node):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.With | ast.Delete | ast.Yield | ast.Await):
            return False
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            if not all(isinstance(each, ast.Name | ast.Tuple) or _filled(each, own) for each in targets_of(node)):
                return False
    filled = filling(value.node, program)
    return all(reads_only(statement, program, depth, filled) for statement in value.node.body)


def _filled(target: ast.expr, own: set[str]) -> bool:
    """Whether an item of a container is set that a function makes itself."""
    return isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in own


def made_within(function: ast.AST, program: Program) -> set[str]:
    """The lists, dictionaries and sets which a function makes itself, by name."""
    made: dict[str, list[bool]] = {}
    for node in nodes_in(function, ast.Assign):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            fresh = isinstance(node.value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
            fresh = fresh or (isinstance(node.value, ast.Call) and bool(program.names(node.value.func) & _FRESH))
            made.setdefault(node.targets[0].id, []).append(fresh)
    stores = [each.id for each in nodes_in(function, ast.Name) if isinstance(each.ctx, ast.Store)]
    return {name for name, kinds in made.items() if all(kinds) and stores.count(name) == len(kinds)}


def filling(function: ast.AST, program: Program) -> frozenset[ast.AST]:
    """The calls that put something into containers which a function makes itself."""
    own = made_within(function, program)
    methods = ("append", "extend", "add", "insert", "update")
    return frozenset(
        each
        for each in nodes_in(function, ast.Call)
        if isinstance(each.func, ast.Attribute) and each.func.attr in methods
        if isinstance(each.func.value, ast.Name) and each.func.value.id in own
    )
