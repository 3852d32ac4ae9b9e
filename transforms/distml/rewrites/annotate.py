"""Writing the shapes of parameters into signatures.

Nothing but annotations, the imports they need and comments is added; every other byte stays. Doing it twice is doing it
once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import PositionProvider

from distml.rewrites import styles
from distml.rewrites.axes import bindable, normalized
from distml.rewrites.existing import Room, may_be_none, room_for, stated
from distml.rewrites.functions import Function, Functions, Parameter, parameters, top_line
from distml.rewrites.importing import add_imports
from distml.rewrites.imports import Imports
from distml.rewrites.model import BOM, Annotation, Answer, Edit, Refusal, Rewritten, Style, Target
from distml.rewrites.refused import Refused
from distml.rewrites.tree import Places, Unreadable, parse
from distml.source.annotations_comments import parameter_of

Place = tuple[int, int]


def targets_of(answers: Iterable[Answer]) -> list[Target]:
    """The functions to annotate as these answers say; those of which nothing is known are left out."""
    return [
        Target(each.qualified, each.line, {name: Annotation(a.dims, a.dtype) for name, a in each.annotations.items()})
        for each in answers
        if each.annotations
    ]


def annotate(source: str, targets: Sequence[Target], style: Style) -> Rewritten:
    """`source` with the parameters of `targets` annotated.

    An annotation that says less is replaced, one that says as much is left, and one that says something else is refused,
    as are lambdas, overloaded functions and parameters that are no tensors by their default. A file that does not parse
    gives one refusal.
    """
    mark = BOM if source.startswith(BOM) else ""
    text = source[len(mark) :]
    try:
        wrapper = parse(text)
        work = _Work(text, targets, style)
        result = wrapper.visit(_Annotator(work)).code if work.edits else text
    except Unreadable as error:
        return Rewritten(source, source, (), (error.refusal,))
    except (SyntaxError, ValueError, RecursionError) as error:
        return Rewritten(
            source, source, (), (Unreadable("syntax", getattr(error, "lineno", 1) or 1, str(error)).refusal,)
        )
    return Rewritten(source, mark + result, tuple(work.edits), tuple(work.refusals))


@dataclass
class _Signature:
    """What goes to one function: annotations, or comment lines, by parameter."""

    annotations: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)


class _Work:
    """Decides what is written, on Python's own syntax tree."""

    def __init__(self, source: str, targets: Sequence[Target], style: Style) -> None:
        self.style = style
        self.places = Places(source)
        self.signatures: dict[Place, _Signature] = {}
        self.edits: list[Edit] = []
        self.refusals: list[Refusal] = []
        tree = ast.parse(source)
        found = list(self._find(Functions(tree, self.places.lines), targets))
        lines = [function.lineno for _, function in found]
        tops = [s for s in tree.body if any(s.lineno <= line <= (s.end_lineno or 0) for line in lines)]
        self.imports = Imports(tree, min((top_line(each) for each in tops), default=0))
        for target, function in found:
            self._add(target, function)

    def _find(self, functions: Functions, targets: Sequence[Target]) -> Iterator[tuple[Target, Function]]:
        for target in targets:
            try:
                yield target, functions.find(target)
            except Refused as error:
                self._refuse(target.line, 0, target.function, error)

    def _add(self, target: Target, function: Function) -> None:
        found = parameters(function)
        for name in target.parameters:
            if name not in found:
                self._refuse(
                    function.lineno, function.col_offset, f"{target.function}: {name}", _no_parameter(function, name)
                )
        spelled = self._spelled(target, found)
        for name, parameter in found.items():
            if name in target.parameters:
                try:
                    self._plan(function, target, name, parameter, spelled[name])
                except Refused as error:
                    self._refuse(parameter.node.lineno, parameter.node.col_offset, f"{target.function}: {name}", error)

    def _spelled(self, target: Target, found: Mapping[str, Parameter]) -> dict[str, Annotation]:
        """The annotations as the style can say them, so that what is there can be compared with it."""
        raw = {name: normalized(annotation) for name, annotation in target.parameters.items()}
        if self.style == "fx":
            return {name: _without_names(annotation) for name, annotation in raw.items()}
        if self.style == "comment":
            return raw
        room = {name for name in found if name in raw and _has_room(found[name], raw[name])}
        # What stays as it is binds its own names.
        said = [raw[name] if name in room else stated(parameter) for name, parameter in found.items()]
        spelled = bindable([(each, may_be_none(found[name])) for name, each in zip(found, said, strict=True)])
        return raw | {name: each for name, each in zip(found, spelled, strict=True) if name in room}

    def _plan(self, function: Function, target: Target, name: str, parameter: Parameter, spelled: Annotation) -> None:
        room = room_for(parameter, spelled)
        if room is None:
            return
        signature = self.signatures.setdefault(self._place(function), _Signature())
        if self.style == "comment":
            text = self._comment(function, name, spelled, room)
            if text is None:
                return
            signature.comments[name] = text
        else:
            write = styles.jaxtyping if self.style == "jaxtyping" else styles.fx
            text = write(spelled, room, self.imports)
            if parameter.node.annotation and _same(text, parameter.node.annotation):
                return
            signature.annotations[name] = text
            text = f"{name}: {text}"
        node = parameter.node
        self.edits.append(Edit(node.lineno, node.col_offset, text, f"in {target.function}"))

    def _comment(self, function: Function, name: str, spelled: Annotation, room: Room) -> str | None:
        """The comment for a parameter, None where it is there already."""
        start = function.lineno
        body = function.body[0].lineno
        if body == start:
            raise Refused("place", "its body is on the line of its `def`: there is no place for a comment")
        if name.startswith("ignore"):
            raise Refused("name", f"`# distml: {name}` would be read as another comment")
        text = styles.comment(name, spelled, room)
        return None if text in (line.strip() for line in self.places.lines[start:body]) else text

    def _place(self, function: Function) -> Place:
        return function.lineno, self.places.column(function.lineno, function.col_offset)

    def _refuse(self, line: int, column: int, what: str, error: Refused) -> None:
        self.refusals.append(Refusal(error.code, line, column, what, str(error)))


def _same(text: str, annotation: ast.expr) -> bool:
    return ast.dump(ast.parse(text, mode="eval").body) == ast.dump(annotation)


def _has_room(parameter: Parameter, annotation: Annotation) -> bool:
    try:
        return room_for(parameter, annotation) is not None
    except Refused:
        return False


def _without_names(annotation: Annotation) -> Annotation:
    if annotation.dims is None:
        return Annotation(None)
    return Annotation(tuple(dim if isinstance(dim, int) else None for dim in annotation.dims))


def _no_parameter(function: Function, name: str) -> Refused:
    several = [each.arg for each in (function.args.vararg, function.args.kwarg) if each]
    if name in several:
        return Refused("several", f"`{name}` takes any number of values, which an annotation would speak of one by one")
    return Refused("absent", f"it has no parameter `{name}`")


class _Annotator(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, work: _Work) -> None:
        super().__init__()
        self._work = work

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        start = self.get_metadata(PositionProvider, original_node).start
        signature = self._work.signatures.get((start.line, start.column))
        if signature is None:
            return updated_node
        if signature.comments:
            return updated_node.with_changes(body=_commented(updated_node.body, signature.comments))
        params = updated_node.params
        changed = {
            kind: [_annotated(each, signature.annotations.get(each.name.value)) for each in getattr(params, kind)]
            for kind in ("posonly_params", "params", "kwonly_params")
        }
        return updated_node.with_changes(params=params.with_changes(**changed))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        lines = [self._line(statement) for statement in original_node.body]
        return add_imports(updated_node, lines, self._work.imports)

    def _line(self, statement: cst.CSTNode) -> int:
        node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
        return self.get_metadata(PositionProvider, node).start.line


def _annotated(parameter: cst.Param, text: str | None) -> cst.Param:
    if text is None:
        return parameter
    expression = cst.parse_expression(text)
    if parameter.annotation is not None:
        return parameter.with_changes(annotation=parameter.annotation.with_changes(annotation=expression))
    annotated = parameter.with_changes(annotation=cst.Annotation(expression))
    # An annotated default has spaces around its sign, where a bare one has none (PEP 8).
    return annotated.with_changes(equal=_spaced(parameter.equal))


def _spaced(equal: cst.AssignEqual | cst.MaybeSentinel) -> cst.AssignEqual | cst.MaybeSentinel:
    if not isinstance(equal, cst.AssignEqual):
        return equal
    sides = {"whitespace_before": equal.whitespace_before, "whitespace_after": equal.whitespace_after}
    return equal.with_changes(**{side: cst.SimpleWhitespace(" ") for side, space in sides.items() if space.empty})


def _commented(body: cst.BaseSuite, comments: Mapping[str, str]) -> cst.BaseSuite:
    """A body led by a line for each parameter; one that is there already is replaced where it stands."""
    assert isinstance(body, cst.IndentedBlock)
    first = body.body[0]
    assert isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement)
    lines: list[cst.EmptyLine] = []
    left = dict(comments)
    for line in first.leading_lines:
        name = parameter_of(line.comment.value) if line.comment else None
        text = left.pop(name, None) if name else None
        lines.append(line if text is None else line.with_changes(comment=cst.Comment(text)))
    count = next(
        (n for n, line in enumerate(lines) if not (line.comment and parameter_of(line.comment.value))), len(lines)
    )
    lines[count:count] = [cst.EmptyLine(comment=cst.Comment(text)) for text in left.values()]
    return body.with_changes(body=[first.with_changes(leading_lines=lines), *body.body[1:]])
