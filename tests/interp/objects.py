"""Writes programs about the state of objects: classes that are filled from somewhere, and nets that are changed by name.

A program is `definitions`, which nobody calls yet, and a `use` of them. Parts are drawn independently; not every
combination runs, so that each program is to be run for real before anything is asked of it.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

HEAD = "import torch\nfrom collections import defaultdict, deque\nfrom torch import nn\n"


class Program(NamedTuple):
    """What a program defines, and how it uses it."""

    definitions: str
    use: str

    @property
    def whole(self) -> str:
        return self.definitions + self.use


class Holder(NamedTuple):
    """Where an object `{o}` keeps what it is given: what its class or constructor says, how `{x}` is added to it, and
    what is made of all."""

    constructor: str
    push: str
    gather: str
    in_class: str = "pass"

    @property
    def is_fixed(self) -> bool:
        return "torch.zeros(4, 5)" in self.constructor or "nn.Linear(" in self.constructor


CAT = "torch.cat({o}.items)"
HOLDERS = [
    Holder("self.items = []", "{o}.items.append({x})", CAT),
    Holder("self.items = []", "{o}.items += [{x}]", CAT),
    Holder("self.items = []", "{o}.items.insert(0, {x})", "torch.stack({o}.items)[0] @ torch.zeros(3, 2)"),
    Holder("self.items = []", "rows = {o}.items; rows.append({x})", CAT),
    Holder("self.items = []", "getattr({o}, 'items').extend([{x}, {x}])", "{o}.items[1] + {o}.items[0]"),
    Holder("self.items = {}", "{o}.items[len({o}.items)] = {x}", "torch.cat(list({o}.items.values()))"),
    Holder("self.items = {}", "{o}.items.setdefault('a', []).append({x})", "torch.cat({o}.items['a'])"),
    Holder("self.items = {'a': [], 'b': []}", "{o}.items['a'].append({x})", "torch.cat({o}.items['a'])"),
    Holder("self.items = {'a': None}", "{o}.items.update(a={x})", "torch.cat([{o}.items['a'], {x}])"),
    Holder("self.items = defaultdict(list)", "{o}.items['a'].append({x})", "torch.cat({o}.items['a'])"),
    Holder("self.items = deque(maxlen=2)", "{o}.items.append({x})", "torch.cat(list({o}.items))"),
    Holder("self.items = [[], []]", "[each.append({x}) for each in {o}.items]", "torch.cat({o}.items[1])"),
    Holder("self.items = ()", "{o}.items = (*{o}.items, {x})", CAT),
    Holder("self.items = None", "{o}.items = {x}", "torch.cat([{o}.items, {o}.items])"),
    Holder("self.items = None", "{o}.__dict__['items'] = {x}", "torch.cat([{o}.items, {o}.items])"),
    Holder("self.items = None", "vars({o}).update(items={x})", "{o}.items[0].view(3)"),
    Holder("self.items = torch.empty(0)", "setattr({o}, 'items', {x})", "{o}.items.view(2, 3) @ torch.zeros(3, 1)"),
    Holder("self.items = torch.empty(0)", "{o}.items.resize_(2, 3)", "{o}.items @ torch.zeros(3, 1)"),
    Holder("self.items = torch.zeros(0, 3)", "{o}.items = torch.cat([{o}.items, {x}])", "{o}.items.max(0)[0]"),
    Holder("self.items = torch.zeros(4, 5)", "{o}.items = {x}", "{o}.items @ torch.zeros(3, 1)"),
    Holder("self.items = [torch.zeros(4, 5)]", "{o}.items[0] = {x}", "{o}.items[0] @ torch.zeros(3, 1)"),
    Holder("self.items = torch.zeros(4, 5)", "{o}.items.data = {x}", "{o}.items @ torch.zeros(3, 1)"),
    Holder("pass", "{o}.items.append({x})", CAT, "items = []"),
    Holder("pass", "type({o}).items = {x}", "{o}.items.view(2, 3)", "items = torch.empty(0)"),
    Holder("pass", "{o}.items = {x}", "torch.cat([{o}.items, {x}])", "items = None"),
    Holder(
        "self.items = nn.ModuleList()", "{o}.items.append(nn.Linear(3, 4))", "torch.stack([f({x}) for f in {o}.items])"
    ),
    Holder("self.items = nn.ModuleDict()", "{o}.items['a'] = nn.Linear(3, 4)", "{o}.items['a']({x})"),
    Holder("self.items = nn.Linear(7, 4)", "{o}.items = nn.Linear(3, 4)", "{o}.items({x})"),
    Holder("self.items = nn.Linear(7, 4)", "{o}.add_module('items', nn.Linear(3, 4))", "{o}.items({x})"),
    Holder("self.items = nn.Linear(7, 4)", "{o}._modules['items'] = nn.Linear(3, 4)", "{o}.items({x})"),
    Holder("self.items = nn.Linear(7, 4)", "{o}.items.weight = nn.Parameter(torch.zeros(4, 3))", "{o}.items({x})"),
    Holder("self.register_buffer('items', None)", "{o}.register_buffer('items', {x})", "torch.cat([{o}.items, {x}])"),
]
METHOD = "    def {name}(self, x):\n        {code}\n"
SUBCLASS = "class Sub(Base):\n"
OPEN = [
    "pass",
    "raise NotImplementedError",
    "...",
    '"""Adds a tensor."""',
    "return None",
    'raise TypeError("abstract")',
]
FILLERS = {
    "method": (METHOD, "", "o.add(X)"),
    "subclass": ("", SUBCLASS + METHOD, "o.add(X)"),
    "function": ("", "def add(o, x):\n    {code}\n", "add(o, X)"),
    "class": ("", "class Feeder:\n    def add(self, o, x):\n        {code}\n", "Feeder().add(o, X)"),
    "caller": ("", "", "{code}"),
}
"""Who adds: what is written in the class, what beside it, and the use."""
GATHERERS = {
    "method": ("    def total(self, x):\n        return {code}\n", "", "o.total(X)"),
    "property": (
        "    @property\n    def total(self):\n        x = torch.zeros(2, 3)\n        return {code}\n",
        "",
        "o.total",
    ),
    "loop": ("    def total(self, x):\n        return [{code} for _ in range(2)]\n", "", "o.total(X)"),
    "function": ("", "def total(o, x):\n    return {code}\n", "total(o, X)"),
    "class": ("", "class Reader:\n    def total(self, o, x):\n        return {code}\n", "Reader().total(o, X)"),
}


def _own(code: str, where: str) -> str:
    return code.replace("{o}", "self" if where.startswith("    ") else "o").replace("{x}", "x")


@st.composite
def filled(draw: st.DrawFn) -> Program:
    """A class, what fills its objects, and what takes it for filled."""
    filler = draw(st.sampled_from(sorted(FILLERS)))
    # What a constructor fixed is known where no code in sight changes it.
    holder = draw(st.sampled_from(HOLDERS if filler != "caller" else [each for each in HOLDERS if not each.is_fixed]))
    gatherer = draw(st.sampled_from(sorted(GATHERERS)))
    inside, beside, push = FILLERS[filler]
    read_inside, read_beside, read = GATHERERS[gatherer]
    calls = draw(st.integers(1, 3))
    opened = draw(st.sampled_from(OPEN)) if filler == "subclass" else None
    lines = [
        "class Base(nn.Module):",
        f"    {holder.in_class}",
        f"    def __init__(self):\n        super().__init__()\n        {holder.constructor}",
        inside.format(name="add", code=_own(holder.push, inside)) if inside else "",
        METHOD.format(name="add", code=opened) if opened else "",
        read_inside.format(code=_own(holder.gather, read_inside)) if read_inside else "",
    ]
    if opened and draw(st.booleans()):
        lines.append(METHOD.format(name="run", code="self.add(x); return " + _own(holder.gather, "    ")))
    lines.append(beside.format(name="add", code=_own(holder.push, beside if filler != "subclass" else "    ")))
    lines.append(read_beside.format(code=_own(holder.gather, read_beside)))
    if filler == "class":
        lines[-2] = lines[-2].replace("self.items", "o.items")
    if gatherer == "class":
        lines[-1] = lines[-1].replace("self.items", "o.items")
    made = "Sub()" if filler == "subclass" else "Base()"
    use = [f"X = torch.zeros(2, 3)\no = {made}", *[push.format(code=holder.push.format(o="o", x="X"))] * calls, read]
    return Program(HEAD + "\n".join(filter(None, lines)) + "\n", "\n".join(use) + "\n")


NEW = "nn.Linear({n}, 5)"
WIDE = "nn.Parameter(torch.zeros(5, {n}))"
CHANGES = [
    "setattr(net, '0', " + NEW + ")",
    "net._modules['0'] = " + NEW,
    "net[0] = " + NEW,
    "net.add_module('0', " + NEW + ")",
    "net.register_module('0', " + NEW + ")",
    "net.set_submodule('0', " + NEW + ")",
    "net.__setattr__('0', " + NEW + ")",
    "net.__dict__['_modules']['0'] = " + NEW,
    "net._modules.update({{'0': " + NEW + "}})",
    "net[0].weight = " + WIDE,
    "net[0].weight.data = torch.zeros(5, {n})",
    "net[0]._parameters['weight'] = " + WIDE,
    "del net[0].weight; net[0].register_parameter('weight', " + WIDE + ")",
    "setattr(net[0], 'weight', " + WIDE + ")",
    "getattr(net, '0').weight = " + WIDE,
    "net.get_submodule('0').weight = " + WIDE,
    "net[0].forward = lambda x: torch.zeros(len(x), 5)",
    "net[0].register_forward_pre_hook(lambda m, a: a[0][:, :1].expand(-1, m.weight.shape[1]))",
    "for k, c in list(net.named_children()):\n    if k == '0': setattr(net, k, " + NEW + ")",
    "for k, c in list(net.named_modules()):\n    if k == '0': setattr(net, k, " + NEW + ")",
    "for k in list(net._modules):\n    if k == '0': net._modules[k] = " + NEW,
    "for c in net.children():\n    if getattr(c, 'out_features', 0) == 5: c.weight = " + WIDE,
    "for c in net.modules():\n    if getattr(c, 'out_features', 0) == 5: c.weight = " + WIDE,
    "def widen(m):\n    if getattr(m, 'out_features', 0) == 5: m.weight = " + WIDE + "\nnet.apply(widen)",
]
NETS = [
    "net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 6))",
    "net = nn.Sequential(nn.Linear(4, 5), nn.Sequential(nn.ReLU(), nn.Linear(5, 6)))",
    "net = nn.Sequential()\nnet.append(nn.Linear(4, 5))\nnet.append(nn.Linear(5, 6))",
    "class Own(nn.Sequential):\n    pass\nnet = Own(nn.Linear(4, 5), nn.Linear(5, 6))",
    "class Own(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.Linear(4, 5), nn.Linear(5, 6))\nnet = Own()",
]
CUTS = [
    "net[-1].register_forward_hook(lambda m, a, out: out[:, :2])",
    "net.register_forward_hook(lambda m, a, out: out[:, :2])",
    "net.append(nn.Linear(6, 2))",
    "net.add_module('last', nn.Linear(6, 2))",
    "net.last = nn.Linear(6, 2)",
]


@st.composite
def changed(draw: st.DrawFn) -> Program:
    """A net whose first layer is changed, called with what it takes by then."""
    lines = [draw(st.sampled_from(NETS))]
    for each in draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3)):
        size = draw(st.integers(1, 9))
        code = each.format(n=size)
        if draw(st.booleans()):
            code = "def change(net):\n" + "\n".join(f"    {line}" for line in code.split("\n")) + "\nchange(net)"
        lines += [code, f"net(torch.zeros(2, {size})) + torch.zeros(2, 6)"]
    if draw(st.booleans()):
        lines += [draw(st.sampled_from(CUTS)), f"net(torch.zeros(2, {size})) + torch.zeros(2, 2)"]
    return Program(HEAD, "\n".join(lines) + "\n")


FIXED = {
    "self.fc = nn.Linear(4, 5)": "self.fc(torch.zeros(2, 3))",
    "self.size = 4": "torch.zeros(2, self.size) @ torch.zeros(3, 1)",
    "self.sizes = [4, 5]": "torch.zeros(2, self.sizes[0]) @ torch.zeros(3, 1)",
    "self.shape = (4, 5)": "torch.zeros(self.shape) @ torch.zeros(3, 1)",
    "self.weight = nn.Parameter(torch.zeros(4, 5))": "self.weight @ torch.zeros(3, 1)",
    "self.net = nn.Sequential(nn.Linear(4, 5), nn.Linear(4, 6))": "self.net(torch.zeros(2, 4))",
    "self.layers = nn.ModuleList([nn.Linear(4, 5)])": "self.layers[0](torch.zeros(2, 3))",
    "self.register_buffer('mask', torch.zeros(4))": "self.mask + torch.zeros(3)",
}
"""What a constructor fixes, and a mistake with it."""


@st.composite
def mistaken(draw: st.DrawFn) -> Program:
    """A class that is filled, with a mistake about what its constructor fixed in a method that nobody calls."""
    # A weight that is set through another name may be that of any layer.
    program = draw(filled().filter(lambda each: ".weight =" not in each.definitions))
    fixed = draw(st.sampled_from(sorted(FIXED)))
    made = program.definitions.replace("super().__init__()\n", f"super().__init__()\n        {fixed}\n", 1)
    method = f"    def mistake(self):\n        return {FIXED[fixed]}  # here\n"
    return Program(made.replace("class Base(nn.Module):\n", "class Base(nn.Module):\n" + method, 1), program.use)
