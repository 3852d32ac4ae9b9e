"""What stands around training: files that are read and written anew, the screen replaced, samples counted, caches made."""

from __future__ import annotations

from textwrap import indent

import pytest
from horovod.torch.programs import HEAD, outcome, rewritten

PROGRAM = (
    "import json\nimport os\nimport pickle\nimport sys\nimport numpy as np\n"
    + HEAD
    + """
{made}

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
best, kept = 1e9, None
{before}
for epoch in range(3):
    total, seen, sizes, losses = 0.0, 0, [], []
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        total += loss.item()
{turn}
    total /= len(loader)
{behind}
{after}
"""
)


def written(made: str = "", before: str = "", turn: str = "pass", behind: str = "pass", after: str = "") -> str:
    """What the program becomes with these lines in its places."""
    parts = {"turn": indent(turn, " " * 8), "behind": indent(behind, " " * 4)}
    return rewritten(PROGRAM.format(made=made, before=before, after=after, **parts), "ddp")


KEPT = """if total < best:
    best = total
    kept = os.path.join("out", f"best_{epoch}.pt")
    torch.save(model.state_dict(), kept)"""


@pytest.mark.parametrize("way", [KEPT, KEPT.replace("if total < best:", "if total < best or kept is None:")])
def test_a_path_that_a_branch_chooses_is_waited_for(way: str) -> None:
    text = written(behind=way, after="model.load_state_dict(torch.load(kept))")
    assert "dist.barrier()\nmodel.module.load_state_dict(torch.load(kept))" in text


def test_another_path_is_not_waited_for() -> None:
    text = written(behind=KEPT, after="other = torch.load('teacher.pt')")
    assert "dist.barrier()" not in text


ANEW = {
    "JSON": (
        "entries = json.load(open(path)) if os.path.exists(path) else []\n",
        "with open(path, 'w') as f:\n    json.dump(entries, f)",
    ),
    "a block": (
        "entries = []\nif os.path.exists(path):\n    with open(path, 'rb') as f:\n        entries = pickle.load(f)\n",
        "with open(path, 'wb') as f:\n    pickle.dump(entries, f)",
    ),
    "weights": ("entries = torch.load(path)\n", "torch.save(entries, path)"),
}


@pytest.mark.parametrize("way", ANEW)
def test_what_all_read_is_written_anew_when_all_have_read(way: str) -> None:
    reads, writes = ANEW[way]
    text = written(behind=f"path = 'log'\n{reads}entries.append(total)\n{writes}")
    read, _, rest = text.partition("    dist.barrier()\n")
    assert "entries = " in read and "entries.append(total)" in rest


def test_what_is_only_looked_for_is_not_waited_for() -> None:
    text = written(behind="if not os.path.exists('log'):\n    print('first')\ntorch.save(total, 'log')")
    assert "dist.barrier()" not in text


SCREEN = """
class Screen:
    def __init__(self, path):
        self.terminal = sys.stdout
        self.file = open(path, "a")

    def write(self, message):
        self.terminal.write(message)
        self.file.write(message)

    def flush(self):
        self.terminal.flush()
"""


@pytest.mark.parametrize("place", ["sys.stdout", "sys.stderr", "shown.stdout"])
def test_what_takes_the_place_of_the_screen_asks_nobody(place: str) -> None:
    """Python flushes it when the process group has ended; who prints is asked already."""
    made = SCREEN.replace("sys.", "shown.") if place.startswith("shown") else SCREEN
    text = written(made=f"import sys as shown\n{made}", before=f"{place} = Screen('log')", behind="print(total)")
    methods = text.partition("def write(")[2].partition("\nmodel = ")[0]
    assert "get_rank" not in methods
    assert "    if dist.get_rank() == 0:\n        print(total)" in text


def test_another_object_that_writes_to_the_screen_is_asked() -> None:
    text = written(made=SCREEN, before="screen = Screen('log')", behind="screen.write('a')")
    assert "get_rank" in text.partition("def write(")[2].partition("\nmodel = ")[0]


SIZES = ["len(a)", "a.size(0)", "a.shape[0]", "b.numel()"]


@pytest.mark.parametrize("size", SIZES)
def test_a_count_of_samples_that_is_told_is_that_of_all(size: str) -> None:
    text = written(turn=f"seen += {size}", behind="print('samples', seen)")
    assert "seen = sum_of_ranks(seen)" in text


@pytest.mark.parametrize("size", SIZES)
def test_a_count_of_samples_that_only_divides_stays(size: str) -> None:
    text = written(turn=f"seen += {size}", behind="print(total / seen)")
    assert "sum_of_ranks(seen)" not in text


def test_a_count_of_iterations_that_is_told_stays() -> None:
    assert "sum_of_ranks" not in written(turn="seen += 1", behind="print('iterations', seen)")


@pytest.mark.parametrize("size", SIZES)
def test_sizes_of_batches_weigh_as_many_losses(size: str) -> None:
    turn = f"losses.append(loss.item())\nsizes.append({size})"
    text = written(turn=turn, behind="print(np.average(losses, weights=sizes))")
    assert "from_all_ranks" not in text


TRACKER = """
class Tracker:
    def __init__(self, *names):
        self.data = {{name: [0.0, 0] for name in names}}

    def update(self, name, value, n=1):
{adds}

    def mean(self, name):
        return self.data[name][0] / max(self.data[name][1], 1)
"""
ADDS = {
    "by a variable": "entry = self.data[name]\nentry[0] += value * n\nentry[1] += n",
    "in place": "self.data[name][0] += value * n\nself.data[name][1] += n",
    "of an item": "data = self.data\nfound = data[name]\nfound[0] += value\nfound[1] += 1",
}


@pytest.mark.parametrize("way", ADDS)
def test_an_object_adds_up_in_its_containers(way: str) -> None:
    made = TRACKER.replace("{{", "{").replace("}}", "}").replace("{adds}", indent(ADDS[way], " " * 8))
    tracked = "tracker = Tracker('loss')"
    text = written(
        made=f"{made}\n{tracked}",
        turn="tracker.update('loss', loss.item(), len(a))",
        behind="print(tracker.mean('loss'))",
    )
    assert "tracker.data = mean_of_each(tracker.data)" in text


def test_an_object_that_is_given_nothing_of_a_batch_stays() -> None:
    made = TRACKER.replace("{{", "{").replace("}}", "}").replace("{adds}", indent(ADDS["in place"], " " * 8))
    text = written(
        made=f"{made}\ntracker = Tracker('n')", turn="tracker.update('n', 1)", behind="print(tracker.mean('n'))"
    )
    assert "mean_of_each" not in text


@pytest.mark.parametrize("begun", ["torch.zeros(4)", "np.zeros(4)"])
def test_a_count_that_divides_in_place_goes_with_its_sum(begun: str) -> None:
    added = "a.sum(0)" if "torch" in begun else "a.sum(0).numpy()"
    lines = ["for a, b in loader:", f"    mean += {added}", "    seen += len(a)", "mean /= seen", "print(seen, mean)"]
    text = written(before="\n".join([f"seen, mean = 0, {begun}", *lines]))
    assert "mean = sum_of_ranks(mean)\nseen = sum_of_ranks(seen)\nmean /= seen" in text


MORE = "f = open('result', 'a+')\nf.write('%f' % total)\nf.close()"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with open('settings', 'w') as f:\n    json.dump({'a': 1}, f)", MORE),
        ("f = open('settings')\nprint(f.read())\nf.close()", MORE),
    ],
)
def test_a_file_under_a_name_that_others_have_is_written_by_one(before: str, after: str) -> None:
    text = written(before=before, after=after)
    assert "open('result' if dist.get_rank() == 0 else os.devnull, 'a+')" in text


CACHED = """
def load():
    if os.path.exists("cache.npz"):
        data = np.load("cache.npz")["a"]
    else:
        data = np.ones((64, 4), "float32")
        np.savez("cache.npz", a=data)
    made = DataLoader(TensorDataset(torch.from_numpy(data)), batch_size=8, shuffle=True)
    mean = torch.zeros(4)
    for (each,) in made:
        mean += each.sum(0)
    print(mean)
    return made


load()
"""


def test_a_cache_is_made_apart_from_a_pass_in_the_same_function() -> None:
    made = outcome(PROGRAM.format(made=CACHED, before="", turn="        pass", behind="    pass", after=""), "ddp")
    assert not made.plan.refusals


WORDS = """
def words(lines, path):
    if os.path.exists(path):
        with open(path, "rb") as f:
            return pickle.load(f)
    found = sorted(set(lines))
    with open(path, "wb") as f:
        pickle.dump(found, f)
    return found
"""


def test_what_is_read_only_where_it_is_there_is_made_by_one() -> None:
    text = written(made=WORDS, before="known = words(['a', 'b'], 'words.pkl')")
    assert "    dist.barrier()\nknown = words(['a', 'b'], 'words.pkl')\nif " in text
