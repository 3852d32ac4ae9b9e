"""Draws choreographies as Mermaid sequence diagrams, from the facts that projection reads.

Communications are arrows, selects dashed arrows with their label, branches and loops blocks. What a party does alone is
not shown, except where it ends a branch or loop early. The syntax is that of
https://mermaid.js.org/syntax/sequenceDiagram.html.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from distml.choreo.check import Checked
from distml.choreo.facts import Facts, Invocation, Placed, Transfer
from distml.choreo.model import Function

_WORDS = frozenset(
    "activate actor alt and as autonumber box break create critical deactivate destroy else end left link links loop note"
    " opt option over par participant properties rect right sequencediagram title".split()
)
_LENGTH = 60
_MARKS = re.compile(r"[#;<>&{}]")
_LEAVING = ast.Return | ast.Raise | ast.Break | ast.Continue


def diagrams(checked: Checked) -> dict[str, str]:
    """One diagram for each function and method that communicates or calls a choreography, by its qualified name.

    Only a file without problems has all of them.
    """
    functions = dict(checked.module.functions)
    for definition in checked.module.classes.values():
        functions |= {f"{definition.name}.{name}": each for name, each in definition.methods.items()}
    found = {name: _Drawing(checked.facts, each).text(name) for name, each in functions.items()}
    return {name: text for name, text in found.items() if text is not None}


class _Drawing:
    def __init__(self, facts: Facts, function: Function) -> None:
        self.facts, self.function = facts, function

    def text(self, name: str) -> str | None:
        body = list(self._block(self.function.node.body, tail=True))
        if not body:
            return None
        lines = [f"participant {_id(role)} as {role}" for role in self.function.roles]
        return "\n".join(["---", f"title: {name}", "---", "sequenceDiagram", *_indented([*lines, *body])]) + "\n"

    def _block(self, body: Sequence[ast.stmt], tail: bool) -> Iterator[str]:
        """`tail` says that nothing of the function comes after these statements, so that a return there says nothing."""
        for position, node in enumerate(body):
            yield from self._statement(node, tail and position == len(body) - 1)
            if isinstance(node, _LEAVING) and not (tail and isinstance(node, ast.Return)):
                yield self._over(self._parties(node), _words(node))

    def _statement(self, node: ast.stmt, tail: bool) -> Iterator[str]:
        match node:
            case ast.If():
                yield from self._if(node, tail)
            case ast.Match():
                subject = _words(node.subject)
                titles = [f"{subject} is {_words(case.pattern)}{_guard(case)}" for case in node.cases]
                yield from self._messages(node.subject)
                yield from self._alternatives(titles, [case.body for case in node.cases], node.subject, tail)
            case ast.While():
                again = list(self._messages(node.test))
                yield from self._loop(f"{self._where(node.test)}while {_words(node.test)}", again, node)
                yield from self._block(node.orelse, tail)
            case ast.For():
                yield from self._messages(node.iter)
                title = f"{self._where(node.iter)}for {_words(node.target)} in {_words(node.iter)}"
                yield from self._loop(title, [], node)
                yield from self._block(node.orelse, tail)
            case ast.With():
                for item in node.items:
                    yield from self._messages(item.context_expr)
                yield from self._block(node.body, tail)
            case ast.Try():
                yield from self._try(node)
            case ast.FunctionDef() | ast.ClassDef():
                return
            case _:
                yield from self._messages(node)

    def _if(self, node: ast.If, tail: bool) -> Iterator[str]:
        titles, bodies, rest = [_words(node.test)], [node.body], node.orelse
        while len(rest) == 1 and isinstance(rest[0], ast.If) and not any(self._messages(rest[0].test)):
            titles.append(_words(rest[0].test))
            bodies.append(rest[0].body)
            rest = rest[0].orelse
        yield from self._messages(node.test)
        yield from self._alternatives([*titles, "otherwise"], [*bodies, rest], node.test, tail)

    def _alternatives(
        self, titles: Sequence[str], bodies: Sequence[list[ast.stmt]], guard: ast.expr, tail: bool
    ) -> Iterator[str]:
        blocks = [list(self._block(each, tail)) for each in bodies]
        while blocks and not blocks[-1]:
            blocks.pop()
        words = ["opt" if len(blocks) == 1 else "alt", *["else"] * len(blocks)]
        for word, title, block in zip(words, titles, blocks):
            yield f"{word} {'' if word == 'else' else self._where(guard)}{_escaped(title)}"
            yield from _indented(block)
        if blocks:
            yield "end"

    def _loop(self, title: str, again: list[str], node: ast.While | ast.For) -> Iterator[str]:
        """`again` is what is communicated before each turn."""
        yield from _framed("loop", title, [*again, *self._block(node.body, tail=False)])

    def _try(self, node: ast.Try) -> Iterator[str]:
        yield from self._block([*node.body, *node.orelse], tail=False)
        for handler in node.handlers:
            caught = f"except {_words(handler.type)}" if handler.type else "except"
            yield from _framed("opt", caught, list(self._block(handler.body, tail=False)))
        yield from self._block(node.finalbody, tail=False)

    def _messages(self, node: ast.AST) -> Iterator[str]:
        """The communications in a statement or expression, in the order of evaluation."""
        for child in _evaluated(node):
            yield from self._messages(child)
        fact = self.facts.calls.get(node) if isinstance(node, ast.expr) else None
        if isinstance(fact, Transfer):
            arrow = "-->>" if fact.is_select else "->>"
            text = _escaped(_words(self._unplaced(fact.value)))
            yield f"{_id(fact.sender)}{arrow}{_id(fact.receiver)}: {text}"
        elif isinstance(fact, Invocation) and isinstance(node, ast.Call) and len(set(fact.roles.values())) > 1:
            yield self._over(list(fact.roles.values()), _words(node))

    def _unplaced(self, node: ast.expr) -> ast.expr:
        fact = self.facts.calls.get(node)
        return fact.value if isinstance(fact, Placed) else node

    def _parties(self, node: ast.stmt) -> Sequence[str]:
        """Who leaves a block by a statement: those that hold its value, else everybody."""
        value = getattr(node, "value", None)
        found = self.facts.types.get(value) if isinstance(value, ast.expr) else None
        return (found and found.roles) or self.function.roles

    def _over(self, roles: Sequence[str], text: str) -> str:
        order = [role for role in self.function.roles if role in roles]
        ends = dict.fromkeys((order[0], order[-1])) if order else dict.fromkeys(self.function.roles)
        return f"Note over {','.join(map(_id, ends))}: {_escaped(text)}"

    def _where(self, guard: ast.expr) -> str:
        found = self.facts.types.get(guard)
        return f"{', '.join(found.roles)}: " if found is not None and found.roles else ""


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in the order Python evaluates them: the value of an assignment before its target."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        if node.value is not None:
            yield node.value
        return
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values):
            yield from (each for each in (key, value) if each is not None)
        return
    yield from ast.iter_child_nodes(node)


def _id(role: str) -> str:
    """The name of a participant; words of the language need another one."""
    return f"{role}_" if role.lower() in _WORDS else role


def _guard(case: ast.match_case) -> str:
    return f" if {_words(case.guard)}" if case.guard is not None else ""


def _words(node: ast.AST) -> str:
    """Code on one line, shortened."""
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= _LENGTH else f"{line[: _LENGTH - 3]}..."


def _escaped(text: str) -> str:
    """Without characters that Mermaid or the HTML around it reads as its own."""
    return _MARKS.sub(lambda found: f"#{ord(found.group())};", text)


def _framed(word: str, title: str, block: list[str]) -> list[str]:
    """A block of the diagram; nothing where nothing is in it."""
    return [f"{word} {_escaped(title)}", *_indented(block), "end"] if block else []


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
