"""Generated signatures: nothing but annotations is added, once, and what distml finds stays the same."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.source.annotations import ShapeHint, parse_annotation
from distml.source.annotations_comments import attach_comments

from cases.conftest import check

pytest.importorskip("libcst", reason="not run: needs libcst")

from distml.rewrites.annotate import annotate
from distml.rewrites.model import Annotation, Rewritten, Target

STYLES = ("jaxtyping", "fx", "comment")
dims = st.none() | st.lists(st.sampled_from(("b", "n", "2*n", "h // 4", 3, 1, None)), max_size=3).map(tuple)
annotations = st.builds(Annotation, dims, st.sampled_from(("float", "int", "bool", None)))
few = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@st.composite
def signatures(draw: st.DrawFn) -> str:
    """A parameter list over the names u to z."""
    space = draw(st.sampled_from((" ", "\n        ", "  # next\n        ")))
    written = st.sampled_from(
        ("", ": Tensor", ": 'torch.Tensor'", ": Any", ": int", ": Tensor | None", ' : Float[Tensor, "b 3"]')
    )
    parts = [draw(st.sampled_from(("self", "self, /", "self, _k")))]
    star = draw(st.sampled_from(("", "*", "*rest")))
    default = False
    for name in draw(st.permutations("uvwxyz"))[: draw(st.integers(1, 4))]:
        default = default or draw(st.booleans())
        value = draw(st.sampled_from(("=None", " = None", "= other"))) if default else ""
        parts.append(f"{name}{draw(written)}{value}")
    parts += [star, "last"] if star else []
    comma = "," if draw(st.booleans()) else ""
    return f"{', '.join(parts[:1])},{space}{f',{space}'.join(parts[1:])}{comma}{space if '#' in space else ''}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    head = draw(
        st.sampled_from(
            (
                "",
                '"""Doc."""\n',
                "from __future__ import annotations\n",
                "#!/usr/bin/env python\n# c\n\n",
                "import os; import torch\n",
            )
        )
    )
    imports = (
        "from typing import Any\nfrom torch import Tensor, nn  # types\nfrom jaxtyping import (\n    Float,  # f\n)\n"
    )
    kind, body = (
        draw(st.sampled_from(("def", "async def"))),
        draw(st.sampled_from(("return u", '"""Doc."""', "# c\n        pass"))),
    )
    method = f"    @wrapped\n    {kind} f({draw(signatures())}) -> int:  # here\n        {body}\n"
    text = f"{head}{draw(st.sampled_from(('', imports)))}\n\nclass C:\n{method}\n\nx = [ 1,2 ]"
    return text.replace("\n", draw(st.sampled_from(("\n", "\r\n"))))


def rewrite(program: str, asked: dict[str, Annotation], style: Any) -> Rewritten:
    return annotate(program, [Target("C.f", 0, asked)], style)


def bare(program: str) -> str:
    """The tree without annotations of parameters and without the imports they need."""
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
    modules = ("jaxtyping", "torch", "torch.fx", "torch.fx.tensor_type")
    tree.body = [s for s in tree.body if not (isinstance(s, ast.ImportFrom) and s.module in modules)]
    return ast.dump(tree)


@few
@given(programs(), st.dictionaries(st.sampled_from("uvwxyz"), annotations, min_size=1), st.sampled_from(STYLES))
def test_only_annotations_are_added_and_only_once(program: str, asked: dict[str, Annotation], style: Any) -> None:
    rewritten = rewrite(program, asked, style)
    assert bare(rewritten.source) == bare(program)
    again = rewrite(rewritten.source, asked, style)
    assert (again.source, again.edits) == (rewritten.source, ())
    assert (rewritten.source == program) is not bool(rewritten.edits)
    assert {each.what.removeprefix("C.f: ") for each in rewritten.refusals} <= set(asked)


@few
@given(programs(), st.dictionaries(st.sampled_from("uvwxyz"), annotations, min_size=1), st.sampled_from(STYLES))
def test_other_lines_keep_their_bytes(program: str, asked: dict[str, Annotation], style: Any) -> None:
    rewritten = rewrite(program, asked, style)
    changed = {line for each in rewritten.edits for line in [each.line]}
    new = iter(rewritten.source.splitlines(keepends=True))
    for number, line in enumerate(program.splitlines(keepends=True), 1):
        if number not in changed and "import" not in line:
            assert any(line == other for other in new), line


@given(st.dictionaries(st.sampled_from("uvwxyz"), annotations, min_size=1))
@few
def test_comments_say_what_annotations_say(asked: dict[str, Annotation]) -> None:
    program = "class C:\n    def f(self, u, v, w, x, y, z=None):\n        pass\n"
    source = rewrite(program, asked, "comment").source
    tree = ast.parse(source)
    attach_comments(tree, source.split("\n"))
    said = {node.arg: node.annotation for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation}
    assert said.keys() == asked.keys()
    for name, annotation in asked.items():
        hint = parse_annotation(said[name])
        hint = hint if isinstance(hint, ShapeHint) else hint.inner  # type: ignore[attr-defined]
        assert isinstance(hint, ShapeHint)
        assert hint.dtype == annotation.dtype
        assert len(hint.axes) == (1 if annotation.dims is None else len(annotation.dims))


NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.fc = nn.Linear({features}, 10)

    def forward(self, x, scale=None):
        y = self.conv(x).mean((2, 3))
        return self.fc(y) * (1 if scale is None else scale)


Net()(torch.rand(2, 3, 8, 8))
Net()(torch.rand(2, 3, 8, 8), torch.rand(2, 1))
"""


@pytest.mark.parametrize(("style", "features"), list(itertools.product(STYLES, (8, 9))))
def test_the_annotated_file_is_checked_as_before(style: Any, features: int, tmp_path: Path) -> None:
    program = NET.format(features=features)
    asked = {"x": Annotation(("b", 3, "h", "w"), "float"), "scale": Annotation(("b", 1), "float")}
    if style == "fx":
        del asked["scale"]
    source = annotate(program, [Target("Net.forward", 0, asked)], style).source
    before = {(each.level, each.code) for each in check({"case.py": program}, tmp_path / "before")}
    after = {(each.level, each.code) for each in check({"case.py": source}, tmp_path / "after")}
    assert source != program
    assert after == before
    assert bool(before) is (features == 9)


@pytest.mark.parametrize("style", STYLES)
def test_what_an_annotation_contradicts_is_found_in_every_style(style: Any, tmp_path: Path) -> None:
    asked = {"x": Annotation(("b", 4, "h", "w"), "float")}
    source = annotate(NET.format(features=8), [Target("Net.forward", 0, asked)], style).source
    assert {each.code for each in check({"case.py": source}, tmp_path)} != set()
