"""What `distml migrate` found, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.diagnostics.printable import safe
from distml.diagnostics.style import PLAIN
from distml.gradual.trial import MAX_RANK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.diagnostics.style import Style
    from distml.gradual.conflicts import Conflict
    from distml.gradual.migrate import Migration

_DTYPES = {"float": "Float", "int": "Integer", "bool": "Bool", "complex": "Complex", None: "Shaped"}
_WORDS = {
    "static": "a static migration",
    "dynamic": "no static migration, but a gradual one",
    "empty": "no migration: every input fails",
    "unknown": "not known",
}


def as_json(migrations: Sequence[Migration]) -> list[dict[str, Any]]:
    """One object a function; the fields are described in docs/gradual.md."""
    return [_object(m) for m in migrations]


def _object(m: Migration) -> dict[str, Any]:
    return {
        "path": m.path,
        "function": m.function,
        "line": m.line,
        "verdict": m.verdict,
        "ranks": m.ranks,
        "annotations": {name: annotation_text(m, name) for name in m.annotations},
        "model": m.model,
        "dyn_only": [
            {"input": d.input, "dim": d.axis, "related": [c._asdict() for c in d.related]} for d in m.dyn_only
        ],
        "conflicts": [c._asdict() for c in m.conflicts],
        "constraints": list(m.constraints),
        "seconds": round(m.seconds, 6),
        **({"reason": m.reason} if m.reason else {}),
    }


def annotation_text(m: Migration, name: str) -> str:
    """The annotation of an input as jaxtyping writes it: `Float[Tensor, "b 3 h w"]`."""
    annotation = m.annotations[name]
    return f'{_DTYPES[annotation.dtype]}[Tensor, "{annotation.text}"]'


def as_text(migrations: Sequence[Migration], concrete: bool, style: Style = PLAIN) -> list[str]:
    """The lines of a paragraph for each function; safe to print."""
    return [line for m in migrations for line in (_head(m, style), *map(safe, _details(m, concrete)), "")][:-1]


def _head(m: Migration, style: Style) -> str:
    paint = {"static": style.green, "dynamic": style.yellow, "empty": style.red, "unknown": style.dim}[m.verdict]
    return f"{style.place(f'{m.path}:{m.line}')}: {safe(m.function)}: {paint(_WORDS[m.verdict])}"


def _details(m: Migration, concrete: bool) -> list[str]:
    lines = []
    if m.reason:
        lines.append(f"    {m.reason}")
    for name, ranks in m.ranks.items() if m.verdict != "empty" else ():
        lines.append(f"    {name}: {_ranks_text(ranks)}")
    lines += [f"    {name}: {_concrete(m, name) if concrete else annotation_text(m, name)}" for name in m.annotations]
    if m.constraints and not concrete:
        lines.append(f"    where {', '.join(m.constraints)}")
    for d in m.dyn_only:
        what = f"{d.input}.shape[{d.axis}] can only be Dyn" if d.axis is not None else f"{d.input} can only be Dyn"
        lines.append(f"    {what}:")
        lines += _related(d.related)
    if m.conflicts:
        lines.append("    what contradicts each other:")
        lines += _related(m.conflicts)
    return lines


def _concrete(m: Migration, name: str) -> str:
    dims = m.model.get(name)
    return "..." if dims is None else "[" + ", ".join("Dyn" if d is None else str(d) for d in dims) + "]"


def _ranks_text(ranks: list[int] | str) -> str:
    if isinstance(ranks, str):
        return "any number of axes"
    if not ranks:
        return "no single number of axes"
    if len(ranks) > 3 and ranks == list(range(ranks[0], MAX_RANK + 1)):
        return f"{ranks[0]} or more axes"
    texts = [str(r) for r in ranks]
    head = ", ".join(texts[:-1])
    axes = "axis" if ranks == [1] else "axes"
    return f"{head} or {texts[-1]} {axes}" if head else f"{texts[-1]} {axes}"


def _related(conflicts: Sequence[Conflict]) -> list[str]:
    return [f"        {c.path}:{c.line}: {c.message}" for c in conflicts]
