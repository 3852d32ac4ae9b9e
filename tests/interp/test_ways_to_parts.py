"""The ways to the parts of a module and of PyTorch's containers, to read and change them: what comes out is of the real shape."""

from __future__ import annotations

import pytest

from interp.programs import forms_in, told_otherwise

HEAD = """import collections, copy, functools, operator
import torch
from torch import nn

def L(i, o):
    return nn.Linear(i, o)

def appended(held, layer):
    held.append(layer)
    return held

def extended(held, layers):
    held.extend(layers)
    return held

def inserted(held, place, layer):
    held.insert(place, layer)
    return held

def without(held, place):
    del held[place]
    return held

def replaced(held, place, layer):
    held[place] = layer
    return held

def updated(held, layers):
    held.update(layers)
    return held

def taken(held, key):
    return held.pop(key)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = L(3, 4), L(4, 5), L(5, 6)
        self.layers = nn.ModuleList([L(3, 4), L(4, 5)])
        self.table = nn.ModuleDict({"k": L(3, 7)})
        self.add_module("extra", L(6, 8))
        self.register_buffer("buf", torch.zeros(3, 9))
        self.register_parameter("par", nn.Parameter(torch.zeros(3, 10)))
        setattr(self, "set", L(3, 11))
        for i in range(2):
            setattr(self, f"n{i}", L(3, 12 + i))

    def forward(self, x):
        return self.c(self.b(self.a(x)))

x3, x4, x5, x6 = (torch.zeros(2, n) for n in (3, 4, 5, 6))
A, B, C = L(3, 4), L(4, 5), L(5, 6)
m = nn.ModuleList([A, B, C])
s = nn.Sequential(A, B, C)
d = nn.ModuleDict({"a": A, "b": B, "c": C})
od = nn.Sequential(collections.OrderedDict(a=A, b=B, c=C))
n = Net()
N = nn.Sequential(nn.BatchNorm1d(3), L(3, 4))
passing = nn.Module()
passing.register_buffer("kept", torch.zeros(3, 2))
passing.register_buffer("passing", torch.zeros(3, 5), persistent=False)
passing.register_buffer("none", None)
passing.plain = torch.zeros(4)
"""
FORMS = """
m[0](x3)
m[-1](x5)
m[1:][0](x4)
m[::-1][0](x5)
[l for l in m][1](x4)
list(m)[2](x5)
(m + nn.ModuleList([L(6, 9)]))[3](x6)
[*m][1](x4)
torch.zeros(len(m))
list(m.children())[1](x4)
list(m.modules())[1](x3)
dict(m.named_children())["1"](x4)
dict(m.named_modules())["1"](x4)
list(m.named_children())[2][1](x5)
m.get_submodule("1")(x4)
getattr(m, "1")(x4)
m._modules["1"](x4)
list(m._modules.values())[1](x4)
next(iter(m))(x3)
next(m.children())(x3)
next(m.parameters())
list(m.parameters())[2]
dict(m.named_parameters())["1.weight"]
m.state_dict()["1.weight"]
functools.reduce(lambda h, l: l(h), m, x3)
functools.reduce(lambda h, l: l(h), reversed(nn.ModuleList([C, B, A])), x3)
appended(nn.ModuleList([A]), B)[1](x4)
nn.ModuleList([A]).append(B)[1](x4)
extended(nn.ModuleList([A]), [B, C])[2](x5)
nn.ModuleList([A]).extend(m)[3](x5)
inserted(nn.ModuleList([A, C]), 1, B)[1](x4)
without(nn.ModuleList([A, B, C]), 0)[0](x4)
without(nn.ModuleList([A, B, C]), slice(0, 2))[0](x5)
without(nn.ModuleList([A, B, C]), -1)[-1](x4)
replaced(nn.ModuleList([A, A]), 1, B)[1](x4)
nn.ModuleList([A, B, C]).pop(1)(x4)
nn.ModuleList(l for l in [A, B])[1](x4)
nn.ModuleList(map(lambda i: L(3, i), [4, 5]))[1](x3)
nn.ModuleList([L(i, j) for i, j in zip([3, 4], [4, 5])])[1](x4)
copy.deepcopy(m)[1](x4)
nn.ModuleList([copy.deepcopy(A) for _ in range(3)])[2](x3)
nn.ModuleList([A]) [0](x3)
nn.ModuleList(d.values())[1](x4)
nn.ModuleList(s)[1](x4)
nn.Sequential(*m)(x3)
nn.Sequential(*m[1:])(x4)
nn.Sequential(*list(m)[:2])(x3)
nn.Sequential(*s.children())(x3)
nn.Sequential(*list(s.children())[:-1])(x3)
nn.Sequential(*list(n.children())[:3])(x3)
nn.Sequential(*reversed([C, B, A]))(x3)
nn.Sequential(s, L(6, 7))(x3)
s(x3)
s[1](x4)
s[:2](x3)
s[1:](x4)
s[-1](x5)
nn.Sequential(A, B).append(C)(x3)
nn.Sequential(A, C).insert(1, B)(x3)
nn.Sequential(A).extend([B, C])(x3)
(nn.Sequential(A) + nn.Sequential(B))(x3)
without(nn.Sequential(A, B, C), 2)(x3)
without(nn.Sequential(A, B, C), slice(1, 3))(x3)
replaced(nn.Sequential(A, B, C), 2, L(5, 9))(x3)
replaced(nn.Sequential(A, B, C), -1, L(5, 9))(x3)
nn.Sequential(A, B, C).pop(2)(x5)
od(x3)
od.a(x3)
od[1](x4)
getattr(od, "b")(x4)
list(od.named_children())[1][1](x4)
[k for k, _ in od.named_children()] and od.c(x5)
replaced(nn.Sequential(A, B), 1, nn.Identity())(x3)
torch.zeros(len(s))
list(s)[1](x4)
[l for i, l in enumerate(s) if i == 1][0](x4)
s.get_submodule("2")(x5)
s.state_dict()["0.bias"]
d["b"](x4)
d["a"](x3)
list(d.values())[1](x4)
list(d.items())[2][1](x5)
dict(d.items())["b"](x4)
[d[k] for k in d][1](x4)
[d[k] for k in d.keys()][2](x5)
[v for k, v in d.items() if k == "b"][0](x4)
updated(nn.ModuleDict({"a": A}), {"b": B})["b"](x4)
updated(nn.ModuleDict({"a": A}), [("b", B)])["b"](x4)
replaced(nn.ModuleDict({"a": A}), "b", B)["b"](x4)
nn.ModuleDict([["a", A], ["b", B]])["b"](x4)
nn.ModuleDict({str(i): L(3, 4 + i) for i in range(3)})["2"](x3)
taken(nn.ModuleDict({"a": A, "b": B}), "b")(x4)
without(nn.ModuleDict({"a": A, "b": B}), "a")["b"](x4)
torch.zeros(len(d))
d.get_submodule("b")(x4)
d.b(x4)
(d["b"] if "b" in d else d["a"])(x4)
copy.deepcopy(d)["b"](x4)
nn.ModuleDict(d)["b"](x4)
nn.ModuleDict(zip("ab", [A, B]))["b"](x4)
n(x3)
n.layers[1](x4)
n.table["k"](x3)
n.extra(x6)
n.set(x3)
n.n1(x3)
getattr(n, "n0")(x3)
getattr(n, f"n{1}")(x3)
[getattr(n, f"n{i}") for i in range(2)][1](x3)
n.buf
n.par
n.get_buffer("buf")
n.get_parameter("par")
n.get_submodule("table.k")(x3)
n.get_submodule("layers.1")(x4)
dict(n.named_modules())["table.k"](x3)
dict(n.named_parameters())["layers.0.weight"]
n.state_dict()["par"]
list(n.children())[0](x3)
[p for p in n.parameters()][0]
[q for q in n.modules() if isinstance(q, nn.Linear)][1](x4)
[q for k, q in n.named_modules() if k == "extra"][0](x6)
torch.zeros(sum(p.numel() for p in n.parameters()))
torch.zeros(len(list(n.modules())))
n.eval()(x3)
n.train()(x3)
n.to("cpu")(x3)
n.requires_grad_(False)(x3)
n.float()(x3)
copy.deepcopy(n)(x3)
n.a.weight
n.a.weight.data
n.a.in_features and n.a(x3)
torch.zeros(n.a.out_features, n.b.in_features)
n._modules["a"](x3)
n.forward(x3)
nn.utils.parameters_to_vector(A.parameters())
torch.cat([p.flatten() for p in A.parameters()])
torch.cat([p.view(-1) for n_, p in A.named_parameters()])
n.table.k(x3)
vars(n)["_modules"]["a"](x3)
n.__dict__["_modules"]["a"](x3)
operator.attrgetter("a")(n)(x3)
operator.attrgetter("table.k")(n)(x3)
operator.itemgetter(1)(m)(x4)
operator.itemgetter("b")(d)(x4)
functools.partial(n.a)(x3)
(lambda net: net.a)(n)(x3)
type(n)()(x3)
n.__class__()(x3)
nn.ParameterList([torch.zeros(3, 4)] * 2)[1]
nn.ParameterDict({"a": torch.zeros(3, 4)})["a"]
list(nn.ParameterDict({"a": torch.zeros(3, 4)}).items())[0][1]
list(n.buffers())[0]
dict(n.named_buffers())["buf"]
torch.zeros(len(list(n.buffers())))
torch.zeros(len(n.state_dict()))
n.state_dict()["buf"]
dict(N.named_buffers())["0.running_mean"]
torch.zeros(len(list(N.buffers())))
torch.zeros(len(list(N.parameters())))
torch.zeros(len(N.state_dict()))
[v for k, v in N.state_dict().items()][3]
torch.zeros(len(list(passing.buffers())))
torch.zeros(1 + len(passing.state_dict()))
next(A.buffers(), x3)
torch.zeros(sum(p.numel() for p in N.parameters()))
"""


@pytest.mark.requires("torch")
def test_ways_to_parts() -> None:
    """Each form is run by itself, since some of them change what they are given."""
    assert not told_otherwise(HEAD, forms_in(FORMS), apart=True)
