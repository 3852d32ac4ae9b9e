"""The modules `os`, `sys`, `time`, `pathlib`, `typing` and their kin, as far as programs lean on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.dicts import record_of
from distml.ops.registry import op
from distml.values import Const, DictRecord, ListRecord, Num, Prim, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = "os.path.relpath os.path.commonpath os.readlink"
_TEXT += " time.strftime time.ctime time.asctime tempfile.mkdtemp tempfile.gettempdir"
_TEXT += " socket.gethostname platform.node platform.system platform.machine platform.platform getpass.getuser"
_TEXT += (
    " secrets.token_hex secrets.token_urlsafe textwrap.dedent textwrap.indent textwrap.fill pprint.pformat json.dumps"
)
_TEXT += " string.capwords inspect.getsource traceback.format_exc shutil.which"

_TESTS = "os.path.exists os.path.isfile os.path.isdir os.path.islink os.path.isabs os.path.samefile os.access"
_TESTS += " sys.stdout.isatty sys.stdin.isatty sys.stderr.isatty fnmatch.fnmatch gc.isenabled"

_REAL = "time.time time.perf_counter time.monotonic time.process_time time.thread_time os.path.getmtime timeit.timeit"
_REAL += " os.path.getctime os.path.getatime timeit.default_timer"

_WHOLE = "time.time_ns time.perf_counter_ns time.monotonic_ns os.path.getsize sys.getsizeof sys.getrecursionlimit"
_WHOLE += " gc.collect os.getpid os.getppid sys.getrefcount multiprocessing.cpu_count threading.active_count"

_NOTHING = "os.makedirs os.mkdir os.remove os.rmdir os.rename os.chdir os.unlink os.putenv os.unsetenv time.sleep"
_NOTHING += " sys.setrecursionlimit sys.stdout.write sys.stdout.flush sys.stderr.write sys.stderr.flush pprint.pprint"
_NOTHING += " logging.basicConfig logging.info logging.debug logging.warning logging.error logging.critical gc.disable"
_NOTHING += " logging.exception logging.log logging.disable warnings.warn warnings.filterwarnings gc.enable gc.freeze"
_NOTHING += " warnings.simplefilter shutil.rmtree sys.path.insert sys.path.append atexit.register signal.signal"
_NOTHING += " traceback.print_exc logging.captureWarnings json.dump"


def _register(names: str, result: Callable[[Call], Value]) -> None:
    for name in names.split():
        _one(name, result)


def _one(name: str, result: Callable[[Call], Value]) -> None:
    def rule(call: Call, *args: Value, **named: Value) -> Value:
        return result(call)

    rule.__doc__ = f"{name}: https://docs.python.org/3/library/{name.partition('.')[0]}.html"
    op(name)(rule)


_register(_TEXT, lambda call: Prim("str"))
_register(_TESTS, lambda call: Prim("bool"))
_register(_REAL, lambda call: Prim("float"))
_register(_WHOLE, lambda call: Num(call.symbol("number")))
_register(_NOTHING, lambda call: NONE)


@op("os.listdir", "glob.glob", "os.walk", "os.scandir", "sys.exc_info")
def listing(call: Call, *args: Value, **named: Value) -> Value:
    """os.listdir(path): https://docs.python.org/3/library/os.html#os.listdir"""
    if call.name in ("os.listdir", "glob.glob"):
        return call.world.allocate(ListRecord(None, Prim("str")))
    return call.unknown()


@op("os.getenv", "os.environ.get", "os.cpu_count")
def getenv(call: Call, key: Value = NONE, default: Value = NONE) -> Value:
    """os.getenv(key, default): https://docs.python.org/3/library/os.html#os.getenv"""
    return call.unknown(call.text if key == NONE else f"os.environ[{key!r}]")


@op("typing.cast")
def cast(call: Call, typ: Value, val: Value) -> Value:
    """typing.cast(typ, val): https://docs.python.org/3/library/typing.html#typing.cast"""
    return val


@op("typing.assert_type", "typing.reveal_type", "typing_extensions.assert_type", "typing_extensions.reveal_type")
def assert_type(call: Call, val: Value, typ: Value = NONE, /) -> Value:
    """typing.assert_type(val, typ): https://docs.python.org/3/library/typing.html#typing.assert_type"""
    return val


@op("typing.TypeVar", "typing.ParamSpec", "typing.TypeVarTuple", "typing.NewType", "typing.get_type_hints")
@op("typing.get_args", "typing.get_origin", "typing_extensions.TypeVar", "typing_extensions.ParamSpec")
def type_thing(call: Call, *args: Value, **named: Value) -> Value:
    """typing.TypeVar(name): https://docs.python.org/3/library/typing.html#typing.TypeVar"""
    return call.unknown("type")


@op("builtins.vars")
def vars_(call: Call, object: Value, /) -> Value:
    """vars(object): https://docs.python.org/3/library/functions.html#vars"""
    attrs = call.attrs(object)
    if attrs is None or record_of(call, object) is not None:
        return call.unknown()
    visible: dict[Value, Value] = {Const(name): value for name, value in attrs.items() if not name.startswith("__")}
    return call.world.allocate(DictRecord(visible, exact=True))
