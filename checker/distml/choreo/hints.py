"""Of what type the data of an expression is, as far as annotations and literals say; None where they do not.

A type is the expression that an annotation would be. It decides which methods a value has, and whether what several
parties hold has an order that they agree on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from distml.choreo.read import last, parts_of
from distml.choreo.surroundings import SETS, Surroundings

Hint = ast.expr | None
_RESULTS = {
    "str": "abs:int ascii bin chr format hex input oct repr str str.capitalize str.casefold str.center str.format str.join "
    "str.lower str.lstrip str.replace str.rstrip str.strip str.title str.upper str.zfill str.removeprefix str.removesuffix "
    "bytes.decode bytes.hex hashlib.hexdigest str.ljust str.rjust str.swapcase str.translate str.expandtabs",
    "bytes": "bytes bytearray str.encode hashlib.digest",
    "int": "int len ord round id hash str.count str.find str.index str.rfind str.rindex list.count list.index "
    "int.bit_length int.bit_count tuple.count tuple.index",
    "bool": "bool all any callable isinstance issubclass str.endswith str.startswith str.isdigit str.isalpha "
    "set.isdisjoint set.issubset set.issuperset",
    "float": "float",
    "complex": "complex",
    "list[str]": "str.split str.rsplit str.splitlines",
    "tuple[str, str, str]": "str.partition str.rpartition",
    "list": "list sorted",
    "tuple": "tuple divmod",
    "dict": "dict dict.copy",
    "set": "set frozenset set.union set.intersection set.difference set.symmetric_difference set.copy",
    "deque": "deque",
    "Counter": "Counter",
    "range": "range",
}
_RESULT = {name.partition(":")[0]: kind for kind, names in _RESULTS.items() for name in names.split()}


@lru_cache(maxsize=256)
def written(text: str) -> ast.expr:
    """The type that is written so."""
    return ast.parse(text, mode="eval").body


class Hints:
    """The types of expressions, from those of variables."""

    def __init__(self, module: Surroundings, names: Mapping[str, Hint], known: Callable[[ast.expr], Hint]) -> None:
        self.module, self.names, self.known = module, names, known

    def of(self, node: ast.expr) -> Hint:
        """The type of an expression."""
        found = self.known(node)
        if found is None:
            method = getattr(self, f"_{type(node).__name__.lower()}", None)
            found = method(node) if method is not None else None
        return self.module.plain(found)

    def kind(self, node: ast.expr) -> str:
        """The name of the class of an expression: `list` for one of `list[int]`; empty where it is not known."""
        return head(self.of(node))

    def is_set(self, node: ast.expr) -> bool:
        """Whether going through a value has an order that depends on who does it."""
        return self.module.is_set(self.of(node))

    def _constant(self, node: ast.Constant) -> Hint:
        return written("None" if node.value is None else type(node.value).__name__) if node.value is not ... else None

    def _name(self, node: ast.Name) -> Hint:
        return self.names.get(node.id)

    def _joinedstr(self, node: ast.JoinedStr) -> Hint:
        return written("str")

    def _display(self, node: ast.List | ast.Set | ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Hint:
        name = {ast.List: "list", ast.Set: "set", ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "Iterator")
        if isinstance(node, ast.List | ast.Set):
            inside = _common([self.of(each) for each in node.elts])
        else:
            inner = self.within(node)
            inside = inner.of(node.elt)
            if isinstance(node, ast.GeneratorExp) and any(inner.is_set(each.iter) for each in node.generators):
                name = "set"  # has no more of an order than what it goes through
        return written(name if inside is None else f"{name}[{ast.unparse(inside)}]")

    _list = _set = _listcomp = _setcomp = _generatorexp = _display

    def _tuple(self, node: ast.Tuple) -> Hint:
        inside = [self.of(each) for each in node.elts]
        known = [ast.unparse(each) for each in inside if each is not None]
        return written(f"tuple[{', '.join(known)}]" if known and len(known) == len(inside) else "tuple")

    def _dict(self, node: ast.Dict) -> Hint:
        keys = _common([self.of(each) for each in node.keys if each is not None])
        values = _common([self.of(each) for each in node.values])
        return _mapping(keys, values)

    def _dictcomp(self, node: ast.DictComp) -> Hint:
        inner = self.within(node)
        return _mapping(inner.of(node.key), inner.of(node.value))

    def _compare(self, node: ast.Compare) -> Hint:
        return written("bool")

    def _unaryop(self, node: ast.UnaryOp) -> Hint:
        return written("bool") if isinstance(node.op, ast.Not) else self.of(node.operand)

    def _boolop(self, node: ast.BoolOp) -> Hint:
        return _common([self.of(each) for each in node.values])

    def _ifexp(self, node: ast.IfExp) -> Hint:
        return _common([self.of(node.body), self.of(node.orelse)])

    def _namedexpr(self, node: ast.NamedExpr) -> Hint:
        return self.of(node.value)

    def _starred(self, node: ast.Starred) -> Hint:
        return self.of(node.value)

    def _binop(self, node: ast.BinOp) -> Hint:
        if isinstance(node.op, ast.MatMult):
            return self.of(node.left)
        left, right = self.of(node.left), self.of(node.right)
        kinds = {head(left), head(right)}
        if kinds & SETS:
            return written("set")
        if kinds <= {"int", "bool", "float"}:
            return written("float" if "float" in kinds or isinstance(node.op, ast.Div) else "int")
        if isinstance(node.op, ast.Mod | ast.Mult) or left is None:
            return left if head(left) in ("str", "bytes", "list", "tuple") else right
        return left if head(left) == head(right) else None

    def _subscript(self, node: ast.Subscript) -> Hint:
        base = self.of(node.value)
        if head(base) in ("str", "bytes"):
            return written("int") if head(base) == "bytes" and not isinstance(node.slice, ast.Slice) else base
        if isinstance(node.slice, ast.Slice):
            return base
        inside = parameters(base)
        if head(base) == "tuple" and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return inside[node.slice.value] if -len(inside) <= node.slice.value < len(inside) else None
        return inside[-1] if inside and head(base) != "tuple" else None

    def _attribute(self, node: ast.Attribute) -> Hint:
        made = self.module.local_class(self.kind(node.value))
        for each in made.body if made is not None else ():
            if isinstance(each, ast.AnnAssign) and last(each.target) == node.attr:
                return each.annotation
            if isinstance(each, ast.FunctionDef) and each.name == node.attr:
                return each.returns
        return None

    def _call(self, node: ast.Call) -> Hint:
        name = last(node.func)
        if isinstance(node.func, ast.Attribute):
            owner = self.kind(node.func.value)
            made = self.module.local_class(owner)
            if made is not None:
                return next((e.returns for e in made.body if isinstance(e, ast.FunctionDef) and e.name == name), None)
            inside = parameters(self.of(node.func.value))
            if name in ("get", "pop", "popleft", "setdefault") and owner not in SETS:
                return inside[-1] if inside else None
            if name in ("keys", "items", "values") and owner in ("dict", "Counter", "defaultdict", "Mapping"):
                return _view(name, inside)
            return _known(f"{'set' if owner in SETS else owner}.{name}")
        if self.module.local_class(name) is not None:
            return node.func
        function = self.module.local_function(name)
        if function is not None:
            return function.returns
        if name in ("list", "tuple", "set", "frozenset", "sorted", "iter", "reversed", "deque") and node.args:
            item = element(self.of(node.args[0]))
            kind = {"sorted": "list", "iter": "Iterator", "reversed": "Iterator"}.get(name, name)
            tail = ", ..." if name == "tuple" else ""
            return written(kind if item is None else f"{kind}[{ast.unparse(item)}{tail}]")
        if name in ("min", "max", "sum", "abs", "next") and node.args:
            several = len(node.args) > 1 or name == "abs"
            return _common([self.of(each) for each in node.args]) if several else element(self.of(node.args[0]))
        if name == "enumerate" and node.args:
            item = element(self.of(node.args[0]))
            return None if item is None else written(f"Iterator[tuple[int, {ast.unparse(item)}]]")
        return _known(name)

    def within(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Hints:
        """The types inside a comprehension, with those of its variables."""
        names = dict(self.names)
        inner = Hints(self.module, names, self.known)
        for each in node.generators:
            names.update(targets(each.target, element(inner.of(each.iter))))
        return inner


def targets(target: ast.expr, hint: Hint) -> dict[str, Hint]:
    """The types of the variables of a target that a value of this type is assigned to."""
    if isinstance(target, ast.Name):
        return {target.id: hint}
    if isinstance(target, ast.Tuple | ast.List):
        inside = parameters(hint) if head(hint) == "tuple" else []
        if len(inside) != len(target.elts):
            inside = [element(hint)] * len(target.elts)  # type: ignore[list-item]
        return {name: kind for each, part in zip(target.elts, inside) for name, kind in targets(each, part).items()}
    return {}


def head(hint: Hint) -> str:
    """The name of the class of a type."""
    return "None" if isinstance(hint, ast.Constant) else last(hint.value if isinstance(hint, ast.Subscript) else hint)


def parameters(hint: Hint) -> list[ast.expr]:
    """What stands between the brackets of a type, `...` left out."""
    found = parts_of(hint) if isinstance(hint, ast.Subscript) else []
    return [each for each in found if not (isinstance(each, ast.Constant) and each.value is ...)]


def element(hint: Hint) -> Hint:
    """The type of what going through a value gives."""
    inside = parameters(hint)
    if head(hint) in ("str", "range"):
        return written("str" if head(hint) == "str" else "int")
    if head(hint) == "tuple":
        return _common(list(inside))
    return inside[0] if inside else None


def _known(name: str) -> Hint:
    return written(_RESULT[name]) if name in _RESULT else None


def _mapping(keys: Hint, values: Hint) -> ast.expr:
    return written("dict" if keys is None or values is None else f"dict[{ast.unparse(keys)}, {ast.unparse(values)}]")


def _view(name: str, inside: list[ast.expr]) -> Hint:
    """Views of a dictionary have its order, unlike sets."""
    if len(inside) != 2:
        return None
    key, value = map(ast.unparse, inside)
    inner = {"keys": key, "values": value, "items": f"tuple[{key}, {value}]"}[name]
    return written(f"dict_{name}[{inner}]")


def _common(found: list[Hint]) -> Hint:
    """The type that all of them are."""
    texts = {None if each is None else ast.unparse(each) for each in found}
    return found[0] if len(texts) == 1 else None
