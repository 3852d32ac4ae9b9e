"""Comparisons of dimensions as text a user reads, which Python would read the same way.

Negative terms stand on the other side, numbers on the right, remainders are
written with `%`: `h >= 63`, `b*t % 8 == 0`, `x + 3 == 2*y`.
"""

from __future__ import annotations

from collections.abc import Callable

from distml.shapes import Dim, Quotient, Symbol
from distml.shapes.dim import Atom, Monomial
from distml.solver.remainder import split

Names = Callable[[Symbol], str]


def dim_text(dim: Dim, names: Names) -> str:
    """A dimension as an expression."""
    return _sum(_parts(dim, names))


def compare_text(kind: str, difference: Dim, names: Names) -> str:
    """`difference kind 0` with every term where it is positive."""
    parts = _parts(difference, names)
    constant = sum(c for c, text in parts if not text)
    left = [(c, text) for c, text in parts if text and c > 0]
    right = [(-c, text) for c, text in parts if text and c < 0]
    if not left and kind == ">=":
        return f"{_sum(right)} <= {constant}"
    if not left:
        left, right, constant = right, left, -constant
    if constant > 0 and right:
        left.append((constant, ""))
    elif constant or not right:
        right.append((-constant, ""))
    if kind != ">=" and [c for c, text in right if text.isidentifier()] == [1] and len(right) == 1 < len(left):
        left, right = right, left
    return f"{_sum(left)} {kind} {_sum(right)}"


def _parts(dim: Dim, names: Names) -> list[tuple[int, str]]:
    """Coefficients and what they multiply; the text of a plain number is empty."""
    remainders, rest = split(dim)
    parts = [(r.factor, f"{_factor(r.numerator, names, '%')} % {_divisor(r.denominator, names)}") for r in remainders]
    return parts + [(c, _monomial(m, names)) for m, c in rest.terms]


def _sum(parts: list[tuple[int, str]]) -> str:
    out = ""
    for coefficient, text in parts:
        term = _term(abs(coefficient), text)
        if out:
            out += f" {'-' if coefficient < 0 else '+'} {term}"
        else:
            out = f"-{_guard(term)}" if coefficient < 0 else term
    return out or "0"


def _term(coefficient: int, text: str) -> str:
    if not text:
        return str(coefficient)
    return text if coefficient == 1 else f"{coefficient}*{_guard(text)}"


def _guard(text: str) -> str:
    """A factor in parentheses if it is a division, of which only products are safe to extend on the left."""
    return f"({text})" if "//" in text or "%" in text else text


def _monomial(monomial: Monomial, names: Names) -> str:
    alone = len(monomial) == 1 and monomial[0][1] == 1
    return "*".join(_power(atom, power, alone, names) for atom, power in monomial)


def _power(atom: Atom, power: int, alone: bool, names: Names) -> str:
    if isinstance(atom, Symbol):
        return names(atom) if power == 1 else f"{names(atom)}**{power}"
    text = _quotient(atom, names)
    if alone:
        return text
    return f"({text})" if power == 1 else f"({text})**{power}"


def _quotient(atom: Quotient, names: Names) -> str:
    return f"{_factor(atom.numerator, names, '//')}//{_divisor(atom.denominator, names)}"


def _factor(dim: Dim, names: Names, operator: str) -> str:
    """The left side of a division; a product needs no parentheses before `%`."""
    text = dim_text(dim, names)
    plain = len(dim.terms) == 1 and "//" not in text and "%" not in text and not text.startswith("-")
    return text if plain and (operator == "%" or "*" not in text) else f"({text})"


def _divisor(dim: Dim, names: Names) -> str:
    text = dim_text(dim, names)
    return text if len(dim.terms) <= 1 and not set(text) & set("*/%- ") else f"({text})"
