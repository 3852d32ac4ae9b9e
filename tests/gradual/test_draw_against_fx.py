"""The graphs of `distml draw` against those of torch.fx and the shapes of a real run, on generated models."""

from __future__ import annotations

import random
import textwrap

import pytest

from distml.gradual.draw import find_drawings
from distml.gradual.questions import Question

WIDTH = 8
SYMBOLS = {"add": "+", "mul": "*", "sub": "-", "matmul": "@", "getitem": "[ ]", "neg": "-"}
HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def mixed(a, b):
    return a * 0.5 + torch.sigmoid(b)
"""
SEVERAL = {"chunk", "split", "unbind"}


class Writer:
    """Writes a model of PyTorch: any directed graph of layers and functions on tensors of one shape."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.classes: list[str] = []
        self.made = 0

    def name(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def model(self) -> str:
        self.block("Net", 0)
        return "\n\n".join([HEAD, *self.classes])

    def block(self, name: str, depth: int) -> None:
        init, body, variables = list[str](), list[str](), ["x"]
        shared = self.layer(init, depth)
        for _ in range(self.rng.randint(3, 8)):
            self.step(init, body, variables, shared, depth)
        body.append(f"return {self.end(variables)}")
        text = f"class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        text += textwrap.indent("\n".join(init), " " * 8) + "\n\n    def forward(self, x):\n"
        self.classes.append(text + textwrap.indent("\n".join(body), " " * 8))

    def end(self, variables: list[str]) -> str:
        last = variables[-3:]
        return self.rng.choice([last[-1], " + ".join(last), f"torch.cat([{', '.join(last)}], dim=1)[:, :{WIDTH}]"])

    def layer(self, init: list[str], depth: int) -> str:
        """Makes a layer or a block of its own; its name."""
        name = self.name("part")
        kinds = [
            f"nn.Linear({WIDTH}, {WIDTH})",
            "nn.ReLU()",
            f"nn.LayerNorm({WIDTH})",
            "nn.Dropout(0.1)",
            "nn.Identity()",
            f"nn.Sequential(nn.Linear({WIDTH}, 3), nn.GELU(), nn.Linear(3, {WIDTH}))",
        ]
        made = self.rng.choice(kinds)
        if depth < 2 and self.rng.random() < 0.35:
            inner = self.name("Block")
            self.block(inner, depth + 1)
            made = self.rng.choice([f"{inner}()", f"nn.Sequential({inner}(), nn.ReLU(), {inner}())"])
        init.append(f"self.{name} = {made}")
        return name

    def step(self, init: list[str], body: list[str], variables: list[str], shared: str, depth: int) -> None:
        a, b = self.rng.choice(variables), self.rng.choice(variables)
        new = self.name("v")
        kind = self.rng.randrange(17)
        if kind <= 3:
            body.append(f"{new} = self.{self.layer(init, depth)}({a})")
        elif kind == 4:
            body.append(f"{new} = self.{shared}({a}) + self.{shared}({b})")
        elif kind == 5:
            body.append(f"{new} = F.relu({a}) * {b}")
        elif kind == 6:
            body.append(f"{new} = torch.cat([{a}, {b}], 1).view(-1, 2, {WIDTH}).mean(1)")
        elif kind == 7:
            body.append(f"p, {new} = {a}.chunk(2, dim=1)\n{new} = torch.cat(({new}, p), dim=-1)")
        elif kind == 8:
            items = self.name("items")
            init.append(f"self.{items} = nn.ModuleList([nn.Linear({WIDTH}, {WIDTH}) for _ in range(3)])")
            body.append(f"{new} = {a}\nfor each in self.{items}:\n    {new} = {new} + each({new})")
        elif kind == 9:
            body.append(f"{new} = {a}\nfor _ in range(2):\n    {new} = self.{shared}({new})")
        elif kind == 10:
            weight = self.name("weight")
            init.append(f"self.{weight} = nn.Parameter(torch.zeros({WIDTH}))")
            body.append(f"{new} = {a} * self.{weight} + self.{weight}")
        elif kind == 11:
            body.append(
                f"kept = [{a}, F.gelu({b})]\nkept.append(self.{shared}({a}))\n{new} = torch.stack(kept).sum(dim=0)"
            )
        elif kind == 12:
            body.append(f"held = {{'a': {a}, 'b': -{b}}}\n{new} = held['b'] - held['a'][:, 0:1]")
        elif kind == 13:
            body.append(f"{new} = mixed({a}, b={b})")
        elif kind == 14:
            body.append(f"p, {new} = torch.stack([{a}, {b}])\n{new} = {new} * p")
        elif kind == 15:
            body.append(f"{new} = (lambda t: t @ t.t() @ {b})({a})")
        else:
            body.append(f"{new} = {a} if {self.rng.random() < 0.5} else {b}\n{new} = {new}.transpose(0, 1).t()")
        variables.append(new)


def _of_fx(text: str, rows: int) -> tuple[list[tuple[str, ...]], list[tuple[str, set[str], tuple[int, ...] | None]]]:
    """The inputs, and each call with the sources of what goes into it and its shape, in order, as torch.fx sees them."""
    import torch
    from torch.fx.passes.shape_prop import ShapeProp

    space: dict[str, object] = {}
    exec(compile(text, "generated", "exec"), space)
    model = space["Net"]()  # type: ignore[operator]
    model.eval()
    traced = torch.fx.symbolic_trace(model)
    traced.graph.eliminate_dead_code()
    ShapeProp(traced).propagate(torch.zeros(rows, WIDTH))
    labels: dict[object, str] = {}
    found = []
    for node in traced.graph.nodes:
        target = getattr(node.target, "__name__", str(node.target))
        source = node.args[0] if node.args else None
        if target == "getitem" and getattr(source, "target", "") in SEVERAL | {torch.chunk}:
            labels[node] = labels[source]
            continue
        if node.op in ("placeholder", "get_attr"):
            labels[node] = str(node.target)
            continue
        name = node.target if node.op == "call_module" else SYMBOLS.get(target, target)
        labels[node] = f"{len(found)} {name}"
        meta = node.meta.get("tensor_meta")
        shape = tuple(meta.shape) if hasattr(meta, "shape") else None
        found.append((str(name), {labels[each] for each in node.all_input_nodes}, shape))
    return [], found


def _of_distml(path: str, rows: int) -> list[tuple[str, set[str], tuple[int, ...] | None]]:
    (drawing,) = find_drawings(Question(f"{path}::Net"), [f"x: float[{rows}, {WIDTH}]"])
    assert not drawing.failures and all(node.known and node.certain and not node.repeats for node in drawing.nodes)
    labels: dict[int, str] = {}
    found = []
    for node in drawing.nodes:
        if node.kind in ("input", "parameter"):
            labels[node.id] = node.name
            continue
        name = node.name or node.type
        labels[node.id] = f"{len(found)} {name}"
        sources = {labels[edge.source] for edge in drawing.edges if edge.target == node.id}
        sizes = node.shape.strip("[]").split(", ")
        shape = tuple(map(int, sizes)) if node.shape.count("[") == 1 and all(map(str.isdecimal, sizes)) else None
        found.append((name, sources, shape))
    return found


@pytest.mark.requires("torch")
@pytest.mark.parametrize("seed", range(60))
def test_nodes_edges_and_shapes_are_those_of_a_trace(seed, tmp_path):
    text = Writer(seed).model()
    path = tmp_path / "model.py"
    path.write_text(text + "\n")
    _, real = _of_fx(text, 5)
    ours = _of_distml(str(path), 5)
    assert [(name, sources) for name, sources, _ in ours] == [(name, sources) for name, sources, _ in real], text
    for (name, _, mine), (_, _, theirs) in zip(ours, real, strict=True):
        assert theirs is None or mine == theirs, name


ROWS = """
from torch import nn, stack


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(8, 8)

    def forward(self, x):
        kept = []
        for row in x:
            kept.append(self.part(row))
        return stack(kept)
"""


@pytest.mark.parametrize(("rows", "count"), [("3", 3), ("n", 1)])
def test_rows_of_a_loop_are_taken_from_their_tensor(rows, count, tmp_path):
    """torch.fx follows no such loop: each row is an index into the input, one for all where their number is not known."""
    path = tmp_path / "model.py"
    path.write_text(ROWS)
    (drawing,) = find_drawings(Question(f"{path}::Net"), [f"x: float[{rows}, 8]"])
    names = {node.id: node.name or node.type for node in drawing.nodes}
    edges = sorted((names[edge.source], names[edge.target]) for edge in drawing.edges)
    each = [("[ ]", "part"), ("part", "stack"), ("x", "[ ]")]
    assert edges == sorted([*each * count, ("stack", "output")])
