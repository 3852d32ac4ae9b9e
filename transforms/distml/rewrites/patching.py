"""Makes the changes of a `Patch` with LibCST."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TypeVar

import libcst as cst

from distml.rewrites.blocks import Piece, join
from distml.rewrites.holes import filled
from distml.rewrites.model import BOM
from distml.rewrites.positions import Place, code_of
from distml.rewrites.requests import Around, Requests
from distml.rewrites.snippets import expression_of, module_of
from distml.rewrites.tree import placed
from distml.source.file import SourceFile

Key = TypeVar("Key", bound=ast.AST)
Value = TypeVar("Value")
_STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)


class LostPlace(Exception):
    """A node of `ast` has no counterpart: a change cannot be made."""


def apply(before: str, source: SourceFile, requests: Requests) -> str:
    """The text of a file with what was asked for. Raises `Unreadable`, and `LostPlace` where a node is not found."""
    mark = BOM if before.startswith(BOM) else ""
    module, positions = placed(before.removeprefix(BOM))
    return mark + code_of(module.visit(_Changer(requests, _Places(source, positions), module)))


class _Places:
    """LibCST's nodes by where they stand."""

    def __init__(self, source: SourceFile, positions: Mapping[cst.CSTNode, tuple[Place, Place]]) -> None:
        self._source, self._positions = source, positions
        self._lines: set[int] = set()
        self._expressions: dict[tuple[Place, Place], cst.BaseExpression] = {}
        self._statements: dict[Place, cst.CSTNode] = {}
        for node, position in positions.items():
            if isinstance(node, cst.BaseExpression):
                self._expressions[position] = node
            elif isinstance(node, _STATEMENTS):
                self._statements[position[0]] = node

    def find(self, node: ast.expr | ast.stmt) -> cst.CSTNode:
        """The counterpart of a node."""
        span = self._source.span(node)
        start, end = (span.line, span.column - 1), (span.end_line, span.end_column - 1)
        if isinstance(node, ast.stmt):
            found: cst.CSTNode | None = self._statements.get(start)
        else:
            found = self._expressions.get((start, end))
            if found is None and isinstance(node, ast.Tuple | ast.GeneratorExp):
                found = self._within(start, end)
        if found is None:
            raise LostPlace(f"line {span.line}: `{ast.unparse(node)[:40]}` was not found again")
        self._lines.add(self._positions[found][0][0])
        return found

    def holds_found(self, node: cst.CSTNode) -> bool:
        """Whether a node that was found can stand in one; what is no plain statement is not looked at."""
        if not isinstance(node, _STATEMENTS) or getattr(node, "decorators", None):
            return True
        (first, _), (last, _) = self._positions[node]
        return any(first <= line <= last for line in self._lines)

    def _within(self, start: Place, end: Place) -> cst.CSTNode | None:
        """The largest tuple or generator between parentheses that `ast` counts to it and LibCST does not."""
        inside = [
            (inner, node)
            for inner, node in self._expressions.items()
            if start < inner[0] and inner[1] < end and isinstance(node, cst.Tuple | cst.GeneratorExp)
        ]
        return min(inside, key=lambda each: each[0])[1] if inside else None

    def translated(self, requests: dict[Key, Value]) -> dict[cst.CSTNode, Value]:
        """Requests by LibCST's nodes."""
        return {self.find(node): value for node, value in requests.items()}  # type: ignore[arg-type]


class _Changer(cst.CSTTransformer):
    def __init__(self, requests: Requests, places: _Places, module: cst.Module) -> None:
        super().__init__()
        self._config, self._places = module.config_for_parsing, places
        self._expressions = places.translated(requests.expressions)
        self._keywords = places.translated(requests.keywords)
        self._arguments = places.translated(requests.arguments)
        self._hoisted = places.translated(requests.hoisted)
        self._named: dict[str, cst.BaseExpression] = {}
        self._items = places.translated(requests.items)
        self._handed = places.translated(requests.handed)
        self._renamed = places.translated(requests.renamed)
        self._dropped = places.translated(requests.dropped)
        self._statements = places.translated(requests.statements)
        self._begins = places.translated(requests.begins)
        self._ends = places.translated(requests.ends)
        owners = [owner for owner in {**self._begins, **self._ends} if isinstance(owner, cst.BaseCompoundStatement)]
        self._bodies: dict[cst.CSTNode, cst.CSTNode] = {owner.body: owner for owner in owners}

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Statements in which nothing changes stay as they are."""
        return self._places.holds_found(node)

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        """Make the changes to one node, those inside it being made."""
        updated = updated_node
        if isinstance(updated, cst.Call):
            updated = self._call(original_node, updated)
        if original_node in self._handed:
            assert isinstance(updated, cst.Call)
            updated = self._to_function(updated, self._handed[original_node])
        if original_node in self._items:
            assert isinstance(updated, cst.List)
            updated = self._with_items(updated, self._items[original_node])
        for template in self._expressions.get(original_node, ()):
            assert isinstance(updated, cst.BaseExpression)
            updated = filled(template, updated, self._config)
        if original_node in self._hoisted:
            assert isinstance(updated, cst.BaseExpression)
            name, columns = self._hoisted[original_node]
            moved = updated.visit(_Left(columns))
            assert isinstance(moved, cst.BaseExpression)
            self._named[name] = _enclosed(moved)
            return cst.Name(name)
        if isinstance(original_node, cst.Module | cst.IndentedBlock):
            updated = self._block(original_node, updated)
        elif isinstance(original_node, cst.SimpleStatementSuite):
            updated = self._suite(original_node, updated)
        return updated

    def _call(self, original: cst.CSTNode, call: cst.Call) -> cst.Call:
        call = self._with_names(original, call)
        keywords = dict(self._keywords.get(original, {}))
        dropped = self._dropped.get(original, set())
        arguments: list[cst.Arg] = []
        for argument in call.args:
            name = argument.keyword.value if argument.keyword else ""
            if name in keywords:
                argument = argument.with_changes(value=filled(keywords.pop(name), argument.value, self._config))
            if name not in dropped or not name:
                arguments.append(argument)
        if arguments and call.args[-1].keyword and call.args[-1].keyword.value in dropped:
            last = call.args[-1]
            arguments[-1] = arguments[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        new = [f"{name}={code}" for name, code in keywords.items()]
        added = [self._argument(code) for code in [*self._arguments.get(original, ()), *new]]
        if len(arguments) < len(call.args) or added:
            return call.with_changes(args=_listed(arguments, added))
        return call.with_changes(args=arguments) if original in self._keywords else call

    def _with_items(self, display: cst.List, code: Sequence[str]) -> cst.List:
        """A list with items in front; line breaks as between the others."""
        old = display.elements
        comma = old[0].comma if len(old) > 1 else None
        space = comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")
        new = [cst.Element(expression_of(each, self._config), cst.Comma(whitespace_after=space)) for each in code]
        if not old:
            new[-1] = new[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return display.with_changes(elements=[*new, *old])

    def _with_names(self, original: cst.CSTNode, call: cst.Call) -> cst.Call:
        names = self._renamed.get(original)
        if not names:
            return call
        arguments = [
            each.with_changes(keyword=cst.Name(names.get(each.keyword.value, each.keyword.value)))
            if each.keyword
            else each
            for each in call.args
        ]
        return call.with_changes(args=arguments)

    def _to_function(self, method: cst.Call, function: str) -> cst.Call:
        """A call of a function with what has a method, which needs no parentheses there if it stands in one line."""
        assert isinstance(method.func, cst.Attribute)
        owner = method.func.value
        if owner.lpar and isinstance(owner.lpar[0].whitespace_after, cst.SimpleWhitespace):
            owner = owner.with_changes(lpar=owner.lpar[1:], rpar=owner.rpar[:-1])
        made = filled(f"{function}({{}})", owner, self._config)
        assert isinstance(made, cst.Call)
        return made.with_changes(args=_listed(list(made.args), list(method.args)))

    def _argument(self, code: str) -> cst.Arg:
        call = expression_of(f"f({code})", self._config)
        assert isinstance(call, cst.Call)
        return call.args[0]

    def _suite(self, original: cst.SimpleStatementSuite, suite: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(suite, cst.SimpleStatementSuite)
        if original not in self._bodies and not any(small in self._statements for small in original.body):
            return suite
        line = cst.SimpleStatementLine(suite.body, trailing_whitespace=suite.trailing_whitespace)
        shown = cst.SimpleStatementLine(original.body)
        return self._filled(original, cst.IndentedBlock([line]), [shown])

    def _block(self, original: cst.Module | cst.IndentedBlock, block: cst.CSTNode) -> cst.CSTNode:
        touched = original in self._bodies or any(self._touched(statement) for statement in original.body)
        return self._filled(original, block, original.body) if touched else block

    def _touched(self, statement: cst.CSTNode) -> bool:
        smalls = statement.body if isinstance(statement, cst.SimpleStatementLine) else (statement,)
        return any(small in self._statements for small in smalls)

    def _filled(self, original: cst.CSTNode, block: cst.CSTNode, before: Sequence[cst.CSTNode]) -> cst.CSTNode:
        pieces: list[Piece] = []
        behind = [*before[1:], None]
        for old, new, following in zip(before, block.body, behind, strict=True):  # type: ignore[attr-defined]
            pieces += self._pieces(old, new, following)
        owner = self._bodies.get(original)
        if owner is not None:
            at = 1 if _is_docstring(before[0]) and isinstance(owner, cst.FunctionDef | cst.ClassDef) else 0
            pieces[at:at] = [Piece(self._parsed(code)) for code in self._begins.get(owner, ())]
            pieces += [Piece(self._parsed(code)) for code in self._ends.get(owner, ())]
        body, left = join(pieces)
        body = _merged(body)
        if not body and isinstance(block, cst.IndentedBlock):
            body = [cst.SimpleStatementLine([cst.Pass()])]
        return block.with_changes(body=body, footer=[*left, *block.footer])  # type: ignore[attr-defined]

    def _pieces(self, old: cst.CSTNode, new: cst.CSTNode, following: cst.CSTNode | None) -> list[Piece]:
        if not self._touched(old):
            return [Piece([new])]  # type: ignore[list-item]
        if not isinstance(old, cst.SimpleStatementLine):
            return [self._piece(self._statements[old], new)]  # type: ignore[arg-type]
        assert isinstance(new, cst.SimpleStatementLine)
        pieces: list[Piece] = []
        for number, (was, small) in enumerate(zip(old.body, new.body, strict=True)):
            line = cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
            if number == 0:
                line = line.with_changes(leading_lines=new.leading_lines)
            if number == len(old.body) - 1:
                line = line.with_changes(trailing_whitespace=new.trailing_whitespace)
            around = self._statements.get(was, Around())
            if around.removed and _is_alone(old, following):
                line = line.with_changes(leading_lines=_apart(line.leading_lines))
            pieces.append(self._piece(around, line))
        return pieces

    def _piece(self, around: Around, statement: cst.BaseStatement) -> Piece:
        lines: Sequence[cst.EmptyLine] = getattr(statement, "leading_lines", ())
        after = [each for code in around.after for each in self._parsed(code)]
        asked = [*around.before, *around.near]
        before = [each for code in asked for each in self._parsed(code)]
        first = next((number for number, line in enumerate(lines) if line.comment), len(lines))
        if around.removed:
            kept = lines if first < len(lines) else ()
            return Piece(_led(lines[:first], [*before, *after]), [] if before or after else list(kept))
        if around.guard is not None:
            inner = statement.with_changes(leading_lines=())
            test = expression_of(around.guard, self._config)
            statement = _Guard(test=test, body=cst.IndentedBlock([inner]), leading_lines=lines)
        if before:
            gap = [cst.EmptyLine(indent=False)] * (len(asked[-1]) - len(asked[-1].rstrip("\n")))
            statement = statement.with_changes(leading_lines=[*gap, *lines[first:]])
            before = _led(lines[:first], before)
        return Piece([*before, statement, *after])

    def _parsed(self, code: str) -> list[cst.BaseStatement]:
        if code in self._named:
            return [cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(code))], self._named[code])])]
        apart = "\n" * (len(code) - len(code.lstrip("\n")))
        module = module_of(apart + code.strip("\n") + "\n", self._config)
        header = [line if line.comment else line.with_changes(indent=False) for line in module.header]
        return _led(header, list(module.body))


class _Left(cst.CSTTransformer):
    """Moves the further lines of an expression to the left."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self._columns = columns

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        """The last line is that of what follows."""
        return updated_node.with_changes(last_line=self._shorter(updated_node.last_line))

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        """A line of its own, such as a comment."""
        return updated_node.with_changes(whitespace=self._shorter(updated_node.whitespace))

    def _shorter(self, space: cst.SimpleWhitespace) -> cst.SimpleWhitespace:
        return space.with_changes(value=space.value[: max(0, len(space.value) - self._columns)])


def _enclosed(value: cst.BaseExpression) -> cst.BaseExpression:
    """An expression that may go over several lines, as one that is a statement's value may."""
    alone = bool(value.lpar) or isinstance(value, cst.Call | cst.List | cst.Dict | cst.Set)
    if alone or "\n" not in cst.Module([]).code_for_node(value):
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


class _Guard(cst.If):
    """An `if` that was put around a statement."""


def _merged(body: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Neighbors under one condition under one `if`."""
    found: list[cst.BaseStatement] = []
    for statement in body:
        last = found[-1] if found else None
        if isinstance(statement, _Guard) and isinstance(last, _Guard) and last.test.deep_equals(statement.test):
            (inner,) = statement.body.body
            lines = [line if line.comment else line.with_changes(indent=False) for line in statement.leading_lines]
            inner = inner.with_changes(leading_lines=lines)
            block = last.body.with_changes(body=[*last.body.body, inner])
            found[-1] = last.with_changes(body=block)
        else:
            found.append(statement)
    return found


def _is_alone(line: cst.SimpleStatementLine, following: cst.CSTNode | None) -> bool:
    """Whether a line holds one statement, and none follows in its paragraph: a comment above it is about that."""
    leading: Sequence[cst.EmptyLine] = getattr(following, "leading_lines", ())
    return len(line.body) == 1 and (following is None or any(each.comment is None for each in leading[:1]))


def _apart(lines: Sequence[cst.EmptyLine]) -> Sequence[cst.EmptyLine]:
    """The lines in front of a statement without the comment that stands right above it."""
    at = len(lines)
    while at and lines[at - 1].comment is not None:
        at -= 1
    return lines[:at]


def _led(lines: Sequence[cst.EmptyLine], body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
    if not body or not lines:
        return body
    first = body[0]
    return [first.with_changes(leading_lines=[*lines, *getattr(first, "leading_lines", ())]), *body[1:]]


def _listed(old: list[cst.Arg], new: list[cst.Arg]) -> list[cst.Arg]:
    """Arguments with new ones behind, in front of `**`; commas and line breaks as the others have them."""
    if not new:
        return [*old[:-1], old[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if old else []
    at = next((number for number, each in enumerate(old) if each.star == "**"), len(old))
    space = _between(old)
    if at < len(old):
        made = [each.with_changes(comma=cst.Comma(whitespace_after=space)) for each in new]
        return [*old[:at], *made, *old[at:]]
    end = old[-1].comma if old else cst.MaybeSentinel.DEFAULT
    made = [*[each.with_changes(comma=cst.Comma(whitespace_after=space)) for each in new[:-1]]]
    made.append(new[-1].with_changes(comma=end))
    if not old:
        return made
    said, closing = _without_comment(
        end.whitespace_after if isinstance(end, cst.Comma) else old[-1].whitespace_after_arg
    )
    if isinstance(end, cst.Comma):
        made[-1] = made[-1].with_changes(comma=end.with_changes(whitespace_after=closing))
    else:
        made[-1] = made[-1].with_changes(whitespace_after_arg=closing)
    between = space.with_changes(first_line=said) if isinstance(space, cst.ParenthesizedWhitespace) and said else space
    last = old[-1].with_changes(
        comma=cst.Comma(whitespace_after=between), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return [*old[:-1], last, *made]


def _without_comment(
    space: cst.BaseParenthesizableWhitespace,
) -> tuple[cst.TrailingWhitespace | None, cst.BaseParenthesizableWhitespace]:
    """The comment in the first line of a space, which is about what stands in front of it, and the space without it."""
    if not isinstance(space, cst.ParenthesizedWhitespace) or space.first_line.comment is None:
        return None, space
    return space.first_line, space.with_changes(first_line=cst.TrailingWhitespace())


def _between(old: Sequence[cst.Arg]) -> cst.BaseParenthesizableWhitespace:
    """What stands behind the commas: a space, or the line break of the others without their comments."""
    comma = old[-2].comma if len(old) > 1 else None
    space = comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return space


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)
