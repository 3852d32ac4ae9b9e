"""What of Python and its library depends on nothing but its arguments, and what it asks of them.

A function is pure only from these tables. Some ask more: that an order or a text is agreed on, that a format is the same
on every machine.
"""

from __future__ import annotations

import ast
import builtins
import codecs
import re

from distml.choreo.surroundings import SETS

_ERRORS = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
BUILTINS = _ERRORS | set(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset hex "
    "int isinstance issubclass iter len list map max min next oct ord pow range repr reversed round set slice sorted str sum "
    "tuple type zip cast".split()
)
TYPES = (
    frozenset(
        "bool bytearray bytes complex dict float frozenset int list object range set slice str tuple type".split()
    )
    | _ERRORS
)
"""Names of Python's own that are types: data, as in `isinstance(x, str)`."""
ORDERLESS = frozenset("len any all bool isinstance set frozenset type cast copy deepcopy".split())
"""Functions whose result does not depend on the order in which a set is gone through."""
CHOOSING = frozenset("sorted min max".split())
"""Functions whose result does not, where each of any two elements is the smaller one or they are equal."""
_ITERATING = "list tuple dict enumerate zip map filter iter next reversed sum bytes bytearray join extend extendleft "
_ITERATED = frozenset(
    (_ITERATING + "update subtract functools.reduce math.fsum math.prod math.dist math.sumprod").split()
)
_ITERATING_HOMES = ("itertools", "statistics", "heapq", "collections")
TEXTS = frozenset("str repr ascii format textwrap.shorten urllib.parse.urlencode".split())
"""Functions that make a text of what they are given."""
CALLING = {
    "map": (0, ""),
    "filter": (0, ""),
    "sorted": (-1, "key"),
    "min": (-1, "key"),
    "max": (-1, "key"),
    "sort": (-1, "key"),
    "functools.reduce": (0, ""),
    "functools.partial": (0, ""),
    "functools.cmp_to_key": (0, ""),
    "itertools.accumulate": (1, "func"),
    "itertools.starmap": (0, ""),
    "itertools.filterfalse": (0, ""),
    "itertools.takewhile": (0, ""),
    "itertools.dropwhile": (0, ""),
    "itertools.groupby": (1, "key"),
    "collections.defaultdict": (0, "default_factory"),
    "dataclasses.field": (-1, "default_factory"),
    "dataclasses.asdict": (-1, "dict_factory"),
    "re.sub": (1, "repl"),
    "json.dumps": (-1, "default"),
    "json.loads": (-1, "object_hook"),
    "heapq.nlargest": (2, "key"),
    "heapq.nsmallest": (2, "key"),
    "heapq.merge": (-1, "key"),
    **{f"bisect.{side}": (-1, "key") for side in ("bisect", "bisect_left", "bisect_right")},
    **{f"bisect.insort{side}": (-1, "key") for side in ("", "_left", "_right")},
}
"""Functions that call one of their arguments: its position and its name."""
FIXED = frozenset(("struct.pack", "struct.unpack", "struct.calcsize"))
"""Functions whose first argument is a format, which is fixed where it says in which order bytes are."""
CONTEXTS = frozenset("getcontext setcontext localcontext Context DefaultContext BasicContext ExtendedContext".split())
"""What of `decimal` sets how numbers are rounded, in all of a program."""
REFLECTION = frozenset("globals exec eval vars __main__ sys.modules sys._getframe importlib inspect gc".split())
"""Functions and modules by which code sets variables of a file without naming them."""
ENCODINGS = frozenset("utf-8 ascii iso8859-1 utf-16-le utf-16-be utf-32-le utf-32-be cp1252".split())
"""Encodings that are the same on every machine."""
_OPERATORS = """
    add sub mul truediv floordiv pow neg pos abs and_ or_ xor not_ invert lshift rshift eq ne lt le gt ge contains
    concat countOf indexOf getitem truth index itemgetter attrgetter
"""
LIBRARY: dict[str, frozenset[str] | None] = {
    name: None if names == "*" else frozenset(names.split())
    for name, names in {
        "math": "*",
        "cmath": "*",
        "string": "*",
        "textwrap": "*",
        "unicodedata": "name lookup category normalize numeric decimal digit bidirectional combining east_asian_width",
        "fractions": "*",
        "itertools": "*",
        "html": "*",
        "urllib.parse": "*",
        "base64": "*",
        "binascii": "*",
        "enum": "*",
        "types": "SimpleNamespace MappingProxyType GenericAlias UnionType NoneType",
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
        "zlib": "crc32 adler32 decompress",
        "datetime": "timedelta date time datetime timezone MINYEAR MAXYEAR UTC",
        "datetime.date": "fromisoformat fromordinal fromisocalendar min max",
        "datetime.datetime": "fromisoformat fromordinal fromisocalendar combine min max",
        "datetime.time": "fromisoformat min max",
        "datetime.timezone": "utc",
        "calendar": "isleap leapdays monthrange weekday timegm",
        "decimal": "Decimal",
        "dataclasses": "replace asdict astuple field dataclass",
        "uuid": "UUID uuid3 uuid5 NAMESPACE_DNS NAMESPACE_URL NAMESPACE_OID NAMESPACE_X500",
    }.items()
}
"""Modules of the standard library, and what in them depends on arguments alone; None for all of it."""
_SEQUENCE = "append clear copy count extend index insert pop remove reverse sort"
_MAPPING = "clear copy get items keys pop popitem setdefault update values"
_TEXT = """
    capitalize casefold center count encode endswith expandtabs find format index isalnum isalpha isascii isdecimal
    isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip partition
    removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip
    swapcase title translate upper zfill decode hex maketrans
"""
_DATE = "weekday isoweekday isocalendar isoformat toordinal replace"
_SET = """
    add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset
    issuperset remove symmetric_difference symmetric_difference_update union update
"""
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
    "date": frozenset(_DATE.split()),
    "datetime": frozenset(f"{_DATE} date time timetz".split()),
    "time": frozenset("isoformat replace".split()),
    "timedelta": frozenset(("total_seconds",)),
}
"""Methods that depend on their object and arguments alone, by type. A set's `pop` takes what comes first to a party."""


def in_library(path: str) -> bool:
    """Whether a name of the standard library is known to depend on its arguments alone."""
    home, _, name = path.rpartition(".")
    if path in LIBRARY:
        return True
    found = LIBRARY.get(home, frozenset())
    return found is None or name in found


def iterates(path: str) -> bool:
    """Whether a function or a method goes through what it is given."""
    return path in _ITERATED or path.partition(".")[0] in _ITERATING_HOMES


def is_fixed(node: ast.expr) -> bool:
    """Whether a format of `struct` says in which order bytes are; else the machine decides it, and the sizes."""
    text = node.value if isinstance(node, ast.Constant) else None
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    return isinstance(text, str) and text.startswith(("<", ">", "!"))


def is_encoding(node: ast.expr) -> bool:
    """Whether an encoding is the same on every machine."""
    try:
        return isinstance(node, ast.Constant) and codecs.lookup(str(node.value)).name in ENCODINGS
    except LookupError:
        return False


def is_plain(node: ast.expr) -> bool:
    """Whether a text to be filled in asks for nothing but the texts of what it is given."""
    return isinstance(node, ast.Constant) and not re.search(r"\{[^}]*(?:[._\[]|n\})|\{[^}]*\{", str(node.value))
