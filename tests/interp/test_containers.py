"""What takes items takes them from every container: each built-in consumer over each kind of container, as Python does it."""

from __future__ import annotations

import pytest

from interp.programs import forms_in, told_otherwise

HEAD = """import collections, copy, functools, itertools
import torch
from torch import nn

a, b, c = torch.zeros(2, 3), torch.zeros(4, 5), torch.zeros(6, 7)
Pair = collections.namedtuple("Pair", "x y z")
layers = nn.Linear(3, 2, bias=False), nn.Linear(5, 4, bias=False), nn.Linear(7, 6, bias=False)
modules, stack = nn.ModuleList(layers), nn.Sequential(*layers)

class Numbered:
    def __init__(self, items):
        self.items = items
    def __len__(self):
        return len(self.items)
    def __getitem__(self, place):
        return self.items[place]

class Given(Numbered):
    def __iter__(self):
        return iter(self.items)

class Yielded(Numbered):
    def __iter__(self):
        for each in self.items:
            yield each
    def __reversed__(self):
        return iter(self.items[::-1])

class Own(list):
    pass

def generator():
    yield a
    yield b
    yield c
"""
SEQUENCES = """
[a, b, c]
(a, b, c)
Pair(a, b, c)
Given([a, b, c])
Yielded([a, b, c])
Own([a, b, c])
nn.ParameterList([a, b, c])
[layer.weight for layer in modules]
[layer.weight for layer in reversed(stack)][::-1]
[layer.weight for layer in modules.children()]
[pair[0] for pair in zip([a, b, c], range(3))]
sorted([c, a, b], key=lambda t: t.shape[0])
copy.copy([a, b, c])
[*(a, b), c]
[a] + [b, c]
[a, b, c, a][:3]
"""
ITERABLES = """
collections.deque([a, b, c])
{'x': a, 'y': b, 'z': c}.values()
collections.OrderedDict(x=a, y=b, z=c).values()
nn.ParameterDict({'x': a, 'y': b, 'z': c}).values()
stack.parameters()
generator()
(t for t in [a, b, c])
map(lambda t: t, [a, b, c])
iter([a, b, c])
itertools.chain([a], [b, c])
reversed([c, b, a])
"""
CONSUMERS = """
list(V)[1]
tuple(V)[-1]
[t for t in V][1]
list(reversed(list(V)))[0]
list(enumerate(V))[2][1]
list(zip(V, range(3)))[1][0]
list(map(lambda t: t.T, V))[1]
list(filter(lambda t: t.shape[0] > 2, V))[0]
next(iter(V))
max(V, key=lambda t: t.shape[0])
sorted(V, key=lambda t: -t.shape[0])[0]
functools.reduce(lambda x, y: torch.outer(x[0], y[0]), V)
list(itertools.islice(V, 1, 3))[0]
list(itertools.chain(V, [a]))[1]
torch.zeros(sum(t.shape[0] for t in V))
torch.zeros(len(list(V)))
collections.deque(V)[1]
(lambda x, y, z: z)(*V)
[*V][1]
{i: t for i, t in enumerate(V)}[1]
dict(zip('xyz', V))['y']
list(itertools.accumulate(V, lambda x, y: y))[-1]
list(itertools.zip_longest(V, [1]))[1][0]
torch.block_diag(*V)
[x for x, y in zip(V, [1, 2])][-1]
list(itertools.takewhile(lambda t: t.shape[0] < 5, V))[-1]
list(itertools.starmap(lambda i, t: t, enumerate(V)))[1]
"""
BY_PLACE = """
V[1]
V[-1]
list(reversed(V))[0]
torch.zeros(len(V))
V[0:2][1]
V[::-1][0]
"""


@pytest.mark.requires("torch")
def test_every_consumer_over_every_container() -> None:
    asked = [(each, use) for each in forms_in(SEQUENCES) for use in forms_in(CONSUMERS + BY_PLACE[1:])]
    asked += [(each, use) for each in forms_in(ITERABLES) for use in forms_in(CONSUMERS)]
    asked += [("Numbered([a, b, c])", use) for use in forms_in(BY_PLACE)]
    forms = [use.replace("V", f"({container})") for container, use in asked]
    assert not told_otherwise(HEAD, forms)
