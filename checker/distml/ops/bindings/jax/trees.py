"""jax: functions of pytrees.

https://docs.jax.dev/en/latest/pytrees.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.registry import op
from distml.ops.semantics.trees import leaves, mapped
from distml.values import NONE, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


@op("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map")
def tree_map(call: Call, f: Value, tree: Value, *rest: Value, is_leaf: Value = NONE) -> Value:
    """jax.tree.map(f, tree, *rest)"""
    if call.is_none(is_leaf) is not True:
        return call.unknown()
    return mapped(call, lambda *found: call.apply(f, *found), tree, *rest)


def tree_leaves(call: Call, tree: Value, is_leaf: Value) -> Value:
    """jax.tree.leaves(tree)"""
    found = leaves(call, tree) if call.is_none(is_leaf) else None
    return call.unknown() if found is None else call.list_of(found)


bind(tree_leaves, "tree is_leaf=None", "jax.tree.leaves", "jax.tree_util.tree_leaves", "jax.tree_leaves")


@op("jax.tree.map_with_path", "jax.tree_util.tree_map_with_path")
def map_with_path(call: Call, f: Value, tree: Value, *rest: Value, is_leaf: Value = NONE) -> Value:
    """jax.tree.map_with_path(f, tree, *rest)"""
    if call.is_none(is_leaf) is not True:
        return call.unknown()
    return mapped(call, lambda *found: call.apply(f, call.unknown("path"), *found), tree, *rest)
