"""Changes identifiers in the text of a module, and proves by the syntax tree that nothing else was changed."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping


class Edits:
    """Collects new identifiers by node. A text whose tree is not the one meant is never given."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.edits: dict[tuple[int, int], str] = {}
        self.tree = tree
        self.meant: dict[ast.AST, list[tuple[str, object]]] = {}
        self.formatted: dict[ast.AST, ast.JoinedStr] = {}
        self.inside: dict[ast.JoinedStr, list[tuple[str, str, str]]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and node not in self.formatted:
                self.formatted.update(dict.fromkeys((n for n in ast.walk(node) if n is not node), node))

    def identifier(self, node: ast.Name | ast.arg | ast.keyword, field: str, new: str | None) -> None:
        """A name, parameter or keyword."""
        if new is None:
            return
        old = getattr(node, field)
        self._mean(node, field, new)
        if node in self.formatted:
            self._formatted(node, "keyword" if isinstance(node, ast.keyword) else "name", old, new)
        else:
            self._put(self._at(node.lineno, node.col_offset), old, new)

    def attribute(self, node: ast.Attribute, new: str | None) -> None:
        """The last part of `x.name`."""
        if new is None:
            return
        self._mean(node, "attr", new)
        if node in self.formatted:
            self._formatted(node, "attribute", node.attr, new)
        elif node.end_lineno is not None and node.end_col_offset is not None:
            self._put(self._at(node.end_lineno, node.end_col_offset) - len(node.attr), node.attr, new)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, new: str | None) -> None:
        """The name of a function or class."""
        if new is not None:
            self._mean(node, "name", new)
            self._search(self._at(node.lineno, node.col_offset), r"(?:def|class)[\s\\]+", node.name, new)

    def handler(self, node: ast.ExceptHandler, new: str | None) -> None:
        """The name of `except X as name`."""
        if new is not None and node.name and node.type is not None:
            self._mean(node, "name", new)
            at = self._at(node.type.end_lineno or 0, node.type.end_col_offset or 0)
            self._search(at, r"\bas[\s\\]+", node.name, new)

    def declared(self, node: ast.Global | ast.Nonlocal, names: Mapping[str, str]) -> None:
        """The names of `global` and `nonlocal`."""
        self._mean(node, "names", [names.get(each, each) for each in node.names])
        for each in node.names:
            if each in names:
                start = self._at(node.lineno, node.col_offset)
                self._search(start, r"(?:global|nonlocal)\b[^\n]*?\b", each, names[each])

    def alias(self, node: ast.alias, library: bool, names: Mapping[str, str]) -> None:
        """What an import binds; what the program itself defines is imported under its new name."""
        start, end = self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)
        if node.asname is not None and node.asname in names:
            self._mean(node, "asname", names[node.asname])
            self._put(end - len(node.asname), node.asname, names[node.asname])
        if not library and node.name in names:
            self._mean(node, "name", names[node.name])
            self._put(start, node.name, names[node.name])
        elif library and node.asname is None and node.name in names:
            self._mean(node, "asname", names[node.name])
            self.edits[end, end] = f" as {names[node.name]}"

    def made(self) -> str:
        """The new text. Raises `ValueError` where its syntax tree is not the one that was meant."""
        for whole, wanted in self.inside.items():
            self._in_formatted(whole, wanted)
        text = self.text
        for (start, end), new in sorted(self.edits.items(), reverse=True):
            text = text[:start] + new + text[end:]
        copied: dict[int, ast.AST] = {}
        expected = copy.deepcopy(self.tree, memo := {})
        copied.update({key: value for key, value in memo.items() if isinstance(value, ast.AST)})
        for node, fields in self.meant.items():
            for field, value in fields:
                setattr(copied[id(node)], field, value)
        if ast.dump(expected) != ast.dump(ast.parse(text)):
            raise ValueError("the renamed text says something else")
        return text

    def _mean(self, node: ast.AST, field: str, value: object) -> None:
        self.meant.setdefault(node, []).append((field, value))

    def _at(self, line: int, column: int) -> int:
        """The place in the text of a line and a column in bytes."""
        text = self.lines[line - 1]
        return self.starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def _put(self, at: int, old: str, new: str) -> None:
        if self.text[at : at + len(old)] != old:
            raise ValueError(f"{old!r} is not where it should be")
        self.edits[at, at + len(old)] = new

    def _search(self, at: int, before: str, old: str, new: str) -> None:
        found = re.compile(before + rf"({re.escape(old)})\b").search(self.text, at)
        if found is None:
            raise ValueError(f"{old!r} is not found")
        self._put(found.start(1), old, new)

    def _formatted(self, node: ast.AST, kind: str, old: str, new: str) -> None:
        self.inside.setdefault(self.formatted[node], []).append((kind, old, new))

    def _in_formatted(self, whole: ast.JoinedStr, wanted: list[tuple[str, str, str]]) -> None:
        """Before Python 3.12 nothing inside an f-string has a place: names are looked for between its braces."""
        start = self._at(whole.lineno, whole.col_offset)
        end = self._at(whole.end_lineno or 0, whole.end_col_offset or 0)
        fields = list(_fields(self.text[start:end]))
        for kind, old, new in wanted:
            before = r"(?<=\.)" if kind == "attribute" else r"(?<![\w.])"
            after = r"\b" if kind != "keyword" else r"(?=\s*=[^=])"
            for low, high in fields:
                for match in re.finditer(rf"{before}{re.escape(old)}\b{after}", self.text[start + low : start + high]):
                    at = start + low + match.start()
                    self.edits.setdefault((at, at + len(old)), new)


def _fields(text: str) -> list[tuple[int, int]]:
    """Where the expressions of an f-string stand in its text."""
    found, depth, begin, at = [], 0, 0, 0
    while at < len(text):
        two = text[at : at + 2]
        if not depth and two in ("{{", "}}"):
            at += 2
            continue
        if text[at] == "{":
            begin = begin if depth else at
            depth += 1
        elif text[at] == "}" and depth:
            depth -= 1
            if not depth:
                found.append((begin, at))
        at += 1
    return found
