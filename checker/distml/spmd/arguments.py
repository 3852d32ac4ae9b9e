"""The arguments of calls, and the parameters that take them."""

from __future__ import annotations

import ast
from dataclasses import replace

from distml.spmd import names
from distml.spmd.expressions import value
from distml.spmd.run import Run
from distml.spmd.values import Function, Items, Known, Scalar, Scope, Table, Value, derived


def arguments(run: Run, scope: Scope, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, as far as their number is known; `**` gives a key `**` where it hides some."""
    given: list[Value] = []
    named: dict[str, Value] = {}
    for part in node.args:
        if isinstance(part, ast.Starred):
            inner = value(run, scope, part.value)
            if isinstance(inner, Items) and inner.exact:
                given += inner.members
            else:
                named["*"] = inner
        else:
            given.append(value(run, scope, part))
    for keyword in node.keywords:
        inner = value(run, scope, keyword.value)
        if keyword.arg:
            named[keyword.arg] = inner
        elif isinstance(inner, Table) and inner.exact:
            named.update({str(name): each for name, each in inner.members.items()})
        else:
            if isinstance(inner, Table) and run.watch is not None:
                named.update({str(name): each for name, each in inner.members.items()})
            named["**"] = inner
    return given, named


def bind(
    run: Run, function: Function, given: list[Value], named: dict[str, Value], defaults_hold: bool = True
) -> Scope:
    """The names of a call: parameters with arguments, defaults, or what custom says of them."""
    node, source = function.node, function.scope.source
    scope = Scope(source, parent=function.scope, outward=run.facts(source).outward(node))
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    static = any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in getattr(node, "decorator_list", ())
    )
    if function.bound is not None and not static:
        given = [function.bound, *given]
    defaults = dict(zip([each.arg for each in plain[len(plain) - len(args.defaults) :]], args.defaults))
    defaults |= {each.arg: part for each, part in zip(args.kwonlyargs, args.kw_defaults) if part is not None}
    hidden = [named[each] for each in ("*", "**") if each in named and run.watch is not None]
    for position, each in enumerate([*plain, *args.kwonlyargs]):
        if position < len(given) and position < len(plain):
            scope.names[each.arg] = given[position]
        elif each.arg in named:
            scope.names[each.arg] = named[each.arg]
        elif each.arg in defaults and not ({"*", "**"} & set(named)) and (defaults_hold or "group" in each.arg):
            scope.names[each.arg] = value(run, function.scope, defaults[each.arg])
        else:
            found = names.custom(run, source, each.arg) or derived(each.arg, *hidden)
            # A name alone does not say that what is chosen by the number is this rank's part of the data.
            scope.names[each.arg] = replace(found, ranked=False) if isinstance(found, Known) else found
    if args.vararg:
        scope.names[args.vararg.arg] = Items([*given[len(plain) :], *hidden], "tuple", "*" not in named)
    if args.kwarg:
        known = {each.arg for each in (*plain, *args.kwonlyargs)}
        known |= {"*", "**"}
        rest: dict[Scalar, Value] = {name: each for name, each in named.items() if name not in known}
        if hidden:
            rest["…"] = derived(f"others of {args.kwarg.arg}", *hidden)
        scope.names[args.kwarg.arg] = Table(rest, "**" not in named)
    return scope
