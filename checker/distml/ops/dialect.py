"""Dialects: what a library's tensor is, and where the libraries answer the same question differently.

Operations are decided by rules that know no library. Where libraries differ, the rule asks the dialect of
the call (`call.dialect`) by the name of the habit, never by the name of a library: a new library is a new line here.
Nothing of a library's bindings is imported for it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """The habits of one library's tensors.

    Attributes:
        name: What `Tensor.lib` says.
        tensor: The class that operators and methods are looked up in.
        shown: What messages and `reveal_shape` call a tensor.
        precedence: Where two libraries meet in one operator, the higher one's operator is run.
        text_is_element: A string is a scalar tensor (numpy.array("a"), tf.constant("a")).
        anything_is_element: Inside a nested list anything is an element, as in NumPy's arrays of objects.
        empty_joins: A vector without elements can be joined with anything (torch.cat).
        only_minus_one: -1 alone, no other negative number, asks `reshape` to compute a size.
        minus_one_keeps: -1 as a size of `expand` keeps the old one.
        one_contracts: `tensordot` broadcasts an axis of size 1.
        any_label: Any character may name an axis in an einsum; else letters only.
        dots_in_result: What `...` stands for in an einsum must be in its result.
        integers_first: Integers in an index are taken away before the place of index arrays is decided.
        steps_back: A slice may have a negative step.
        scalar_has_axes: A tensor without axes lets axis 0 and -1 be exchanged.
        no_axes_is_all: Reducing over `()` reduces over all axes.
        scalars_are_numbers: An element of an array may be a plain number, which is no array.
        answers_numpy: NumPy's own functions give its tensors back where they get one.
        equal_or_same: `==` of two tensors may ask whether they are one object (TensorFlow 1).
        empty_is_false: An array without elements counts as false (NumPy before 2.2, with a warning).
        bounds_checked: An index that is too large is an error; else the last element stands for it.
        immutable: `x[i] = value` is a TypeError.
        takes_objects_apart: `array + object` applies the operator of the object to each element.
        takes_lists: Its operators take a list for an array: `[1, 2] + x`.
        shape_is_tuple: `x.shape` is compared as a tuple is: never equal to a number or a list.
        out_resizes: `out=` may change the shape of what is given there.
        one_class: Each of its tensors is an object of that class; a variable of TensorFlow is not.
        doubles: Python's floats become doubles in its arrays; elsewhere their precision is not known.
        others: More classes whose objects are such tensors.
    """

    name: str
    tensor: str
    shown: str = "Tensor"
    precedence: int = 0
    text_is_element: bool = False
    anything_is_element: bool = False
    empty_joins: bool = False
    only_minus_one: bool = False
    minus_one_keeps: bool = False
    one_contracts: bool = False
    any_label: bool = False
    dots_in_result: bool = False
    integers_first: bool = False
    steps_back: bool = True
    scalar_has_axes: bool = True
    no_axes_is_all: bool = False
    scalars_are_numbers: bool = False
    answers_numpy: bool = True
    equal_or_same: bool = False
    empty_is_false: bool = True
    bounds_checked: bool = True
    immutable: bool = False
    takes_objects_apart: bool = False
    takes_lists: bool = False
    shape_is_tuple: bool = False
    out_resizes: bool = False
    one_class: bool = True
    doubles: bool = False
    others: tuple[str, ...] = ()


NUMPY = Dialect(
    "numpy",
    "numpy.ndarray",
    "ndarray",
    text_is_element=True,
    anything_is_element=True,
    dots_in_result=True,
    scalar_has_axes=False,
    scalars_are_numbers=True,
    answers_numpy=False,
    takes_objects_apart=True,
    takes_lists=True,
    shape_is_tuple=True,
    doubles=True,
    others=("numpy.typing.NDArray",),
)
TORCH = Dialect(
    "torch",
    "torch.Tensor",
    precedence=1,
    empty_joins=True,
    only_minus_one=True,
    minus_one_keeps=True,
    one_contracts=True,
    integers_first=True,
    steps_back=False,
    no_axes_is_all=True,
    empty_is_false=False,
    shape_is_tuple=True,
    out_resizes=True,
    others=(
        "torch.FloatTensor",
        "torch.LongTensor",
        "torch.IntTensor",
        "torch.BoolTensor",
        "torch.nn.Parameter",
    ),
)
TENSORFLOW = Dialect(
    "tensorflow",
    "tensorflow.Tensor",
    precedence=1,
    text_is_element=True,
    only_minus_one=True,
    takes_lists=True,
    equal_or_same=True,
    one_class=False,
    others=("tensorflow.Variable", "keras.KerasTensor"),
)
JAX = Dialect(
    "jax",
    "jax.Array",
    "Array",
    precedence=1,
    any_label=True,
    scalar_has_axes=False,
    answers_numpy=False,
    bounds_checked=False,
    immutable=True,
    shape_is_tuple=True,
    others=("jax.numpy.ndarray",),
)
ARRAY = Dialect("array", "torch.Tensor", text_is_element=True, anything_is_element=True, no_axes_is_all=True)
"""An array of a library that is not known: it has whatever the others have."""

KNOWN = (NUMPY, TORCH, TENSORFLOW, JAX)
_BY_NAME = {dialect.name: dialect for dialect in KNOWN}
LIBRARY_OF_CLASS = {cls: dialect.name for dialect in KNOWN for cls in (dialect.tensor, *dialect.others)}
"""The library of each class of tensors."""
TENSOR_CLASSES = frozenset(dialect.tensor for dialect in KNOWN)
_MAKES = {"enum": "builtins", "keras": "tensorflow", "flax": "jax", "optax": "jax"}
"""Packages whose functions give the tensors of another one."""


def dialect(lib: str) -> Dialect:
    """The dialect of `Tensor.lib` or of a package; that of an unknown array for any other name."""
    return _BY_NAME.get(lib, ARRAY)


def library_of(name: str) -> str:
    """The library whose tensors a function makes, by its qualified name: "tensorflow" for "keras.ops.add"."""
    package = name.partition(".")[0]
    return _MAKES.get(package, package)
