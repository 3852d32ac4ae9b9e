"""What is known of the values of a type: whether their order, their text and their comparison are the same at each party.

Each is known of listed types, of containers of such, and of classes of the program that show it. Of a type that is not
known, nothing is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.choreo.read import last, parts_of
from distml.choreo.surroundings import Surroundings

Hint = ast.expr | None

_SCALARS = frozenset("int float bool complex None Fraction Decimal date time datetime timedelta UUID".split())
_TEXTS = _SCALARS | set("str bytes bytearray range LiteralString".split())
_CONTAINERS = frozenset(
    "list List tuple Tuple dict Dict deque Counter OrderedDict dict_keys dict_values dict_items".split()
)
_ORDERED = (
    _TEXTS | _CONTAINERS | set("Iterator Generator Sequence MutableSequence Mapping MutableMapping defaultdict".split())
)
_TOTAL = frozenset("int bool str bytes date time timedelta".split())
"""Types all of whose values are smaller, equal or larger. Numbers with a NaN are not, nor are sets."""
_ENUMS = frozenset("Enum IntEnum StrEnum Flag IntFlag".split())


class Kinds:
    """Judges types by the classes of a file."""

    def __init__(self, module: Surroundings) -> None:
        self.module = module

    def has_order(self, hint: Hint) -> bool:
        """Whether all parties go through a value in the same order, where it can be gone through at all."""
        found = list(self._alternatives(hint))
        return bool(found) and all(
            head(each) in _ORDERED | {"Literal"} or self._made(each) is not None or self._lists_members(each)
            for each in found
        )

    def is_total(self, hint: Hint) -> bool:
        """Whether the smallest of any such values, and their order when sorted, is one."""
        kinds = [head(each) for each in self._alternatives(hint)]
        inside = parameters(self.module.plain(hint)) if kinds in (["tuple"], ["list"]) else []
        return bool(kinds) and (set(kinds) <= _TOTAL or (bool(inside) and all(map(self.is_total, inside))))

    def has_text(self, hint: Hint, whole: bool = False, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the text of a value says nothing but the value; `whole` where `__str__` may give it."""
        found = list(self._alternatives(hint))
        return bool(found) and all(self._text(each, whole, seen) for each in found)

    def _text(self, hint: ast.expr, whole: bool, seen: frozenset[str]) -> bool:
        name = head(hint)
        made = self._made(hint)
        if made is not None:
            return name in seen or self._shows(made, whole, seen | {name})
        if name in _CONTAINERS:
            inside = parameters(hint)
            return bool(inside) and all(self.has_text(each, seen=seen) for each in inside)
        return name in _TEXTS or name == "Literal"

    def _shows(self, made: ast.ClassDef, whole: bool, seen: frozenset[str]) -> bool:
        """Whether objects of a class of the program say what they are, not where they are."""
        shown = {"__repr__", "__str__"} if whole else {"__repr__"}
        if any(each.name in shown for each in made.body if isinstance(each, ast.FunctionDef)):
            return True
        bases = {last(each) for each in made.bases}
        values = [each.value for each in made.body if isinstance(each, ast.Assign)]
        if bases & _ENUMS:
            return whole or all(isinstance(each, ast.Constant) or last(each) == "auto" for each in values)
        fields = [each.annotation for each in made.body if isinstance(each, ast.AnnAssign)]
        if shows_fields(made) or bases == {"NamedTuple"}:
            inherited = [self.module.local_class(each) for each in bases - {"NamedTuple", "object"}]
            return all(self.has_text(each, seen=seen) for each in fields) and all(
                each is not None and self._shows(each, False, seen) for each in inherited
            )
        above = [self.module.local_class(each) for each in bases]
        return len(above) == 1 and above[0] is not None and self._shows(above[0], whole, seen)

    def _made(self, hint: Hint) -> ast.ClassDef | None:
        return self.module.local_class(head(hint))

    def _lists_members(self, hint: ast.expr) -> bool:
        """Whether it is a class that lists its members: an Enum."""
        inside = parameters(hint) if head(hint) == "type" else []
        made = self._made(inside[0]) if inside else None
        return is_enum(made)

    def _alternatives(self, hint: Hint) -> Iterator[ast.expr]:
        """The types that a value may have; none where nothing is known."""
        hint = self.module.plain(hint)
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            parts = [hint.left, hint.right]
        elif head(hint) in ("Union", "Optional") and isinstance(hint, ast.Subscript):
            parts = parameters(hint)
        else:
            parts = []
            if hint is not None:
                yield hint
        for each in parts:
            inner = list(self._alternatives(each))
            yield from inner or [ast.Name("object", ast.Load())]


def shows_fields(made: ast.ClassDef) -> bool:
    """Whether a class is a dataclass whose text lists its fields."""
    for each in made.decorator_list:
        options = {one.arg: one.value for one in each.keywords} if isinstance(each, ast.Call) else {}
        if last(each.func if isinstance(each, ast.Call) else each) == "dataclass":
            shown = options.get("repr")
            return shown is None or (isinstance(shown, ast.Constant) and shown.value is True)
    return False


def head(hint: Hint) -> str:
    """The name of the class of a type."""
    return "None" if isinstance(hint, ast.Constant) else last(hint.value if isinstance(hint, ast.Subscript) else hint)


def parameters(hint: Hint) -> list[ast.expr]:
    """What stands between the brackets of a type, `...` left out."""
    found = parts_of(hint) if isinstance(hint, ast.Subscript) else []
    return [each for each in found if not (isinstance(each, ast.Constant) and each.value is ...)]


def is_enum(made: ast.ClassDef | None) -> bool:
    """Whether a class is an Enum."""
    return made is not None and not {last(each) for each in made.bases}.isdisjoint(_ENUMS)
