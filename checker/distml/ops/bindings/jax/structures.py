"""jax: trees as one vector and back, images of another size, calls that leave JAX.

https://docs.jax.dev/en/latest/_autosummary/jax.flatten_util.ravel_pytree.html, https://docs.jax.dev/en/latest/jax.tree.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.registry import layer, op
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.sizes import shape_from
from distml.ops.semantics.transforms import traced
from distml.ops.semantics.trees import leaves, mapped
from distml.shapes import Dim
from distml.values import NONE, InstanceRecord, Lib, Partial, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_UNRAVEL = "jax.flatten_util.unravel"
_TREE = "jax.tree_util.PyTreeDef"
_OF = "__tree__"


def raveled(call: Call, tree: Value) -> Value:
    """ravel_pytree(tree): all its numbers in a vector, and the function that makes such a tree of a vector."""
    return Tup((call.tensor([_size(call, tree)], "float"), Partial(Lib(f"{_UNRAVEL}.__call__"), (traced(call, tree),))))


def _size(call: Call, tree: Value) -> Dim | None:
    found, total = leaves(call, tree), Dim.of(0)
    for leaf in found or ():
        size = call.shape(leaf).size
        if size is None:
            return None
        total = total + size
    return None if found is None else total


@op(f"{_UNRAVEL}.__call__")
def unraveled(call: Call, tree: Value, vector: Value) -> Value:
    """unravel(vector): the tree again, of a vector of as many numbers (SHP201)."""
    shape = call.of_rank(call.shape(vector), 1, what="a vector")
    text = f"{call.text}: a vector of {{right}} numbers for a tree of {{left}}"
    call.require_equal(_size(call, tree), call.facts.axis(shape, 0), "SHP201", text)
    return traced(call, tree)


@layer(_TREE)
class Structure:
    """https://docs.jax.dev/en/latest/jax.tree_util.html: made by functions only."""

    bases = ()


def structure(call: Call, tree: Value, is_leaf: Value) -> Value:
    """jax.tree.structure(tree): how it is arranged."""
    if call.is_none(is_leaf) is not True or leaves(call, tree) is None:
        return call.unknown("treedef")
    return call.world.allocate(InstanceRecord(Lib(_TREE), {_OF: tree}))


def flattened(call: Call, tree: Value, is_leaf: Value) -> Value:
    """jax.tree.flatten(tree): the leaves, and how they were arranged."""
    found = leaves(call, tree) if call.is_none(is_leaf) else None
    return Tup((call.unknown() if found is None else call.list_of(found), structure(call, tree, is_leaf)))


@op("jax.tree.unflatten", "jax.tree_util.tree_unflatten", f"{_TREE}.unflatten", "jax.tree_unflatten")
def unflattened(call: Call, treedef: Value, leaves_: Value) -> Value:
    """jax.tree.unflatten(treedef, leaves): the leaves in a tree as it was."""
    tree, items = (call.attrs(treedef) or {}).get(_OF), call.items(leaves_)
    own = None if tree is None else leaves(call, tree)
    if tree is None or own is None or items is None or len(items) != len(own) or _sorted_away(call, tree):
        return call.unknown()
    rest = iter(items)
    return mapped(call, lambda leaf: next(rest), tree)


def _sorted_away(call: Call, tree: Value) -> bool:
    """Whether the leaves stand in another order than they are visited, as those of a dict may."""
    seen: list[Value] = []

    def visit(leaf: Value) -> Value:
        seen.append(leaf)
        return leaf

    mapped(call, visit, tree)
    return seen != leaves(call, tree)


@op("jax.tree.reduce", "jax.tree_util.tree_reduce")
def folded(call: Call, function: Value, tree: Value, *start: Value, **options: Value) -> Value:
    """jax.tree.reduce(function, tree): of two leaves, then of that and the next."""
    found = leaves(call, tree)
    items = [*start, *([options["initializer"]] if "initializer" in options else ()), *(found or ())]
    if found is None or not items or call.is_none(options.get("is_leaf", NONE)) is not True:
        return call.unknown()
    made: Value = items[0]
    for item in items[1:]:
        made = call.apply(function, made, item)
    return made


def named_leaves(call: Call, tree: Value) -> Value:
    """jax.tree.leaves_with_path(tree): each leaf with its path, which is not followed."""
    found = leaves(call, tree)
    return call.unknown() if found is None else call.list_of([Tup((call.unknown("path"), leaf)) for leaf in found])


bind(flattened, "tree is_leaf=None", "jax.tree.flatten", "jax.tree_util.tree_flatten", "jax.tree_flatten")
bind(structure, "tree is_leaf=None", "jax.tree.structure", "jax.tree_util.tree_structure")
bind(
    named_leaves,
    "tree -is_leaf=None -is_leaf_takes_path=None",
    "jax.tree.leaves_with_path",
    "jax.tree_util.tree_leaves_with_path",
)
bind(raveled, "pytree", "jax.flatten_util.ravel_pytree")


def resized(call: Call, image: Value, shape: Value) -> Value:
    """jax.image.resize(image, shape): of the shape that is asked for, with as many axes (SHP301)."""
    asked, own = shape_from(call, shape), call.shape(image)
    if asked.rank is not None:
        call.of_rank(own, asked.rank, what="the image")
    return call.tensor(asked, kind_of(image))


bind(resized, "image shape -method -antialias=True -precision=None", "jax.image.resize")
bind(
    resized,
    "image shape -spatial_dims -scale -translation -method -antialias=True -precision=None",
    "jax.image.scale_and_translate",
)


@op("jax.pure_callback")
def called_back(call: Call, callback: Value, result: Value, *args: Value, **options: Value) -> Value:
    """jax.pure_callback(callback, result_shape_dtypes, *args): what was said that it gives."""
    return traced(call, result)
