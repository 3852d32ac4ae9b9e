"""typer: https://typer.tiangolo.com/reference/

A function that is run plainly gets the defaults of its parameters. What must be given, is asked for or read from the
environment is unknown.
"""

import inspect
import sys

from _elsewhere import asked, chosen, note, noted
from click import Abort, BadParameter, Choice, Context, Exit, echo, secho


class _Parameter:
    """What `Option` or `Argument` says of a parameter."""

    def __init__(self, args, options):
        self.args = args
        odd = any([name in options for name in ("envvar", "callback", "parser", "click_type", "default_factory")])
        self.open = odd or options.get("prompt", False)
        self.counts = options.get("count", False)


def Option(*args, **options):
    return _Parameter(args, options)


def Argument(*args, **options):
    return _Parameter(args, options)


def _converted(value, kind):
    """A default that is a string goes through the type, as the command line's would."""
    if (kind is int or kind is float) and isinstance(value, str):
        return kind(value)
    return value


def _plain(name, default, annotation, annotated):
    """What a parameter is when the command line does not say."""
    told = [each for each in annotated[1:] if isinstance(each, _Parameter)]
    if isinstance(default, _Parameter):
        told = [default]
        default = default.args[0] if default.args else inspect.Parameter.empty
    for each in told:
        if each.open:
            return asked(name)
        if each.counts:
            return default
    if default is inspect.Parameter.empty or default is ...:
        return asked(name)
    return _converted(default, annotation)


def _started(function, context):
    values = {}
    for name, parameter in inspect.signature(function).parameters.items():
        annotated = parameter._annotated
        annotation = annotated[0] if annotated else parameter.annotation
        if annotation is Context:
            values[name] = context
        else:
            values[name] = _plain(name, parameter.default, annotation, annotated)
    return function(**values)


def run(function):
    """Run a function as the only command."""
    _Command("main", function, ()).plainly()
    sys.exit(0)


class _Command:
    """A function that the user may choose."""

    def __init__(self, name, callback, apps):
        self.name = name
        self.callback = callback
        self.params = ()
        self.apps = apps

    def plainly(self):
        parents = ()
        for app in self.apps:
            parents = app.entered(self.name)
        return _started(self.callback, Context(self, parents, None))


class _Callback:
    """What runs before the commands of a group, and whether it runs without any of them."""

    def __init__(self, function, alone):
        self.function = function
        self.alone = alone


class Typer:
    """Typer(): functions that the user may choose from."""

    def __init__(self, name=None, callback=None, invoke_without_command=False, **options):
        self.name = name
        self.params = ()
        if callback is not None:
            self.callback(invoke_without_command)(callback)

    def command(self, name=None, **options):
        def decorate(f):
            made = _Command(name or f.__name__.replace("_", "-"), f, (self,))
            note(self, made)
            chosen(made.plainly, f)
            return f

        return decorate

    def callback(self, invoke_without_command=False, **options):
        def decorate(f):
            note(self, _Callback(f, invoke_without_command))
            return f

        return decorate

    def add_typer(self, typer_instance, **options):
        note(typer_instance, self)
        note(self, _Callback(None, False))

    def entered(self, name):
        """The context of this group in a run of one of its commands, those of the groups above it first."""
        parents = ()
        for app in [each for each in noted(self) if isinstance(each, Typer)]:
            parents = app.entered(self.name)
        context = Context(self, parents, None)
        context.invoked_subcommand = name
        for callback in [each for each in noted(self) if isinstance(each, _Callback)][-1:]:
            if callback.function is not None:
                _started(callback.function, context)
        return (context,)

    def __call__(self, *args, standalone_mode=True, **kwargs):
        if args or kwargs:
            return asked(args)
        value = None
        commands = [each for each in noted(self) if isinstance(each, _Command)]
        callbacks = [each for each in noted(self) if isinstance(each, _Callback)]
        if len(commands) == 1 and not callbacks:
            value = commands[0].plainly()
        elif callbacks and callbacks[-1].alone:
            self.entered(None)
        else:
            sys.exit(2)
        if standalone_mode:
            sys.exit(0)
        return value


def style(text, **styles):
    return text


def get_app_dir(app_name, roaming=True, force_posix=False):
    return str(asked(app_name))
