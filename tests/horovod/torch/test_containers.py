"""Whatever a pass over the data puts into containers is of the data of all ranks behind it.

Programs keep the numbers of their batches in tuples, dicts, lists, arrays and objects, in lists of them and in what functions
give back, and tell means, sums and extremes of them. Two processes tell what one process does.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

import pytest
from horovod.torch.programs import outcome, told_alone, told_by_first
from horovod.torch.test_means import HEAD, LOADERS, STEP

pytestmark = pytest.mark.requires("torch")

IMPORTS = """\
import collections
import statistics
from collections import Counter, deque
from dataclasses import dataclass, field
from types import SimpleNamespace

"""
ABOVE = """\
batches = len(loader)


def right(out, b):
    return ((out > 0) == (b > 0)).float().mean().item()

"""
IN_LOOPS = {
    "a tuple": (
        "kept = (0.0, 0)",
        "kept = (kept[0] + loss.item(), kept[1] + 1)",
        "print(kept[0] / kept[1])",
    ),
    "two at once": (
        "total, n = 0.0, 0",
        "total, n = total + loss.item(), n + 1",
        "print(total / n, total / len(loader))",
    ),
    "lists in a dict": (
        "log = {'loss': [], 'right': []}",
        "log['loss'].append(loss.item()); log['right'].append(right(out, b))",
        "print(np.mean(log['loss']), sum(log['right']) / len(loader))",
    ),
    "lists in a defaultdict": (
        "log = defaultdict(list)",
        "log['loss'].append(loss.item()); log['right'].append(right(out, b))",
        "print(np.mean(log['loss']), statistics.mean(log['right']))",
    ),
    "lists by every name": (
        "log = defaultdict(list)",
        "for name, value in {'loss': loss.item(), 'right': right(out, b)}.items():\n    log[name].append(value)",
        "print(*(sum(values) / len(values) for values in log.values()))",
    ),
    "lists in a list, gone through": (
        "kept = [[], []]",
        "for each, value in zip(kept, (loss.item(), right(out, b))):\n    each.append(value)",
        "print(*map(np.mean, kept))",
    ),
    "lists in a list, counted through": (
        "kept = [[], []]",
        "for i, each in enumerate(kept):\n    each.append((loss.item(), right(out, b))[i])",
        "print(np.mean(kept[0]), np.mean(kept[1]))",
    ),
    "sums by every name": (
        "stats = {'loss': 0.0, 'right': 0.0}",
        "found = {'loss': loss.item(), 'right': right(out, b)}\nfor name in stats:\n    stats[name] += found[name]",
        "print({name: value / len(loader) for name, value in stats.items()}['loss'], stats['right'] / batches)",
    ),
    "sums that counts of all data divide": (
        "stats = {'loss': 0.0, 'right': 0.0}",
        "found = {'loss': loss.item(), 'right': right(out, b)}\nfor name in stats:\n    stats[name] += found[name]",
        "for name in stats:\n    stats[name] /= len(data) / 8\nprint(stats['loss'], stats['right'])",
    ),
    "sums that samples divide": (
        "stats = {'loss': 0.0, 'right': 0.0}",
        "found = {'loss': loss.item(), 'right': right(out, b)}\nfor name in found:\n    stats[name] += found[name] * len(a)",
        "print(*[stats[name] / len(loader.dataset) for name in ('loss', 'right')])",
    ),
    "sums by names that are put together": (
        "stats = {'the ' + name: 0.0 for name in ('loss', 'right')}",
        "found = {'loss': loss.item(), 'right': right(out, b)}\nfor name in found:\n    stats['the ' + name] += found[name]",
        "print(*(value / len(loader) for value in stats.values()))",
    ),
    "sums of what an object keeps": (
        "stats = {'loss': 0.0, 'right': 0.0}",
        "judge.see(out, b)\nfound = judge.latest()\nfor name in found:\n    stats[name] += float(found[name])",
        "for name in stats.keys():\n    stats[name] /= batches * 8 / 8\nprint(*stats.values())",
    ),
    "sums of attributes": (
        "stats = {'loss': 0.0, 'right': 0.0}",
        "judge.see(out, b)\nfor name in ('loss', 'right'):\n    stats[name] += getattr(judge, name)",
        "print(stats['loss'] / batches, stats['right'] / batches)",
    ),
    "a list of what an object keeps": (
        "kept = []",
        "judge.see(out, b)\nkept.append(judge.latest())",
        "print(sum(each['loss'] for each in kept) / len(kept))",
    ),
    "a dict made anew": (
        "stats = {'loss': 0.0, 'right': 0.0}",
        "found = {'loss': loss.item(), 'right': right(out, b)}\nstats = {k: v + found[k] for k, v in stats.items()}",
        "print(stats['loss'] / len(loader), stats['right'] / len(loader))",
    ),
    "a default": (
        "stats = {}",
        "stats['loss'] = stats.get('loss', 0.0) + loss.item()",
        "print(stats['loss'] / len(loader))",
    ),
    "setdefault": (
        "stats = {}",
        "stats.setdefault('loss', []).append(loss.item())",
        "print(np.mean(stats['loss']))",
    ),
    "a Counter": (
        "stats = Counter()",
        "stats['loss'] += loss.item(); stats['n'] += 1",
        "print(stats['loss'] / stats['n'])",
    ),
    "a Counter that is updated": (
        "stats = Counter()",
        "stats.update({'loss': loss.item(), 'n': 1})",
        "print(stats['loss'] / stats['n'])",
    ),
    "a deque": (
        "kept = deque(maxlen=100)",
        "kept.append(loss.item())",
        "print(sum(kept) / len(kept), np.mean(kept))",
    ),
    "a list of tuples": (
        "kept = []",
        "kept.append((loss.item(), right(out, b)))",
        "print(sum(one for one, _ in kept) / len(kept), np.mean([each[1] for each in kept]))",
    ),
    "columns of a list of tuples": (
        "kept = []",
        "kept.append((loss.item(), right(out, b)))",
        "losses, rights = zip(*kept)\nprint(np.mean(losses), np.mean(rights))",
    ),
    "a list of dicts": (
        "kept = []",
        "kept.append({'loss': loss.item(), 'right': right(out, b)})",
        "print(np.mean([each['loss'] for each in kept]), np.mean([each['right'] for each in kept]))",
    ),
    "a list of lists": (
        "kept = []",
        "kept.append([loss.item(), right(out, b)])",
        "print(*np.mean(kept, axis=0))",
    ),
    "a list of arrays": (
        "kept = []",
        "kept.append(np.array([loss.item(), right(out, b)]))",
        "print(*np.mean(kept, axis=0))",
    ),
    "a list that grows by a list": ("kept = []", "kept += [loss.item()]", "print(sum(kept) / len(loader))"),
    "a list that is made anew": ("kept = []", "kept = kept + [loss.item()]", "print(sum(kept) / len(kept))"),
    "a list that is unpacked": ("kept = []", "kept = [*kept, loss.item()]", "print(sum(kept) / len(kept))"),
    "a list that is extended": ("kept = []", "kept.extend([loss.item()])", "print(sum(kept) / len(kept))"),
    "a list from the front": ("kept = []", "kept.insert(0, loss.item())", "print(sum(kept) / len(kept))"),
    "an annotated list": ("kept: list[float] = []", "kept.append(loss.item())", "print(sum(kept) / len(kept))"),
    "an annotated sum": ("total: float = 0", "total += loss.item()", "print(total / batches)"),
    "items of a list": (
        "kept = [0.0, 0.0]",
        "kept[0] += loss.item(); kept[1] += right(out, b)",
        "print(kept[0] / len(loader), kept[1] / len(loader))",
    ),
    "places of a list": (
        "kept = [0.0] * len(loader)",
        "kept[i] = loss.item()",
        "print(sum(kept) / len(kept))",
    ),
    "a dict by number": (
        "kept = {}",
        "kept[i] = loss.item()",
        "print(sum(kept.values()) / len(kept))",
    ),
    "an array": ("kept = np.zeros(2)", "kept += [loss.item(), right(out, b)]", "print(*(kept / len(loader)))"),
    "an array of sums": (
        "kept = np.zeros(2)",
        "kept += np.array([loss.item(), right(out, b)])",
        "print(*(kept / len(loader)))",
    ),
    "items of an array": (
        "kept = np.zeros(2)",
        "kept[0] += loss.item(); kept[1] += right(out, b)",
        "kept /= len(loader)\nprint(kept[0], kept[1])",
    ),
    "an array by number": ("kept = np.zeros(len(loader))", "kept[i] = loss.item()", "print(kept.mean())"),
    "an array that grows": ("kept = np.array([])", "kept = np.append(kept, loss.item())", "print(kept.mean())"),
    "a tensor of sums": (
        "kept = torch.zeros(2)",
        "kept += torch.tensor([loss.item(), right(out, b)])",
        "print(*(kept / len(loader)).tolist())",
    ),
    "items of a tensor": (
        "kept = torch.zeros(2)",
        "kept[0] += loss.item(); kept[1] += right(out, b)",
        "print(*(kept / len(loader)).tolist())",
    ),
    "a tensor by number": (
        "kept = torch.zeros(len(loader))",
        "kept[i] = loss.detach()",
        "print(kept.mean().item())",
    ),
    "a tensor that grows": (
        "kept = torch.zeros(0)",
        "kept = torch.cat([kept, loss.detach().reshape(1)])",
        "print(kept.mean().item())",
    ),
    "dicts in a dict": (
        "stats = {'train': {'loss': 0.0, 'n': 0}}",
        "stats['train']['loss'] += loss.item(); stats['train']['n'] += 1",
        "print(stats['train']['loss'] / stats['train']['n'])",
    ),
    "fields": (
        "state = SimpleNamespace(loss=0.0, n=0)",
        "state.loss += loss.item(); state.n += 1",
        "print(state.loss / state.n)",
    ),
    "a list in a field": (
        "state = SimpleNamespace(losses=[])",
        "state.losses.append(loss.item())",
        "print(np.mean(state.losses))",
    ),
    "fields of a dataclass": (
        "state = State()",
        "state.loss += loss.item(); state.kept.append(right(out, b))",
        "print(state.loss / len(loader), np.mean(state.kept))",
    ),
    "meters by name": (
        "meters = {name: Meter() for name in ('loss', 'right')}",
        "for name, value in (('loss', loss.item()), ('right', right(out, b))):\n    meters[name].update(value, len(a))",
        "print(meters['loss'].mean, meters['right'].average)",
    ),
    "meters in a defaultdict": (
        "meters = defaultdict(Meter)",
        "meters['loss'].update(loss.item(), len(a))",
        "print(*(each.mean for each in meters.values()))",
    ),
    "meters in a list": (
        "meters = [Meter(), Meter()]",
        "meters[0].update(loss.item()); meters[1].update(right(out, b))",
        "print(meters[0].mean, meters[1].average)",
    ),
    "the largest": ("top = 0.0", "top = max(top, (out - b).abs().max().item())", "print(top)"),
    "the smallest": ("low = 99.0", "low = min(low, b.min().item())", "print(low)"),
    "the largest, asked for": (
        "top = 0.0",
        "worst = (out - b).abs().max().item()\nif worst > top:\n    top = worst",
        "print(top)",
    ),
    "the largest of a list": ("kept = []", "kept.append(b.max().item())", "print(max(kept))"),
    "the smallest of a list": ("kept = []", "kept.append(b.min().item())", "print(min(kept))"),
    "guesses of samples": (
        "guesses, wanted = [], []",
        "guesses.extend((out[:, 0] > 0).tolist()); wanted.extend((b[:, 0] > 0).tolist())",
        "print(len(guesses), sum(one == other for one, other in zip(guesses, wanted)) / len(wanted))",
    ),
    "guesses that are added": (
        "guesses, wanted = [], []",
        "guesses += (out[:, 0] > 0).tolist(); wanted += (b[:, 0] > 0).tolist()",
        "print(np.mean(np.array(guesses) == np.array(wanted)), len(wanted))",
    ),
    "batches of guesses": (
        "guesses, wanted = [], []",
        "guesses.append(out.detach()); wanted.append(b)",
        "one, other = torch.cat(guesses), torch.cat(wanted)\nprint(((one - other) ** 2).mean().item(), one.shape[0])",
    ),
    "arrays of guesses": (
        "guesses, wanted = [], []",
        "guesses.append(out.detach().numpy()); wanted.append(b.numpy())",
        "print(float(((np.concatenate(guesses) - np.concatenate(wanted)) ** 2).mean()))",
    ),
    "an array of guesses that grows": (
        "guesses, wanted = np.zeros((0, 1)), np.zeros((0, 1))",
        "guesses = np.concatenate([guesses, out.detach().numpy()])\nwanted = np.vstack((wanted, b.numpy()))",
        "print(float(((guesses - wanted) ** 2).mean()))",
    ),
    "losses of samples": (
        "kept = []",
        "kept.extend(((out - b) ** 2)[:, 0].tolist())",
        "print(np.mean(kept), max(kept), len(kept))",
    ),
    "a count by class": (
        "counts = Counter()",
        "counts.update((b[:, 0] > 0).tolist())",
        "print(counts[True], counts[False])",
    ),
    "a count by class in a dict": (
        "counts = {}",
        "for each in (b[:, 0] > 1).tolist():\n    counts[each] = counts.get(each, 0) + 1",
        "print(counts[True], counts[False])",
    ),
    "a table of hits": (
        "table = np.zeros((2, 2))",
        "for one, other in zip((out[:, 0] > 0).int().tolist(), (b[:, 0] > 0).int().tolist()):\n    table[one, other] += 1",
        "print(table.trace() / table.sum(), *table.reshape(-1))",
    ),
    "only what is so": (
        "kept = []",
        "if b.mean() > 0:\n    kept.append(b.mean().item())",
        "print(len(kept) > 0)",
    ),
    "over all epochs": ("pass", "history.append(loss.item())", "print(sum(history) / len(history))"),
    "tuples over all epochs": (
        "pass",
        "history.append((loss.item(), epoch))",
        "print(np.mean([each for each, _ in history]))",
    ),
    "guesses over all epochs": (
        "pass",
        "history.extend(b[:, 0].tolist())",
        "print(np.mean(history), len(history), max(history))",
    ),
    "lists that are made and filled under a condition, in two arms": (
        "wanted = len(loader) > 0\nif wanted:\n    kept, seen = [], []",
        "if wanted:\n    seen.append(loss.item())\n    if i > 99:\n        kept.append(b)\n    else:\n        kept.append(b)",
        "if wanted:\n    print(len(np.concatenate(kept)), np.mean(seen))",
    ),
    "lists that are not made": (
        "wanted = len(loader) > 99\nif wanted:\n    kept = []",
        "if wanted:\n    if len(loader) > 9:\n        kept.append(b.numpy())\n    else:\n        kept.append(b[:, 0].numpy())",
        "print(float(wanted))\nif wanted:\n    print(len(kept))",
    ),
    "data of tensors, beside settings of that name": (
        "kept = []\nsettings = SimpleNamespace(data=3)\nsettings.data = 4",
        "kept.append(b[:, 0].data.numpy())",
        "print(len(np.concatenate(kept)) + settings.data)",
    ),
}
STATE = """
@dataclass
class State:
    loss: float = 0.0
    kept: list = field(default_factory=list)


history = []


class Judge:
    def see(self, out, b):
        self.loss = nn.functional.mse_loss(out, b).item()
        self.right = right(out, b)

    def latest(self):
        return {"loss": self.loss, "right": self.right}


judge = Judge()
"""
FORMS = {
    "in a script": "{above}\nfor epoch in range(2):\n{begin}\n    for i, (a, b) in enumerate(loader):\n{step}{turn}\n{end}\n",
    "in a function": "{above}\ndef train(loader, epoch):\n{begin}\n    for i, (a, b) in enumerate(loader):\n{step}{turn}\n"
    "{end}\n\n\nfor epoch in range(2):\n    train(loader, epoch)\n",
}


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    for number, (name, (begin, turn, end)) in enumerate(IN_LOOPS.items()):
        form = list(FORMS)[number % 2] if begin != "pass" else "in a script"
        where = list(LOADERS)[number % 2]
        head = IMPORTS + HEAD.format(loader=LOADERS[where]) + ABOVE + STATE
        parts = {"begin": indent(begin, " " * 4), "turn": indent(turn, " " * 8), "end": indent(end, " " * 4)}
        yield f"{name} {form}", head + FORMS[form].format(above="", step=STEP.format(" " * 8), **parts)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(programs(), tmp_path_factory.mktemp("containers"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_what_is_kept_is_of_all_the_data(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = told_alone(text, capsys)
    assert len(alone) >= 1
    assert printed[name] == pytest.approx(alone, rel=1e-4)


UNKNOWN = {
    "counts by class over all epochs": (
        "counts = Counter()",
        "counts.update((b[:, 0] > 0).tolist())",
        "print(counts)",
    ),
    "places that the data gives": (
        "kept = np.zeros(64)",
        "kept[(b[:, 0] * 16 + 32).long().numpy()] = out.detach()[:, 0].numpy()",
        "print(kept)",
    ),
    "lists by class": (
        "kept = defaultdict(list)",
        "for each in b[:, 0].tolist():\n    kept[each > 0].append(each)",
        "print(kept)",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_combined_is_warned_of(name: str) -> None:
    begin, turn, end = UNKNOWN[name]
    parts = {"begin": "    pass", "turn": indent(turn, " " * 8), "end": "    pass"}
    loop = FORMS["in a script"].format(above="", step=STEP.format(" " * 8), **parts)
    plan = outcome(f"{IMPORTS}{HEAD.format(loader=LOADERS['in order'])}{begin}\n{loop}\n{end}\n", "ddp").plan
    assert {each.code for each in plan.warnings} == {"HVD312"}
    assert all("`counts`" in each.message or "`kept`" in each.message for each in plan.warnings)


JOINED = {
    "along the first": ("kept = np.concatenate((kept, out.detach().numpy()))", True),
    "by its number": ("kept = np.concatenate((kept, out.detach().numpy()), 0)", True),
    "by its name": ("kept = np.append(kept, out.detach().numpy(), axis=0)", True),
    "of tensors": ("kept = torch.cat([kept, out.detach()])", True),
    "along the second": ("kept = np.concatenate((kept, out.detach().numpy()), 1)", False),
    "along another by name": ("kept = np.concatenate((kept, out.detach().numpy()), axis=1)", False),
    "of tensors along the second": ("kept = torch.cat((kept, out.detach()), dim=1)", False),
    "column by column": ("kept = np.column_stack((kept, out.detach().numpy()))", False),
    "along one that is computed": ("kept = np.concatenate((kept, out.detach().numpy()), out.ndim - 1)", False),
}


@pytest.mark.parametrize("joined", JOINED)
def test_only_what_is_joined_along_the_first_axis_is_samples(joined: str) -> None:
    code, samples = JOINED[joined]
    begin = "kept = torch.zeros(0, 1)" if "torch" in code else "kept = np.zeros((0, 1))"
    turn = indent(f"out = model(a)\nnn.functional.mse_loss(out, b).backward()\noptimizer.step()\n{code}", " " * 8)
    loop = f"for epoch in range(2):\n    {begin}\n    for a, b in loader:\n{turn}\n    np.save('kept.npy', kept)\n"
    found = outcome(HEAD.replace("{loader}", "DataLoader(data, batch_size=8, shuffle=True)") + loop)
    (text,) = (each.source for each in found.files.values())
    assert ("kept = from_all_ranks(kept)" in text or "hvd.allgather" in text) == samples
    assert ("HVD312" in {each.code for each in found.plan.warnings}) == (not samples)
