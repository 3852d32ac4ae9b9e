"""What rank 0 tells of its own part of the data: each way to such data, through each way to keep a number, is found; what
all ranks agreed on is not.
"""

from __future__ import annotations

import time
from textwrap import indent

import pytest

from distml.source.project import Project
from distml.spmd.check import certified
from distml.spmd.told import Watch

HEAD = """\
import os
import numpy as np
import torch
import torch.distributed as dist
import tensorflow as tf
import horovod.tensorflow as hvd
from accelerate import Accelerator
from collections import defaultdict
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from datetime import timedelta
from sklearn import metrics
from data import dataset, arrays, batches
import time

dist.init_process_group("gloo")
accelerator = Accelerator()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))


def mean_of_ranks(value):
    total = torch.as_tensor(value)
    dist.all_reduce(total)
    return (total / dist.get_world_size()).item()


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value):
        self.total += value
        self.count += 1

    @property
    def mean(self):
        return self.total / self.count


class Metrics:
    def __init__(self):
        self.mean = tf.keras.metrics.Mean(name="mean")

    def add(self, value):
        self.mean(value)

"""
OWN = {
    "a sampler": "DataLoader(dataset, sampler=DistributedSampler(dataset))",
    "a prepared loader": "accelerator.prepare(DataLoader(dataset))",
    "a shard": "tf.data.Dataset.from_tensor_slices(arrays).shard(hvd.size(), hvd.rank()).batch(8)",
    "every second sample": "arrays[dist.get_rank()::dist.get_world_size()]",
    "a half": "arrays[hvd.rank() * (len(arrays) // hvd.size()):(hvd.rank() + 1) * (len(arrays) // hvd.size())]",
    "batches in turn": "(part[dist.get_rank()] for part in zip(*[iter(batches())] * dist.get_world_size()))",
    "one of several": "[[next(batches()) for _ in range(hvd.size())][hvd.rank()] for _ in range(10)]",
    "a part by a function": "tf.data.Dataset(arrays).window(2).flat_map(lambda *parts: tf.data.Dataset.zip(parts)"
    ".skip(hvd.rank()).take(1))",
    "a part by a function of a function": "tf.data.Dataset(arrays).apply(lambda each: each.map(lambda a: a[hvd.rank()]))",
    "positions": "(arrays[i:i + 8] for i in range(int(os.environ['RANK']) * 8, len(arrays), 16))",
}
ALIKE = {
    "all of them": "DataLoader(dataset)",
    "by a function": "tf.data.Dataset(arrays).map(lambda each: each / hvd.size())",
    "none by the rank": "arrays[0::2]",
}
KEPT = {
    "the last": ("value = 0.0", "value = loss.item()", "value"),
    "a sum": ("value = 0.0", "value += loss.item() * len(x)", "value"),
    "a list": ("value = []", "value.append(loss.item())", "np.mean(value)"),
    "a dictionary": ("value = {'a': 0.0, 'n': 0}", "value['a'] += loss.item()\nvalue['n'] += 1", "value['a'] / value['n']"),
    "lists by name": ("value = defaultdict(list)", "value['loss'].append(loss.item())", "np.mean(value['loss'])"),
    "an object": ("value = Meter()", "value.update(loss.item())", "value.mean"),
    "an array": ("value = np.zeros(10)", "value[x] = loss.item()", "value.mean()"),
    "a metric": ("value = tf.keras.metrics.Mean(name='loss')", "value(loss)", "value.result().numpy()"),
    "a metric of TensorFlow": ("value = tf.metrics.Mean()", "value.update_state(loss)", "value.result()"),
    "metrics by name": ("value = {'loss': tf.keras.metrics.Mean()}", "value['loss'](loss)", "value['loss'].result()"),
    "metrics in a list": ("value = [tf.keras.metrics.Mean()]", "for each in value:\n    each(loss)", "value[0].result()"),
    "a metric of an object": ("value = Metrics()", "value.add(loss)", "float(value.mean.result())"),
    "by another library": ("value = 0.0", "value = metrics.accuracy_score(loss.cpu(), [1])", "value"),
    "a text with the time": ("value = ''", "value = f'{timedelta(seconds=time.time())} {loss.item()}'", "value"),
    "added to one": ("value = ''", "value = str(timedelta(seconds=time.time()))\nvalue += f' {loss.item()}'", "value"),
    "the largest": ("value = 0.0", "value = max(value, loss.item())", "f'{value:.3f}'"),
}  # fmt: skip
FORMS = {
    "in a script": "{begin}\nfor x in {data}:\n{turn}\nif dist.get_rank() == 0:\n    print({told})\n",
    "in a function": """
def epoch(data):
{inner}
    return {told}

found = epoch({data})
if dist.get_rank() == 0:
    print("mean", found)
""",
}  # fmt: skip


def told(body: str) -> list[str]:
    """What the program tells of one rank, and that the ranks meet in it."""
    project = Project("/nowhere", overlay={"/nowhere/script.py": (HEAD + body).encode()})
    source = project.open("script.py")
    watch = Watch(frozenset({"print"}), frozenset({"mean_of_ranks"}))
    findings, places, *_ = certified(source, project, time.process_time() + 20, watch)
    assert not findings
    return [source.lines[each.node.lineno - 1].strip() for each in places]


def program(form: str, data: str, kept: str, *, agreed: bool = False) -> str:
    begin, turn, shown = KEPT[kept]
    turn = indent(f"loss = model(x).mean()\n{turn}", "    ")
    shown = f"mean_of_ranks({shown})" if agreed else shown
    inner = indent(f"{begin}\nfor x in data:\n{turn}", "    ")
    after = "after = mean_of_ranks" if agreed and form == "in a script" else ""
    body = FORMS[form].format(begin=begin, data=data, turn=turn, told="after" if after else shown, inner=inner)
    return body.replace("if dist.get_rank", f"after = {shown}\nif dist.get_rank", 1) if after else body


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("data", OWN)
def test_a_number_of_one_rank_is_found(data: str, kept: str, form: str) -> None:
    assert len(told(program(form, OWN[data], kept))) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("data", OWN)
def test_a_number_of_all_ranks_is_not(data: str, kept: str, form: str) -> None:
    assert told(program(form, OWN[data], kept, agreed=True)) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("data", ALIKE)
def test_a_number_of_data_that_all_ranks_have_is_not(data: str, kept: str, form: str) -> None:
    assert told(program(form, ALIKE[data], kept)) == []


OWN_LOADER = "DataLoader(dataset, sampler=DistributedSampler(dataset))"
NOT_DATA = {
    "numbers of the rank": f"print(dist.get_rank(), len({OWN_LOADER}))",
    "shapes": f"for x in {OWN_LOADER}:\n    print(x.shape, x.dtype)",
    "a device": "device = torch.device('cuda', int(os.environ['LOCAL_RANK']))\nprint(model(torch.ones(4).to(device)))",
    "a GPU of a session": """
options = tf.GPUOptions(visible_device_list=str(hvd.local_rank()))
session = tf.Session(config=tf.ConfigProto(gpu_options=options))
print(session.run(model))
""",
    "a folder": "run = tf.Estimator(model, model_dir='run' if hvd.rank() == 0 else None)\nprint(run.evaluate(batches))",
    "a count": f"for i, x in enumerate({OWN_LOADER}):\n    print(i)",
    "averaged metrics": """
found = model.fit(arrays[hvd.rank()::hvd.size()], callbacks=[hvd.callbacks.MetricAverageCallback()])
print(found.history)
""",
    "a list that is averaged": f"""
losses = [model(x).item() for x in {OWN_LOADER}]
losses[:] = mean_of_ranks(losses)
print(sum(losses))
""",
    "weights": f"for x in {OWN_LOADER}:\n    loss = model(x)\n    loss.backward()\nprint(model.weight)",
}


@pytest.mark.parametrize("body", NOT_DATA.values(), ids=NOT_DATA)
def test_what_is_not_the_data_of_a_rank_is_not(body: str) -> None:
    assert told(body) == []


ABSTRACT = """
from abc import ABC, abstractmethod


class Trainer(ABC):
    def run(self):
        dist.barrier()
        for x in {data}:
            found = self.step(x)
            if dist.get_rank() == 0:
                print(found)

    @abstractmethod
    def step(self, x):
        {body}


"""


@pytest.mark.parametrize("body", ["pass", "raise NotImplementedError", '"""What a batch gives."""', "return 0.0"])
def test_what_another_class_does_with_a_batch_is_of_one_rank(body: str) -> None:
    assert len(told(ABSTRACT.format(data=OWN_LOADER, body=body))) == 1
    assert told(ABSTRACT.format(data=ALIKE["all of them"], body=body)) == []


DEFINED = """import itertools


def again(data):
    while True:
        for x in data:
            yield x


def handed(data):
    while True:
        yield from data


def more(data):
    for x in data:
        yield len(arrays), x


class Source:
    def __init__(self, data):
        self.data, self.it = data, iter(data)

    def draw(self):
        try:
            return next(self.it)
        except StopIteration:
            self.it = iter(self.data)
            return next(self.it)


class Walked:
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        for x in self.data:
            yield x


class Stepped:
    def __init__(self, data):
        self.it = iter(data)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.it)


"""
TAKEN = {
    "next": ("it = iter({data})", "next(it)"),
    "next of a new one": ("", "next(iter({data}))"),
    "next or nothing": ("it = iter({data})", "next(it, None)"),
    "its method": ("it = iter({data})", "it.__next__()"),
    "with a number": ("it = enumerate({data})", "next(it)[1]"),
    "in a circle": ("it = itertools.cycle({data})", "next(it)"),
    "a few": ("it = iter(itertools.islice({data}, 3))", "next(it)"),
    "two at once": ("it = zip({data}, arrays)", "next(it)[0]"),
    "made of them": ("it = map(lambda each: each * 2, {data})", "next(it)"),
    "a list": ("it = list({data})", "it[i]"),
    "a generator": ("it = again({data})", "next(it)"),
    "a generator that hands on": ("it = handed({data})", "next(it)"),
    "a generator of more": ("it = more({data})", "next(it)[1]"),
    "an object": ("it = Source({data})", "it.draw()"),
    "begun again": (
        "it = iter({data})",
        "next(it)\n    except StopIteration:\n        it = iter({data})\n        x = next(it)",
    ),
}  # fmt: skip
THROUGH = {
    "a generator": "for x in again({data}):\n",
    "an object with a generator": "for x in Walked({data}):\n",
    "an object with a step": "for x in Stepped({data}):\n",
    "pairs": "for i, x in zip(range(3), {data}):\n",
    "a circle": "for x in itertools.cycle({data}):\n",
}
LAST = "    value = model(x).mean().item()\n    if dist.get_rank() == 0:\n        print(value)\n"


def taken(way: str, data: str) -> str:
    """A program that takes batches from an iterator, one at a time."""
    begin, draw = (each.replace("{data}", data) for each in TAKEN[way])
    step = f"    try:\n        x = {draw.replace('    ', '        ').replace('        except', '    except')}\n"
    return f"{DEFINED}{begin}\nfor i in range(30):\n{step if 'except' in draw else f'    x = {draw}'}\n{LAST}"


@pytest.mark.parametrize("way", TAKEN)
@pytest.mark.parametrize("data", OWN)
def test_what_an_iterator_over_it_gives_is_found(way: str, data: str) -> None:
    assert told(taken(way, OWN[data])) == ["print(value)"]


@pytest.mark.parametrize("way", TAKEN)
@pytest.mark.parametrize("data", ALIKE)
def test_what_one_over_other_data_gives_is_not(way: str, data: str) -> None:
    assert told(taken(way, ALIKE[data])) == []


@pytest.mark.parametrize("way", THROUGH)
@pytest.mark.parametrize("data", [*OWN, *ALIKE])
def test_so_it_is_with_loops(way: str, data: str) -> None:
    body = f"{DEFINED}{THROUGH[way].replace('{data}', (OWN | ALIKE)[data])}{LAST}"
    assert told(body) == (["print(value)"] if data in OWN else [])


HANDED = {
    "by position": "show(loss)",
    "by a star": "show(*x)",
    "by a star of a pair": "show(*(loss, 1))",
    "by two stars": "show(**{name: loss for name in names})",
    "to a star": "show_all(1, loss)",
    "by a star to a star": "show_all(*x)",
    "spread by zip": "first, second = zip(*x)\nshow(first)",
    "to what a table holds": "for each in called['end']:\n    each(loss)",
    "to what a table may hold": "for each in called.get('end', []):\n    each(loss)",
    "by an object": "trainer.loss = loss\ntrainer.trigger('end')",
    "to a part of a function": "partial(show_pair, 1)(loss)",
}
SHOWS = """from functools import partial
from data import names


def show(value=0):
    if dist.get_rank() == 0:
        print(value)


def show_pair(first, value):
    show(value)


def show_all(*values):
    for each in values[1:] or values:
        show(each)


class Trainer:
    def __init__(self):
        self.called = defaultdict(list)

    def trigger(self, event):
        for each in self.called.get(event, []):
            each(self)


def at_end(trainer):
    show(trainer.loss)


called = defaultdict(list)
called["end"].append(show)
trainer = Trainer()
trainer.called["end"].append(at_end)
"""


@pytest.mark.parametrize("way", HANDED)
@pytest.mark.parametrize("data", [*OWN, *ALIKE])
def test_what_a_function_is_handed_is_followed(data: str, way: str) -> None:
    body = f"    loss = model(x).mean().item()\n{indent(HANDED[way], '    ')}\n"
    found = told(f"{SHOWS}for x in {(OWN | ALIKE)[data]}:\n{body}")
    assert found == (["print(value)"] if data in OWN else [])


GRAPH = """
xs, ys = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(arrays){shard}).get_next()
loss = network(xs, ys)
steps = tf.train.get_or_create_global_step()
step = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=steps)
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
with tf.Session() as session:
    session.run(hvd.broadcast_global_variables(0))
    for turn in range(100):
        {run}
        print({shown})
"""
FETCHED = {
    "one": ("value = session.run(loss)", "value", True),
    "of a list": ("_, value, n = session.run([step, loss, steps])", "value", True),
    "of a tuple": ("value, n = session.run((loss, steps))", "value", True),
    "of a dictionary": ("got = session.run({'loss': loss, 'n': steps})", "got['loss']", True),
    "all summaries": ("_, value = session.run([step, merged])", "value", True),
    "the count of steps": ("value = session.run(steps)", "value", False),
    "that beside others": ("_, last, value = session.run([step, loss, steps])", "value", False),
    "that of a dictionary": ("got = session.run({'loss': loss, 'n': steps})", "got['n']", False),
}


@pytest.mark.parametrize("way", FETCHED)
@pytest.mark.parametrize("shard", [".shard(hvd.size(), hvd.rank())", ""])
def test_a_session_gives_each_of_what_it_is_asked_for(shard: str, way: str) -> None:
    run, shown, own = FETCHED[way]
    text = GRAPH.replace("{shard}", shard).replace("{run}", run).replace("{shown}", shown)
    assert told(text) == ([f"print({shown})"] if own and shard else [])


@pytest.mark.parametrize("fed", ["arrays[hvd.rank()::hvd.size()]", "arrays"])
def test_a_step_counts_whatever_it_is_fed(fed: str) -> None:
    body = f"""
steps = tf.Variable(0, trainable=False)
with tf.Session() as session:
    session.run(hvd.broadcast_global_variables(0))
    for part in {fed}:
        loss, n = session.run([network.loss, steps], {{network.x: part}})
        print(loss)
        print(n)
"""
    assert told(body) == (["print(loss)"] if "rank" in fed else [])


HELD = {
    "by its name": ("held['a'].append(1)", True),
    "by a name that nobody knows": ("held[names()].append(1)", True),
    "nothing": ("pass", False),
}


@pytest.mark.parametrize("way", HELD)
def test_a_table_that_makes_what_it_lacks_may_hold_what_nobody_knows(way: str) -> None:
    """A loop over what stands under a key is left out only where nothing can stand there."""
    put, reached = HELD[way]
    body = f"from data import names\nheld = defaultdict(list)\nfor x in {OWN_LOADER}:\n    last = x\n    {put}\n"
    body += "for y in held['a']:\n    if dist.get_rank() == 0:\n        print(last)\n"
    assert bool(told(body)) is reached


DRAWN = "import numpy as np\n\n\ndef drawn(n):\n    return np.random.choice(n, 3)\n"


@pytest.mark.parametrize("seeded", [True, False])
def test_random_data_is_alike_where_another_file_seeds_it(seeded: bool) -> None:
    body = "from drawing import drawn\n" + "np.random.seed(3)\n" * seeded + "dist.barrier()\nprint(drawn(9))\n"
    files = {"/nowhere/script.py": (HEAD + body).encode(), "/nowhere/drawing.py": DRAWN.encode()}
    project = Project("/nowhere", overlay=files)
    source = project.open("script.py")
    _, places, *_ = certified(source, project, time.process_time() + 20, Watch(frozenset({"print"})))
    assert len(places) == (not seeded)


GUARDED = """
def main():
    dist.barrier()
    for x in {data}:
        if dist.get_rank() == 0:
            print(model(x))


if __name__ == "__main__":
    for x in {data}:
        dist.barrier()
        print(x)
""".replace("{data}", OWN_LOADER)


def test_what_only_a_script_runs_is_followed_in_scripts() -> None:
    project = Project("/nowhere", overlay={"/nowhere/script.py": (HEAD + GUARDED).encode()})
    source = project.open("script.py")
    for script, expected in ((True, ["print(model(x))", "print(x)"]), (False, ["print(model(x))"])):
        _, places, *_ = certified(source, project, time.process_time() + 20, Watch(frozenset({"print"})), script=script)
        assert sorted(source.lines[each.node.lineno - 1].strip() for each in places) == expected


@pytest.mark.parametrize("other", ["range(9)", "DataLoader(dataset)", "arrays"])
def test_what_goes_beside_it_is_not_of_it(other: str) -> None:
    """The partner in `zip`, and what a generator gives beside its batches."""
    beside = f"for x, y in zip({OWN_LOADER}, {other}):\n    if dist.get_rank() == 0:\n        print(y)\n"
    beside += f"for n, x in more({OWN_LOADER}):\n    if dist.get_rank() == 0:\n        print(n)\n"
    assert told(DEFINED + beside) == []


@pytest.mark.parametrize(
    "asked", ["while x is not None", "while not x is None", "while x != None", "while not (x is None)"]
)
def test_whether_there_is_another_is_not_what_is_in_it(asked: str) -> None:
    body = f"it = iter({OWN_LOADER})\nx = next(it, None)\n{asked}:\n    value = model(x).mean()\n    value.backward()\n"
    assert told(f"{body}    x = next(it, None)\n    if dist.get_rank() == 0:\n        print(value)\n") == [
        "print(value)"
    ]


@pytest.mark.parametrize("name", ["rank", "rank_id", "process_index"])
def test_a_parameter_that_only_its_name_calls_a_rank_chooses_no_part(name: str) -> None:
    """What is chosen by the rank itself is this rank's part."""
    body = f"def best(scores, {name}):\n    dist.barrier()\n    print(arrays[{name}].mean())\n"
    assert told(body) == []
    assert told(f"{body}best(arrays, dist.get_rank())\n") == [f"print(arrays[{name}].mean())"]
