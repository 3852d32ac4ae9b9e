"""`x.size()` of what nobody knows: the sizes of a tensor, or the number that another class calls its size."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

PROGRAM = """import torch


def use(data: torch.Tensor, other):
    thing = {thing}
    assert {assertion}
    return torch.zeros(2, 3) @ torch.zeros(4, 5)
"""


@pytest.mark.parametrize("thing", ["data.storage()", "other", "other.pool", "data.untyped_storage()"])
@pytest.mark.parametrize(
    "assertion", ["thing.size() == 0", "3 == thing.size()", "thing.size() != None or thing.size() == 1"]
)
def test_a_size_may_be_a_number(thing: str, assertion: str) -> None:
    found = errors_of(PROGRAM.format(thing=thing, assertion=assertion))
    assert [each.code for each in found] == ["SHP101"]


@pytest.mark.parametrize("size", ["data.size()", "data.shape", "torch.zeros(2, 3).size()"])
def test_the_size_of_a_tensor_is_no_number(size: str) -> None:
    found = errors_of(PROGRAM.format(thing="data", assertion=f"{size} == 0"))
    assert [each.code for each in found] == ["SHP602"]


JOINED = """import numpy as np
import tensorflow as tf
import torch


def use({parameter}):
    return {call}
"""


@pytest.mark.parametrize(
    "call",
    ["tf.concat([fill, tf.ones([1])], 0)", "np.concatenate([np.ones(2), fill])", "tf.stack([fill, tf.ones([3])])"],
)
def test_a_number_that_is_only_annotated_may_be_an_array_where_arrays_are_joined(call: str) -> None:
    assert errors_of(JOINED.format(parameter="fill: int", call=call)) == []
    assert errors_of(JOINED.format(parameter="fill", call=call)) == []
    assert errors_of(JOINED.format(parameter="", call=call.replace("fill", "7"))) != []
