"""What a batch leaves behind for later ones to be trained with is the same on all ranks: the mean of what each would keep.

All programs of the tables run in two processes that are started once. Their batches are half as large as those of one process
and in order, so that a running mean over both ranks is just that of one process.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import numbers, outcome, said_by_two, told_alone

pytestmark = pytest.mark.requires("torch")

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(64, 4)
loader = DataLoader(TensorDataset(x), batch_size=8)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-12)
"""
LOOP = """
for epoch in range(2):
    for (a,) in loader:
        optimizer.zero_grad()
        out = net(a)
        {loss}
        loss.backward()
        optimizer.step()
"""
OBJECT = """

class Penalty{base}:
    def __init__(self):
        {begin}

    def __call__(self, out):
        loss = ((out - self.mean) ** 2).mean()
        {sets}
        return loss


penalty = Penalty()
"""
MODULE = """

class Penalty(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, out):
        loss = ((out - self.mean) ** 2).mean()
        self.update(out)
        return loss

    def update(self, out):
        {sets}


penalty = Penalty()
"""
SETS = {
    "a product and a sum": "self.mean = 0.9 * self.mean + 0.1 * out.mean().detach()",
    "a number": "self.mean = 0.9 * self.mean + out.mean().item() * 0.1",
    "a difference": "self.mean = self.mean + 0.1 * (out.mean().item() - self.mean)",
    "added": "self.mean += 0.1 * out.mean().item()",
    "without gradients": "with torch.no_grad():\n            self.mean = 0.9 * self.mean + 0.1 * out.mean()",
    "through a variable": "now = out.detach().mean()\n        kept = 0.9 * self.mean + 0.1 * now\n        self.mean = kept",
    "under a condition": "if out.dim() > 0:\n            self.mean = 0.9 * self.mean + 0.1 * out.mean().detach()",
}
IN_PLACE = {
    "in a row": "self.mean.mul_(0.9).add_(out.mean().detach(), alpha=0.1)",
    "between": "self.mean.lerp_(out.detach().mean(), 0.1)",
    "copied": "self.mean.copy_(0.9 * self.mean + 0.1 * out.mean().detach())",
    "its data": "self.mean.data = 0.9 * self.mean + 0.1 * out.mean().detach()",
    "all of it": "self.mean[:] = 0.9 * self.mean + 0.1 * out.mean().detach()",
}
VARIABLES = {
    "a variable": "loss = ((out - mean) ** 2).mean()\n        mean = 0.9 * mean + 0.1 * out.mean().item()",
    "by its new name": """\
new = mean + 0.1 * (out.mean() - mean)
        loss = ((out - new) ** 2).mean()
        mean = new.detach()""",
}
FIRST = """

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        {made}
        self.ready = False

    def begin(self, given):
        self.scale.data.copy_(given.std(0))

    def forward(self, x):
        if not self.ready:
            {sets}
            self.ready = True
        return x * self.scale


layer = Layer()
net = nn.Sequential(layer, nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-12)
"""
MADE = {
    "a parameter": "self.scale = nn.Parameter(torch.ones(4))",
    "a registered parameter": 'self.register_parameter("scale", nn.Parameter(torch.ones(4)))',
    "a buffer": 'self.register_buffer("scale", torch.ones(4))',
}
FROM_FIRST = {
    "copied": "self.scale.data.copy_(1 / x.std(0))",
    "given": "self.scale.data = 1 / x.std(0)",
    "filled": "with torch.no_grad():\n                self.scale[:] = x.std(0)",
    "multiplied": "self.scale.data.mul_(x.std(0))",
    "divided": "self.scale.data /= x.std(0)",
    "through a variable": "spread = x.std(0)\n            other = spread + 1\n            self.scale.data.copy_(other)",
    "by a method": "self.begin(x)",
}
LEFT = {
    "of its size": "self.scale.data.fill_(x.shape[0] / x.size(1))",
    "of itself": "self.scale.data.div_(self.scale.norm())",
    "zeros": "self.scale.data.copy_(torch.zeros_like(x[0]))",
}
PLAIN = LOOP.format(loss="loss = out.pow(2).mean()")


def _running() -> dict[str, str]:
    """Programs in which a loss takes a running mean, by what keeps it; each tells it in the end."""
    found = {}
    taken = LOOP.format(loss="loss = penalty(out)") + "print(float(penalty.mean))\n"
    for name, sets in SETS.items():
        found[f"an object, {name}"] = HEAD + OBJECT.format(base="", begin="self.mean = 0.0", sets=sets) + taken
    for name, sets in {**SETS, **IN_PLACE}.items():
        if name != "added":
            found[f"a buffer, {name}"] = HEAD + MODULE.format(sets=sets) + taken
        if name != "all of it":
            begin = OBJECT.format(base="", begin="self.mean = torch.zeros(())", sets=sets)
            found[f"a tensor, {name}"] = HEAD + begin + taken
    for name, loss in VARIABLES.items():
        found[name] = HEAD + "mean = 0.0\n" + LOOP.format(loss=loss) + "print(float(mean))\n"
    return found


def _first() -> dict[str, str]:
    """Programs with a layer that sets its scale from its first batch; each tells it in the end."""
    tell = "print(*layer.scale.tolist())\n"
    return {
        f"the first batch, {made}, {sets}": HEAD + FIRST.format(made=MADE[made], sets=FROM_FIRST[sets]) + PLAIN + tell
        for made in MADE
        for sets in FROM_FIRST
    }


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[float], list[float]]]:
    """What each of two ranks tells in each program, rewritten for torch.distributed."""
    texts = {}
    for name, text in {**_running(), **_first()}.items():
        found = outcome(text, "ddp")
        assert not found.plan.refusals, name
        (file,) = found.files.values()
        texts[name] = file.source.replace("if dist.get_rank() == 0:", "if True:")
    said = said_by_two(texts, Path(tmp_path_factory.mktemp("ranks")))
    return {name: (numbers(one), numbers(other)) for name, (one, other) in said.items()}


@pytest.mark.parametrize("name", _running())
def test_a_running_mean_is_that_of_one_process(
    name: str, told: dict[str, tuple[list[float], list[float]]], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = told_alone(_running()[name].replace("batch_size=8", "batch_size=16"), capsys)
    assert told[name][0] == pytest.approx(alone, rel=1e-5)
    assert told[name][1] == told[name][0]


@pytest.mark.parametrize("name", _first())
def test_what_the_first_batch_sets_is_the_same_on_all_ranks(
    name: str, told: dict[str, tuple[list[float], list[float]]]
) -> None:
    assert told[name][0] == told[name][1]
    assert len(told[name][0]) == 4


@pytest.mark.parametrize("backend", ["ddp", "horovod", "accelerate"])
def test_all_back_ends_make_it_the_same_where_it_is_set(backend: str) -> None:
    text = HEAD + FIRST.format(made=MADE["a buffer"], sets=FROM_FIRST["copied"]) + PLAIN
    (file,) = outcome(text, backend).files.values()  # type: ignore[arg-type]
    assert "            self.scale.data.copy_(mean_of_ranks(self.scale))\n" in file.source


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("sets", LEFT)
def test_what_no_element_decides_is_left_alone(made: str, sets: str) -> None:
    assert not _changed(HEAD + FIRST.format(made=MADE[made], sets=LEFT[sets]) + PLAIN)


CALLED = {
    "a number in each call": ("self.scale.data.fill_(number)", "", "layer(out, 0.5)"),
    "a number by default": ("self.scale.data.fill_(number)", "=1.0", "layer(out)"),
    "a count": ("self.scale.data.fill_(number)", "", "layer(out, 0.9 ** epoch)"),
}


@pytest.mark.parametrize("sets,default,call", CALLED.values(), ids=CALLED)
def test_numbers_that_are_the_same_on_all_ranks_are_no_batch(sets: str, default: str, call: str) -> None:
    text = FIRST.format(made="self.scale = nn.Parameter(torch.ones(1))", sets=sets).split("\nnet = ")[0]
    text = text.replace("def forward(self, x)", f"def forward(self, x, number{default})")
    assert not _changed(HEAD + text + LOOP.format(loss=f"loss = {call}.pow(2).mean()"))


OTHERS = {
    "what is only told": "loss = (out ** 2).mean()\n        self.mean = 0.9 * self.mean + 0.1 * out.mean().item()",
    "what a pass keeps": "self.mean = out.detach()\n        loss = ((out - self.mean) ** 2).mean()",
    "a queue": "loss = ((out - self.mean) ** 2).mean()\n        self.mean = torch.cat([self.mean[1:], out.detach().mean(0)])",
    "a list": "loss = ((out - sum(self.mean)) ** 2).mean()\n        self.mean += [out.mean().item()]",
    "a number of all": "loss = ((out - self.mean) ** 2).mean()\n        self.mean = self.mean + len(out) / 64",
}


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS)
def test_what_is_no_running_mean_of_a_loss_is_left_alone(body: str) -> None:
    begin = {"a queue": "torch.zeros(4)", "a list": "[]"}
    kept = next((made for name, made in begin.items() if OTHERS[name] == body), "0.0")
    text = OBJECT.format(base="", begin=f"self.mean = {kept}", sets="")
    text = text.replace("loss = ((out - self.mean) ** 2).mean()\n        \n", body + "\n")
    assert not _changed(HEAD + text + LOOP.format(loss="loss = penalty(out)"))


STATISTICS = """

class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        {body}
        return x - mean


net = nn.Sequential(Norm(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-12)
"""
EVALUATED = {
    "in the other arm": """\
if self.training:
            mean = x.mean(0)
            self.mean.mul_(0.9).add_(mean.detach(), alpha=0.1)
        else:
            mean = self.mean""",
    "in an expression": """\
mean = x.mean(0) if self.training else self.mean
        self.mean.mul_(0.9).add_(mean.detach(), alpha=0.1)""",
    "first": """\
if not self.training:
            mean = self.mean
        else:
            mean = x.mean(0)
            self.mean.copy_(0.9 * self.mean + 0.1 * mean.detach())""",
}


@pytest.mark.parametrize("body", EVALUATED.values(), ids=EVALUATED)
def test_statistics_for_evaluation_are_those_of_rank_zero_behind_each_pass(body: str) -> None:
    text = HEAD + STATISTICS.format(body=body) + PLAIN
    assert not _changed(text)
    (file,) = outcome(text).files.values()
    assert "    hvd.broadcast_parameters(dict(net.named_buffers()), root_rank=0)" in file.source


REFUSED = {
    "what the data decides": "if x.mean() > 0:\n                self.scale.data.copy_(x.std(0))",
    "places that the data says": "self.scale.data[x.argmax()] = x.std()",
    "some of it": "self.scale.data.index_fill_(0, x.argmax(1), 0.0)",
}


@pytest.mark.parametrize("sets", REFUSED.values(), ids=REFUSED)
def test_weights_that_have_no_mean_are_refused(sets: str) -> None:
    found = outcome(HEAD + FIRST.format(made=MADE["a parameter"], sets=sets) + PLAIN)
    assert [each.code for each in found.plan.refusals] == ["HVD203"]


def _changed(text: str) -> bool:
    """Whether something becomes a mean where a batch sets it."""
    found = outcome(text, "ddp")
    assert not found.plan.refusals
    (file,) = found.files.values()
    return any("mean_of_ranks(self." in line for line in file.source.splitlines())
