"""Of what type the data of an expression is, as far as annotations and literals say; None where they do not.

A type is the expression that an annotation would be. It decides which methods a value has, and whether what several
parties hold has an order that they agree on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from distml.choreo.kinds import Hint, Kinds, head, is_enum, parameters
from distml.choreo.read import dotted, last
from distml.choreo.surroundings import SETS, Surroundings

_RESULTS = {
    "str": "abs:int ascii bin chr format hex input oct repr str str.capitalize str.casefold str.center str.format str.join "
    "str.lower str.lstrip str.replace str.rstrip str.strip str.title str.upper str.zfill str.removeprefix str.removesuffix "
    "textwrap.fill textwrap.shorten textwrap.dedent textwrap.indent date.isoformat datetime.isoformat time.isoformat "
    "bytes.decode bytes.hex hashlib.hexdigest str.ljust str.rjust str.swapcase str.translate str.expandtabs",
    "bytes": "struct.pack base64.b64encode base64.b64decode bytes bytearray str.encode hashlib.digest",
    "int": "math.floor math.ceil math.gcd math.lcm math.isqrt math.comb math.factorial math.trunc math.perm zlib.crc32 "
    "bisect.bisect bisect.bisect_left bisect.bisect_right date.weekday date.isoweekday date.toordinal "
    "datetime.weekday datetime.isoweekday calendar.weekday int len ord round id hash str.count str.find str.index str.rfind "
    "str.rindex list.count list.index int.bit_length int.bit_count tuple.count tuple.index",
    "bool": "calendar.isleap bool all any callable isinstance issubclass str.endswith str.startswith str.isdigit str.isalpha "
    "set.isdisjoint set.issubset set.issuperset",
    "float": "timedelta.total_seconds "
    "float math.sqrt math.sin math.cos math.exp math.log math.log2 math.log10 math.pow math.fsum math.dist math.hypot",
    "complex": "complex",
    "list[str]": "str.split str.rsplit str.splitlines textwrap.wrap",
    "tuple[str, str, str]": "str.partition str.rpartition",
    "list": "list sorted",
    "tuple": "tuple divmod",
    "dict": "dict dict.copy",
    "set": "set frozenset set.union set.intersection set.difference set.symmetric_difference set.copy",
    "deque": "deque",
    "defaultdict": "defaultdict",
    "Counter": "Counter",
    "range": "range",
    "date": "datetime.date datetime.date.fromisoformat datetime.date.fromordinal datetime.date.fromisocalendar "
    "date.replace",
    "datetime": "datetime.datetime datetime.datetime.fromisoformat datetime.datetime.fromordinal "
    "datetime.datetime.fromisocalendar datetime.datetime.combine datetime.replace",
    "time": "datetime.time datetime.time.fromisoformat time.replace",
    "timedelta": "datetime.timedelta",
}
_VIEWS = frozenset(("dict_keys", "dict_items"))
_RESULT = {name.partition(":")[0]: kind for kind, names in _RESULTS.items() for name in names.split()}


@lru_cache(maxsize=256)
def written(text: str) -> ast.expr:
    """The type that is written so."""
    return ast.parse(text, mode="eval").body


_CONTAINERS = {name: name for name in ("list", "tuple", "set", "frozenset", "deque")}
_CONTAINERS |= {"sorted": "list", "iter": "Iterator", "reversed": "Iterator"}
"""What gives the items of its argument, and what it gives them in."""


class Hints:
    """The types of expressions, from those of variables."""

    def __init__(self, module: Surroundings, names: Mapping[str, Hint], known: Callable[[ast.expr], Hint]) -> None:
        self.module, self.names, self.known = module, names, known
        self.kinds = Kinds(module)

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

    def is_ordered(self, node: ast.expr) -> bool:
        """Whether all parties go through a value in the same order."""
        return self.kinds.has_order(self.of(node))

    def _constant(self, node: ast.Constant) -> Hint:
        return written("None" if node.value is None else type(node.value).__name__) if node.value is not ... else None

    def _name(self, node: ast.Name) -> Hint:
        if node.id not in self.names and self.module.local_class(node.id) is not None:
            return written(f"type[{node.id}]")
        return self.names[node.id] if node.id in self.names else self._constant_of_file(node.id)

    def _constant_of_file(self, name: str) -> Hint:
        """The type of a variable that the file sets once."""
        told = self.module.told_types
        if name not in told:
            told[name] = None  # while it is found out
            given = self.module.constant(name)
            if isinstance(given, ast.AnnAssign):
                told[name] = given.annotation
            elif given is not None:
                told[name] = Hints(self.module, {}, lambda _: None).of(given.value)
        return told[name]

    def _joinedstr(self, node: ast.JoinedStr) -> Hint:
        return written("str")

    def _display(self, node: ast.List | ast.Set | ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Hint:
        name = {ast.List: "list", ast.Set: "set", ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "Iterator")
        if isinstance(node, ast.List | ast.Set):
            inside = _common([self.of(each) for each in node.elts])
        else:
            inner = self.within(node)
            inside = inner.of(node.elt)
            if isinstance(node, ast.GeneratorExp) and not all(inner.is_ordered(each.iter) for each in node.generators):
                name = "set"  # has no more of an order than what it goes through
        return written(name if inside is None else f"{name}[{ast.unparse(inside)}]")

    _list = _set = _listcomp = _setcomp = _generatorexp = _display

    def _tuple(self, node: ast.Tuple) -> Hint:
        inside = [None if isinstance(each, ast.Starred) else self.of(each) for each in node.elts]
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
        return element(self.of(node.value))  # it stands for the items, however many

    def _binop(self, node: ast.BinOp) -> Hint:
        if isinstance(node.op, ast.MatMult):
            return self.of(node.left)
        left, right = self.of(node.left), self.of(node.right)
        kinds = {head(left), head(right)}
        if kinds & SETS or (kinds & _VIEWS and not isinstance(node.op, ast.Mod)):
            return written("set")
        if kinds <= {"int", "bool", "float"}:
            return written("float" if "float" in kinds or isinstance(node.op, ast.Div) else "int")
        if isinstance(node.op, ast.Mod | ast.Mult) or left is None:
            return left if head(left) in ("str", "bytes", "list", "tuple") else right
        if head(left) != head(right):
            return None
        return _common([left, right]) or (written(head(left)) if head(left) in ("list", "tuple") else None)

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
        base = self.of(node.value)
        if (
            head(base) == "type"
            and isinstance(base, ast.Subscript)
            and is_enum(self.module.local_class(last(base.slice)))
        ):
            return base.slice
        made = self.module.local_class(self.kind(node.value))
        for each in made.body if made is not None else ():
            if isinstance(each, ast.AnnAssign) and last(each.target) == node.attr:
                return each.annotation
            if isinstance(each, ast.FunctionDef) and each.name == node.attr:
                return each.returns if each.decorator_list else None
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                found = self._set_by(each, node.attr)
                if found is not None:
                    return found
        return None

    def _set_by(self, maker: ast.FunctionDef, name: str) -> Hint:
        """The type of what `__init__` keeps in an attribute, where it sets it once: a parameter's, a literal's."""
        types = {each.arg: each.annotation for each in maker.args.args}
        itself = maker.args.args[0].arg if maker.args.args else ""
        found = [
            target.annotation
            if isinstance(target, ast.AnnAssign)
            else Hints(self.module, types, lambda _: None).of(each.value)
            for each in ast.walk(maker)
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None
            for target in ([each] if isinstance(each, ast.AnnAssign) else each.targets)
            if ast.unparse(getattr(target, "target", target)) == f"{itself}.{name}"
        ]
        return found[0] if len(found) == 1 else None

    def _call(self, node: ast.Call) -> Hint:
        name = last(node.func)
        if isinstance(node.func, ast.Attribute):
            return self._of_method(node, node.func)
        if self.module.local_class(name) is not None:
            return node.func
        function = self.module.local_function(name)
        if function is not None:
            return function.returns
        if name in _CONTAINERS and node.args:
            item = element(self.of(node.args[0]))
            kind, tail = _CONTAINERS[name], ", ..." if name == "tuple" else ""
            return written(kind if item is None else f"{kind}[{ast.unparse(item)}{tail}]")
        if name in ("min", "max", "sum", "abs", "next") and node.args:
            several = len(node.args) > 1 or name == "abs"
            return _common([self.of(each) for each in node.args]) if several else element(self.of(node.args[0]))
        home = self.module.imports().get(name)
        return self._of_library(home if home is not None else name, node)

    def _of_method(self, node: ast.Call, method: ast.Attribute) -> Hint:
        name, hint = method.attr, self.of(method.value)  # once: a chain of calls must not double at each of them
        owner = head(hint)
        made = self.module.local_class(owner)
        if made is not None:
            return next((e.returns for e in made.body if isinstance(e, ast.FunctionDef) and e.name == name), None)
        inside = parameters(hint)
        if name in ("get", "pop", "popleft", "setdefault") and owner not in SETS:
            return inside[-1] if inside else None
        if name == "copy" and owner in ("list", "dict", "deque", "bytearray"):
            return hint
        if name == "most_common" and inside:
            return written(f"list[tuple[{ast.unparse(inside[0])}, int]]")
        if name in ("keys", "items", "values") and owner in ("dict", "Counter", "defaultdict", "Mapping"):
            return _view(name, inside)
        first, dot, rest = dotted(method.value).partition(".")
        path = self.module.imports().get(first, "") if not owner else ""
        if path:
            return self._of_library(f"{path}{dot}{rest}.{name}", node)
        return _known(f"{'set' if owner in SETS else owner}.{name}")

    def _of_library(self, path: str, node: ast.Call) -> Hint:
        """What a function of Python or its library gives, from what it is given."""
        given = [self.of(each) for each in node.args]
        if path == "dict":
            return self._mapping_of(node, given)
        least, gives = _GIVING.get(path, (0, None))
        if gives is not None and len(given) >= least:
            return gives(self, node, given)
        if path.startswith("hashlib."):
            return written("hashlib")
        return _known(path.removeprefix("collections.")) or (
            written("Iterator") if path.startswith("itertools.") else None
        )

    def _mapping_of(self, node: ast.Call, given: list[Hint]) -> Hint:
        same = given[0] if len(given) == 1 and head(given[0]) in ("dict", "Dict", "Mapping") else None
        item = element(given[0]) if given else None
        pair = parameters(item) if head(item) == "tuple" else []
        if len(pair) == 2 and not node.keywords:
            return _mapping(pair[0], pair[1])
        named = _common([self.of(each.value) for each in node.keywords])
        return same if same is not None or given else _mapping(written("str"), named)

    def given_by(self, function: ast.expr, given: list[Hint]) -> Hint:
        """What a function gives for arguments of these types."""
        if isinstance(function, ast.Lambda):
            names = {**self.names, **dict(zip([each.arg for each in function.args.args], given))}
            return Hints(self.module, names, lambda node: None).of(function.body)
        return self.of(ast.Call(function, [], [])) if isinstance(function, ast.Name) else None

    def within(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Hints:
        """The types inside a comprehension, with those of its variables."""
        names = dict(self.names)
        inner = Hints(self.module, names, self.known)
        for each in node.generators:
            names.update(targets(each.target, element(inner.of(each.iter))))
        return inner


def _side_by_side(inside: list[Hint]) -> Hint:
    whole = _of_each("tuple", inside)
    return _of_each("Iterator", [whole if isinstance(whole, ast.Subscript) else None])


_Gives = Callable[[Hints, ast.Call, list[Hint]], Hint]
_GIVING: dict[str, tuple[int, _Gives]] = {
    "copy.copy": (1, lambda hints, node, given: given[0]),
    "copy.deepcopy": (1, lambda hints, node, given: given[0]),
    "dataclasses.replace": (1, lambda hints, node, given: given[0]),
    "typing.cast": (1, lambda hints, node, given: node.args[0]),
    "map": (2, lambda hints, node, given: _of_each("Iterator", [hints.given_by(node.args[0], _items(given[1:]))])),
    "filter": (2, lambda hints, node, given: _of_each("Iterator", [element(given[1])])),
    "enumerate": (1, lambda hints, node, given: _side_by_side([written("int"), *_items(given)])),
    "zip": (1, lambda hints, node, given: _side_by_side(_items(given))),
    "collections.Counter": (1, lambda hints, node, given: _of_each("Counter", _items(given))),
}
"""What functions of the library give that depends on what they are given, for so many arguments or more."""


def _items(given: list[Hint]) -> list[Hint]:
    return [element(each) for each in given]


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


def captured(pattern: ast.pattern, hint: Hint) -> dict[str, Hint]:
    """The types of the variables that a pattern sets, where a value of this type matches it; None for parts of objects."""
    if isinstance(pattern, ast.MatchAs):
        inner = captured(pattern.pattern, hint) if pattern.pattern is not None else {}
        return inner | ({pattern.name: hint} if pattern.name is not None else {})
    if isinstance(pattern, ast.MatchStar):
        return {pattern.name: _of_each("list", [element(hint)])} if pattern.name is not None else {}
    if isinstance(pattern, ast.MatchSequence):
        inside = parameters(hint) if head(hint) == "tuple" else []
        several = any(isinstance(each, ast.MatchStar) for each in pattern.patterns) or len(inside) != len(
            pattern.patterns
        )
        parts = [element(hint)] * len(pattern.patterns) if several else [*inside]
        starred = [isinstance(each, ast.MatchStar) for each in pattern.patterns]
        return _captured(pattern.patterns, [hint if star else part for star, part in zip(starred, parts)])
    if isinstance(pattern, ast.MatchOr):
        return _captured(pattern.patterns, [hint] * len(pattern.patterns))
    within = pattern.patterns if isinstance(pattern, ast.MatchMapping | ast.MatchClass) else []
    within = [*within, *(pattern.kwd_patterns if isinstance(pattern, ast.MatchClass) else [])]
    rest = pattern.rest if isinstance(pattern, ast.MatchMapping) else None
    return _captured(within, [None] * len(within)) | ({rest: hint} if rest is not None else {})


def _captured(patterns: list[ast.pattern], hints: list[Hint]) -> dict[str, Hint]:
    return {name: kind for each, hint in zip(patterns, hints) for name, kind in captured(each, hint).items()}


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


def _of_each(name: str, inside: list[Hint]) -> ast.expr:
    """A container of these types, where all of them are known."""
    known = [ast.unparse(each) for each in inside if each is not None]
    return written(f"{name}[{', '.join(known)}]" if len(known) == len(inside) else name)


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
