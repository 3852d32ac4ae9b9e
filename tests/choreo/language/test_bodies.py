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
    "CHO201 third not told": """
if a > 0:
    ab.select(L.X @ A())
    bc.com(b)
else:
    ab.select(L.Y @ A())
return b
""",
    "CHO203 wrong order selects (C told by B first)": """
if a > 0:
    bc.select(L.X @ B())
    ab.select(L.X @ A())
else:
    bc.select(L.Y @ B())
    ab.select(L.Y @ A())
return b
""",
    "CHO201 return in branch unknown": """
if a > 0:
    return b
ab.com(a)
return b
""",
    "CHO202 return differs": """
if a > 0:
    return b
else:
    return b + 1
""",
    "CHO205 elif missing": """
if a > 0:
    ab.select(L.X @ A())
    b = ab.com(a)
elif a < -3:
    ab.select(L.Y @ A())
    ab.com(b)
return b
""",
    "CHO207 while": """
while a > 0:
    ab.com(a)
    a -= 1
return b
""",
    "CHO207 while no end": """
while a > 0:
    ab.select(L.X @ A())
    a -= 1
return b
""",
    "CHO201 break unknown": """
g: At[int, A, B] = ab.com(a)
while g > 0:
    if a > 3:
        break
    ab.com(a)
return b
""",
    "CHO401 except": """
try:
    ab.com(1 // a)
except ZeroDivisionError:
    pass
return b
""",
    "CHO401 except com": """
try:
    a = 1 // a
except ZeroDivisionError:
    ab.com(a)
return b
""",
    "CHO301 direction": """
d.com(b)
return b
""",
    "CHO302 third": """
ab.com(c)
return b
""",
    "CHO403 shortcircuit": """
x = a > 0 and ab.com(a)
return b
""",
    "CHO403 lambda": """
f = lambda: ab.com(a)
return b
""",
    "CHO109 before": """
x: At[int, B]
print(x)
return b
""",
    "CHO101 augassign": """
b += a
return b
""",
    "CHO104 call": """
print(a, b)
return b
""",
    "CHO104 cond exp": """
x = a if b else 3
return b
""",
    "CHO104 subscript": """
x = [1, 2]
y = [a][b]
return b
""",
    "CHO101 store attr": """
xs: At[list[int], A] = []
xs[0] = b
return b
""",
    "CHO104 store elsewhere index": """
xs: At[list[int], A] = []
xs[b] = a
return b
""",
    "CHO104 append": """
xs: At[list[int], A] = []
xs.append(b)
return b
""",
    "CHO207 for over": """
for i in range(a):
    ab.com(i)
return b
""",
    "CHO205 match missing default": """
match a:
    case 1:
        ab.select(L.X @ A())
        b = ab.com(a)
return b
""",
    "CHO104 assert mixed": """
assert a > b
return b
""",
    "CHO104 fstring": """
print(f'{a} {b}')
return b
""",
    "CHO401 suppress": """
import contextlib
with contextlib.suppress(ValueError):
    ab.com(a)
return b
""",
    "CHO403 nested def com": """
def g() -> None:
    ab.com(a)
return b
""",
    "CHO302 send channel": """
ab.com(bc)
return b
""",
    "CHO104 del wrong": """
xs: At[list[int], A] = []
del xs[b]
return b
""",
    "CHO104 guard both but differ": """
if a > b:
    return b
return b
""",
    "CHO202 use assigned one branch elsewhere": """
x: At[int, B] = 0
if a > 0:
    x = 1
else:
    x = 2
return x
""",
    "CHO101 widen": """
x: At[int, A, B] = a
return b
""",
    "CHO402 kw star": """
async def g() -> None: ...
return b
""",
    "CHO102 recursion role mix": """
return f(ab, bc, d, b, b, c)
""",
    "CHO401 handler returns": """
try:
    a = 1 // a
except ZeroDivisionError:
    return b
return ab.com(a)
""",
    "CHO401 try two": """
try:
    a = 1 // a
    b = b + 1
except ZeroDivisionError:
    pass
return ab.com(a)
""",
    "CHO401 handler of other": """
try:
    a = 1 // a
except ZeroDivisionError:
    b = 3
return ab.com(a)
""",
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(body: str) -> None:
    assert codes(body) == []


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    assert codes(REFUSED[name]) == [name.partition(" ")[0]]


def test_fragments_that_differ_are_shown_side_by_side() -> None:
    text = HEAD + "    if a > 0:\n        print(b)\n    else:\n        print(-b)\n    return b\n"
    (finding,) = project_source(text, "body.py").findings
    assert "print(b)" in finding.message and "| print(-b)" in finding.message
