"""The ways in which a layer, a method or a function is called: what comes out has the real shape."""

from __future__ import annotations

import warnings

import pytest

from interp.programs import errors_by_function, forms_in, told_otherwise

HEAD = """import copy, functools, operator, contextlib
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

x = torch.zeros(2, 3)
A, B = nn.Linear(3, 4), nn.Linear(4, 5)
s = nn.Sequential(A, B)

class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.a = nn.Linear(3, n)
        self.act = F.relu
        self.fns = {"relu": torch.relu, "lin": self.a}
    def forward(self, x, scale=1, *rest, flag=False):
        return self.act(self.a(x)) * scale
    def encode(self, x):
        return self.a(x)
    @property
    def first(self):
        return self.a
    @staticmethod
    def st(x):
        return x @ torch.zeros(3, 7)
    @classmethod
    def make(cls, n):
        return cls(n)
    def __getitem__(self, i):
        return self.a
    @torch.no_grad()
    def quiet(self, x):
        return self.a(x)
    @torch.inference_mode()
    def quiet2(self, x):
        return self.a(x)
    @torch.jit.export
    def exp(self, x):
        return self.a(x)
    @torch.jit.ignore
    def ign(self, x):
        return self.a(x)
    @functools.lru_cache(None)
    def cached(self, k):
        return torch.zeros(k, 3)
    @functools.cached_property
    def cprop(self):
        return torch.zeros(9, 3)
    @contextlib.contextmanager
    def ctx(self):
        yield self.a
    def gen(self, x):
        for l in (A, B):
            x = l(x)
            yield x

class Sub(Net):
    def forward(self, x, *args, **kw):
        y = super().forward(x, *args, **kw)
        return torch.cat([y, y], 1)
    def encode(self, x):
        return super(Sub, self).encode(x) + Net.encode(self, x)

class Wide(nn.Linear):
    pass

class Doubled(nn.Linear):
    def forward(self, x):
        return torch.cat([super().forward(x), nn.Module.__call__(A, x)], 1)

n = Net()
kept = nn.Linear(3, 4)
before = kept.forward
kept.forward = lambda v: before(v)[:, :2]

def deco(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k)
    return inner

def deco2(k):
    def outer(f):
        def inner(*a, **kw):
            return f(*a, **kw) * k
        return inner
    return outer

@deco
def d1(x):
    return A(x)

@deco2(3)
def d2(x):
    return A(x)

def ctx_use(net):
    with net.ctx() as l:
        return l(x)

def rec(i, x):
    return x if i == 0 else rec(i - 1, torch.cat([x, x], 1))

def kwo(x, *, k=2, **kw):
    return torch.zeros(k, *kw.values())

def ap(f, *a, **k):
    return f(*a, **k)

def comp(*fs):
    return functools.reduce(lambda f, g: lambda v: g(f(v)), fs)

def match(v):
    match v:
        case {"k": k}:
            return torch.zeros(k, 2)
        case [a, b]:
            return torch.zeros(a, b)
        case int(q):
            return torch.zeros(q)
        case _:
            return x

def wal(n):
    if (k := n + 1) > 2:
        return torch.zeros(k)
    return x
"""
FORMS = """
A(x)
A.forward(x)
nn.Module.__call__(A, x)
A(input=x)
A(*[x])
A(**{"input": x})
functools.partial(A)(x)
functools.partial(n, scale=2)(x)
functools.partial(n.encode)(x)
list(map(A, [x, x]))[1]
[f(x) for f in (A, n)][1]
n(x)
n(x, 2)
n(x, scale=2)
n(x, flag=True)
n.encode(x)
n.first(x)
n.st(x)
Net.st(x)
Net.make(6)(x)
n.make(6)(x)
n[0](x)
n.quiet(x)
n.quiet2(x)
n.exp(x)
n.ign(x)
n.cached(4)
n.cprop
ctx_use(n)
list(n.gen(x))[1]
next(n.gen(x))
[*n.gen(x)][-1]
n.fns["lin"](x)
n.fns["relu"](x)
n.act(x)
getattr(n, "encode")(x)
operator.methodcaller("encode", x)(n)
Net.encode(n, x)
Sub()(x)
Sub().encode(x)
Sub.make(5)(x)
d1(x)
d2(x)
rec(3, x)
kwo(x, k=3)
kwo(x, a=4, b=5)
ap(A, x)
ap(n, x, scale=3)
ap(ap, A, x)
comp(A, B)(x)
comp(A, F.relu, B)(x)
match({"k": 3})
match([4, 5])
match(6)
wal(4)
(lambda v: A(v))(x)
(lambda *a: a[0])(x)
(lambda **k: k["q"])(q=x)
nn.DataParallel(A)(x)
copy.deepcopy(A)(x)
copy.copy(n)(x)
checkpoint(A, x, use_reentrant=False)
checkpoint_sequential(s, 2, x, use_reentrant=False)
torch.func.functional_call(A, dict(A.named_parameters()), (x,))
torch.vmap(A)(x)
torch.func.vmap(lambda v: v.sum())(x)
torch.func.grad(lambda v: A(v).sum())(x)
torch.jit.script(A)(x)
torch.jit.trace(A, x)(x)
torch.fx.symbolic_trace(A)(x)
torch.nn.utils.weight_norm(nn.Linear(3, 4))(x)
torch.nn.utils.spectral_norm(nn.Linear(3, 4))(x)
torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4))(x)
torch.nn.utils.parametrizations.orthogonal(nn.Linear(3, 4))(x)
nn.SyncBatchNorm.convert_sync_batchnorm(s)(x)
torch.autograd.functional.jacobian(A, x)
torch.autograd.grad(A(x).sum(), A.weight)[0]
torch.autograd.grad(A(x).sum(), list(A.parameters()))[1]
A.requires_grad_(False)(x)
A.train(False)(x)
A.to(torch.float32)(x)
A.apply(lambda m: None)(x)
A.half().float()(x)
A.share_memory()(x)
A.to(memory_format=torch.channels_last)(x)
(A.eval() or A)(x)
(A if n is not None else B)(x)
(n and A)(x)
{True: A}[n.training](x)
[A, B][int(False)](x)
(A, B)[0](x)
max([A, B], key=lambda l: l.in_features)(torch.zeros(2, 4))
sorted([B, A], key=lambda l: l.in_features)[0](x)
next(l for l in [A, B] if l.out_features == 5)(torch.zeros(2, 4))
vars(n)["_modules"]["a"](x)
torch.autocast("cpu", enabled=False)(A)(x)
Wide(3, 6).forward(x)
Wide(3, 6)(x)
Doubled(3, 6)(x)
kept(x)
kept.forward(x)
before(x)
s.forward(x)
nn.BatchNorm1d(3).forward(x)
torch.autograd.grad(A(x.requires_grad_()).sum(), x)[0]
torch.autograd.grad(A(x.requires_grad_()), x, torch.ones(2, 4), create_graph=True)[0].view(2, -1).norm(2, dim=1)
torch.autograd.grad(A(x).sum(), A.parameters())[0]
torch.autograd.functional.hessian(lambda v: v.sum(), x)
torch.cat([g.view(-1) for g in torch.autograd.grad(n(x).sum(), list(n.parameters()))])
A.__call__(x)
n.__call__(x)
n.encode.__call__(x)
F.relu.__call__(x)
functools.partial(torch.reshape, shape=(3, 2)).__call__(x)
next(map(A.__call__, [x]))
nn.Linear.forward(A, x)
nn.Module.__call__(n, x)
Net.__call__(n, x)
Net.forward(n, x)
nn.Sequential.forward(s, x)
list(nn.Module.children(n))[0](x)
list(nn.Module.parameters(n))[0]
torch.no_grad()(A)(x)
torch.no_grad()(n.encode)(x)
torch.inference_mode()(n.encode)(x)
"""
GRADIENTS = """
torch.autograd.grad(A(y), y)
torch.autograd.grad(A(y), y, torch.ones(2, 4))
torch.autograd.grad(A(y), y, torch.ones(2, 5))
torch.autograd.grad(A(y), y, torch.ones(4, 2))
torch.autograd.grad(A(y).sum(), [y, A.weight])
torch.autograd.grad(A(y)[:1, :1], y)
torch.autograd.grad(outputs=A(y), inputs=y, grad_outputs=torch.ones(2))
"""


@pytest.mark.requires("torch")
def test_ways_to_call() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not told_otherwise(HEAD, forms_in(FORMS), apart=True)


@pytest.mark.requires("torch")
def test_gradients_that_do_not_fit() -> None:
    forms = forms_in(GRADIENTS)
    text = HEAD + "y = torch.zeros(2, 3, requires_grad=True)\n"
    names: dict[str, object] = {}
    exec(text, names)
    failing = set()
    for place, form in enumerate(forms):
        try:
            eval(form, names)
        except RuntimeError:
            failing.add(f"f{place}")
    found = errors_by_function(
        text + "".join(f"def f{place}():\n    return {form}\n" for place, form in enumerate(forms))
    )
    assert {*found} <= failing
    assert len(found) == len(failing) - 1  # of another number of axes nothing is told
