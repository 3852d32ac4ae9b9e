"""Every predicate that is decided is decided as Python, NumPy and PyTorch decide it; the others are left open.

The table is the product of values and questions. A question that raises for a value is not asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from distml.interp.arguments import Arguments
from distml.interp.machine import Machine
from distml.interp.truth import truth
from distml.values import NONE, Value

from interp.programs import Seen, errors_of

SETUP = """\
import abc
import collections
import collections.abc
import enum
import functools
import math
import numbers
import os
import platform
import sys
import typing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

class Plain:
    size = 3
    def __init__(self): self.own = 1
    def method(self): return 2
class Sized:
    def __len__(self): return 0
class Full:
    def __len__(self): return 2
    def __iter__(self): return iter((1, 2))
class Falsy:
    def __bool__(self): return False
class Caller:
    def __call__(self): return 1
class Sub(list): pass
class Own(dict): pass
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)
    def forward(self, x): return self.layer(x)
class Color(enum.Enum):
    RED = 0
class Number(enum.IntEnum):
    ZERO = 0
class Pair(NamedTuple):
    left: int
    right: int
@dataclass
class Point:
    x: int = 0
class Base(abc.ABC):
    @abc.abstractmethod
    def run(self): ...
class Made(Base):
    def run(self): return 1
class Walking(type):
    def __iter__(cls): return iter(())
class Walked(metaclass=Walking): pass
class Word(str, enum.Enum):
    A = "abc"
@typing.runtime_checkable
class Runs(typing.Protocol):
    def run(self): ...
class Hooked(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other): return hasattr(other, "__len__")
class Above(abc.ABC): pass
class Registered(Above): pass
Registered.register(Plain)
class Other(metaclass=abc.ABCMeta): pass
@Other.register
class Kept: pass
class Checking(type):
    def __instancecheck__(cls, value): return True
class Checked(metaclass=Checking): pass
Row = collections.namedtuple("Row", "a b")
def function(x): return x
def generator(): yield 1
missing = object()
x = np.ones((2, 3))
t = torch.ones(2, 3)
"""

VALUES = """\
0 1 -1 2.5 0.0 1j True False None ... NotImplemented "" "abc" b"" b"ab" () (1,) (1,2) [] [0,1] [None] {} {"shape":1} set() {1}
frozenset() frozenset({1}) range(0) range(3) slice(1) bytearray(b"a") object() missing function len print lambda:1 generator()
iter([1]) zip([1],[2]) map(abs,[1]) enumerate([1]) {"a":1}.keys() {"a":1}.values() {"a":1}.items() reversed([1]) Plain()
Plain Plain().method Sized() Full() Falsy() Caller() Sub() Sub([1]) Own() Own(a=1) Net() Color.RED Color Number.ZERO Pair(1,2)
Point() Made() Row(1,2) Row int list float np np.ndarray torch.Tensor collections.deque() collections.deque([1])
collections.OrderedDict() collections.OrderedDict(a=1) collections.defaultdict(list) collections.Counter("a")
functools.partial(max) functools.partial(function,1) np.zeros(()) np.zeros(0) np.zeros(3) np.zeros((0,2)) np.zeros((2,3))
np.array(1) np.array([1]) np.array(True) np.array("abc") np.array(None) np.array([True]) np.float64(1) np.float32(0) np.int64(0)
np.bool_(False) np.zeros(3)[0] np.zeros((2,3))[0] np.zeros(3).sum() np.ones(3).shape np.ones(3).dtype np.float32
np.dtype("int64") np.arange(3).mean() np.arange(3).max() np.ones(3).tolist() np.ones(()).item() np.ones(3,dtype=int)
torch.zeros(()) torch.zeros(0) torch.zeros(3) torch.zeros(0,2) torch.zeros(2,3) torch.tensor(1) torch.tensor([1])
torch.tensor(True) torch.tensor([0.5]) torch.tensor(1).item() torch.tensor([1,2]).tolist() torch.zeros(3)[0] torch.zeros(3).sum()
torch.zeros(2,3).shape torch.zeros(()).shape torch.zeros(2,3).size() torch.zeros(2,3).size(0) torch.zeros(2,3).dtype
torch.float32 torch.long torch.zeros(2,3).device torch.device("cpu") torch.zeros(3).numpy() torch.ones(3).bool()
nn.Parameter(torch.zeros(2)) nn.Linear(2,3) nn.Linear(2,3).weight nn.Linear(2,3,bias=False).bias nn.Sequential() nn.ReLU()
nn.ModuleList([nn.ReLU()]) nn.ModuleList() nn.ModuleDict() nn.Sequential(nn.ReLU()) torch.Size([2]) torch.Size() nn.Module()
torch.Generator() x.T t.T x.shape[0] t.numel() x.ndim t.dim() x.size x[0].shape t[0] x>0 t>0 (x>0).any() (t>0).all() x.astype
t.view Net().layer Net().forward Plain().own nn.ReLU
Walked Made Base Pair Net Word.A Kept()
nn.Linear nn.GELU() nn.Dropout(0.5)
nn.LayerNorm(3) nn.BatchNorm2d(3) nn.Identity() nn.Embedding(2,3) nn.Conv2d(1,2,3)
torch.relu math.sqrt math.pi math.inf float("nan") sys.version_info os.environ os.sep sys.argv""".split()

TYPES = """\
int float bool complex str bytes tuple list dict set frozenset range slice type object numbers.Number numbers.Integral
numbers.Real np.ndarray np.generic np.number np.integer np.floating np.bool_ np.float64 torch.Tensor nn.Parameter nn.Module
nn.Linear nn.Sequential nn.ModuleList torch.Size torch.dtype torch.device collections.abc.Sequence collections.abc.Iterable
collections.abc.Mapping collections.abc.Callable collections.abc.Sized collections.abc.Hashable collections.abc.Iterator
collections.abc.MutableSequence collections.abc.Set collections.deque collections.OrderedDict collections.defaultdict
typing.Sequence typing.Mapping typing.Iterable typing.Callable Plain Sized Sub Own Net Color enum.Enum Pair Point Base
Runs Hooked Above Registered Other Kept Checked Word
type(None) (list,tuple) (int,float) (str,bytes) (np.ndarray,torch.Tensor) (list,np.ndarray)""".split()

NAMES = """\
__len__ __iter__ __call__ __array__ __getitem__ __next__ __bool__ __dict__ shape dtype device ndim size numpy detach item
tolist keys items append count index upper real imag T data weight bias grad forward parameters children own method layer
size left x value name missing_name _fields __name__ untyped_storage is_sparse flags strides nbytes numel dim cuda copy clone
read write values pop add requires_grad out_features training
init_weights inplace eps num_features normalized_shape fc1 p momentum""".split()

QUESTIONS = [
    "np.isscalar({})",
    "np.iterable({})",
    "np.ndim({}) == 0",
    "np.size({}) == 0",
    "np.shape({}) == ()",
    "np.isrealobj({})",
    "np.iscomplexobj({})",
    "np.issubdtype({}, np.floating)",
    "torch.is_tensor({})",
    "torch.is_floating_point({})",
    "torch.is_complex({})",
    "torch.is_storage({})",
    "callable({})",
    "{} is None",
    "{} is not None",
    "{} is ...",
    "{} is missing",
    "{} is True",
    "{} == None",
    "{} == 0",
    "{} == 1",
    "{} != 1",
    "{} == 'abc'",
    "{} == ()",
    "{} == []",
    "{} == (2, 3)",
    "{} == [2, 3]",
    "{} == torch.float32",
    "{} == np.float64",
    "{} == 'float64'",
    "{} == torch.Size([2, 3])",
    "{} in (0, 1, 2)",
    "{} in ('abc', None)",
    "{} not in [None]",
    "0 in {}",
    "'a' in {}",
    "None in {}",
    "bool({})",
    "not {}",
    "len({}) == 0",
    "len({}) > 1",
    "any({})",
    "all({})",
    "type({}) is list",
    "type({}) is int",
    "type({}) == tuple",
    "type({}) is torch.Tensor",
    "type({}) is np.ndarray",
    "type({}) in (list, tuple)",
    "type({}).__name__ == 'list'",
    "type({}).__name__ == 'Tensor'",
    "issubclass(type({}), list)",
    "issubclass(type({}), np.ndarray)",
    "issubclass({}, nn.Module)",
    "issubclass({}, object)",
    "isinstance({}, type)",
    "{} < 1",
    "{} >= 0",
    "{} > 0.5",
    "math.isnan({})",
    "math.isinf({})",
    "math.isfinite({})",
    "np.isnan({})",
    "math.isclose({}, 1)",
    "float({}).is_integer()",
    "isinstance(getattr({}, 'shape', None), tuple)",
    "getattr({}, 'ndim', None) is None",
    "getattr({}, 'missing_name', None) is None",
    "getattr({}, '__len__', None) is None",
    "getattr({}, 'untyped_storage', None) is None",
    "str({}) == 'abc'",
    "str({}).startswith('a')",
    "str({}).isdigit()",
    "repr({}) == '1'",
    "id({}) == 0",
    "hash({}) == 1",
    "np.array_equal({}, 1)",
    "np.allclose({}, 1)",
    "{}.numel() == 0",
    "{}.ndim == 0",
    "{}.dim() == 2",
    "{}.size == 0",
    "{}.size(0) == 2",
    "{}.shape == (2, 3)",
    "{}.shape[0] == 2",
    "{}.shape == torch.Size([2, 3])",
    "len({}.shape) == 2",
    "{}.dtype == torch.float32",
    "{}.dtype == np.float64",
    "{}.dtype.is_floating_point",
    "{}.dtype.kind == 'f'",
    "{}.dtype == bool",
    "{}.dtype is torch.long",
    "{}.device.type == 'cpu'",
    "{}.is_cuda",
    "{}.requires_grad",
    "{}.is_floating_point()",
    "{}.is_contiguous()",
    "{}.training",
    "{}.bias is None",
    "{}.T.shape == {}.shape",
    "isinstance({}.shape, tuple)",
    "isinstance({}.size, int)",
    *(f"isinstance({{}}, {name})" for name in TYPES),
    *(f"hasattr({{}}, {name!r})" for name in NAMES),
]

ALONE = """\
typing.TYPE_CHECKING;__debug__;sys.version_info >= (3, 8);sys.version_info[0] == 3;sys.version_info.major < 3
sys.version_info < (3, 0);sys.maxsize > 2**32;platform.system() == "Linux";platform.system() == "Windows";sys.platform == "linux"
sys.platform.startswith("win");os.name == "nt";os.name == "posix";torch.cuda.is_available();torch.backends.mps.is_available()
torch.cuda.device_count() > 0;torch.cuda.device_count() == 0;len(sys.argv) > 1;bool(sys.argv);"HOME" in os.environ
os.environ.get("NOT_THERE") is None;os.environ.get("NOT_THERE", "0") == "0";os.getenv("NOT_THERE", "1") == "1"
os.path.exists("/nowhere");os.path.isdir("/");__name__ == "__main__";torch.is_grad_enabled();torch.distributed.is_available()
int(np.__version__.split(".")[0]) >= 1;np.__version__ < "1.0";torch.__version__ < "1.0";hasattr(np, "int");hasattr(np, "array")
hasattr(torch, "compile");hasattr(nn, "Missing");hasattr(math, "tau");hasattr(np, "Missing");hasattr(torch.nn, "RMSNorm")
"linux" in sys.platform;"abc".startswith("a");"abc".endswith("bc");"a" in "abc";"abc" == "ab" + "c";"abc".isalpha();"1".isdigit()
"a,b".split(",") == ["a", "b"];"".join(["a", "b"]) == "ab";"abc"[0] == "a";"ABC".lower() == "abc";"abc".find("z") < 0
"abc" < "abd";sorted([3, 1]) == [1, 3];max(1, 2) == 2;sum([1, 2]) == 3;any([]);all([]);any(x > 2 for x in [1, 3])
all(isinstance(i, int) for i in [1, 2]);all(i is None for i in [None]);math.sqrt(16) == 4;math.prod([2, 3]) == 6
math.gcd(4, 6) == 2;math.ceil(2.1) == 3;math.log2(8) == 3;2 ** 0.5 > 1.4;7 // 2 == 3;-7 // 2 == -4;7 % -2 == -1;0.1 + 0.2 == 0.3
1 == 1.0;True == 1;1 is 1;() is ();[] is [];None is None;None == 0;"1" == 1;(1, 2) < (1, 3);[1, 2] == (1, 2);{1: 2} == {1: 2.0}
{1, 2} == {2, 1};{1} <= {1, 2};float("nan") == float("nan");math.nan == math.nan;not math.nan;-0.0 == 0.0;round(2.5) == 2
isinstance(True, int);issubclass(bool, int);issubclass(Sub, list);issubclass(Net, nn.Module);issubclass(Plain, nn.Module)
x.shape == t.shape;x.shape == (2, 3);tuple(t.shape) == (2, 3);list(t.shape) == [2, 3];t.shape == x.shape[::-1];x.dtype == t.dtype
t.dtype == torch.float;t.dtype == torch.double;t.dtype != torch.float32
x.dtype == float;x.dtype == "float64";x.dtype is np.float64
t.shape[1:] == (3,);t.numel() == 6;x.size == 6;x.ndim == t.dim();t.shape[-1] in (3, 4);x.shape[0] % 2 == 0;t is t;x is t
torch.equal(t, t);np.array_equal(x, x);torch.allclose(t, t);bool(np.all(x));bool(t.any());len(t) == 2;t.shape[0] // 0.5 == 4
isinstance(Net().layer, nn.Linear);Net().layer.bias is None;hasattr(Net(), "layer");hasattr(Net(), "missing_name");Net().training
Color.RED is Color.RED;Color.RED == 0;Number.ZERO == 0;bool(Color.RED);Pair(1, 2) == (1, 2);isinstance(Pair(1, 2), tuple)
Point() == Point();Plain() == Plain();Plain().own == 1;Plain.size == 3;hasattr(Plain, "own");hasattr(Plain(), "own")""".replace(
    "\n", ";"
).split(";")


class Decided(Seen):
    """What the checker takes each question to answer, by line; `None` where it leaves it open."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[int, set[bool | None]] = defaultdict(set)

    def note(self, vm: Machine, arguments: Arguments, node: Any) -> Value:
        self.answers[node.lineno].add(truth(vm, arguments.args[0]))
        return NONE


def questions(namespace: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Every question that has an answer, and the answer."""
    asked = [question.replace("{}", value) for value in map(_part, VALUES) for question in QUESTIONS]
    for question in [*asked, *ALONE]:
        try:
            answer = eval(question, namespace)
        except Exception:
            continue
        if type(answer) is bool:
            yield question, answer


def _part(value: str) -> str:
    return value if value.isidentifier() or value.endswith((")", "]", "}")) else f"({value})"


@pytest.mark.requires("numpy", "torch")
@pytest.mark.filterwarnings("ignore")
def test_what_is_decided_is_decided_right() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SETUP, "setup", "exec", dont_inherit=True), namespace)
    asked = list(questions(namespace))
    assert len(asked) > 10_000
    decided, wrong = 0, []
    for start in range(0, len(asked), 400):
        some = asked[start : start + 400]
        seen = Decided()
        assert not errors_of(SETUP + "".join(f"reveal_shape({question})\n" for question, _ in some), seen)
        for number, (question, answer) in enumerate(some, SETUP.count("\n") + 1):
            decided += seen.answers[number] == {answer}
            wrong += [] if seen.answers[number] <= {answer, None} else [f"{question} is {answer}"]
    assert not wrong, f"{len(wrong)} of {len(asked)}:\n" + "\n".join(wrong)
    assert decided > 0.2 * len(asked)


DECIDED = """isinstance(nn.ReLU, str);isinstance(torch.relu, str);isinstance(function, tuple);isinstance(Plain, int)
isinstance(nn.ReLU, collections.abc.Callable);hasattr(Net(), "init_weights");hasattr(nn.Linear(2, 3), "init_weights")
hasattr(nn.GELU(), "no_such_name");hasattr(nn.Sequential(nn.ReLU()), "init_weights");isinstance(Word.A, Plain)
isinstance(Color.RED, Net);isinstance(Word.A, int);isinstance(Color.RED, str)
isinstance(Plain(), Base);isinstance(Made(), Color);isinstance(Plain, Plain);isinstance(nn.ReLU, Plain);isinstance(Net, Base)
hasattr(Net(), "_installed");hasattr(nn.Sequential(nn.ReLU()), "_installed")""".replace("\n", ";").split(";")


@pytest.mark.requires("torch")
def test_what_functions_classes_and_layers_are_not_is_decided() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SETUP, "setup", "exec", dont_inherit=True), namespace)
    seen = Decided()
    assert not errors_of(SETUP + "".join(f"reveal_shape({question})\n" for question in DECIDED), seen)
    for number, question in enumerate(DECIDED, SETUP.count("\n") + 1):
        assert seen.answers[number] == {eval(question, namespace)}, question
