"""What sort of data a model is fed: arrays, several arrays, pipelines, generators, sequences of batches."""

from __future__ import annotations

import ast
import re
from typing import Literal

from distml.rewrites.horovod.aspects.origins import origins, values_at, wholes
from distml.rewrites.horovod.aspects.pipelines import paths
from distml.training.program import Program
from distml.training.values import Box, Constant, Foreign, Instance, Values

Kind = Literal["array", "list", "dict", "dataset", "flow", "folder", "sequence", "generator", "unknown"]
"""`list` and `dict` are arrays for several inputs; `flow` goes over arrays, `folder` over files; both never end."""

_NAMED: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"keras\.(\w+\.)*(ImageDataGenerator\(\)\.flow|NumpyArrayIterator)\(\)"), "flow"),
    (re.compile(r"keras\.(\w+\.)*ImageDataGenerator\(\)\.flow_from_(directory|dataframe)\(\)"), "folder"),
    (re.compile(r"keras\.(\w+\.)*(Directory|DataFrame)Iterator\(\)"), "folder"),
    (re.compile(r"keras\.(\w+\.)*(Sequence|PyDataset|TimeseriesGenerator)\(\)"), "sequence"),
)
"""What the path of what is fed says of it."""
_DATASET = re.compile(r"(tensorflow\.data|tensorflow_datasets|keras\.(\w+\.)*\w+_dataset_from_\w+)\b.*")
_ARRAY = re.compile(r"(numpy|pandas|keras\.datasets|sklearn|scipy|cv2|PIL|h5py|pickle|skimage|imageio)\b.*")
_AXES = frozenset({"numpy.swapaxes()", "numpy.moveaxis()", "numpy.transpose()"})
"""What has several axes: a list of it holds arrays."""


def kind_of(x: ast.expr, labelled: bool, program: Program) -> Kind:
    """What `x` is, as far as can be seen; where labels are given beside it, Keras takes only arrays."""
    values = values_at(x, program)
    names = {value.name for value in values if isinstance(value, Foreign)} | _bases(values, program)
    if named := next((kind for pattern, kind in _NAMED if any(map(pattern.fullmatch, names))), None):
        return named
    boxes = [value for value in values if isinstance(value, Box)]
    if boxes and _is_arithmetic(x, program):
        return "array"
    if boxes and len(boxes) == len(values - {Constant(None)}):
        return _of_box(boxes[0], program)
    if any(_unstacked(value, program) for value in values):
        return "list"
    if labelled:
        return "array"
    if paths(x, program) or any(_DATASET.fullmatch(name) for name in names):
        return "dataset"
    if is_array(x, program):
        return "array"
    if any(isinstance(value, Instance) and program.member(value, "__getitem__") for value in values):
        return "sequence"
    return "unknown"


def _unstacked(value: object, program: Program) -> bool:
    """Whether a value is a list of what an array of several axes holds."""
    if not isinstance(value, Foreign) or value.name not in _AXES or value.node is None:
        return False
    above = program.parent(value.node)
    return "builtins.list" in program.callee(above)


def _is_arithmetic(x: ast.expr, program: Program) -> bool:
    """Whether a list is only one side of what is computed, as in `array + [0.2, 0]`: the other makes it an array."""
    made = [x, *wholes(x, program)]
    sides = [(each.left, each.right) for each in made if isinstance(each, ast.BinOp)]
    return any(not all(any(isinstance(v, Box) for v in program.of(side)) for side in both) for both in sides)


def _bases(values: Values, program: Program) -> set[str]:
    """The library classes that objects of the program are derived from."""
    classes = [each for value in values if isinstance(value, Instance) for each in program.lineage(value.type)]
    return {f"{each.name}()" for each in classes if isinstance(each, Foreign)}


def _of_box(box: Box, program: Program) -> Kind:
    node = box.node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.GeneratorExp):
        return "generator"
    if isinstance(node, ast.Call):
        made = program.names(node.func)
        if made & {"builtins.zip", "builtins.enumerate"}:
            return "generator"
        return "dict" if "builtins.dict" in made else "array"
    if isinstance(node, ast.Dict | ast.DictComp):
        return "dict"
    items = program.store.item(box)
    if items and all(isinstance(each, Constant) or _is_row(each) for each in items):
        return "array"
    return "list"


def _is_row(value: object) -> bool:
    return isinstance(value, Box) and isinstance(value.node, ast.List | ast.Tuple)


def is_array(x: ast.expr, program: Program) -> bool:
    """Whether something is an array by its name or by what it is computed from."""
    if program.matches(x, _ARRAY):
        return True
    if any(_array_like(origin.value, program) for origin in origins(x, program)):
        return True
    return _array_like(x, program)


def _array_like(node: ast.expr, program: Program) -> bool:
    if isinstance(node, ast.BinOp):
        return is_array(node.left, program) or is_array(node.right, program)
    if isinstance(node, ast.Subscript):
        return is_array(node.value, program)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("astype", "reshape", "to_numpy") or is_array(node.func.value, program)
    return program.matches(node, _ARRAY)
