"""What a pass that trains nothing tells of the loader of training is of all the data; so is what it tells of other loaders.

Two processes tell what one process does, in programs that judge the data of training, and in programs that judge other data by
the same function, of which every process goes through all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from horovod.torch.programs import told_alone, told_by_first
from horovod.torch.test_means import HEAD, LOADERS, STEP

pytestmark = pytest.mark.requires("torch")

LOSS = "nn.functional.mse_loss(model(a), b).item()"
HITS = "((model(a) > 0) == (b > 0)).sum().item()"
PASS = "    for a, b in source:\n"
WAYS = {
    "sums that are told": f"    total = hits = 0\n{PASS}        total += {LOSS}\n        hits += {HITS}\n"
    "    print(total, hits, hits / len(source.dataset), total / len(source))\n    return 0\n",
    "a sum that is given back": f"    total = 0.0\n{PASS}"
    f"        total += {LOSS} * len(a)\n    return total / len(source.dataset)\n",
    "a count of its own": f"    hits = seen = 0\n{PASS}"
    f"        hits += {HITS}\n        seen += b.size(0)\n    return 100.0 * hits / seen\n",
    "without gradients": "    total = 0.0\n    with torch.no_grad():\n"
    f"        for i, (a, b) in enumerate(source):\n            total += {LOSS}\n"
    "    return total / (i + 1)\n",
    "a meter": f"    meter = Meter()\n{PASS}        meter.update({LOSS}, a.size(0))\n    return meter.average\n",
    "a list": f"    losses = []\n{PASS}        losses.append({LOSS})\n    return np.mean(losses)\n",
    "a sum of a list": f"    losses = []\n{PASS}        losses.append({LOSS})\n    return sum(losses) / len(source)\n",
    "a dict": f"    sums = {{'loss': 0.0}}\n{PASS}        sums['loss'] += {LOSS}\n    return sums['loss'] / len(source)\n",
    "a comprehension": f"    return np.mean([{LOSS} for a, b in source])\n",
    "a sum of a generator": f"    return sum({LOSS} for a, b in source) / len(source)\n",
}
ALONE = {
    "a list of counts": f"    hits = []\n{PASS}"
    f"        hits.append({HITS})\n    print(sum(hits))\n    return np.sum(hits) / len(source.dataset)\n",
    "a list of losses told as a sum": f"    losses = []\n{PASS}"
    f"        losses.append({LOSS})\n    print(np.sum(losses))\n    return sum(losses)\n",
    "guesses under one name": "    guesses, marks = [], []\n"
    f"{PASS}        guesses.append(model(a)); marks.append(b)\n"
    "    guesses, marks = torch.cat(guesses), torch.cat(marks)\n"
    "    print(((guesses > 0) == (marks > 0)).float().mean().item(), len(marks))\n    return 0\n",
    "one after the other": "    guesses = []\n"
    f"{PASS}        guesses.append((model(a) > 0).numpy())\n"
    "    guesses = np.concatenate(guesses)\n    print(len(guesses), guesses.mean())\n    return 0\n",
    "guesses": "    guesses, marks = [], []\n"
    f"{PASS}        guesses.append(model(a)); marks.append(b)\n"
    "    all_of, right = torch.cat(guesses), torch.cat(marks)\n"
    "    print(((all_of > 0) == (right > 0)).float().mean().item(), len(right))\n    return 0\n",
    "the largest": f"    top = -9.0\n{PASS}        top = max(top, b.max().item())\n    return top\n",
    "a generator of hits": f"    return sum({HITS} for a, b in source) / len(source.dataset)\n",
}
TRAINED = {
    "a list of counts": (f"hits.append({HITS})", "print('now', np.sum(hits), sum(hits) / len(data))"),
    "a list of losses": (f"hits.append({LOSS})", "print('now', sum(hits), np.sum(hits) / 8)"),
    "a list of losses and their mean": (f"hits.append({LOSS})", "print('now', sum(hits) / len(hits), np.mean(hits))"),
}
BETWEEN = """
sums = {{'loss': 0.0, 'mean': 0.0}}
for epoch in range(2):
    for i, (a, b) in enumerate(loader, 1):
{step}        for key, value in {{'loss': loss, 'mean': b.mean()}}.items():
            sums[key] += value.item()
        if i == len(loader):
            print('now', *[value / i for value in sums.values()])
            {begun}
"""
BEGUN = {
    "a new dict": "sums = {'loss': 0.0, 'mean': 0.0}",
    "its keys": "sums = dict.fromkeys(sums, 0.0)",
    "a comprehension": "sums = {key: 0.0 for key in sums}",
}
JUDGED = "print('now', judge(loader))"
BOTH = "print(judge(loader), judge(held))"


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    for number, (name, body) in enumerate([*WAYS.items(), *ALONE.items()]):
        where = list(LOADERS)[number % 2]
        judge = f"\n\ndef judge(source):\n    model.eval()\n{body}\n\nheld = DataLoader(TensorDataset(x[:40], y[:40]), 20)\n"
        head = HEAD.format(loader=LOADERS[where]) + judge
        train = "for epoch in range(2):\n    for a, b in loader:\n" + STEP.format(" " * 8)
        for told in (JUDGED, BOTH) if name in WAYS else (JUDGED,):
            yield f"{name}, {'both' if told == BOTH else 'the loader'}", f"{head}{train}    {told}\n"

    for name, begun in BEGUN.items():
        yield (
            f"a dict that is told in between, {name}",
            HEAD.format(loader=LOADERS["shuffled"]) + BETWEEN.format(step=STEP.format(" " * 8), begun=begun),
        )
    for name, (turn, told) in TRAINED.items():
        body = f"    hits = []\n    for a, b in loader:\n{STEP.format(' ' * 8)}        {turn}\n    {told}\n"
        yield f"{name}, trained", HEAD.format(loader=LOADERS["shuffled"]) + f"for epoch in range(2):\n{body}"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(programs(), tmp_path_factory.mktemp("judged"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_what_is_told_is_of_all_the_data(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = told_alone(text, capsys)
    assert len(alone) >= 2
    assert printed[name] == pytest.approx(alone, rel=1e-4)
