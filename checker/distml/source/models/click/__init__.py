"""click: https://click.palletsprojects.com/en/stable/

A command that is run plainly gets the defaults of its options. What must be given, is asked for or read from the
environment is unknown, and so is what a command line out of the ordinary gives.
"""

import functools
import sys

from _elsewhere import asked, chosen, note, noted
from click.exceptions import Abort, BadParameter, ClickException, Exit, UsageError
from click.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    UUID,
    Choice,
    DateTime,
    File,
    FloatRange,
    IntRange,
    ParamType,
    Path,
    Tuple,
)


def _name_of(names):
    plain = [each for each in names if each.isidentifier()]
    if plain:
        return plain[0]
    long = [each for each in names if each.startswith("--")]
    first = (long or names)[0].split("/")[0].strip()
    return first.lstrip("-").replace("-", "_").lower()


def _is_plain(value):
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))


def _guessed(default):
    """The type of an option that names none."""
    if isinstance(default, bool):
        return BOOL
    if isinstance(default, int):
        return INT
    return FLOAT if isinstance(default, float) else None


class Parameter:
    """An option or an argument as it was declared."""

    def __init__(self, names, attrs, is_option):
        self.name = _name_of(names)
        self.flags = tuple([each.strip() for name in names for each in name.split("/")])
        self.is_option = is_option
        self.default = attrs.get("default")
        kind = attrs.get("type", _guessed(self.default))
        self.type = BOOL if kind is bool else kind
        self.nargs = attrs.get("nargs", 1)
        self.callback = (attrs["callback"],) if attrs.get("callback") is not None else ()
        self.several = attrs.get("multiple", False) or self.nargs != 1
        self.counts = attrs.get("count", False)
        self.exposed = attrs.get("expose_value", True)
        switch = any(["/" in each for each in names])
        self.is_flag = attrs.get("is_flag", switch)
        odd = "cls" in attrs or attrs.get("prompt", False) or "envvar" in attrs or "flag_value" in attrs
        needed = not is_option and "default" not in attrs and self.nargs != -1
        self.open = attrs.get("required", needed) or odd

    def converted(self, value):
        """A value of the command line, or a default, as the type makes it."""
        if self.type is None or value is None:
            return value
        if isinstance(self.type, ParamType):
            return self.type.convert(value, self, None)
        if isinstance(self.type, (list, tuple)):
            return value
        return self.type(value)

    def plain(self):
        """What the parameter is when the command line does not say."""
        if self.open or not (_is_plain(self.default) or isinstance(self.type, Choice)):
            return asked(self.name)
        if self.counts and self.default is None:
            return 0
        if self.is_flag:
            return bool(self.default)
        if self.several:
            if isinstance(self.type, (list, tuple)):
                return self.default
            return () if self.default is None else tuple([self.converted(each) for each in self.default])
        return self.converted(self.default)


class Context:
    """What a command knows of its run."""

    def __init__(self, command, parents, obj):
        self.command = command
        self.parent = parents[0] if parents else None
        self.obj = parents[0].obj if parents and obj is None else obj
        self.info_name = command.name
        self.params = {}
        self.meta = {}
        self.invoked_subcommand = None

    def ensure_object(self, object_type):
        if self.obj is None:
            self.obj = object_type()
        return self.obj

    def find_root(self):
        return self if self.parent is None else self.parent.find_root()

    def invoke(self, callback, *args, **kwargs):
        if isinstance(callback, Command):
            values = {each.name: each.plain() for each in callback.params}
            values.update(kwargs)
            return _handed(callback.callback, Context(callback, (self,), None), values)
        return callback(*args, **kwargs)

    def exit(self, code=0):
        raise Exit(code)

    def fail(self, message):
        raise UsageError(message)

    def abort(self):
        raise Abort()


class _Passing:
    """A function that gets something of the context first."""

    def __init__(self, function, what):
        self.function = function
        self.what = what

    def __call__(self, *args, **kwargs):
        return self.function(asked(), *args, **kwargs)


def pass_context(f):
    return functools.update_wrapper(_Passing(f, "context"), f)


def pass_obj(f):
    return functools.update_wrapper(_Passing(f, "obj"), f)


def _handed(callback, context, values):
    """Call the function of a command."""
    if isinstance(callback, _Passing):
        first = context if callback.what == "context" else context.obj
        return callback.function(first, **values)
    return callback(**values)


def _code(callback):
    return callback.function if isinstance(callback, _Passing) else callback


class Command:
    """Command(name, callback, params)."""

    def __init__(self, name, callback=None, params=(), **attrs):
        self.name = name
        self.callback = callback
        for each in params:
            note(self, each)
        self.settings = "context_settings" in attrs and "default_map" in attrs["context_settings"]
        if not isinstance(self, Group):
            chosen(self.plainly, _code(callback))

    @property
    def params(self):
        return tuple([each for each in noted(self) if isinstance(each, Parameter)])

    def plainly(self):
        """Run the command as one does who gives no options."""
        return self.run(self.entered((), None), {})

    def entered(self, parents, obj):
        """A context for a run, those of the groups above it first."""
        for group in [each for each in noted(self) if isinstance(each, Group)]:
            above = group.entered((), obj)
            above.invoked_subcommand = self.name
            group.run(above, {})
            parents = (above,)
        return Context(self, parents, obj)

    def run(self, context, given):
        values = {}
        for each in self.params:
            value = given[each.name] if each.name in given else each.plain()
            if self.settings or "" in given:
                value = asked(each.name)
            for callback in each.callback:
                value = callback(context, each, value)
            if each.exposed:
                values[each.name] = value
        context.params.update(values)
        return _handed(self.callback, context, values)

    def read(self, words):
        """The values that a command line gives; something under an empty name where it is out of the ordinary."""
        given = {}
        position = 0
        while position < len(words):
            flag, equals, text = words[position].partition("=")
            found = [each for each in self.params if each.is_option and flag in each.flags]
            if not found or found[0].several or found[0].counts:
                return {"": None}
            if found[0].is_flag:
                given[found[0].name] = flag == found[0].flags[0] or not flag.startswith("--no")
            elif equals:
                given[found[0].name] = found[0].converted(text)
            elif position + 1 < len(words):
                position = position + 1
                given[found[0].name] = found[0].converted(words[position])
            else:
                return {"": None}
            position = position + 1
        return given

    def start(self, words, obj):
        return self.run(self.entered((), obj), self.read(words))

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, obj=None, **extra):
        value = self.start(() if args is None else args, obj)
        if standalone_mode:
            sys.exit(0)
        return value

    def __call__(self, *args, **kwargs):
        return self.main(*args, **kwargs)


class Group(Command):
    """Group(name): a command that leads to others."""

    def __init__(self, name=None, callback=None, params=(), invoke_without_command=False, **attrs):
        super().__init__(name, callback, params, **attrs)
        self.alone = invoke_without_command

    @property
    def commands(self):
        return {each[0]: each[1] for each in noted(self) if isinstance(each, tuple)}

    def add_command(self, cmd, name=None):
        note(cmd, self)
        note(self, (name or cmd.name, cmd))

    def _adding(self, make, name, options):
        def decorate(f):
            made = make(name, **options)(f)
            self.add_command(made)
            return made

        if name is None or isinstance(name, str):
            return decorate
        made = make(name)
        self.add_command(made)
        return made

    def command(self, name=None, **options):
        return self._adding(command, name, options)

    def group(self, name=None, **options):
        return self._adding(group, name, options)

    def start(self, words, obj):
        if not words:
            if self.alone:
                return self.run(self.entered((), obj), {})
            sys.exit(2)
        commands = self.commands
        if words[0] in commands:
            return commands[words[0]].start(words[1:], obj)
        return asked(words)


def _declared(f):
    return [each for each in reversed(noted(f)) if isinstance(each, Parameter)]


def _made(f, name, kind, attrs):
    function = _code(f)
    return kind(name or function.__name__.lower().replace("_", "-"), f, _declared(f), **attrs)


def command(name=None, cls=None, **attrs):
    """command(name, cls): makes a command of a function."""
    if cls is not None:
        return asked
    if name is None or isinstance(name, str):
        return lambda f: _made(f, name, Command, attrs)
    return _made(name, None, Command, attrs)


def group(name=None, cls=None, **attrs):
    """group(name, cls): makes a group of a function."""
    if cls is not None:
        return asked
    if name is None or isinstance(name, str):
        return lambda f: _made(f, name, Group, attrs)
    return _made(name, None, Group, attrs)


def _declaring(names, attrs, is_option):
    def decorate(f):
        declared = Parameter(names, attrs, is_option)
        note(f, declared)
        return f

    return decorate


def option(*param_decls, cls=None, **attrs):
    """option(*param_decls, **attrs): declares an option of a command."""
    return _declaring(param_decls, attrs if cls is None else {**attrs, "cls": cls}, True)


def argument(*param_decls, cls=None, **attrs):
    """argument(*param_decls, **attrs): declares an argument of a command."""
    return _declaring(param_decls, attrs if cls is None else {**attrs, "cls": cls}, False)


def _ending(*param_decls, **attrs):
    """An option that shows something and ends the program."""
    return lambda f: f


version_option = _ending
help_option = _ending


def echo(message=None, file=None, nl=True, err=False, color=None):
    return None


def secho(message=None, file=None, nl=True, err=False, color=None, **styles):
    return None


def get_app_dir(app_name, roaming=True, force_posix=False):
    return str(asked(app_name))
