"""What modules and layers of PyTorch have is listed, so that what is not listed is known to be missing."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

import pytest

from distml.ops.torch.nn.names import NAMES


def _named() -> Iterator[str]:
    """The names that PyTorch's modules have: of their classes, and what their code sets on them."""
    import torch

    for each in vars(torch.nn).values():
        if inspect.isclass(each) and issubclass(each, torch.nn.Module):
            yield from dir(each)
            for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(each)))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    yield from [node.attr] if ast.unparse(node.value) == "self" else []


@pytest.mark.requires("torch")
def test_every_name_is_listed() -> None:
    assert {name for name in _named() if not name.startswith("__")} - NAMES == set()
