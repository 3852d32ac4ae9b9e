"""Whether parties that hold the same values get the same result.

Only communication, constants and pure functions of agreed values give agreement. What is pure is written down: functions
of Python and its library that depend on nothing but their arguments, methods of types that are known. Functions of the
program are judged by their bodies. Any other call, and what depends on the order of a set, belongs to whoever runs it.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Mapping
from typing import Any

from distml.choreo.changes import changed
from distml.choreo.hints import Hint, Hints, element, head, targets
from distml.choreo.read import last
from distml.choreo.surroundings import SETS, Surroundings, defines

_ERRORS = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
BUILTINS = _ERRORS | set(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset hex "
    "int isinstance issubclass iter len list map max min next oct ord pow range repr reversed round set slice sorted str sum "
    "tuple type zip cast".split()
)
ORDERLESS = frozenset("len any all bool isinstance set frozenset sorted min max".split())
"""Functions whose result does not depend on the order in which a set is gone through."""
_OPERATORS = (
    "add sub mul truediv floordiv mod pow neg pos abs and_ or_ xor not_ invert lshift rshift eq ne lt le gt ge is_ "
)
_OPERATORS += "is_not contains concat countOf indexOf getitem truth index itemgetter attrgetter"
LIBRARY: dict[str, frozenset[str] | None] = {
    name: None if names == "*" else frozenset(names.split())
    for name, names in {
        "math": "*",
        "cmath": "*",
        "string": "*",
        "textwrap": "*",
        "unicodedata": "*",
        "fractions": "*",
        "itertools": "*",
        "html": "*",
        "urllib.parse": "*",
        "base64": "*",
        "binascii": "*",
        "enum": "*",
        "types": "*",
        "typing": "*",
        "operator": _OPERATORS,
        "statistics": "mean fmean median median_low median_high mode multimode stdev pstdev variance pvariance quantiles",
        "functools": "reduce partial cmp_to_key",
        "re": "match search fullmatch findall sub split escape compile",
        "json": "dumps loads",
        "hashlib": "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256 sha3_512 new",
        "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
        "heapq": "nlargest nsmallest merge heappush heappop heapify heapreplace heappushpop",
        "copy": "copy deepcopy",
        "collections": "Counter OrderedDict defaultdict deque ChainMap",
        "struct": "pack unpack calcsize",
        "zlib": "crc32 adler32 compress decompress",
        "datetime": "timedelta date time datetime MINYEAR MAXYEAR",
        "decimal": "Decimal",
        "dataclasses": "replace asdict astuple field dataclass",
        "uuid": "UUID uuid3 uuid5",
    }.items()
}
"""Modules of the standard library, and what in them depends on arguments alone; None for all of it."""
_SEQUENCE = "append clear copy count extend index insert pop remove reverse sort"
_MAPPING = "clear copy get items keys pop popitem setdefault update values"
_TEXT = "capitalize casefold center count encode endswith expandtabs find format index isalnum isalpha isascii isdecimal isdigit "
_TEXT += (
    "isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip partition removeprefix "
)
_TEXT += (
    "removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title "
)
_TEXT += "translate upper zfill decode hex"
_SET = "add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset issuperset "
_SET += "remove symmetric_difference symmetric_difference_update union update"
METHODS = {
    **dict.fromkeys(("list", "List", "Sequence", "MutableSequence", "bytearray"), frozenset(_SEQUENCE.split())),
    **dict.fromkeys(("deque",), frozenset(f"{_SEQUENCE} appendleft popleft extendleft rotate".split())),
    **dict.fromkeys(
        ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"), frozenset(_MAPPING.split())
    ),
    "Counter": frozenset(f"{_MAPPING} most_common elements subtract total".split()),
    **dict.fromkeys(("str", "bytes"), frozenset(_TEXT.split())),
    **dict.fromkeys(SETS, frozenset(_SET.split())),
    **dict.fromkeys(("tuple", "Tuple", "range"), frozenset(("count", "index"))),
    **dict.fromkeys(
        ("int", "float", "bool", "complex", "Fraction", "Decimal"),
        frozenset(
            "bit_length bit_count to_bytes conjugate as_integer_ratio is_integer hex quantize limit_denominator".split()
        ),
    ),
    "hashlib": frozenset("digest hexdigest copy".split()),
}
"""Methods that depend on their object and arguments alone, by type. A set's `pop` takes what comes first to a party."""


class Purity:
    """Judges the operations of expressions whose variables have these types."""

    def __init__(
        self,
        module: Surroundings,
        names: Mapping[str, Hint],
        known: Callable[[ast.expr], Hint] = lambda node: None,
        seen: frozenset[str] = frozenset(),
    ) -> None:
        self.module, self.names, self.seen = module, names, seen
        self.hints = Hints(module, names, known)

    def differs(self, node: ast.AST) -> bool:
        """Whether an operation may give parties different results though its operands are the same; operands aside."""
        method: Callable[[Any], bool] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        return method is not None and method(node)

    def anywhere(self, node: ast.AST) -> bool:
        """Whether this is so of the node or anything inside it."""
        inner: Purity = self
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            inner = Purity(self.module, self.hints.within(node).names, self.hints.known, self.seen)
        elif isinstance(node, ast.Lambda):
            inner = self.over({each.arg: None for each in ast.walk(node.args) if isinstance(each, ast.arg)})
        return self.differs(node) or any(inner.anywhere(each) for each in ast.iter_child_nodes(node))

    def over(self, names: Mapping[str, Hint]) -> Purity:
        """With these variables too."""
        return Purity(self.module, {**self.names, **names}, self.hints.known, self.seen)

    def _name(self, node: ast.Name) -> bool:
        if node.id in self.names:
            return not self._special(self.module.local_class(self.hints.kind(node)))
        return node.id in self.module.varying() or _special(node.id)

    def _attribute(self, node: ast.Attribute) -> bool:
        if _special(node.attr) or not self._special(self.module.local_class(self.hints.kind(node))):
            return True  # such as `__traceback__`: what Python keeps for itself
        path = self._path(node)
        if path is not None:
            return not _in_library(path)
        owner = node.value.id if isinstance(node.value, ast.Name) and node.value.id not in self.names else ""
        itself = self.module.local_class(owner)
        held = [e for e in (itself.body if itself else ()) if isinstance(e, ast.Assign | ast.AnnAssign)]
        if any(Purity(self.module, {}).anywhere(each) for each in held if node.attr in defines(each)):
            return True  # what the class itself holds
        made = self.module.local_class(self.hints.kind(node.value))
        read = (
            each for each in (made.body if made else ()) if isinstance(each, ast.FunctionDef) and each.decorator_list
        )
        found = next((each for each in read if each.name == node.attr), None)
        return found is not None and not self._follows(
            found, [self.hints.of(node.value)], head(self.hints.of(node.value))
        )

    def _path(self, node: ast.expr) -> str | None:
        """The dotted name in the standard library that an expression names, None for anything else."""
        if isinstance(node, ast.Attribute):
            before = self._path(node.value)
            return None if before is None else f"{before}.{node.attr}"
        if not isinstance(node, ast.Name) or node.id in self.names:
            return None
        path = self.module.imports().get(node.id)
        return path if path is not None and path.partition(".")[0] in sys.stdlib_module_names else None

    def _binop(self, node: ast.BinOp) -> bool:
        written = isinstance(node.op, ast.Mod) and self.hints.kind(node.left) not in ("int", "float", "bool")
        return written and self._no_text(node.right)

    def _joinedstr(self, node: ast.JoinedStr) -> bool:
        return any(isinstance(each, ast.FormattedValue) and self._no_text(each.value) for each in node.values)

    def _no_text(self, node: ast.expr) -> bool:
        """Whether the text of a value depends on an order, or on where in memory it is."""
        hint = self.hints.of(node)
        parts = [each for each in ast.walk(hint) if isinstance(each, ast.expr)] if hint is not None else []
        return any(head(each) in SETS or self._is_bare(self.module.local_class(head(each))) for each in parts)

    def _is_bare(self, made: ast.ClassDef | None) -> bool:
        """Whether the text of an object of a class says where in memory it is."""
        if made is None or made.bases or made.decorator_list:
            return False
        return not {each.name for each in made.body if isinstance(each, ast.FunctionDef)} & {"__repr__", "__str__"}

    def _starred(self, node: ast.Starred) -> bool:
        return self.hints.is_set(node.value)

    def _listcomp(self, node: ast.ListComp | ast.DictComp) -> bool:
        inner = self.hints.within(node)
        return self._setcomp(node) or any(inner.is_set(each.iter) for each in node.generators)

    _dictcomp = _listcomp

    def _setcomp(self, node: ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp) -> bool:
        inner = self.hints.within(node)
        return any(self._unpacked(each.target, element(inner.of(each.iter))) for each in node.generators)

    _generatorexp = _setcomp

    def _for(self, node: ast.For) -> bool:
        return self.hints.is_set(node.iter) or self._unpacked(node.target, element(self.hints.of(node.iter)))

    def _assign(self, node: ast.Assign) -> bool:
        return any(self._unpacked(each, self.hints.of(node.value), node.value) for each in node.targets)

    def _unpacked(self, target: ast.expr, hint: Hint, value: ast.expr | None = None) -> bool:
        """Whether a set is taken apart into variables, one after the other."""
        if not isinstance(target, ast.Tuple | ast.List):
            return False
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            return any(self._unpacked(one, self.hints.of(each), each) for one, each in zip(target.elts, value.elts))
        inner = [each for each in target.elts if isinstance(each, ast.Tuple | ast.List)]
        if inner and element(hint) is None:
            return True  # whether a set is taken apart there cannot be told
        return self.module.is_set(hint) or any(self._unpacked(each, element(hint)) for each in inner)

    def _compare(self, node: ast.Compare) -> bool:
        """Whether it is asked which of several equal objects something is: one that arrived is another."""
        sides = [node.left, *node.comparators]
        return any(
            isinstance(op, ast.Is | ast.IsNot) and not (_is_one(left) or _is_one(right))
            for op, left, right in zip(node.ops, sides, sides[1:])
        )

    def _away(self, node: ast.AST) -> bool:
        return True

    _global = _nonlocal = _await = _asyncfor = _asyncwith = _away

    def _call(self, node: ast.Call) -> bool:
        given = [*node.args, *(each.value for each in node.keywords)]
        if any(self._calls_back(each) for each in given):
            return True
        if isinstance(node.func, ast.Name):
            return self._named(node, node.func.id, given)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, given)
        return not isinstance(node.func, ast.Lambda)

    def _calls_back(self, node: ast.expr) -> bool:
        """Whether an argument is a function that is not known to be pure."""
        if isinstance(node, ast.Lambda):
            return self.anywhere(node)
        if not isinstance(node, ast.Name) or node.id in self.names:
            return False
        function = self.module.local_function(node.id)
        if function is not None:
            return not self._follows(function, [])
        path = self.module.imports().get(node.id)
        return (hasattr(builtins, node.id) and node.id not in BUILTINS) or (path is not None and not _in_library(path))

    def _named(self, node: ast.Call, name: str, given: list[ast.expr]) -> bool:
        if name in self.names:
            return True  # a value that is called may be anything
        function, made = self.module.local_function(name), self.module.local_class(name)
        if function is not None:
            return not self._follows(function, [self.hints.of(each) for each in node.args])
        if made is not None:
            return not self._constructs(made, node)
        path = self.module.imports().get(name)
        if path is not None:
            return not _in_library(path) or self._by_order(name, node, given)
        return name not in BUILTINS or name in self.module.defined() or self._by_order(name, node, given)

    def _by_order(self, name: str, node: ast.Call, given: list[ast.expr]) -> bool:
        """Whether a pure function is given something whose order or text parties do not agree on."""
        if name in ("str", "repr", "ascii", "format", "dumps"):
            return any(map(self._no_text, given))
        if name in ORDERLESS and not any(each.arg == "key" for each in node.keywords):
            return False
        if name == "sum" and len(given) == 1 and head(element(self.hints.of(given[0]))) in ("int", "bool"):
            return False
        return any(map(self.hints.is_set, given))

    def is_stranger(self, node: ast.Call) -> bool:
        """Whether nothing is known of what is called, so that it may change what it is given."""
        if isinstance(node.func, ast.Attribute):
            owner = self.hints.kind(node.func.value)
            known = owner in METHODS or last(node.func.value) in METHODS or self.module.local_class(owner) is not None
            return self._path(node.func) is None and not known
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.names or self.module.local_function(name) or self.module.local_class(name):
            return name in self.names
        home = self.module.imports().get(name)
        return not hasattr(builtins, name) if home is None else home.partition(".")[0] not in sys.stdlib_module_names

    def _method(self, node: ast.Call, function: ast.Attribute, given: list[ast.expr]) -> bool:
        path = self._path(function)
        if path is not None:
            return not _in_library(path) or self._by_order(function.attr, node, given)
        if isinstance(function.value, ast.Name) and function.value.id not in self.names | METHODS.keys():
            made = self.module.local_class(function.value.id)
            return made is None or not self._follows_method(
                made, function.attr, [self.hints.of(each) for each in node.args]
            )
        hint = self.hints.of(function.value)
        kind = head(hint)
        if isinstance(function.value, ast.Name) and function.value.id not in self.names:
            kind = function.value.id  # the class itself, as in `str.upper(x)`
        made = self.module.local_class(kind)
        if made is not None:
            return not self._follows_method(made, function.attr, [hint, *(self.hints.of(each) for each in node.args)])
        if function.attr not in METHODS.get(kind, frozenset()):
            return True
        return kind not in SETS and any(map(self.hints.is_set, given))

    def _constructs(self, made: ast.ClassDef, node: ast.Call) -> bool:
        """Whether an object of a local class is made from its arguments alone."""
        given = [written_class(made), *(self.hints.of(each) for each in node.args)]
        names = {each.name for each in made.body if isinstance(each, ast.FunctionDef)}
        makers = [name for name in ("__new__", "__init__", "__post_init__") if name in names]
        return self._special(made) and all(self._follows_method(made, name, given, itself=True) for name in makers)

    def _special(self, made: ast.ClassDef | None) -> bool:
        """Whether what Python asks of the objects of a class (`len(x)`, `x + 1`, `x.name`) depends on nothing else."""
        if made is None:
            return True
        known = made.name in self.seen or all(self._special_base(each) for each in made.bases)
        within = Purity(self.module, {}, seen=self.seen | {made.name})
        methods = [each.name for each in made.body if isinstance(each, ast.FunctionDef) and _special(each.name)]
        asked = [name for name in methods if name not in ("__new__", "__init__", "__post_init__")]
        return known and all(within._follows_method(made, name, [written_class(made)]) for name in asked)

    def _special_base(self, base: ast.expr) -> bool:
        """Whether a class that is extended is one of Python's own or of the program, and depends on nothing else."""
        name = last(base.value if isinstance(base, ast.Subscript) else base)
        made = self.module.local_class(name)
        home = self.module.imports().get(name, name if hasattr(builtins, name) else "")
        library = hasattr(builtins, home) or home.partition(".")[0] in {*sys.stdlib_module_names, "distml"}
        return self._special(made) if made is not None else library or isinstance(base, ast.Attribute)

    def _follows_method(self, made: ast.ClassDef, name: str, given: list[Hint], itself: bool = False) -> bool:
        found = next((each for each in made.body if isinstance(each, ast.FunctionDef) and each.name == name), None)
        return found is not None and self._follows(found, given, made.name, itself)

    def _follows(self, function: ast.FunctionDef, given: list[Hint], owner: str = "", itself: bool = False) -> bool:
        """Whether a function of the program depends on nothing but its arguments, of these types where they say none."""
        name = f"{owner}.{function.name}"
        if name in self.seen:
            return True
        parameters = [*function.args.posonlyargs, *function.args.args]
        names: dict[str, Hint] = {each.arg: None for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        names |= {each.arg: hint for each, hint in zip(parameters, given)}
        names |= {each.arg: each.annotation for each in parameters if each.annotation is not None}
        own = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        names |= dict.fromkeys(own - names.keys())
        inner = Purity(self.module, names, seen=self.seen | {name})
        _assigned(function, inner.hints, names)
        if changed(function, self.module) - {each.arg for each in parameters}:
            return False
        defaults = [*function.args.defaults, *(each for each in function.args.kw_defaults if each is not None)]
        if any(Purity(self.module, {}).anywhere(each) for each in defaults):
            return False
        return not any(inner.anywhere(each) for each in function.body)


def _assigned(function: ast.FunctionDef, hints: Hints, names: dict[str, Hint]) -> None:
    """Note the types of variables that are assigned once, or with annotations."""
    nodes = [each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.AnnAssign | ast.For)]
    for each in nodes:
        if isinstance(each, ast.AnnAssign):
            found = targets(each.target, each.annotation)
        elif isinstance(each, ast.For):
            found = targets(each.target, element(hints.of(each.iter)))
        else:
            found = {k: v for target in each.targets for k, v in targets(target, hints.of(each.value)).items()}
        names.update({name: hint for name, hint in found.items() if names.get(name) is None})


def _special(name: str) -> bool:
    """Whether a name is one that Python gives a meaning."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def _is_one(node: ast.expr) -> bool:
    """Whether there is but one such object in a program: None, a truth value, a member of an enum."""
    constant = isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool | type(...)))
    return constant or isinstance(node, ast.Attribute)


def written_class(made: ast.ClassDef) -> ast.expr:
    """The type of the objects of a class."""
    return ast.Name(made.name, ast.Load())


def _in_library(path: str) -> bool:
    """Whether a name of the standard library is known to depend on its arguments alone."""
    home, _, name = path.rpartition(".")
    if path in LIBRARY:
        return True
    found = LIBRARY.get(home, frozenset())
    return found is None or name in found


def varying(around: Surroundings) -> frozenset[str]:
    """The variables of a file, and names of the standard library, that need not be the same at each party."""
    given: dict[str, list[ast.stmt]] = {}
    for each in around.local:
        if not isinstance(each, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            for name in defines(each):
                given.setdefault(name, []).append(each)
    found = {
        name for name, each in given.items() if len(each) > 1 or not isinstance(each[0], ast.Assign | ast.AnnAssign)
    }
    for name, statements in given.items():  # each may use those before it
        around.told_to_vary = frozenset(found)
        if any(Purity(around, {}).anywhere(each) for each in statements):
            found.add(name)
    for node in ast.walk(around.tree):
        if isinstance(node, ast.FunctionDef):
            found |= changed(node, around) & given.keys()
    for name, path in around.imports().items():
        home = path.rpartition(".")[0]
        if home.partition(".")[0] in sys.stdlib_module_names and not _in_library(path):
            found.add(name)
    return frozenset(found)
