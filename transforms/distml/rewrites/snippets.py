"""Code that is put into files, as LibCST's nodes: the same few lines go into most files, and nodes never change."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

_KEPT = 1000


@lru_cache(_KEPT)
def module_of(code: str, config: cst.PartialParserConfig) -> cst.Module:
    """Statements."""
    return cst.parse_module(code, config)


@lru_cache(_KEPT)
def expression_of(code: str, config: cst.PartialParserConfig) -> cst.BaseExpression:
    """An expression."""
    return cst.parse_expression(code, config)
