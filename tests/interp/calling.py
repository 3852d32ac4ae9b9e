"""Programs whose functions are called again and again with unknowns, objects and sizes in different places."""

from __future__ import annotations

from hypothesis import strategies as st

HELPERS = {
    "product(x, y)": "    return x @ y\n",
    "rows(x, y)": "    return x.reshape(-1, y.shape[0])\n",
    "turned(x, y)": "    first, second = x.shape\n    return torch.zeros(second, first) @ y\n",
    "kept(o, x)": "    o.last = x\n    return o.last\n",
    "last(o, x)": "    return torch.relu(o.last) + x\n",
    "asked(o, x)": "    before = o.size\n    o.change(x)\n    return torch.zeros(before, 1) if before is o.size else o.size\n",
    "filled(o, x)": "    o.items.append(x)\n    return o.items[-1]\n",
    "same(x, y)": "    return torch.zeros(1, 2) if x is y else torch.zeros(3, 4)\n",
    "perhaps(x, y)": "    if x is None:\n        return y\n    return torch.cat([x, y])\n",
    "checked(x, y)": "    if x.shape[0] != y.shape[0]:\n        raise ValueError\n    return x + y\n",
    "tried(x, y)": "    try:\n        return x @ y\n    except RuntimeError:\n        return x\n",
    "channels(x, y)": "    return nn.Conv2d(4, 8, 3)(x) if x.dim() == 4 else nn.Linear(4, 8)(x)\n",
    "made(x, y)": "    h = Holder(x)\n    h.last = y\n    return h\n",
    "pair(x, y)": "    def inner(z):\n        return z @ y\n    return inner(x), inner(torch.ones(2, 4))\n",
    "twice(x, y)": "    return product(product(x, y), y)\n",
    "holds(o, x)": "    return kept(made(x, o), last(o, x))\n",
}
NAMES = ["a", "b", "c", "o", "p", "known", "flat", "None", "made(a, b)", "o.part", "known.t()"]
HOLDER = """class Holder:
    def __init__(self, x):
        self.items = [x]
        self.last = x
        self.size = 3
"""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Functions, and one that nobody calls, which calls them."""
    helpers = "\n\n".join(f"def {head}:\n{body}" for head, body in HELPERS.items())
    names = list(NAMES)
    lines: list[str] = []
    for number in range(draw(st.integers(2, 9))):
        function = draw(st.sampled_from(sorted(HELPERS))).partition("(")[0]
        first, second = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        line = f"v{number} = {function}({first}, {second})"
        names.append(f"v{number}")
        kind = draw(st.integers(0, 7))
        if kind == 0:
            lines += [f"if flag{number}:", f"    {line}"]
        elif kind == 1:
            lines += ["try:", f"    {line}", "except ValueError:", f"    v{number} = a"]
        elif kind == 2:
            lines += [f"for b in seen{number}:", f"    {line}", "    a = b"]
        else:
            lines.append(line)
        lines.append(f"reveal_shape(v{number})")
    flags = ", ".join([*(f"flag{i}" for i in range(9)), *(f"seen{i}" for i in range(9))])
    body = "".join(f"    {line}\n" for line in ["known, flat = torch.ones(3, 4), torch.ones(12)", *lines])
    imports = "import torch\nfrom torch import nn\n\n\n"
    return f"{imports}{HOLDER}\n\n{helpers}\n\ndef run(a, b, c, o, p, {flags}):\n{body}"


BODIES = [
    "x = x @ y",
    "x = torch.cat([x, y])",
    "z = x + y",
    "y = z",
    "items.append(x)",
    "items.append([x, y])",
    "x = items[-1]",
    "y = nn.Linear(4, 8)(y)",
    "n += x.shape[0]",
    "x = torch.zeros(n, 4)",
    "h = (x, y)",
    "x, y = h",
    "o.part = x",
    "x = o.part",
    "h = [x]",
    "x = x.unsqueeze(0)",
    "for y in ys:\n    x = y @ x",
    "if y is None:\n    continue",
    "if flag:\n    break",
    "while more(x):\n    x = torch.relu(x) + y",
]


@st.composite
def loops(draw: st.DrawFn) -> str:
    """A loop whose iterations are not known, in a function that nobody calls."""
    body = draw(st.lists(st.sampled_from(BODIES), min_size=1, max_size=6))
    inner = "".join(f"        {line}\n" for part in body for line in part.splitlines())
    start = draw(st.sampled_from(["x, y", "torch.ones(4, 4), y", "torch.ones(2, 4), torch.ones(4, 3)", "None, x"]))
    head = draw(st.sampled_from(["for y in xs:", "while more(x):", "for i in range(n):", "for x, y in zip(xs, ys):"]))
    names = ["x", "y", "z", "n", "h", "items", "o.part"]
    shown = "".join(f"    reveal_shape({name})\n" for name in names)
    return (
        "import torch\nfrom torch import nn\n\n\ndef run(x, y, z, xs, ys, n, h, o, flag, more):\n"
        f"    x, y = {start}\n    items = []\n    {head}\n{inner}{shown}"
    )
