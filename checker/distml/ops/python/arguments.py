"""The module `argparse`: a script that is run plainly gets the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, UNKNOWN, Call
from distml.ops.python.dicts import record_of
from distml.ops.python.iterating import drawn
from distml.ops.registry import op
from distml.values import Const, DictRecord, InstanceRecord, Lib, Many, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

PARSER, NAMESPACE = Lib("argparse.ArgumentParser"), Lib("argparse.Namespace")

_DEFAULTS, _OPTIONS = "__defaults__", "__options__"
"""What a parser keeps: the value of each attribute, and how each option sets one. Groups share their parser's."""

_OWN, _COMMANDS, _CHOSEN = "__own__", "__commands__", "__chosen__"
"""What the parser of a subcommand keeps of its own defaults; the parsers by command; the attribute that holds the command."""


def _methods(name: str) -> tuple[str, ...]:
    return tuple(f"argparse.{kind}.{name}" for kind in ("ArgumentParser", "_ArgumentGroup"))


@op("argparse.ArgumentParser")
def argument_parser(call: Call, prog: Value = NONE, *args: Value, **options: Value) -> Value:
    """ArgumentParser(): https://docs.python.org/3/library/argparse.html#argumentparser-objects"""
    made: dict[str, Value] = {each: call.world.allocate(DictRecord({})) for each in (_DEFAULTS, _OPTIONS)}
    parser = call.world.allocate(InstanceRecord(PARSER, made, exact=False))
    _inherit(call, parser, options)
    return parser


def _inherit(call: Call, parser: Value, options: Mapping[str, Value]) -> None:
    """What a parser has from its `parents`."""
    for parent in call.items(options.get("parents", Tup(()))) or ():
        defaults, declared = _table(call, parent, _DEFAULTS), _table(call, parent, _OPTIONS)
        if defaults is None or declared is None:
            _forget(call, parser)
            continue
        for key, value in defaults.items.items():
            _set(call, parser, key, value, override=True)
        _put(call, parser, _OPTIONS, declared.items, exact=declared.exact)
        if not defaults.exact:
            _forget(call, parser)


@op(*_methods("add_argument_group"), *_methods("add_mutually_exclusive_group"))
def group(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """ArgumentParser.add_argument_group(): https://docs.python.org/3/library/argparse.html#argument-groups"""
    attrs = call.attrs(self)
    if attrs is None:
        return call.unknown()
    shared = {name: attrs[name] for name in (_DEFAULTS, _OPTIONS, _OWN) if name in attrs}
    return call.world.allocate(InstanceRecord(PARSER, shared, exact=False))


@op(*_methods("add_subparsers"))
def add_subparsers(call: Call, self: Value, **options: Value) -> Value:
    """ArgumentParser.add_subparsers(): https://docs.python.org/3/library/argparse.html#sub-commands"""
    attrs = call.attrs(self)
    if attrs is None or not isinstance(self, Ref):
        return call.unknown()
    dest = options.get("dest", NONE)
    if isinstance(dest, Const) and dest != NONE:
        _set(call, self, dest, call.unknown(f"args.{dest.value}"))
    kept = {**attrs, _COMMANDS: call.world.allocate(DictRecord({})), _CHOSEN: dest}
    call.world.replace(self, InstanceRecord(PARSER, kept, exact=False))
    return call.world.allocate(InstanceRecord(PARSER, dict(kept), exact=False))


@op(*_methods("add_parser"))
def add_parser(call: Call, self: Value, name: Value = NONE, **options: Value) -> Value:
    """add_parser(name): https://docs.python.org/3/library/argparse.html#sub-commands

    What it declares counts among all defaults too, for a command line that is not known.
    """
    attrs = call.attrs(self)
    if attrs is None or _COMMANDS not in attrs:
        return call.unknown()
    made = {_DEFAULTS: attrs[_DEFAULTS], **{each: call.world.allocate(DictRecord({})) for each in (_OPTIONS, _OWN)}}
    parser = call.world.allocate(InstanceRecord(PARSER, made, exact=False))
    _inherit(call, parser, options)
    _put(call, self, _COMMANDS, dict.fromkeys((name, *(call.items(options.get("aliases", NONE)) or ())), parser))
    return parser


@op(*_methods("set_defaults"))
def set_defaults(call: Call, self: Value, **named: Value) -> Value:
    """ArgumentParser.set_defaults(): https://docs.python.org/3/library/argparse.html#parser-defaults"""
    for name, value in named.items():
        _set(call, self, Const(name), value, override=True)
    return NONE


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as it was declared."""

    dest: str
    flags: tuple[str, ...]
    action: str
    default: Value | None
    type: Value
    nargs: Value
    const: Value


@op(*_methods("add_argument"))
def add_argument(call: Call, self: Value, *name_or_flags: Value, **options: Value) -> Value:
    """ArgumentParser.add_argument(): https://docs.python.org/3/library/argparse.html#the-add-argument-method"""
    argument = _declared(call, name_or_flags, options)
    if argument is None or argument.default == Lib("argparse.SUPPRESS"):
        _forget(call, self)
        return call.unknown()
    _set(call, self, Const(argument.dest), _value(call, argument, required=_flag(options.get("required", FALSE))))
    spec = Tup((Const(argument.dest), Const(argument.action), argument.type, argument.const, argument.nargs))
    _put(call, self, _OPTIONS, {Const(flag): spec for flag in argument.flags})
    return call.unknown()


def _flag(value: Value) -> bool:
    return not isinstance(value, Const) or bool(value.value)


def _declared(call: Call, names: tuple[Value, ...], options: Mapping[str, Value]) -> Argument | None:
    """The argument declared; None when its name is not known."""
    texts = [call.const(name, str) for name in names]
    dest = call.const(options.get("dest", NONE))
    if UNKNOWN in texts or dest is UNKNOWN or not (texts or dest):
        return None
    flags = tuple(text for text in texts if text.startswith("-"))
    if dest is None:
        first = next((text for text in flags if text.startswith("--")), texts[0])
        dest = first.lstrip("-").replace("-", "_") if flags else first
    action = options.get("action", Const("store"))
    known = call.const(action, str)
    if isinstance(action, Lib):
        known = "store_boolean" if action.name == "argparse.BooleanOptionalAction" else UNKNOWN
    if known in ("help", "version"):
        return Argument("", (), known, NONE, NONE, NONE, NONE)
    return Argument(
        str(dest),
        flags,
        known if isinstance(known, str) else "unknown",
        options.get("default"),
        options.get("type", NONE),
        options.get("nargs", NONE),
        options.get("const", NONE),
    )


def _value(call: Call, argument: Argument, *, required: bool) -> Value:
    """What the attribute is when the argument is not given."""
    unknown = call.unknown(f"args.{argument.dest}")
    optional = bool(argument.flags) and not required
    positional = call.const(argument.nargs)
    if not optional and not (not argument.flags and positional in ("?", "*")):
        return unknown
    if argument.action == "unknown":
        return unknown if argument.default is None else argument.default
    if argument.default is None:
        if argument.action in ("store_true", "store_false"):
            return TRUE if argument.action == "store_false" else FALSE
        return call.list_of(()) if not argument.flags and positional == "*" else NONE
    return _converted(call, argument.type, argument.default)


def _converted(call: Call, type: Value, value: Value) -> Value:
    """A default that is a string goes through the type, as the command line's would."""
    if isinstance(value, Const) and isinstance(value.value, str) and type != NONE:
        return call.apply(type, value)
    return value


@op(*_methods("parse_args"), *_methods("parse_intermixed_args"))
def parse_args(call: Call, self: Value, args: Value = NONE, namespace: Value = NONE) -> Value:
    """ArgumentParser.parse_args(): https://docs.python.org/3/library/argparse.html#the-parse-args-method"""
    defaults = _table(call, self, _DEFAULTS)
    if defaults is None:
        return call.unknown("args")
    attrs = {str(k.value): v for k, v in defaults.items.items() if isinstance(k, Const) and k.value}
    exact = defaults.exact
    given: tuple[Value, ...] | Many = () if args == NONE else drawn(call, args)
    if isinstance(given, Many):
        given = ()
    read = _read(call, self, given) if given else {}
    if read is None:
        attrs = {name: call.unknown(f"args.{name}") for name in attrs}
    else:
        attrs.update(read)
    record = call.world.record(namespace) if isinstance(namespace, Ref) else None
    if isinstance(record, InstanceRecord) and isinstance(namespace, Ref):
        call.world.replace(namespace, InstanceRecord(record.cls, {**record.attrs, **attrs}, record.exact and exact))
        return namespace
    return call.world.allocate(InstanceRecord(NAMESPACE, attrs, exact))


@op(*_methods("parse_known_args"), *_methods("parse_known_intermixed_args"))
def parse_known_args(call: Call, self: Value, args: Value = NONE, namespace: Value = NONE) -> Value:
    """ArgumentParser.parse_known_args(): https://docs.python.org/3/library/argparse.html#partial-parsing"""
    return Tup((parse_args(call, self, args, namespace), call.list_of(()) if args == NONE else call.unknown()))


def _read(call: Call, self: Value, given: tuple[Value, ...]) -> dict[str, Value] | None:
    """The attributes that a known command line sets; None when it holds anything out of the ordinary."""
    options = _table(call, self, _OPTIONS)
    words = [call.const(word, str) for word in given]
    if options is None or UNKNOWN in words:
        return None
    found: dict[str, Value] = {}
    position = 0
    while position < len(words):
        flag, equals, rest = words[position].partition("=")
        command = _command(call, self, words[position], given[position + 1 :])
        if command is not None:
            return {**found, **command}
        spec = call.items(options.items.get(Const(flag), NONE))
        if spec is None or spec[4] != NONE:
            return None
        dest, action = str(call.const(spec[0])), call.const(spec[1])
        if action in ("store_true", "store_false"):
            found[dest] = TRUE if action == "store_true" else FALSE
        elif action == "store_const":
            found[dest] = spec[3]
        elif action == "store" and (equals or position + 1 < len(words)):
            position += 0 if equals else 1
            text = rest if equals else words[position]
            found[dest] = _converted(call, spec[2], Const(text))
        else:
            return None
        position += 1
    return found


def _command(call: Call, self: Value, word: str, rest: tuple[Value, ...]) -> dict[str, Value] | None:
    """The attributes that a subcommand sets, with the words behind it; None where a word is none, or they are not read."""
    commands, attrs = _table(call, self, _COMMANDS), call.attrs(self) or {}
    parser = commands.items.get(Const(word)) if commands is not None else None
    own = _table(call, parser, _OWN) if parser is not None else None
    read = _read(call, parser, rest) if parser is not None else None
    if own is None or read is None:
        return None
    dest = attrs.get(_CHOSEN, NONE)
    named = {str(dest.value): Const(word)} if isinstance(dest, Const) and dest != NONE else {}
    return {**named, **{str(each.value): value for each, value in own.items.items() if isinstance(each, Const)}, **read}


@op(*_methods("get_default"))
def get_default(call: Call, self: Value, dest: Value) -> Value:
    """ArgumentParser.get_default(dest): https://docs.python.org/3/library/argparse.html#parser-defaults"""
    defaults = _table(call, self, _DEFAULTS)
    found = defaults.items.get(dest) if defaults is not None and isinstance(dest, Const) else None
    return call.unknown() if found is None else found


@op(*_methods("print_help"), *_methods("print_usage"), *_methods("register"))
def print_help(call: Call, self: Value, *args: Value) -> Value:
    """ArgumentParser.print_help(): https://docs.python.org/3/library/argparse.html#printing-help"""
    return NONE


def _table(call: Call, parser: Value, name: str) -> DictRecord | None:
    attrs = call.attrs(parser)
    return None if attrs is None or name not in attrs else record_of(call, attrs[name])


def _put(call: Call, parser: Value, name: str, items: Mapping[Value, Value], *, exact: bool = True) -> None:
    """Add to a table of a parser."""
    table, ref = _table(call, parser, name), (call.attrs(parser) or {}).get(name)
    if table is not None and isinstance(ref, Ref):
        call.world.replace(ref, DictRecord({**table.items, **items}, table.exact and exact))


def _set(call: Call, parser: Value, name: Value, value: Value, *, override: bool = False) -> None:
    """Set a default: the first declared stands; two subcommands that disagree leave it unknown."""
    own, table = _table(call, parser, _OWN), _table(call, parser, _DEFAULTS)
    if own is not None:
        _put(call, parser, _OWN, {name: value if override else own.items.get(name, value)})
    known = table.items.get(name) if table is not None else None
    if known is not None and known != value and own is not None:
        value = call.unknown(f"args.{name.value}" if isinstance(name, Const) else "args")
    elif known is not None and not override:
        value = known
    _put(call, parser, _DEFAULTS, {name: value})


def _forget(call: Call, parser: Value) -> None:
    """An argument of unknown name may set any attribute."""
    table, ref = _table(call, parser, _DEFAULTS), (call.attrs(parser) or {}).get(_DEFAULTS)
    if table is not None and isinstance(ref, Ref):
        call.world.replace(ref, DictRecord(dict(table.items), exact=False))
