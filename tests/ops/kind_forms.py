"""Statements with arrays of each kind, and which of them raise: `x` and `y` are of (2, 2), `i` holds places, `m` is a mask."""

from __future__ import annotations

import itertools
import warnings

KINDS = {
    "torch": {"float": "torch.float32", "int": "torch.int64", "bool": "torch.bool", "double": "torch.float64"},
    "numpy": {"float": "np.float64", "int": "np.int64", "bool": "np.bool_"},
}
HEADS = {
    "torch": "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n",
    "numpy": "import numpy as np\n",
}
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^")
_OF_BOTH = (
    *(f"x {sign} y" for sign in _OPERATORS),
    *(f"x {sign}= y" for sign in _OPERATORS),
    *(f"x {sign}= {number}" for sign in _OPERATORS for number in ("1", "1.5")),
    *(f"{left} {sign} {right}" for sign in _OPERATORS for left, right in (("x", "1"), ("2", "x"), ("x", "1.5"))),
    "~x",
    "-x",
    "x == y",
    "x < y",
    "x @ y",
    "x[m] = y[m]",
    "x[i] = y[i]",
    "x[0] = y[0]",
    "x[:1] = y[:1]",
    "x[m] = 1",
    "x[m] = 1.5",
    "x[0, 0] = 1.5",
)
_UNARY = """
    adaptive_avg_pool2d(x[None],1) adaptive_max_pool2d(x[None],1) celu(x) elu(x) gelu(x) glu(x) group_norm(x,1) hardshrink(x)
    hardsigmoid(x) hardswish(x) instance_norm(x[None]) layer_norm(x,(2,)) leaky_relu(x) log_softmax(x,0) logsigmoid(x) mish(x)
    rms_norm(x,(2,)) selu(x) silu(x) softmax(x,0) softmin(x,0) softplus(x) softshrink(x) relu(x) dropout(x,training=False)
    normalize(x) one_hot(x) max_pool2d(x[None],1) pad(x,(1,1))
"""
_LAYERS = """
    AdaptiveAvgPool2d(1)(x[None]) AdaptiveMaxPool2d(1)(x[None]) BatchNorm1d(2)(x)
    BatchNorm2d(2)(x[None,:,:,None].expand(2,2,2,2)) CELU()(x) Conv1d(2,2,1)(x) Conv2d(2,2,1)(x[...,None])
    ConvTranspose1d(2,2,1)(x) ELU()(x) GELU()(x) GLU()(x) GRU(2,2)(x) GRUCell(2,2)(x) GroupNorm(1,2)(x) Hardshrink()(x)
    Hardsigmoid()(x) Hardswish()(x) InstanceNorm1d(2)(x[None]) LSTM(2,2)(x) LSTMCell(2,2)(x) LayerNorm(2)(x) LeakyReLU()(x)
    Linear(2,2)(x) LogSigmoid()(x) LogSoftmax(0)(x) Mish()(x) PReLU()(x) RMSNorm(2)(x) RNN(2,2)(x) RNNCell(2,2)(x) SELU()(x)
    SiLU()(x) Softmax(0)(x) Softmin(0)(x) Softplus()(x) Softshrink()(x) ReLU()(x) Tanh()(x) Flatten()(x) Identity()(x)
    MultiheadAttention(2,1)(x,x,x) Bilinear(2,2,2)(x,x) CrossEntropyLoss()(x,m.long()) NLLLoss()(x,m.long()) BCELoss()(x,y)
    BCEWithLogitsLoss()(x,y) MSELoss()(x,y) CrossEntropyLoss()(torch.rand(2,2),y[0]) CrossEntropyLoss()(torch.rand(2,2),x)
    NLLLoss()(torch.rand(2,2),y[0]) KLDivLoss()(x,torch.rand(2,2)) Embedding(3,2)(x) TransformerEncoderLayer(2,1)(x)
"""
_OF_TORCH = (
    *(f"F.{call}" for call in _UNARY.split()),
    *(f"nn.{call}" for call in _LAYERS.split()),
    "x.mean()",
    "x.mean(0)",
    "x.mean(dtype=torch.float32)",
    "torch.mean(x, 0)",
    "(x == y).mean()",
    "(x == y).float().mean()",
    "x.std()",
    "x.var(0)",
    "x.sum()",
    "x.softmax(-1)",
    "x.softmax(-1, dtype=torch.float32)",
    "x.softmax(-1, torch.float32)",
    "x.quantile(0.5)",
    "x.median()",
    "torch.std_mean(x)",
    "torch.matmul(x, y)",
    "torch.mm(x, y)",
    "torch.bmm(x[None], y[None])",
    "x.mv(y[0])",
    "torch.dot(x[0], y[0])",
    "torch.einsum('ij,jk->ik', x, y)",
    "torch.einsum('ij,ij->ij', x, y)",
    "torch.einsum('ij,ij->i', x, y)",
    "torch.einsum('...i,...i->...', x, y)",
    "torch.einsum('ij,kl->ijkl', x, y)",
    "torch.einsum('ij,jk->ijk', x, y)",
    "torch.einsum('i,j->ij', x[0], y[0])",
    "torch.einsum('ij,jk->ik', x[:, :1], y[:1])",
    "torch.einsum('ii,jj->ij', x, y)",
    "x & y.sum().item()",
    "torch.tensordot(x, y, 1)",
    "F.linear(x, y)",
    "F.linear(x, torch.rand(3, 2), torch.rand(3))",
    "torch.addmm(x, y, y)",
    "torch.baddbmm(x[None], y[None], y[None])",
    "F.conv1d(x[None], y[..., None])",
    "F.scaled_dot_product_attention(x[None], y[None], y[None])",
    "F.scaled_dot_product_attention(torch.rand(1, 2, 2), torch.rand(1, 2, 2), torch.rand(1, 2, 2), attn_mask=x > 0)",
    "torch.lerp(x, y, 0.5)",
    "torch.isclose(x, y)",
    "torch.cdist(x, y)",
    "torch.where(x > 0, x, y)",
    "torch.cat([x, y])",
    "torch.outer(x[0], y[0])",
    "x.scatter(0, m.long()[None], y)",
    "x.scatter(0, m.long()[None], 1.5)",
    "x.scatter_(0, m.long()[None], src=y)",
    "x.scatter_add(0, m.long()[None], y)",
    "x.index_add(0, i, y[i])",
    "x.index_copy(0, i, y[i])",
    "x.masked_scatter(m, y)",
    "x.masked_fill(m, 0)",
    "x.add_(y)",
    "x.add_(1)",
    "x.sub_(y)",
    "x.mul_(1.5)",
    "x.div_(2)",
    "x.div_(2, rounding_mode='floor')",
    "x.div_(2, rounding_mode=None)",
    "x.pow_(2)",
    "x.copy_(y)",
    "torch.sub(x, y)",
    "x.neg()",
    "1.0 - x",
    "x.requires_grad_()",
    "x.requires_grad_(False)",
    "nn.Parameter(x)",
    "nn.Parameter(x, requires_grad=False)",
    "nn.Parameter(x, False)",
    "torch.zeros_like(x, requires_grad=True)",
    "torch.zeros(2, dtype=x.dtype, requires_grad=True)",
    "torch.tensor([1, 2], requires_grad=True)",
    "torch.tensor([1., 2], requires_grad=True)",
    "torch.arange(3, requires_grad=True)",
    "F.cross_entropy(torch.rand(2, 2), y[0])",
    "F.cross_entropy(torch.rand(2, 2), y)",
    "F.cross_entropy(x, torch.zeros(2).long())",
    "F.nll_loss(torch.rand(2, 2), y[0])",
    "F.binary_cross_entropy(torch.rand(2, 2), y)",
    "F.binary_cross_entropy_with_logits(x, y)",
    "F.binary_cross_entropy_with_logits(torch.rand(2, 2), y, weight=x.float())",
    "F.mse_loss(x, y)",
    "F.kl_div(x, y)",
    "F.prelu(x, torch.rand(1))",
)
_OF_NUMPY = (
    "x.mean()",
    "(x == y).mean()",
    "np.dot(x, y)",
    "x[0] /= 2",
    "x[:, 0] *= 0.5",
    "z = x.sum()\n    z /= 2",
    "z = x[0, 0]\n    z *= 1.5",
    "z = np.array(1)\n    z = z + x\n    z -= 1",
)


def programs(library: str) -> dict[str, str]:
    """A function for each statement and each two kinds: its name, and its source."""
    kinds = KINDS[library]
    one = "np.ones((2, 2), {})" if library == "numpy" else "torch.ones((2, 2), dtype={})"
    rest = (
        "np.array([0]), np.array([True, False])"
        if library == "numpy"
        else "torch.tensor([0]), torch.tensor([True, False])"
    )
    found = {}
    forms = (*_OF_BOTH, *(_OF_NUMPY if library == "numpy" else _OF_TORCH))
    for place, statement in enumerate(forms):
        for first, second in itertools.product(kinds, repeat=2):
            if "y" not in statement and second != "float":
                continue
            name = f"f{place}_{first}_{second}"
            setup = f"x, y, (i, m) = {one.format(kinds[first])}, {one.format(kinds[second])}, ({rest})"
            found[name] = f"def {name}():\n    {setup}\n    {statement}\n"
    return found


def really(library: str, source: dict[str, str]) -> set[str]:
    """The functions that raise."""
    names: dict[str, object] = {}
    exec(HEADS[library] + "\n".join(source.values()), names)
    failed = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in source:
            try:
                names[name]()  # type: ignore[operator]
            except Exception:
                failed.add(name)
    return failed
