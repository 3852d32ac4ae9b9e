"""What calls give: functions and classes of the program by their bodies, those of libraries by name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from distml.training.callsites import option_name
from distml.training.counting import AROUND
from distml.training.store import ANY, Store, items
from distml.training.values import (
    NOTHING,
    PATH,
    Box,
    BoxMethod,
    Callable,
    Class,
    Constant,
    Foreign,
    Function,
    Instance,
    Module,
    Values,
)

if TYPE_CHECKING:
    from collections import abc

    from distml.training.lexical import Scope
    from distml.training.unit import Unit

    Known = abc.Callable[["Calls", "Arguments", ast.Call, Unit], Values | None]

SAME = frozenset(
    {
        *("tensorflow.function", "tensorflow.autograph.experimental.do_not_convert", "tensorflow.identity"),
        *("torch.compile", "torch.jit.script", "torch.jit.optimize_for_inference"),
        *("builtins.iter", "builtins.reversed", "builtins.sorted", "builtins.list", "builtins.tuple", "builtins.set"),
        *("copy.copy", "copy.deepcopy"),
    }
)
"""Calls that give their first argument, as far as this analysis is concerned."""

FLUENT = frozenset(
    "to cuda cpu train eval half float double bfloat16 requires_grad_ share_memory apply "  # torch.nn.Module
    "cache prefetch repeat shuffle with_options".split()
)
"""Methods that give their object, or one of its kind with the same path."""

GUESSING = ("guessing",)
"""The key by which it is read whether there are guesses."""


class Arguments(NamedTuple):
    """What a call is given; `rest` is what comes by `*` or `**`."""

    positional: list[Values]
    named: dict[str, Values]
    rest: Values

    @property
    def first(self) -> Values:
        """The first positional argument; nothing where there is none."""
        return self.positional[0] if self.positional else NOTHING


class Calls:
    """Evaluates calls. The rest of the evaluator is mixed in beside it."""

    store: Store
    steps: int
    values: dict[ast.AST, Values]
    guessing = False

    def guessed(self) -> bool:
        """Whether the rest is settled, so that what is still unknown stays so: a module may be read after one that imports it."""
        self.store.reads.add(GUESSING)
        return self.guessing

    evaluate: abc.Callable[[ast.expr | None, Unit], Values]
    assign: abc.Callable[[ast.expr, Values, Unit], None]
    attribute: abc.Callable[[Values, str], Values]
    set_attribute: abc.Callable[[Values, str, Values], None]
    lookup: abc.Callable[[str, Scope, Unit], Values]
    defaults: abc.Callable[[Function, Unit], None]
    yielded: abc.Callable[[ast.expr, Values, Unit], None]
    lineage: abc.Callable[[Class], list[Class | Foreign]]
    module_of: abc.Callable[[Unit, str], Values]
    exported: abc.Callable[[Module, str], Values]
    any_of: abc.Callable[[Values], Values]

    def call(self, node: ast.Call, unit: Unit) -> Values:
        """What a call can give; its arguments reach the parameters of what it can call."""
        callees = self.evaluate(node.func, unit)
        given = self._arguments(node, unit)
        found: set[object] = set()
        for callee in callees:
            found |= self.apply(callee, given, node, unit)
        if not callees and self.guessed():
            found.add(Foreign("?()", node))
        return frozenset(found)  # type: ignore[arg-type]

    def _arguments(self, node: ast.Call, unit: Unit) -> Arguments:
        positional: list[Values] = []
        named: dict[str, Values] = {}
        rest: set[object] = set()
        for argument in node.args:
            value = self.evaluate(argument, unit)
            if isinstance(argument, ast.Starred) or rest:
                rest |= items(value, self.store) if isinstance(argument, ast.Starred) else value
            else:
                positional.append(value)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, unit)
            if keyword.arg is not None:
                named[keyword.arg] = value
                continue
            for box in (each for each in value if isinstance(each, Box)):
                for key in self.store.keys(box):
                    if isinstance(key, str) and key != ANY:
                        named[key] = named.get(key, NOTHING) | self.store.item(box, key)
        return Arguments(positional, named, frozenset(rest))  # type: ignore[arg-type]

    def apply(self, callee: object, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        """What calling one of the possible callees gives."""
        if isinstance(callee, Callable):
            return self._function(callee, given)
        if isinstance(callee, Class):
            return self._construct(callee, given, node)
        if isinstance(callee, Instance):
            return self._instance(callee, given, node)
        if isinstance(callee, BoxMethod):
            return self._box_method(callee, given, node)
        if isinstance(callee, Foreign):
            return self._foreign(callee, given, node, unit)
        return frozenset({Foreign("?()", node)})

    def _function(self, callee: Callable, given: Arguments) -> Values:
        positional: list[Values] = [*([frozenset({callee.bound})] if callee.bound else []), *given.positional]
        if callee.bound and not isinstance(callee.node, ast.Lambda):
            if any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in callee.node.decorator_list):
                positional = given.positional
        self.bind(callee.node, Arguments(positional, given.named, given.rest))
        return self.store.read("result", callee.node)

    def bind(self, function: Function, given: Arguments) -> None:
        """Let arguments reach parameters."""
        args = function.args
        names = [each.arg for each in (*args.posonlyargs, *args.args)]
        for name, values in zip(names, given.positional, strict=False):
            self.store.add(values, "name", function, name)
        extra = given.positional[len(names) :]
        if args.vararg is not None:
            box = Box(args.vararg)
            for values in (*extra, given.rest):
                self.store.put(box, ANY, values)
            self.store.add([box], "name", function, args.vararg.arg)
        for name in names[len(given.positional) :]:
            self.store.add(given.rest, "name", function, name)
        known = {*names, *(each.arg for each in args.kwonlyargs)}
        for name, values in given.named.items():
            if name in known:
                self.store.add(values, "name", function, name)
            elif args.kwarg is not None:
                self.store.put(Box(args.kwarg), name, values)
        if args.kwarg is not None:
            self.store.add([Box(args.kwarg)], "name", function, args.kwarg.arg)

    def _construct(self, callee: Class, given: Arguments, node: ast.Call) -> Values:
        made = Instance(callee)
        for method in self.attribute(frozenset({made}), "__init__"):
            if isinstance(method, Callable):
                self._function(method, given)
        if any(isinstance(each, ast.Name | ast.Attribute) for each in callee.node.decorator_list):
            self._fields(callee, given)
        return frozenset({made})

    def _fields(self, callee: Class, given: Arguments) -> None:
        """Arguments of a dataclass reach its fields."""
        fields = [
            s.target.id for s in callee.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        ]
        for name, values in [*zip(fields, given.positional, strict=False), *given.named.items()]:
            self.store.add(values, "attribute", callee.node, name)

    def _instance(self, callee: Instance, given: Arguments, node: ast.Call) -> Values:
        found: set[object] = set()
        for name in ("__call__", "call", "forward"):
            for method in self.attribute(frozenset({callee}), name):
                if isinstance(method, Callable):
                    found |= self._function(method, given)
        found |= {Foreign(base.name + "()()", node) for base in self.lineage(callee.type) if isinstance(base, Foreign)}
        return frozenset(found or {Foreign("?()", node)})  # type: ignore[arg-type]

    def _box_method(self, callee: BoxMethod, given: Arguments, node: ast.Call) -> Values:
        box, name = callee.box, callee.name
        arguments = given.positional
        if name in ("append", "add", "appendleft") and arguments:
            self.store.put(box, ANY, arguments[0])
        elif name == "insert" and len(arguments) == 2:
            self.store.put(box, ANY, arguments[1])
        elif name in ("extend", "update"):
            self.pour(given.first, box, keyed=name == "update")
            for key, values in given.named.items():
                self.store.put(box, key, values)
        elif name in ("get", "pop", "setdefault", "popleft"):
            keys = [v.value for v in (arguments[0] if arguments else NOTHING) if isinstance(v, Constant)]
            found = {v for key in keys if isinstance(key, str | int) for v in self.store.item(box, key)}
            return frozenset(found or self.store.item(box)) | (arguments[1] if len(arguments) > 1 else NOTHING)
        elif name == "copy":
            return frozenset({box})
        elif name in ("values", "items", "keys"):
            made = Box(node)
            pair = Box(node.func)
            self.store.put(pair, 1, self.store.item(box))
            self.store.put(made, ANY, [pair] if name == "items" else self.store.item(box) if name == "values" else [])
            return frozenset({made})
        return NOTHING

    def pour(self, values: Iterable[object], into: Box, keyed: bool = True) -> None:
        """Put the items of boxes into another."""
        for value in values:
            if isinstance(value, Box) and value != into:
                for key in self.store.keys(value):
                    self.store.put(into, key if keyed else ANY, self.store.item(value, key))
            elif isinstance(value, Foreign):
                self.store.put(into, ANY, [value.step("[]")])

    def _foreign(self, callee: Foreign, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        name = callee.name
        if name in SAME or AROUND.fullmatch(name):
            return given.first or frozenset({callee.called(node)})
        home, _, method = name.rpartition(".")
        if method in FLUENT and home.endswith("()"):
            return self._fluent(callee, node, unit)
        known = _KNOWN.get(name)
        found = known(self, given, node, unit) if known is not None else None
        return frozenset({callee.called(node)}) if found is None else found

    def _enumerate(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        pair = Box(node.func)
        self.store.put(pair, 1, items(given.first, self.store))
        self.store.put(Box(node), ANY, [pair])
        return frozenset({Box(node)})

    def _next(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        return items(given.first, self.store)

    def _getattr(self, given: Arguments, node: ast.Call, unit: Unit) -> Values | None:
        if len(given.positional) < 2:
            return None
        names = _texts(given.positional[1])
        found = frozenset(v for each in names for v in self.attribute(given.first, each))
        modules = frozenset(v.step(".?") for v in given.first if isinstance(v, Foreign) and v.node is None)
        return found or (NOTHING if names else modules | self.any_of(given.first)) or None

    def _eval(self, given: Arguments, node: ast.Call, unit: Unit) -> Values | None:
        names = _texts(given.first) if len(given.positional) == 1 else []
        return frozenset(v for each in names for v in self._named(each, node, unit)) or None

    def _import_module(self, given: Arguments, node: ast.Call, unit: Unit) -> Values | None:
        names = _texts(given.first) if len(given.positional) == 1 else []
        return frozenset(v for each in names for v in self.module_of(unit, each)) or None

    def _namespace(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        """A module, as the table of its names, or an object, as that of its attributes."""
        if not node.args:
            return frozenset({Module(unit.source)})
        return self.attribute(given.first, "__dict__") | {each for each in given.first if isinstance(each, Module)}

    def _locals(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        """The variables of a function by their names."""
        scope = unit.lexical.scope(node)
        for name in unit.lexical.names(scope):
            self.store.put(Box(node), name, self.store.read("name", scope, name))
        return frozenset({Box(node)})

    def _setattr(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        if len(given.positional) == 3:
            objects, names, values = given.positional
            for name in _texts(names) or [ANY]:
                for each in objects:
                    if isinstance(each, Instance):
                        self.store.put(Box(each.type.node), name, values)
                    elif name != ANY:
                        self.set_attribute(frozenset({each}), name, values)
        return NOTHING

    def _new_dict(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        return self._keyed(given, node, unit, defaults=False)

    def _new_defaultdict(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        return self._keyed(given, node, unit, defaults=True)

    def _partial(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        """A function that is given some of its arguments, by the call that says which."""
        return frozenset(Foreign(v.name, node) if isinstance(v, Foreign) else v for v in given.first)

    def _keep(self, given: Arguments, node: ast.Call, unit: Unit) -> None:
        """An object of a library that keeps what it is given, each under the name it was given by."""
        for key, values in given.named.items():
            self.store.add(values, "attribute", node, key)

    def _option(self, given: Arguments, node: ast.Call, unit: Unit) -> None:
        """An option of a command line is what its type makes of a text, or its default; plain values stay unknown."""
        held = self.values.get(node.func.value, NOTHING) if isinstance(node.func, ast.Attribute) else NOTHING
        spellings = [text for each in given.positional for text in _texts(each)]
        dest = option_name(spellings, next(iter(_texts(given.named.get("dest", NOTHING))), ""))
        made = frozenset(
            value
            for kind in given.named.get("type", NOTHING)
            for value in self.apply(kind, Arguments([], {}, NOTHING), node, unit)
        )
        paths = [v for v in made | given.named.get("default", NOTHING) if isinstance(v, Foreign) and v.name == PATH]
        for parser in held if dest and paths else ():
            if isinstance(parser, Foreign) and parser.node is not None:
                self.store.put(Box(parser.node), dest, paths)

    def _itself(self, given: Arguments, node: ast.Call, unit: Unit) -> Values | None:
        """What a method is called on."""
        return self.values.get(node.func.value) if isinstance(node.func, ast.Attribute) else None

    def _parsed(self, given: Arguments, node: ast.Call, unit: Unit) -> None:
        """The options of a command line, each by its name."""
        held = self.values.get(node.func.value, NOTHING) if isinstance(node.func, ast.Attribute) else NOTHING
        parsers = (each for each in held if isinstance(each, Foreign))
        for box in (Box(each.node) for each in parsers if each.node is not None):
            for key in self.store.keys(box):
                self.store.add(self.store.item(box, key), "attribute", node, key)

    def _named(self, text: str, node: ast.Call, unit: Unit) -> Values:
        """What a text stands for that is a name with dots."""
        first, *rest = text.split(".")
        found = self.lookup(first, unit.lexical.scope(node), unit) if text.replace(".", "").isidentifier() else NOTHING
        for each in rest:
            found = self.attribute(found, each)
        return found

    def _keyed(self, given: Arguments, node: ast.Call, unit: Unit, *, defaults: bool) -> Values:
        """A dict; with `defaults`, one that makes its items by its first argument when they are missing."""
        box, first = Box(node), given.first
        for each in first if defaults else ():
            filled = isinstance(each, Foreign) and each.name in ("builtins.list", "builtins.dict")
            inside = {Box(node.args[0])} if filled else self.apply(each, Arguments([], {}, NOTHING), node, unit)
            self.store.put(box, ANY, inside)
        self.pour(first if not defaults else given.positional[1] if len(given.positional) > 1 else NOTHING, box)
        for key, values in given.named.items():
            self.store.put(box, key, values)
        return frozenset({box})

    def _fluent(self, callee: Foreign, node: ast.Call, unit: Unit) -> Values:
        """The object of a method that gives it back: made by this call if it is no instance of the program."""
        receivers = self.values.get(node.func.value, NOTHING) if isinstance(node.func, ast.Attribute) else NOTHING
        own = frozenset(value for value in receivers if isinstance(value, Instance))
        if own:
            return own
        return frozenset({Foreign(callee.name.rpartition(".")[0], node)})

    def _zip(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        box, row = Box(node), Box(node.func)
        for number, values in enumerate(given.positional):
            self.store.put(row, number, items(values, self.store))
        if given.rest:
            self.store.put(row, ANY, items(given.rest, self.store))
        self.store.put(box, ANY, [row])
        return frozenset({box})

    def _super(self, given: Arguments, node: ast.Call, unit: Unit) -> Values:
        """The bases of the class around a call of `super`, as instances."""
        for above in unit.lexical.ancestors(node):
            if isinstance(above, ast.ClassDef):
                bases = self.lineage(Class(above))[1:]
                own = {Instance(base) for base in bases if isinstance(base, Class)}
                return frozenset({*own, *(Foreign(b.name + "()", above) for b in bases if isinstance(b, Foreign))})
        return NOTHING


def _texts(values: Values) -> list[str]:
    """The texts that something may be."""
    return [each.value for each in values if isinstance(each, Constant) and isinstance(each.value, str)]


_PARSER = "argparse.ArgumentParser()"
_KNOWN: dict[str, Known] = {
    "builtins.zip": Calls._zip,
    "builtins.enumerate": Calls._enumerate,
    "builtins.next": Calls._next,
    "builtins.getattr": Calls._getattr,
    "builtins.eval": Calls._eval,
    "importlib.import_module": Calls._import_module,
    **dict.fromkeys(("builtins.globals", "builtins.vars"), Calls._namespace),
    "builtins.locals": Calls._locals,
    "builtins.setattr": Calls._setattr,
    "builtins.dict": Calls._new_dict,
    "collections.defaultdict": Calls._new_defaultdict,
    "builtins.super": Calls._super,
    "functools.partial": Calls._partial,
    f"{_PARSER}.add_argument": Calls._option,
    **dict.fromkeys((f"{_PARSER}.add_argument_group", f"{_PARSER}.add_mutually_exclusive_group"), Calls._itself),
    **dict.fromkeys((f"{_PARSER}.parse_args", f"{_PARSER}.parse_known_args"), Calls._parsed),
    **dict.fromkeys(("tensorflow.train.Checkpoint", "argparse.Namespace", "types.SimpleNamespace"), Calls._keep),
}
"""What calls of these functions and classes give; None for an object that the library makes."""
