"""Random programs with branches whose truth is known, in several styles of layout.

Every program is one function `f(x, n, log)`; `x` has 4 axes of size 1 to 4. A condition of `TRUE` or `FALSE` is known, the
others depend on `n`. What a run does shows in `log`.
"""

from __future__ import annotations

from hypothesis import strategies as st

TRUE = ("x.dim() == 4", "len(x.shape) == 4", "isinstance(x, Image)", "x.size(1) > 1", "not x.shape[0] > 2")
FALSE = ("x.dim() == 3", "x.shape[3] != 4", "not isinstance(x, Image)", "x.numel() < 3")
OPEN = ("n > 1", "n % 2", "n == x.shape[2]")
NAMES = ("a", "b", "n", "c")
COMMENTS = ("", "", "", "  # why", "  # noqa", "\t# ünï")

conditions = st.sampled_from(TRUE + FALSE + OPEN)


class Image:
    """A tensor, as far as the conditions look."""

    shape = (1, 2, 3, 4)

    def dim(self) -> int:
        return 4

    def numel(self) -> int:
        return 24

    def size(self, axis: int) -> int:
        return self.shape[axis]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression whose value may hang on a known condition."""
    kind = draw(st.sampled_from(("name", "number", "ternary", "bool", "paren"))) if depth else "name"
    if kind == "name":
        return draw(st.sampled_from(NAMES))
    if kind == "number":
        return str(draw(st.integers(0, 3)))
    part = expressions(depth - 1)
    if kind == "ternary":
        return f"({draw(part)} if {draw(conditions)} else {draw(part)})"
    if kind == "bool":
        word = draw(st.sampled_from(("and", "or")))
        return f"({f' {word} '.join([draw(conditions), *draw(st.lists(conditions | part, min_size=1, max_size=2))])})"
    return f"({draw(part)},\n      {draw(part)})"


@st.composite
def bodies(draw: st.DrawFn, indent: str, step: str, depth: int) -> list[str]:
    """The lines of a block."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 4)) == 0:
            lines.append(draw(st.sampled_from(("", f"{indent}# about it", f"{indent}  # deeper"))))
        lines += draw(statements(indent, step, depth))
    if draw(st.integers(0, 5)) == 0:
        lines.append(f"{indent}# at the end")
    return lines


@st.composite
def statements(draw: st.DrawFn, indent: str, step: str, depth: int) -> list[str]:
    kinds = ("assign", "log", "assert", "text", "global", "delete", "inner", "return")
    kind = draw(st.sampled_from(kinds + ("if", "if", "if", "while", "for") * bool(depth)))
    name, value, end = draw(st.sampled_from(NAMES)), draw(expressions()), draw(st.sampled_from(COMMENTS))
    condition = draw(conditions)
    inner = bodies(indent + step, step, depth - 1) if depth else st.just([])
    if kind == "if":
        lines = [f"{indent}if {condition}:{end}", *draw(inner)]
        for _ in range(draw(st.integers(0, 2))):
            lines += [f"{indent}elif {draw(conditions)}:{end}", *draw(inner)]
        return lines + ([f"{indent}else:{end}", *draw(inner)] if draw(st.booleans()) else [])
    if kind == "while":
        known = draw(st.sampled_from(FALSE))
        return [f"{indent}while {known}:{end}", *draw(inner), f"{indent}else: log(7){end}"]
    if kind == "for":
        return [f"{indent}for {name} in range(2):", *draw(inner)]
    simple = {
        "assign": f"{name} = {value}",
        "log": f"log({value}); log({name})",
        "assert": f"assert {draw(st.sampled_from(TRUE))}, {name}; log(1)",
        "text": f'log("""one\n  two\n""" if {condition} else {value})',
        "global": f"if {condition}: global d; log(2)",
        "delete": f"if {condition}: del {name}",
        "inner": f"log((lambda: {name})())",
        "return": f"if n: return {value}",
    }
    return [indent + simple[kind] + end]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A whole program."""
    step = draw(st.sampled_from(("    ", "  ", "\t")))
    end = draw(st.sampled_from(("\n", "\n", "\r\n")))
    lines = [
        "# -*- coding: utf-8 -*-",
        "a = b = c = d = 5",
        "def f(x, n, log):",
        *draw(bodies(step, step, 2)),
        "f.done = 1",
    ]
    return end.join("\n".join(lines).split("\n")) + draw(st.sampled_from((end, "")))
