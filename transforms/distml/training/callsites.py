"""Calls as they are written: under which name something is called, and what is given for which parameter."""

from __future__ import annotations

import ast


def called(call: ast.Call) -> str:
    """The last part of the name under which something is called; nothing where that is no name."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def argument(call: ast.Call, position: int, *names: str) -> ast.expr | None:
    """An argument by any of its names, or else by position (none for -1); None where it is not given, or by `*` or `**`."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    plain = not any(isinstance(each, ast.Starred) for each in call.args[: position + 1])
    return call.args[position] if 0 <= position < len(call.args) and plain else None


def argument_for(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """What a call gives for a parameter of the function of the program that it calls, by keyword or place."""
    names = positional(function)
    bound = names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute)
    return argument(call, names.index(name) - bound if name in names else -1, name)


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """The parameters of a function that are given by place."""
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
