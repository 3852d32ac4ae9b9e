"""Ways in which a program makes its dtypes agree; each runs with float64 from NumPy, so nothing may be told (SHP312)."""

from __future__ import annotations

HEAD = """
import contextlib, copy, functools
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

def unknown(f, *args):
    return f(*args)

class Net(nn.Module):
    def __init__(self, width=None):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.own = nn.Parameter(torch.ones(4, 4))
        self.register_buffer("mask", torch.ones(4, 4))
        if width is not None:
            self.to(width)

    def forward(self, x):
        return self.fc(x) @ self.own @ self.mask

class Doubled(Net):
    def __init__(self):
        super().__init__()
        self.double()

class Wrapper:
    def __init__(self, net):
        self.net = net
    def convert(self):
        self.net = self.net.double()
    def __call__(self, x):
        return self.net(x)

class Cast(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def forward(self, x):
        return self.net(x.to(self.net.fc.weight.dtype))

x = torch.from_numpy(np.random.rand(3, 4))
"""
WAYS = """
Net().double()(x)
Net(torch.float64)(x)
Doubled()(x)
nn.Sequential(Net(), nn.Tanh()).double()(x)
net = Net(); net.to(torch.double); net(x)
net = Net(); net.to(x); net(x)
net = Net(); net.to("cpu", torch.float64); net(x)
net = Net(); net.to(dtype=x.dtype); net(x)
net = Net(); net.type(torch.float64); net(x)
net = Net(); net.type("torch.DoubleTensor"); net(x)
net = Net(); convert = net.double; convert(); net(x)
net = Net(); getattr(net, "double")(); net(x)
net = Net(); nn.Module.double(net); net(x)
net = copy.deepcopy(Net()).double(); net(x)
nets = [Net() for _ in range(2)]; [net.double() for net in nets]; [net(x) for net in nets]
nets = nn.ModuleList([Net(), Net()]).double(); nets[1](x)
w = Wrapper(Net()); w.convert(); w(x)
net = Net(); unknown(net.double); net(x)
net = unknown(Net).double(); net(x)
net = Net(); net.apply(lambda m: m.double()); net(x)
net = Net(); _ = [m.double() for m in net.modules()]; net(x)
net = Net(); _ = [m.double() for m in net.children()]; net.own.data = net.own.data.double(); net.mask = net.mask.double(); net(x)
net = nn.Linear(4, 4); net.weight.data = net.weight.data.double(); net.bias.data = net.bias.data.double(); net(x)
net = nn.Linear(4, 4); net.weight = nn.Parameter(net.weight.double()); net.bias = nn.Parameter(net.bias.double()); net(x)
net = nn.Linear(4, 4, bias=False); net.weight = nn.Parameter(torch.ones(4, 4, dtype=x.dtype)); net(x)
net = nn.Linear(4, 4); [setattr(p, "data", p.data.double()) for p in net.parameters()]; net(x)
net = nn.Linear(4, 4); net._apply(lambda t: t.double()); net(x)
net = nn.Linear(4, 4); net.load_state_dict({k: v.double() for k, v in net.state_dict().items()}, assign=True); net(x)
nn.Linear(4, 4, dtype=torch.float64)(x)
nn.Linear(4, 4, True, None, torch.float64)(x)
nn.Linear(4, 4, **{"dtype": torch.float64})(x)
nn.Linear(4, 4, dtype=x.dtype)(x)
functools.partial(nn.Linear, dtype=torch.double)(4, 4)(x)
torch.set_default_dtype(torch.float64); nn.Linear(4, 4)(x)
torch.set_default_tensor_type(torch.DoubleTensor); Net()(x)
Cast()(x)
Net()(x.float())
Net()(x.to(torch.float32))
Net()(x.to("cpu", torch.float))
Net()(x.type(torch.FloatTensor))
Net()(x.type("torch.FloatTensor"))
Net()(x.type_as(torch.ones(1)))
Net()(x.to(torch.ones(1)))
Net()(x.to(next(Net().parameters()).dtype))
Net()(torch.tensor(x.numpy(), dtype=torch.float32))
Net()(torch.FloatTensor(x.numpy()))
Net()(torch.Tensor(x.numpy()))
Net()(torch.Tensor(x.tolist()))
Net()(torch.tensor(x.tolist()))
Net()(torch.from_numpy(x.numpy().astype("float32")))
Net()(torch.from_numpy(x.numpy().astype("f4")))
Net()(torch.from_numpy(x.numpy().astype("f")))
Net()(torch.from_numpy(x.numpy().astype(np.single)))
Net()(torch.from_numpy(np.float32(x.numpy())))
Net()(torch.from_numpy(np.asarray(x.numpy(), np.float32)))
Net()(torch.from_numpy(np.array(x.numpy(), dtype="<f4")))
Net()(torch.from_numpy(np.zeros((3, 4), np.float32)))
Net()(torch.from_numpy(np.zeros((3, 4), "f4") + 1.5))
Net()(torch.from_numpy(np.random.default_rng(0).random((3, 4), dtype=np.float32)))
Net()(torch.from_numpy(np.random.default_rng(0).random((3, 4), np.float32)))
Net()(torch.from_numpy(np.random.default_rng(0).standard_normal(size=(3, 4), dtype="float32")))
Net()(torch.from_numpy(np.empty_like(x.numpy(), dtype=np.float32)))
Net()(torch.from_numpy(np.full((3, 4), 1.0, np.float32)))
Net()(torch.from_numpy(np.full((3, 4), np.float32(1.0))))
Net()(torch.from_numpy(np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)))
Net()(torch.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4)))
Net()(torch.from_numpy(np.eye(4, dtype=np.float32)))
Net()(torch.from_numpy(np.frombuffer(b"0" * 48, dtype=np.float32).reshape(3, 4).copy()))
Net()(torch.from_numpy(np.stack([np.ones(4, np.float32)] * 3)))
Net()(torch.from_numpy(np.concatenate([np.ones((3, 2), np.float32)] * 2, axis=1)))
Net()(torch.from_numpy(x.numpy().astype(np.float32) * np.pi))
Net()(torch.from_numpy(np.sqrt(x.numpy().astype(np.float32)) / 255.0))
Net()(torch.from_numpy(x.numpy().astype(np.float32).mean(axis=0, keepdims=True)))
Net()(torch.as_tensor(x.numpy(), dtype=torch.float32))
Net()(torch.asarray(x.numpy(), dtype=torch.float32))
y = torch.zeros(3, 4); y[:] = x; Net()(y)
y = torch.zeros(3, 4); y.copy_(x); Net()(y)
y = torch.zeros(3, 4); y += x; Net()(y)
y = torch.empty_like(x, dtype=torch.float32); Net()(y)
y = np.zeros((3, 4), np.float32); y += x.numpy(); Net()(torch.from_numpy(y))
y = np.zeros((3, 4), np.float32); y[:] = x.numpy(); Net()(torch.from_numpy(y))
y = np.zeros((3, 4), np.float32); np.add(y, 1, out=y); Net()(torch.from_numpy(y))
y = x; y = y.float() if True else y; Net()(y)
x.data = x.data.float(); Net()(x)
x @ torch.ones(4, 2, dtype=torch.float64)
x @ torch.ones(4, 2).to(x)
x @ torch.ones(4, 2).double()
x @ x.new_ones(4, 2)
x @ torch.ones_like(x).T
x @ torch.eye(4).type_as(x)
x @ torch.tensor(np.eye(4))
x @ (x.T * 2)
x.float() @ torch.ones(4, 2)
F.linear(x, torch.ones(2, 4, dtype=torch.double), torch.zeros(2).double())
F.mse_loss(torch.rand(3, 4), x)
F.cross_entropy(torch.rand(3, 4), torch.zeros(3, dtype=torch.uint8))
F.cross_entropy(x, torch.zeros(3).long())
F.cross_entropy(x, torch.rand(3, 4).softmax(1))
F.one_hot(torch.arange(3), 4)
F.embedding(torch.tensor([0, 1], dtype=torch.int32), x)
x[torch.tensor([0, 1])] = 1.5
x[x > 0.5] = torch.tensor(0.5)
x[torch.tensor([0, 1])] *= 2
x.index_fill(0, torch.tensor([0]), 1.0)
torch.stack([x, x.float()]).sum()
torch.einsum("ij,ij->ij", x, x.float())
torch.where(x > 0, x, torch.zeros(3, 4))
torch.addcmul(x.float(), x.float(), x)
torch.lerp(x, x + 1, 0.5)
torch.cdist(x, x[:1])
with torch.autocast("cpu", dtype=torch.bfloat16): Net()(torch.rand(3, 4)) @ torch.rand(4, 4)
nn.Embedding(5, 4)(torch.tensor([1, 2], dtype=torch.int32))
nn.LSTM(4, 4).double()(x)
nn.InstanceNorm1d(4)(x)
nn.LayerNorm(4, elementwise_affine=False)(x)
nn.BatchNorm1d(4, affine=False, track_running_stats=False)(x)
nn.GroupNorm(2, 4, affine=False)(x)
nn.RMSNorm(4)(x)
nn.Dropout()(x), nn.ReLU()(x), nn.MaxPool1d(2)(x), nn.Softmax(1)(x), nn.Flatten(0)(x)
nn.MSELoss()(torch.rand(3, 4), x), nn.BCEWithLogitsLoss()(torch.rand(3, 4), x), nn.L1Loss()(torch.rand(3, 4), x)
nn.BCEWithLogitsLoss(pos_weight=x[0])(torch.rand(3, 4), x)
nn.BCELoss(weight=x)(torch.rand(3, 4), torch.rand(3, 4))
nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)).double()(x)
torch.nn.utils.clip_grad_norm_(Net().double().parameters(), 1.0)
torch.compile(Net().double(), backend="eager")(x)
torch.jit.script(nn.Linear(4, 4).double())(x)
nn.DataParallel(Net().double())(x)
"""


def programs() -> list[str]:
    """Each way as a program with a function that is called."""
    found = []
    for line in WAYS.strip().splitlines():
        statements = [line] if line.startswith("with ") else line.split("; ")
        body = "".join(f"    {each}\n" for each in ("x = torch.from_numpy(np.random.rand(3, 4))", *statements))
        found.append(f"{HEAD}\n\ndef f():\n{body}\n\nf()\n")
    return found
