"""Statements of PyTorch programs."""

from __future__ import annotations

from functools import partial

from interp.writing import Template, Writer


def _bind(write: Writer, text: str) -> str:
    """`{x}` is a tensor, `{y}` another, `{a}` an axis of x, `{b}` another, `{n}` a number, `{s}` the size of axis a."""
    x, y, z = write.tensor(), write.tensor(), write.tensor()
    for rank in range(1, 6):
        if f"{{x{rank}}}" in text:
            x = write.tensor(rank)
            text = text.replace(f"{{x{rank}}}", x)
        text = text.replace(f"{{y{rank}}}", write.tensor(rank))
    if "{l}" in text:
        y = write.like(x)
        text = text.replace("{l}", y)
    a, b = write.axis(x), write.axis(x)
    values = {"x": x, "y": y, "z": z, "a": a, "b": b, "s": write.size(x, a), "c": write.size(x, 1)}
    values |= {"last": write.size(x, -1), "first": write.size(x, 0), "n": write.number(), "m": write.number()}
    values["order"] = ", ".join(map(str, write.random.sample(range(write.rank(x)), write.rank(x))))
    values["rest"] = ", ".join(map(str, write.shape(x)[1:])) or "1"
    values["keep"] = write.one("True", "False")
    return text.format(**values)


def shared(texts: str) -> list[Template]:
    """One template for each line."""
    return [partial(_bind, text=line.strip()) for line in texts.strip().splitlines()]


def reshaped(write: Writer, method: str = "reshape") -> str:
    """A reshape that fits, mostly."""
    name = write.tensor()
    shape = list(write.shape(name))
    if len(shape) > 1 and write.random.random() < 0.7:
        at = write.random.randrange(len(shape) - 1)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    else:
        at = write.random.randrange(max(len(shape), 1))
        size = shape[at] if shape else 1
        shape[at : at + 1] = [2, size // 2] if size % 2 == 0 else [1, size]
    shown = [str(n) for n in shape]
    if write.random.random() < 0.4:
        shown[write.random.randrange(len(shown))] = "-1"
    if write.random.random() < 0.05:
        shown[0] = str(write.number())
    return f"{name}.{method}({', '.join(shown)})"


def joined(write: Writer) -> str:
    """`cat` or `stack` of tensors that mostly fit."""
    name = write.tensor()
    others = [write.one(write.like(name), write.like(name), write.tensor()) for _ in range(write.number(1, 2))]
    function = write.one("torch.cat", "torch.stack", "torch.concat")
    return f"{function}([{', '.join([name, *others])}], dim={write.axis(name)})"


def assigned(write: Writer) -> list[str]:
    """An assignment to a part, or in place."""
    name = write.tensor()
    other = write.one(write.like(name), write.tensor())
    texts = [
        f"{name}[0] = {other}[0]",
        f"{name}[..., 0] = {write.number()}",
        f"{name} += {other}",
        f"{name}.mul_({other})",
        f"{name}[:, 1:] = {other}[:, 1:]",
    ]
    return [write.random.choice(texts)]


def collected(write: Writer) -> list[str]:
    """Tensors in a list, joined again."""
    name, made = write.tensor(), write.fresh()
    items = write.fresh("items")
    return [
        f"{items} = [{name}, {write.like(name)}]",
        f"{items}.append({items}[0] * 2)",
        f"{made} = {write.one('torch.cat', 'torch.stack')}([each.mean(0) for each in {items}])",
    ]


def mapped(write: Writer) -> list[str]:
    """Tensors in a dictionary."""
    table = write.fresh("table")
    one, other = write.tensor(), write.tensor()
    return [
        f'{table} = {{"a": {one}, "b": {other}}}',
        f'{table}["c"] = {table}["a"].unsqueeze(0)',
        f'{write.fresh()} = {table}["c"] + {table}.get("a")',
    ]


def defined(write: Writer) -> list[str]:
    """A function and a call of it."""
    name = write.fresh("f")
    body = write.one("x @ y.T", "x + y", "torch.cat([x, y], dim)", "x.sum(dim) - y.mean(dim)", "x.unsqueeze(dim) * y")
    one = write.tensor()
    other = write.one(write.like(one), write.tensor())
    return [
        f"def {name}(x, y, dim=0):",
        f"    return {body}",
        f"{write.fresh()} = {name}({one}, {other}, dim={write.axis(one)})",
    ]


def module(write: Writer) -> list[str]:
    """A class with layers, and its use."""
    name, x = write.fresh("Net"), write.tensor()
    hidden, features = write.number(2, 6), write.size(x, -1)
    return [
        f"class {name}(nn.Module):",
        "    def __init__(self, width, hidden, depth=2):",
        "        super().__init__()",
        "        self.first = nn.Linear(width, hidden)",
        "        self.blocks = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(depth)])",
        "    def forward(self, x):",
        "        x = F.relu(self.first(x))",
        "        for block in self.blocks:",
        "            x = x + block(x)",
        "        return x",
        f"{write.fresh()} = {name}({features}, {hidden})({x})",
    ]


def repeated(write: Writer) -> list[str]:
    """A loop whose number of turns is known."""
    x, made = write.tensor(), write.fresh()
    body = write.one(
        f"{made} = torch.cat([{made}, {x}])",
        f"{made} = {made} + {x}",
        f"{made} = {made}.unsqueeze(0)",
        f"{made} = {made}.transpose(0, -1)",
        f"{made} = {made}[1:]",
        f"{made} = {made}.mean(0)",
    )
    return [f"{made} = {x}", f"for i in range({write.number(1, 3)}):", f"    {body}"]


def chosen(write: Writer) -> list[str]:
    """A branch that may go either way."""
    if len(write.envs) > 2:
        return repeated(write)
    flag = write.flag()
    x, made = write.tensor(), write.fresh()
    ways = ["{x} * 2", "{x}.unsqueeze(0)", "{x}.sum(-1)", "{x}.transpose(0, -1)", "{x}[:1]", "torch.cat([{x}, {x}])"]
    one, other = (write.random.choice(ways).format(x=x) for _ in range(2))
    return [f"if {flag}:", f"    {made} = {one}", "else:", f"    {made} = {other}"]


def looped(write: Writer) -> list[str]:
    """A loop whose number of turns is not known."""
    if len(write.envs) > 2:
        return repeated(write)
    turns = write.turns()
    statement = repeated(write)
    return [statement[0], f"for i in range({turns}):", *statement[2:]]


def caught(write: Writer) -> list[str]:
    """A mistake that is caught."""
    x, y, made = write.tensor(), write.tensor(), write.fresh()
    operator = write.one("+", "@", "*")
    return ["try:", f"    {made} = {x} {operator} {y}", "except RuntimeError:", f"    {made} = {x}"]


def asked(write: Writer) -> list[str]:
    """A branch on a shape."""
    x, y, made = write.tensor(), write.tensor(), write.fresh()
    test, then, other = write.one(
        (f"{x}.dim() == 2", f"{x} @ {x}.T", f"{x}.flatten()"),
        (f"{x}.shape == {y}.shape", f"{x} + {y}", f"{x} * 1"),
        (f"{x}.shape[0] > 3", f"{x}[3:]", f"{x}[:1]"),
    )
    return [f"if {test}:", f"    {made} = {then}", "else:", f"    {made} = {other}"]


BY_DATA: list[Template] = shared("""
    {x}[{x} > 0]
    torch.unique({x})
    torch.nonzero({x} > 0)
    torch.masked_select({x}, {x} > 0)
    nn.Embedding(10, {n})({x}.long().abs() % 10)
""")
"""What they give, or whether they run, depends on numbers and not on shapes alone."""
STRAIGHT: list[Template] = [
    *BY_DATA,
    *shared("""
        {x} + {y}
        {x} * {l}
        {x} - {l}
        {x} / ({y}.abs() + 1)
        {x2} @ {y2}
        {x2}.T @ {y2}
        {x2} @ {y1}
        {x3} @ {y2}
        torch.bmm({x3}, {y3})
        torch.bmm({x3}, {y3}.transpose(1, 2))
        torch.mm({x2}, {y2}.t())
        torch.matmul({x}, {y})
        {x}.sum({a})
        {x}.mean(dim={a}, keepdim={keep})
        {x}.max(dim={a}).values
        {x}.amax(({a}, {b}))
        {x}.norm(dim={a})
        torch.softmax({x}, dim={a})
        {x}.cumsum({a})
        {x}.argmax({a}).float()
        {x}.unsqueeze({a})
        {x}.squeeze({a})
        {x}.squeeze()
        {x}.transpose({a}, {b})
        {x}.swapaxes({a}, {b})
        {x}.movedim({a}, {b})
        {x}.permute({order})
        {x}.flatten()
        {x}.flatten(1)
        {x}.flatten({a}, {b})
        {x}[0]
        {x}[-1]
        {x}[{n}]
        {x}[:, 0]
        {x}[..., -1]
        {x}[1:]
        {x}[:, :{n}]
        {x}[:, None]
        {x}[None]
        {x}[..., None]
        {x}[::2]
        {x}[[0, 1, 0]]
        {x}.expand({n}, *{x}.shape)
        {x}.expand_as({y})
        {x}.repeat({n}, {m})
        {x}.tile(({n},))
        {x}.repeat_interleave({n}, dim={a})
        {x}.view({first}, -1)
        {x}.reshape(-1, {last})
        {x}.reshape({x}.shape[0], -1)
        {x}.contiguous().view(*{x}.shape[:-1], 1, {last})
        {x}.flip({a})
        {x}.roll(1, {a})
        {x}.chunk({n}, dim={a})[0]
        {x}.split({n}, dim={a})[-1]
        torch.split({x}, [1, {n}], dim={a})[1]
        {x}.unbind({a})[0]
        {x}.narrow({a}, 0, {n})
        {x}.select({a}, {n})
        {x}.unfold({a}, 2, 1)
        {x}.diagonal(dim1={a}, dim2={b})
        {x2}.tril()
        {x}.sort(dim={a})[0]
        {x}.topk({n}, dim={a})[0]
        {x}.index_select({a}, torch.tensor([0, 1]))
        torch.where({x} > 0, {l}, {z})
        torch.outer({x1}, {y1})
        torch.dot({x1}, {y1})
        torch.kron({x2}, {y2})
        torch.maximum({x}, {l})
        torch.zeros({first}, {n})
        torch.ones_like({x})
        torch.zeros({x}.shape[1:])
        torch.arange({n}).float()
        torch.linspace(0, 1, {n})
        torch.eye({n})
        torch.full({x}.size(), 2.0)
        torch.broadcast_to({x}, ({n}, *{x}.shape))
        torch.einsum("ij,jk->ik", {x2}, {y2})
        torch.einsum("bij,bjk->bik", {x3}, {y3})
        torch.einsum("bij->bji", {x3})
        torch.einsum("...i,i->...", {x}, {y1})
        torch.tensordot({x}, {y}, dims=1)
        torch.hstack([{x}, {l}])
        torch.vstack([{x}, {l}])
        torch.atleast_2d({x})
        torch.diff({x}, dim={a})
        torch.linalg.norm({x}, dim={a})
        torch.cdist({x2}, {y2})
        torch.stack(torch.meshgrid({x1}, {y1}, indexing="ij"))
        F.pad({x}, (1, {n}))
        F.pad({x}, (0, 0, 1, 1))
        F.linear({x}, torch.zeros({n}, {last}))
        F.normalize({x}, dim={a})
        F.layer_norm({x}, ({last},))
        F.max_pool2d({x4}, 2)
        F.avg_pool1d({x3}, 2, stride=1)
        F.adaptive_avg_pool2d({x4}, 1)
        F.interpolate({x4}, scale_factor=2)
        F.unfold({x4}, 2)
        F.cosine_similarity({x}, {l}, dim={a})
        F.mse_loss({x}, {l})
        nn.Linear({last}, {n})({x})
        nn.Sequential(nn.Linear({last}, {n}), nn.ReLU(), nn.Linear({n}, {m}))({x})
        nn.Conv1d({c}, {n}, 2)({x3})
        nn.Conv2d({c}, {n}, 3, padding=1)({x4})
        nn.Conv2d({c}, {n}, 2, stride=2)({x4})
        nn.ConvTranspose2d({c}, {n}, 2, stride=2)({x4})
        nn.LayerNorm({last})({x})
        nn.LayerNorm(({rest},))({x})
        nn.BatchNorm1d({c})({x3})
        nn.BatchNorm2d({c})({x4})
        nn.GRU({last}, {n}, batch_first=True)({x3})[0]
        nn.LSTM({last}, {n})({x3})[1][0]
        nn.MultiheadAttention({last}, 1, batch_first=True)({x3}, {y3}, {y3})[0]
        nn.Flatten()({x})
        nn.PReLU({c})({x})
        nn.Bilinear({last}, {last}, {n})({x}, {l})
    """),
    reshaped,
    lambda write: reshaped(write, "view"),
    joined,
    joined,
    assigned,
]
STRUCTURED: list[Template] = [
    *STRAIGHT[::2],
    *STRAIGHT[-5:],
    *([collected, mapped, defined, module, repeated, chosen, looped, caught, asked] * 4),
]
