"""Source nested in every way that Python has."""

from __future__ import annotations

import ast

KINDS = {
    "ternaries": lambda n: "x = " + "1 if a else " * n + "2",
    "ternaries-left": lambda n: "x = " + "(1 if " * n + "a" + " else 2)" * n,
    "parentheses": lambda n: "x = " + "(" * n + "1" + ")" * n,
    "lists": lambda n: "x = " + "[" * n + "1" + "]" * n,
    "attributes": lambda n: "x = a" + ".b" * n,
    "calls": lambda n: "x = a" + "()" * n,
    "method-calls": lambda n: "import torch\nx = torch.zeros(3)" + ".add(1)" * n,
    "nested-calls": lambda n: "x = " + "f(" * n + "1" + ")" * n,
    "subscripts": lambda n: "x = a" + "[0]" * n,
    "sums": lambda n: "x = 1" + " + 1" * n,
    "strings": lambda n: "x = ''" + " + 'a'" * n,
    "tensors": lambda n: "import torch\nx = torch.zeros(3)" + " + torch.ones(3)" * n,
    "powers": lambda n: "x = a" + " ** a" * n,
    "and": lambda n: "x = a" + " and a" * n,
    "and-or": lambda n: "x = a" + "".join(" and (a" if i % 2 else " or (a" for i in range(n)) + ")" * n,
    "not": lambda n: "x = " + "not " * n + "a",
    "minus": lambda n: "x = " + "-" * n + "1",
    "compare": lambda n: "x = a" + " < a" * n,
    "fstring-deep": lambda n: "x = f'{" + "(" * n + "1" + ")" * n + "}'",
    "fstring-chain": lambda n: "x = " + " + ".join(["f'{a}'"] * n),
    "comprehensions": lambda n: "x = " + "[" * n + "1" + " for a in b]" * n,
    "comprehension-fors": lambda n: "x = [1 " + " for a in b" * n + "]",
    "comprehension-ifs": lambda n: "x = [a for a in b" + " if a" * n + "]",
    "comprehension-iter": lambda n: "x = " + "[a for a in " * n + "b" + "]" * n,
    "lambdas": lambda n: "x = " + "lambda: " * n + "1",
    "lambda-args": lambda n: "x = " + "lambda a=" * n + "1" + ": 1" * n,
    "decorators": lambda n: "@d\n" * n + "def f(): pass",
    "decorator-chain": lambda n: "@d" + "()" * n + "\ndef f(): pass",
    "elifs": lambda n: "if a == 0: x = 0\n" + "".join(f"elif a == {i}: x = {i}\n" for i in range(1, n + 1)),
    "elifs-calls": lambda n: (
        "def g(a):\n    if a == 0: x = 0\n" + "".join(f"    elif a == {i}: return {i}\n" for i in range(1, n + 1))
    ),
    "blocks": lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "pass",
    "functions": lambda n: "".join(" " * i + "def f():\n" for i in range(n)) + " " * n + "pass",
    "classes": lambda n: "".join(" " * i + "class A:\n" for i in range(n)) + " " * n + "pass",
    "loops": lambda n: "".join(" " * i + "for i in a:\n" for i in range(n)) + " " * n + "pass",
    "withs": lambda n: "with " + ", ".join("a" for i in range(n)) + ": pass",
    "with-blocks": lambda n: "".join(" " * i + "with a:\n" for i in range(n)) + " " * n + "pass",
    "tries": lambda n: (
        "".join(" " * i + "try:\n" for i in range(n))
        + " " * n
        + "pass\n"
        + "".join(" " * i + "finally: pass\n" for i in reversed(range(n)))
    ),
    "patterns-seq": lambda n: "match a:\n case " + "[" * n + "1" + "]" * n + ": pass",
    "patterns-or": lambda n: "match a:\n case " + "1" + "|1" * n + ": pass",
    "patterns-class": lambda n: "match a:\n case " + "A(" * n + "1" + ")" * n + ": pass",
    "patterns-as": lambda n: "match a:\n case " + "(" * n + "1" + " as b)" * n + ": pass",
    "cases": lambda n: "match a:\n" + "".join(f" case {i}: x = {i}\n" for i in range(n)),
    "starred": lambda n: "x = f(" + "*[" * n + "1" + "]" * n + ")",
    "unpacking": lambda n: "(" * n + "x" + ",)" * n + " = a",
    "targets": lambda n: "x = " * n + "a",
    "walrus": lambda n: "x = " + "(y := " * n + "a" + ")" * n,
    "await": lambda n: "async def f():\n x = " + "await (" * n + "a" + ")" * n,
    "yield": lambda n: "def f():\n x = " + "(yield " * n + "a" + ")" * n,
    "dicts": lambda n: "x = " + "{1: " * n + "a" + "}" * n,
    "slices": lambda n: "x = " + "a[" * n + "1" + ":]" * n,
    "annotations": lambda n: "x: " + "list[" * n + "int" + "]" * n + " = 1",
    "union-annotations": lambda n: "def f(x: int" + " | int" * n + "): pass",
    "annotation-strings": lambda n: "def f(x: '" + "list[" * n + "int" + "]" * n + "'): pass",
    "globals": lambda n: "def f():\n global " + ", ".join(f"x{i}" for i in range(n + 1)),
    "arguments": lambda n: "f(" + ", ".join("a" for i in range(n)) + ")",
    "del": lambda n: "del a" + ".b" * n,
    "assert": lambda n: "assert a" + " and (a" * n + ")" * n,
    "imports": lambda n: "import " + ".".join("a" for _ in range(n + 1)),
    "relative": lambda n: "from " + "." * (n + 1) + " import a",
    "aliases": lambda n: "\n".join(["def f0(): pass"] + [f"f{i + 1} = lambda: f{i}()" for i in range(n)]) + f"\nf{n}()",
}


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError):
        return False
    return True
