"""Changes to a file, said in terms of Python's own syntax tree and made by LibCST.

A planner reads `ast` and asks for changes by node; nothing happens until `rewritten`, which parses the file with LibCST,
finds each node by its place, and makes all changes in one go. What is not changed stays to the byte.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from distml.rewrites.model import Edit, Rewritten
from distml.rewrites.requests import Requests
from distml.source.bindings import bound_names
from distml.source.file import SourceFile
from distml.source.nodes import walk


@dataclass(frozen=True, slots=True)
class Note:
    """What a change is, why it is made, and the rule that asks for it."""

    what: str
    reason: str
    rule: str = ""


class Patch:
    """Collects the changes to one file.

    Code is given as text: statements may have several lines, at no indentation; in expressions `{}` stands for the
    expression that is changed, with the changes inside it.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.requests = Requests()
        self._edits: dict[Edit, None] = {}
        self._names: set[str] | None = None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was asked for so far, in the order of the file."""
        return tuple(sorted(self._edits, key=lambda edit: (edit.line, edit.column)))

    def wrap(self, node: ast.expr, template: str, note: Note) -> None:
        """Put `template` in the place of an expression. What is asked twice is done once."""
        if template not in self.requests.expressions[node]:
            self.requests.expressions[node].append(template)
        self._note(node, note)

    def keyword(self, call: ast.Call, name: str, code: str, note: Note) -> None:
        """Give `call` the argument `name=code`; one that it has by that name is replaced, and stands for `{}`."""
        self.requests.keywords[call][name] = code
        self._note(call, note)

    def argument(self, call: ast.Call, code: str, note: Note) -> None:
        """Give `call` one more argument behind the others, such as `x` or `name=x`."""
        if code not in self.requests.arguments[call]:
            self.requests.arguments[call].append(code)
        self._note(call, note)

    def prepend(self, display: ast.List, code: str, note: Note) -> None:
        """Give a list that is written out one more item, behind those given so before and in front of its own."""
        if code not in self.requests.items[display]:
            self.requests.items[display].append(code)
        self._note(display, note)

    def hand(self, method: ast.Call, function: str, note: Note) -> None:
        """Call a function in the place of a method: what has the method becomes its first argument."""
        self.requests.handed[method] = function
        self._note(method, note)

    def rename(self, call: ast.Call, old: str, new: str, note: Note) -> None:
        """Give the argument that a call has as `old=` the name `new`."""
        self.requests.renamed[call][old] = new
        self._note(call, note)

    def drop(self, call: ast.Call, name: str, note: Note) -> None:
        """Take the argument that is given as `name=` from a call."""
        self.requests.dropped[call].add(name)
        self._note(call, note)

    def before(self, statement: ast.stmt, code: str, note: Note, *, first: bool = False) -> None:
        """Put statements in front of one; line breaks at the end of `code` are blank lines between them."""
        self._put(self.requests.statements[statement].before, code, first)
        self._note(statement, note)

    def puts_before(self, statement: ast.stmt, code: str) -> bool:
        """Whether statements were asked for in front of one."""
        asked = self.requests.statements.get(statement)
        return asked is not None and code in asked.before

    def withdraw(self, statement: ast.stmt, code: str, note: Note) -> None:
        """Do not put statements in front of one that were asked for there, for a reason that nothing else has."""
        self.requests.statements[statement].before.remove(code)
        del self._edits[self._edit(statement, note)]

    def near(self, statement: ast.stmt, code: str, note: Note) -> None:
        """Put statements directly in front of one, behind all that `before` puts there."""
        self._put(self.requests.statements[statement].near, code, False)
        self._note(statement, note)

    def hoist(self, node: ast.expr, statement: ast.stmt, name: str, note: Note) -> None:
        """Give an expression a name, with all changes inside it, directly in front of the statement that it stands in."""
        line = self.source.lines[node.lineno - 1]
        first = len(line) - len(line.lstrip()) == node.col_offset
        self.requests.hoisted[node] = name, max(0, node.col_offset - statement.col_offset) if first else 0
        self._put(self.requests.statements[statement].near, name, False)
        self._note(node, note)

    def after(self, statement: ast.stmt, code: str, note: Note, *, first: bool = False) -> None:
        """Put statements behind one: behind those asked for so far, or as the `first` of them."""
        self._put(self.requests.statements[statement].after, code, first)
        self._note(statement, note)

    def amend(self, code: str, amended: str, where: Callable[[ast.AST, str], bool] = lambda *_: True) -> None:
        """Change a part of the code that was asked for, by default wherever it stands."""
        self.requests.change(lambda node, text: text.replace(code, amended) if where(node, text) else text)

    def tell(self, statement: ast.stmt, note: Note) -> None:
        """Say why what was asked for around a statement is as it is."""
        self._note(statement, note)

    def guard(self, statement: ast.stmt, condition: str, note: Note) -> None:
        """Put a statement under `if condition:`. Neighbors under the same condition share one `if`."""
        self.requests.statements[statement].guard = condition
        self._note(statement, note)

    def remove(self, statement: ast.stmt, note: Note) -> None:
        """Take a statement away; comments in front of it stay."""
        self.requests.statements[statement].removed = True
        self._note(statement, note)

    def begin(self, owner: ast.stmt, code: str, note: Note, *, first: bool = False) -> None:
        """Put statements at the start of the body of a function (behind its docstring), loop, `with`, `if`, ..."""
        self._put(self.requests.begins[owner], code, first)
        self._note(owner, note)

    def end(self, owner: ast.stmt, code: str, note: Note) -> None:
        """Put statements at the end of the body of a function, loop, `with`, `if`, ..."""
        if code not in self.requests.ends[owner]:
            self.requests.ends[owner].append(code)
        self._note(owner, note)

    def free(self, name: str) -> str:
        """`name`, or that with a number, that means nothing in the file yet; it is taken from then on."""
        if self._names is None:
            read = {node.id for node in walk(self.source.tree) if isinstance(node, ast.Name)}
            self._names = read | bound_names(self.source.tree)
        found = next(each for each in (name, *(f"{name}_{n}" for n in range(2, 1000))) if each not in self._names)
        self._names.add(found)
        return found

    def rewritten(self, before: str) -> Rewritten:
        """The file with all changes; `before` is its text with byte order mark and line ends as they are.

        Raises `Unreadable` where LibCST cannot read the file or would not keep its layout.
        """
        if not self._edits:
            return Rewritten(before, before)
        from distml.rewrites.patching import apply

        body = before.rstrip() + "\n"
        blanks = before[len(body) :] if before.startswith(body) else ""
        if not blanks.strip("\n"):
            body, blanks = before, ""  # LibCST keeps line ends, but not all blanks between them
        return Rewritten(before, apply(body, self.source, self.requests) + blanks, self.edits)

    def _put(self, codes: list[str], code: str, first: bool) -> None:
        """Ask for statements once, behind those that were asked for before or in front of them."""
        if code not in codes:
            codes.insert(0 if first else len(codes), code)

    def _note(self, node: ast.expr | ast.stmt, note: Note) -> None:
        self._edits[self._edit(node, note)] = None

    def _edit(self, node: ast.expr | ast.stmt, note: Note) -> Edit:
        span = self.source.span(node)
        return Edit(span.line, span.column - 1, note.what, note.reason, note.rule)
