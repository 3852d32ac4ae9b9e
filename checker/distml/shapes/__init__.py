"""Dimensions and shapes: the arithmetic everything else stands on.

Pure values, no knowledge of any library or of Python source. A dimension is a
normalised polynomial over symbols, with floor division as an extra kind of
atom; a shape is a known sequence of dimensions, or one whose rank is unknown
and of which only the ends are known. This room imports nothing of distml.
"""

from distml.shapes.dim import Dim
from distml.shapes.facts import Facts, Store
from distml.shapes.quotient import Quotient
from distml.shapes.shape import Middle, Shape
from distml.shapes.symbol import Origin, Symbol

__all__ = ["Dim", "Facts", "Middle", "Origin", "Quotient", "Shape", "Store", "Symbol"]
