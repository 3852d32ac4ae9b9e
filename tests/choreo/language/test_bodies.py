"""Small bodies of one choreography between three parties: accepted, or refused with this code and no other."""

from __future__ import annotations

import pytest

from distml.choreo.project import project_source

HEAD = """
from enum import Enum
from distml.choreo import *
class A(Role): ...
class B(Role): ...
class C(Role): ...
class L(Enum):
    X = 1
    Y = 2
    Z = 3
def f(
    ab: Channel[object, A, B],
    bc: Channel[object, B, C],
    d: DiChannel[object, A, B],
    a: At[int, A],
    b: At[int, B],
    c: At[int, C],
) -> At[int, B]:
"""


def codes(body: str) -> list[str]:
    text = HEAD + "".join(f"    {line}\n" for line in body.strip().splitlines())
    found = project_source(text, "body.py")
    for program in found.files.values():
        compile(program, "program", "exec")
    return [finding.code for finding in found.findings]


ACCEPTED = {
    "ok0": """
return ab.com(a)
""",
    "ok third told": """
if a > 0:
    ab.select(L.X @ A())
    bc.select(L.X @ B())
    bc.com(b)
else:
    ab.select(L.Y @ A())
    bc.select(L.Y @ B())
return b
""",
    "ok return same": """
if a > 0:
    return b
else:
    return b
""",
    "ok agreed": """
g: At[bool, A, B] = ab.com(a > 0)
if g:
    return b
return ab.com(a)
""",
    "ok elif": """
if a > 0:
    ab.select(L.X @ A())
    b = ab.com(a)
elif a < -3:
    ab.select(L.Y @ A())
    ab.com(b)
else:
    ab.select(L.Z @ A())
return b
""",
    "ok while unrelated C": """
while a > 0:
    ab.select(L.X @ A())
    a -= 1
else:
    ab.select(L.Y @ A())
return b
""",
    "ok break told": """
g: At[int, A, B] = ab.com(a)
while True:
    if a > 3:
        ab.select(L.X @ A())
        break
    ab.select(L.Y @ A())
    b = ab.com(a)
return b
""",
    "ok except all": """
r: At[int, B] = 0
try:
    r = ab.com(a)
except ChoreographyError:
    r = 3
return r
""",
    "finally com ok": """
try:
    a = a + 1
finally:
    ab.com(a)
return b
""",
    "match ok": """
match a:
    case 1:
        ab.select(L.X @ A())
        b = ab.com(a)
    case _:
        ab.select(L.Y @ A())
return b
""",
    "assert ok": """
assert a > 0
assert b > 0, 'x'
return b
""",
    "raise merges ok": """
if a > 0:
    raise ValueError('x')
return ab.com(a)
""",
    "raise told": """
if a > 0:
    ab.select(L.X @ A())
    raise ValueError(f'{a}')
else:
    ab.select(L.Y @ A())
return ab.com(a)
""",
    "tuple": """
x, y = ab.com((a, a))
return x + y
""",
    "two hop": """
bc.com(ab.com(a))
return b
""",
    "agreed three": """
x: At[int, A, B] = ab.com(a)
y: At[int, A, B, C] = bc.com(x)
while y > 0:
    y -= 1
    b += y
    c += y
return b
""",
    "walrus": """
if (n := b) > 3:
    return n
return b
""",
    "lambda local": """
g = lambda x: x + b
return g(3)
""",
    "comp local": """
xs = [i * b for i in range(b) if i != b]
return sum(xs)
""",
    "ok local try": """
try:
    a = 1 // a
except ZeroDivisionError:
    a = 3
return ab.com(a)
""",
    "ok try raise": """
try:
    a = 1 // a
except ZeroDivisionError:
    raise ValueError('x')
return ab.com(a)
""",
    "ok print agreed": """
x: At[int, A, B] = ab.com(a)
print(x)
return x
""",
}

REFUSED = {
    "third not told": (
        "CHO201",
        """
if a > 0:
    ab.select(L.X @ A())
    bc.com(b)
else:
    ab.select(L.Y @ A())
return b
""",
    ),
    "wrong order selects (C told by B first)": (
        "CHO203",
        """
if a > 0:
    bc.select(L.X @ B())
    ab.select(L.X @ A())
else:
    bc.select(L.Y @ B())
    ab.select(L.Y @ A())
return b
""",
    ),
    "return in branch unknown": (
        "CHO201",
        """
if a > 0:
    return b
ab.com(a)
return b
""",
    ),
    "return differs": (
        "CHO202",
        """
if a > 0:
    return b
else:
    return b + 1
""",
    ),
    "elif missing": (
        "CHO205",
        """
if a > 0:
    ab.select(L.X @ A())
    b = ab.com(a)
elif a < -3:
    ab.select(L.Y @ A())
    ab.com(b)
return b
""",
    ),
    "while": (
        "CHO207",
        """
while a > 0:
    ab.com(a)
    a -= 1
return b
""",
    ),
    "while no end": (
        "CHO207",
        """
while a > 0:
    ab.select(L.X @ A())
    a -= 1
return b
""",
    ),
    "break unknown": (
        "CHO201",
        """
g: At[int, A, B] = ab.com(a)
while g > 0:
    if a > 3:
        break
    ab.com(a)
return b
""",
    ),
    "except": (
        "CHO401",
        """
try:
    ab.com(1 // a)
except ZeroDivisionError:
    pass
return b
""",
    ),
    "except com": (
        "CHO401",
        """
try:
    a = 1 // a
except ZeroDivisionError:
    ab.com(a)
return b
""",
    ),
    "direction": (
        "CHO301",
        """
d.com(b)
return b
""",
    ),
    "third": (
        "CHO302",
        """
ab.com(c)
return b
""",
    ),
    "shortcircuit": (
        "CHO403",
        """
x = a > 0 and ab.com(a)
return b
""",
    ),
    "lambda": (
        "CHO403",
        """
f = lambda: ab.com(a)
return b
""",
    ),
    "before": (
        "CHO109",
        """
x: At[int, B]
print(x)
return b
""",
    ),
    "augassign": (
        "CHO101",
        """
b += a
return b
""",
    ),
    "call": (
        "CHO104",
        """
print(a, b)
return b
""",
    ),
    "cond exp": (
        "CHO104",
        """
x = a if b else 3
return b
""",
    ),
    "subscript": (
        "CHO104",
        """
x = [1, 2]
y = [a][b]
return b
""",
    ),
    "store attr": (
        "CHO101",
        """
xs: At[list[int], A] = []
xs[0] = b
return b
""",
    ),
    "store elsewhere index": (
        "CHO104",
        """
xs: At[list[int], A] = []
xs[b] = a
return b
""",
    ),
    "append": (
        "CHO104",
        """
xs: At[list[int], A] = []
xs.append(b)
return b
""",
    ),
    "for over": (
        "CHO207",
        """
for i in range(a):
    ab.com(i)
return b
""",
    ),
    "match missing default": (
        "CHO205",
        """
match a:
    case 1:
        ab.select(L.X @ A())
        b = ab.com(a)
return b
""",
    ),
    "assert mixed": (
        "CHO104",
        """
assert a > b
return b
""",
    ),
    "fstring": (
        "CHO104",
        """
print(f'{a} {b}')
return b
""",
    ),
    "suppress": (
        "CHO401",
        """
import contextlib
with contextlib.suppress(ValueError):
    ab.com(a)
return b
""",
    ),
    "nested def com": (
        "CHO403",
        """
def g() -> None:
    ab.com(a)
return b
""",
    ),
    "send channel": (
        "CHO302",
        """
ab.com(bc)
return b
""",
    ),
    "del wrong": (
        "CHO104",
        """
xs: At[list[int], A] = []
del xs[b]
return b
""",
    ),
    "guard both but differ": (
        "CHO104",
        """
if a > b:
    return b
return b
""",
    ),
    "use assigned one branch elsewhere": (
        "CHO202",
        """
x: At[int, B] = 0
if a > 0:
    x = 1
else:
    x = 2
return x
""",
    ),
    "widen": (
        "CHO101",
        """
x: At[int, A, B] = a
return b
""",
    ),
    "kw star": (
        "CHO402",
        """
async def g() -> None: ...
return b
""",
    ),
    "recursion role mix": (
        "CHO102",
        """
return f(ab, bc, d, b, b, c)
""",
    ),
    "handler returns": (
        "CHO401",
        """
try:
    a = 1 // a
except ZeroDivisionError:
    return b
return ab.com(a)
""",
    ),
    "try two": (
        "CHO401",
        """
try:
    a = 1 // a
    b = b + 1
except ZeroDivisionError:
    pass
return ab.com(a)
""",
    ),
    "handler of other": (
        "CHO401",
        """
try:
    a = 1 // a
except ZeroDivisionError:
    b = 3
return ab.com(a)
""",
    ),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(body: str) -> None:
    assert codes(body) == []


@pytest.mark.parametrize(("code", "body"), REFUSED.values(), ids=REFUSED)
def test_refused(code: str, body: str) -> None:
    assert codes(body) == [code]


def test_fragments_that_differ_are_shown_side_by_side() -> None:
    text = HEAD + "    if a > 0:\n        print(b)\n    else:\n        print(-b)\n    return b\n"
    (finding,) = project_source(text, "body.py").findings
    assert "print(b)" in finding.message and "| print(-b)" in finding.message
