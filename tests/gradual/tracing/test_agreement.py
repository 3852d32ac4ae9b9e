"""A traced model and its source are given the same answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from distml.gradual.branches import find_branches
from distml.gradual.migrate import migrate
from distml.gradual.questions import Question, benches
from distml.gradual.tracing import traced

pytestmark = pytest.mark.requires("torch")

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
PROGRAMS = {
    "two_convolutions": """
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 2, 3)
        self.conv2 = nn.Conv2d(4, 2, 3)

    def forward(self, x):
        self.conv1(x)
        return self.conv2(x)
""",
    "one_convolution": """
    def __init__(self):
        super().__init__()
        self.conv2 = nn.Conv2d(4, 2, 3)

    def forward(self, x):
        return self.conv2(x)
""",
    "rank_of_a_convolution": """
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(512, 512, 3)

    def forward(self, x):
        if self.conv(x).dim() == 4:
            return torch.relu(x)
        else:
            return torch.dropout(x, 0.5, False)
""",
    "without_the_branch": """
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(512, 512, 3)

    def forward(self, x):
        return torch.relu(x)
""",
    "reshape": """
    def forward(self, x):
        if x.reshape(100).size()[0] < 100:
            return torch.dropout(x, 0.5, False)
        return torch.relu(x)
""",
    "bmm": """
    def forward(self, x, y):
        return torch.bmm(torch.bmm(x, y), y)
""",
    "sizes": """
    def forward(self, x):
        b, n = x.shape
        if b > 5 and n == 3:
            return x + 1
        if len(x.shape) == 2:
            x = x.view(b * n)
        return x
""",
    "raises": """
    def forward(self, x):
        b, n = x.shape
        if b == 1:
            raise ValueError("too few")
        return x.mean() if b < 2 else x
""",
    "asserts": """
    def forward(self, x):
        b, n = x.shape
        assert b % 2 == 0
        assert n == 7, "seven"
        return x.view(b // 2, 2, 7)
""",
    "heads": """
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 192)
        self.out = nn.Linear(64, 64)

    def forward(self, x):
        b, t, d = x.size()
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, t, 8, d // 8).transpose(1, 2)
        k = k.view(b, -1, 8, d // 8).transpose(1, 2)
        v = v.view(b, -1, 8, d // 8).transpose(1, 2)
        scores = q @ k.transpose(-2, -1)
        if scores.size() != (b, 8, t, t):
            raise ValueError("scores")
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
""",
    "positions": """
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.register_buffer("positions", torch.zeros(1, 32, 16))

    def forward(self, x):
        b, t = x.shape
        return self.embed(x) + self.positions[:, :t].expand(b, t, 16)
""",
    "classifier": """
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(8 * 7 * 7, 10)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1))
""",
}
WHERE = {
    "raises": "x.shape[0] > 1",
    "rank_of_a_convolution": "len(x.shape) == 4",
    "one_convolution": "x.shape[0] == 19",
}


@pytest.fixture
def model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "net", raising=False)
    return folder / "net.py"


def answers(path: Path, where: str | None, trace: bool) -> str:
    question = Question("net.py::Net", where)
    asked = traced("net:Net", question) if trace else benches(question)
    found = [(migrate(bench), find_branches(bench)) for bench in asked]
    ((migration, decisions),) = found
    said = {
        "verdict": migration.verdict,
        "ranks": migration.ranks,
        "annotations": {name: annotation.text for name, annotation in migration.annotations.items()},
        "dyn_only": [
            (d.input, d.axis, [c.line for c in d.related if "comes from" not in c.message]) for d in migration.dyn_only
        ],
        "branches": [(d.path, d.line, d.column, d.kind, d.verdict, d.condition) for d in decisions],
        "model": migration.model,
        "constraints": migration.constraints,
    }
    return json.dumps(said, indent=1)


@pytest.mark.parametrize("name", PROGRAMS)
def test_source_and_trace_agree(model: Path, name: str) -> None:
    model.write_text(HEAD + PROGRAMS[name])
    assert answers(model, None, trace=True) == answers(model, None, trace=False)


@pytest.mark.parametrize("name", WHERE)
def test_they_agree_under_a_constraint(model: Path, name: str) -> None:
    model.write_text(HEAD + PROGRAMS[name])
    assert answers(model, WHERE[name], trace=True) == answers(model, WHERE[name], trace=False)
