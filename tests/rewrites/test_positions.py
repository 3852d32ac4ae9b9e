"""Nodes stand where LibCST's own provider says, and the text is the module's."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from distml import rewrites
from distml.rewrites.positions import code_of, written

TEXTS = {path.name: path.read_text("utf-8") for path in sorted(Path(rewrites.__file__).parent.glob("*.py"))}
TEXTS |= {
    "nothing": "",
    "a comment": "# a",
    "no line break at the end": "if a:\n  b = (1,\n       2)",
    "breaks of Windows": "def f(a, *, b=1):\r\n    # c\r\n    return (a\r\n            + b)\r\n\r\n\r\nx = f(1)  # d\r\n",
    "breaks of old": "a = 1\rb = 2\r",
    "tabs and form feeds": "class A:\n\tdef f(self): return [i for i in '\u00e9'];\n\n\x0c\nx = '''\na\n''' 'b' ; y = (yield)\n",
    "all on one line": "if a: b; c = d\nelse: e(f, *g, **h)\nwith a as b, c: pass\nfor x, in y: lambda z: z[1:2, ::3]\n",
    "decorators": "@a\n# b\n@c(d)\nasync def e(f: g = h, /, *i) -> j:\n    await k\n\n    # l\n# m\n",
    "matches": "match a:\n    case [b, *_] if c: pass\n    case {'d': e, **f} | g(h=i): pass\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_they_are_those_of_the_provider(name: str) -> None:
    module = cst.parse_module(TEXTS[name])
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    theirs = {
        node: ((place.start.line, place.start.column), (place.end.line, place.end.column))
        for node, place in wrapper.resolve(PositionProvider).items()
    }
    text, ours = written(wrapper.module)
    assert text == module.code == code_of(module)
    assert [*ours.items()] == [*theirs.items()]
