"""What a loop over divided data reports is averaged over all ranks, or the warning HVD313 names it."""

from __future__ import annotations

from textwrap import indent

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD
    + """import tqdm
import wandb
from meters import *
from gui import Label, Window
from matplotlib import pyplot as plt
from multiprocessing import Queue
from pathlib import Path
from rich.progress import Progress
from torchvision.utils import save_image
from torch.utils.tensorboard import SummaryWriter


class Meter:
    def __init__(self):
        self.val = self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


class Meters:
    def __init__(self):
        self.meters = {{}}

    def update(self, name, value):
        self.meters.setdefault(name, Meter()).update(value)

    def __getitem__(self, name):
        return self.meters[name].avg


def show(value):
    print("now", value)


writer = SummaryWriter("runs")
window, label, queue, progress = Window(), Label(), Queue(), Progress()
task = progress.add_task("train", total=8)
figure, axes = plt.subplots()
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
teacher = nn.Linear(4, 1)
for epoch in range(3):
    total, losses, meter, meters = 0.0, [], Meter(), Meters()
    bar = tqdm.tqdm(enumerate(loader), total=len(loader))
    for i, (a, b) in bar:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
{before}
        loss.backward()
        optimizer.step()
        total += loss.item()
        losses.append(loss.item())
        meter.update(loss.item(), len(a))
{turn}
"""
)
EACH = {
    "a loss": "print(loss.item())",
    "a loss in a text": "print(f'{epoch} {loss.item():.3f}')",
    "a sum": "print(i, total / (i + 1))",
    "a list": "print(losses[-1])",
    "a meter": "print(meter.val, meter.avg)",
    "a meter that shows itself": "print(meter)",
    "meters by name": "meters.update('loss', loss.item())\nprint(f'{meters[chr(97)]:.3f}')",
    "meters in a format": "meters.update('loss', loss.item())\nprint('{m[loss]}'.format(m=meters))",
    "an object of an unknown class": "other = Unknown()\nother.add(loss.item())\nprint(other)",
    "an old number": "print(loss.data[0])",
    "a text that was made": "text = f'{total / (i + 1)}'\nprint(text)",
    "a text that was made of a loss": "text = 'loss %f' % loss.item()\nif i % 2 == 0:\n    print(text)",
    "a function that prints": "show(loss.item())",
    "a bar": "bar.set_postfix(loss=loss.item())",
    "a bar's text": "bar.set_description(f'{loss.item():.3f}')",
    "a bar that writes": "bar.write(str(loss.item()))",
    "a run": "wandb.log({'loss': loss.item()})",
    "a writer": "writer.add_scalar('loss', loss.item(), i)",
    "beside what is computed of itself": "a = a * loss.item()\nprint(a, loss.item())",
    "a line in a file": "with open('log.txt', 'a') as log:\n    log.write(f'{loss.item()}')",
    "a file that is written anew": "Path('log.txt').write_text(str(loss.item()))",
    "a line printed into a file": "print(loss.item(), file=open('log.txt', 'a'))",
    "a name of a file": "torch.save(model.state_dict(), f'{loss.item():.3f}.pth')",
    "a part of a checkpoint": "torch.save({'at': i, 'loss': loss.item()}, 'a.pth')",
    "a title of a picture": "plt.title(f'{loss.item():.3f}')",
    "a title of axes": "axes.set_title('loss %f' % loss.item())",
    "a curve": "axes.plot([i], [loss.item()])",
    "an attribute of a bar": "bar.desc = f'{loss.item():.3f}'",
    "what is added to one": "bar.desc += ' ' + str(loss.item())",
    "a method of a library's object": "progress.update(task, description=f'{loss.item()}')",
    "a method of an unknown object": "label.set_text('{:.3f}'.format(loss.item()))",
    "an attribute of an unknown object": "window.title = 'loss %f' % loss.item()",
    "a branch of a rank": "if loss.item() > 2:\n    print(loss.item())",
}
ELSEWHERE = {"a function that prints": "print('now', value)"}
"""The calls that report where they are not the last of a program."""
NOW_AND_THEN = {
    "a loss": "print(loss.item())",
    "a sum": "print(i, total / (i + 1))",
    "a list": "print(losses[-1])",
    "a meter": "print(meter.val, meter.avg)",
    "a meter in a format": "print('{m.val:.3f} ({m.avg:.3f})'.format(m=meter))",
    "a text that is made there": "text = f'{total / (i + 1)}'\nprint(text)",
    "a text that is made there of a loss": "text = 'loss %f' % loss.item()\nprint(text)\nwriter.add_text('now', text)",
    "a loss in a text and beside it": "text = 'loss %f' % loss.item()\nprint(text)\nprint(loss.item())",
    "a bar": "bar.set_postfix(loss=loss.item())",
    "a bar that writes": "bar.write(str(loss.item()))",
    "a run": "wandb.log({'loss': loss.item(), 'epoch': epoch})",
    "a line in a file": "log = open('log.txt', 'a')\nlog.write(f'{loss.item()}')",
    "a part of a checkpoint": "torch.save({'at': i, 'loss': loss.item()}, 'a.pth')",
    "a curve": "plt.plot([i], [loss.item()])",
    "a writer": "writer.add_scalar('loss', loss.item(), i)",
}
ALIKE = {
    "numbers of iterations": "print(epoch, i, len(loader))",
    "a rate": "print(optimizer.param_groups[0]['lr'])",
    "sizes": "print(a.shape, a.size(0), len(b))",
    "a name": "print(model)",
    "another part of a meter": "print(meter.count)",
    "examples of the data": "save_image(a, f'{i}.png')\nplt.imshow(a.numpy())",
    "weights": "torch.save(model.state_dict(), f'{epoch}.pth')",
    "a number that no text is made of": "window.value = loss.item()\nwindow.count(len(a))",
    "a text that is kept": "queue.put(f'{loss.item()}')\nlines = []\nlines.append(f'{loss.item()}')",
    "its own attribute": "meter.text = f'{loss.item()}'",
    "a file that is moved": "Path('a').rename('b')",
}


def remarks(turn: str, before: str = "pass") -> tuple[list[str], str]:
    """The warnings HVD313 on a program, and what it becomes."""
    made = outcome(PROGRAM.format(turn=indent(turn, " " * 8), before=indent(before, " " * 8)), "ddp")
    (file,) = made.files.values()
    return [each.message for each in made.plan.warnings if each.code == "HVD313"], file.source


@pytest.mark.parametrize("case", EACH)
def test_what_is_reported_in_each_iteration_is_named(case: str) -> None:
    (message,), _ = remarks(EACH[case])
    call = ELSEWHERE.get(case, EACH[case].splitlines()[-1].strip())
    assert message.startswith(f"`{call}` reports what rank 0 computes")


@pytest.mark.parametrize("turn", NOW_AND_THEN.values(), ids=NOW_AND_THEN)
def test_what_is_reported_now_and_then_is_averaged(turn: str) -> None:
    found, text = remarks("if i % 3 == 0:\n" + indent(turn, "    "))
    assert found == []
    assert "= mean_of_ranks(" in text.partition("if i % ")[2]


@pytest.mark.parametrize("turn", ALIKE.values(), ids=ALIKE)
def test_what_all_ranks_have_is_not_named(turn: str) -> None:
    assert remarks(turn)[0] == []


def test_a_loss_that_is_reported_before_its_gradients_is_named() -> None:
    (message,), _ = remarks("pass", "if i % 3 == 0:\n    print(loss.item())")
    assert message.startswith("`print(loss.item())` reports what rank 0 computes")


GUESSES = {
    "set before": "guess = teacher(a)\nguess = guess.detach()",
    "set in branches": "if a is None:\n    guess = b\nelse:\n    guess = teacher(a)\nguess = guess.detach()",
    "unpacked in branches": "if a is None:\n    guess = b\nelse:\n    guess, _ = teacher(a), 1\nguess = guess.detach()",
}


@pytest.mark.parametrize("branch", ["if epoch % 2 == 0:", "if every:"])
@pytest.mark.parametrize("made", GUESSES.values(), ids=GUESSES)
def test_what_the_loss_is_computed_of_stays_that_of_the_rank(made: str, branch: str) -> None:
    before = f"{made}\nevery = epoch < 2\n{branch}\n    more = 0.1 * nn.functional.mse_loss(model(a), guess)\n"
    text = remarks("pass", f"{before}    loss = loss + more")[1]
    assert "mean_of" not in text.partition(branch)[2].partition("loss.backward")[0]


def test_numbers_in_a_dict_are_averaged_one_by_one() -> None:
    found, text = remarks("logs = {'step': i, 'loss': total / (i + 1)}\nif i % 3 == 0:\n    print(logs)")
    assert found == [] and "logs = mean_of_each(logs)" in text


ASKED = """
class Options:
    debug = False


def train(writer=None, options=Options()):
    quiet = options.debug
    total = 0.0
    for i, (a, b) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        total += loss.item()
        last = i == 7
        {asked}
            print(loss.item(), total / (i + 1))
    return total / len(loader)


train()
"""
UNCHANGED = ("if writer is None:", "if not options.debug:", "if not quiet:", "if writer is None and not quiet:")
CHANGED = ("if i % 4 == 0:", "if last:", "if writer is None and i % 4 == 0:", "if not quiet and last:")


@pytest.mark.parametrize("asked", [*UNCHANGED, *CHANGED])
def test_a_condition_that_the_loop_does_not_change_is_no_interval(asked: str) -> None:
    text = HEAD + "loader = DataLoader(TensorDataset(x, y), batch_size=8)\nmodel = nn.Linear(4, 1)\n"
    text += "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + ASKED.format(asked=asked)
    found = outcome(text, "ddp")
    (file,) = found.files.values()
    inside = [line for line in file.source.splitlines() if line.startswith("            ") and "mean_of_ranks(" in line]
    assert bool(inside) == (asked in CHANGED)
    assert ("HVD313" in [each.code for each in found.plan.warnings]) == (asked in UNCHANGED)


JUDGED = """
judged = DataLoader(TensorDataset(x, y), batch_size=8)


def train():
    for i, (a, b) in enumerate(loader):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
        if i % 4 == 3:
            {begin}
            with torch.no_grad():
                for c, d in {through}:
                    loss = nn.functional.mse_loss(model(c), d)
                    {kept}
            {told}


train()
"""
WITHIN = {
    "a sum": ("total = 0.0", "total += loss.item()", "print(total / len(judged))"),
    "a list": ("seen = []", "seen.append(loss.item())", "print(sum(seen) / len(seen))"),
    "a meter": ("meter = Meter()", "meter.update(loss.item())", "print(meter.avg)"),
    "the last of a meter": ("meter = Meter()", "meter.update(loss.item())", "print(meter.val)"),
    "a table": ("table = {'a': []}", "table['a'].append(loss.item())", "print(table)"),
    "guesses": ("guesses = []", "guesses.extend(model(c)[:, 0].tolist())", "print(max(guesses))"),
}


@pytest.mark.parametrize("way", WITHIN)
@pytest.mark.parametrize("through", ["judged", "tqdm.tqdm(judged)", "loader"])
def test_what_a_whole_pass_in_a_loop_finds_is_told_as_it_is(way: str, through: str) -> None:
    """All ranks go through the same data there; of the data that is divided each has seen its part."""
    begin, kept, told = WITHIN[way]
    head = PROGRAM.partition("for epoch in")[0]
    made = outcome(head + JUDGED.format(begin=begin, through=through, kept=kept, told=told), "ddp")
    (file,) = made.files.values()
    combined = any(f"= {name}(" in file.source for name in ("mean_of_ranks", "mean_of_each", "from_all_ranks"))
    assert combined is (through == "loader") or "HVD313" in {each.code for each in made.plan.warnings}
    assert through == "loader" or not combined
