"""Functions and classes that programs bring along, and imports, by a word that tells that they are used."""

from __future__ import annotations

import re

WIDTH, CLASSES = 6, 3

HELPERS = {
    "AverageMeter": """
class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count
""",
    "Average": """
class Average(object):
    def __init__(self):
        self.total, self.n = 0.0, 0

    def add(self, value, n=1):
        self.total += value * n
        self.n += n

    @property
    def mean(self):
        return self.total / max(self.n, 1)
""",
    "MetricTracker": """
class MetricTracker:
    def __init__(self, *keys):
        self._data = {k: [0.0, 0] for k in keys}

    def update(self, key, value, n=1):
        entry = self._data[key]
        entry[0] += value * n
        entry[1] += n

    def avg(self, key):
        return self._data[key][0] / self._data[key][1]

    def result(self):
        return {k: v[0] / v[1] for k, v in self._data.items() if v[1]}
""",
    "EarlyStopping": """
class EarlyStopping:
    def __init__(self, patience=2, path="best.pt"):
        self.patience, self.path = patience, path
        self.counter = 0
        self.best_score = None
        self.early_stop = False

    def __call__(self, val_loss, model):
        score = -val_loss
        if self.best_score is None or score > self.best_score:
            self.best_score = score
            self.save_checkpoint(val_loss, model)
            self.counter = 0
        else:
            self.counter += 1
            print(f"EarlyStopping counter: {self.counter} out of {self.patience}")
            if self.counter >= self.patience:
                self.early_stop = True

    def save_checkpoint(self, val_loss, model):
        print(f"validation loss now {val_loss:.4f}, saving model")
        torch.save(model.state_dict(), self.path)
""",
    "save_checkpoint": """
def save_checkpoint(state, is_best, folder, filename="checkpoint.pth.tar"):
    path = os.path.join(folder, filename)
    torch.save(state, path)
    if is_best:
        shutil.copyfile(path, os.path.join(folder, "model_best.pth.tar"))
""",
    "accuracy": """
def accuracy(output, target):
    with torch.no_grad():
        pred = torch.max(output, 1)[1]
        return pred.eq(target).float().mean().item()
""",
    "time_since": """
def time_since(since, done):
    s = time.time() - since
    left = s / max(done, 1e-8) - s
    return "%.1fs (- %.1fs)" % (s, left)
""",
    "plot_curves": """
def plot_curves(history, path):
    plt.figure()
    plt.plot(history)
    plt.xlabel("epoch")
    plt.savefig(path)
    plt.close()
""",
    "get_logger": """
def get_logger(path):
    logger = logging.getLogger("train")
    logger.setLevel(logging.INFO)
    for handler in (logging.FileHandler(path), logging.StreamHandler(sys.stdout)):
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    return logger
""",
    "Tee": """
class Tee:
    def __init__(self, path):
        self.terminal = sys.stdout
        self.file = open(path, "a")

    def write(self, message):
        self.terminal.write(message)
        self.file.write(message)

    def flush(self):
        self.terminal.flush()
        self.file.flush()
""",
    "CsvSet": """
class CsvSet(Dataset):
    def __init__(self, path, first, last):
        self.rows = []
        with open(path) as f:
            for row in list(csv.reader(f))[first:last]:
                self.rows.append([float(v) for v in row])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, idx):
        row = self.rows[idx]
        return torch.tensor(row[:-1]), int(row[-1])
""",
    "TextSet": """
class TextSet(Dataset):
    def __init__(self, lines, vocab):
        self.items = []
        for line in lines:
            label, words = line.rstrip().split("\\t")
            ids = [vocab.get(w, 0) for w in words.split()]
            self.items.append((torch.tensor(ids), int(label)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]
""",
    "build_vocab": """
def build_vocab(lines, path):
    if os.path.exists(path):
        with open(path, "rb") as f:
            return pickle.load(f)
    vocab = {"<unk>": 0}
    for line in lines:
        for w in line.rstrip().split("\\t")[1].split():
            if w not in vocab:
                vocab[w] = len(vocab)
    with open(path, "wb") as f:
        pickle.dump(vocab, f)
    return vocab
""",
}
NETS = {
    "linear": f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear({WIDTH}, {CLASSES})

    def forward(self, x):
        return self.fc(x)
""",
    "mlp": f"""
class Net(nn.Module):
    def __init__(self, hidden=8):
        super(Net, self).__init__()
        self.fc1 = nn.Linear({WIDTH}, hidden)
        self.fc2 = nn.Linear(hidden, {CLASSES})

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)
""",
    "conv": f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 4, 3, padding=1), nn.ReLU())
        self.classifier = nn.Linear(4 * {WIDTH}, {CLASSES})

    def forward(self, x):
        x = self.features(x.unsqueeze(1))
        return self.classifier(x.flatten(1))
""",
    "text": f"""
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.emb = nn.EmbeddingBag(size, 8)
        self.fc = nn.Linear(8, {CLASSES})

    def forward(self, x):
        return self.fc(self.emb(x))
""",
}
_FROM = {
    "torch.utils.data": "DataLoader Dataset TensorDataset Subset random_split",
    "torch.utils.data.sampler": "SubsetRandomSampler",
    "torch.utils.tensorboard": "SummaryWriter",
    "torch.amp": "GradScaler",
    "torch": "nn",
    "collections": "defaultdict deque Counter",
    "dataclasses": "dataclass",
    "datetime": "datetime",
    "pathlib": "Path",
    "sklearn.metrics": "f1_score",
    "tqdm": "tqdm",
}
_AS = {"numpy": "np", "pandas": "pd", "matplotlib.pyplot": "plt", "torch.nn.functional": "F"}
_PLAIN = "argparse copy csv glob heapq json logging math os pickle random shutil sys time torch"


def imports(text: str) -> list[str]:
    """The imports that a file needs, by the names in it."""
    names = {name: f"import {name}" for name in _PLAIN.split()}
    names |= {name: f"import {module} as {name}" for module, name in _AS.items()}
    names |= {name: f"from {module} import {name}" for module, given in _FROM.items() for name in given.split()}
    used = {line for name, line in names.items() if re.search(rf"(?<![\w.'\"]){name}(?=[.(,):\n])", text)}
    return sorted(used, key=lambda line: ("torch" in line, line.startswith("from"), line))


def helpers(text: str) -> dict[str, str]:
    """The functions and classes that a text calls, with those that they call."""
    found: dict[str, str] = {}
    for name, body in HELPERS.items():
        if re.search(rf"(?<![\w.]){name}\(", text):
            found[name] = body.strip("\n")
    return found
