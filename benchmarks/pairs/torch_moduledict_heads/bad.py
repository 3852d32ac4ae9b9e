"""Multi-task network: a shared trunk and one head a task, in a ModuleDict."""
import torch
from torch import nn
import torch.nn.functional as F

TASKS = {
    "age": {"outputs": 1, "loss": F.mse_loss},
    "gender": {"outputs": 2, "loss": F.cross_entropy},
    "emotion": {"outputs": 7, "loss": F.cross_entropy},
}


class Trunk(nn.Module):
    out_features = 48

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 5, stride=2)
        self.fc = nn.Linear(12 * 2 * 2, self.out_features)

    def forward(self, x):
        x = F.relu(self.conv(x))
        x = F.adaptive_max_pool2d(x, 2)
        return F.relu(self.fc(x.flatten(1)))


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = Trunk()
        width = self.trunk.out_features
        self.heads = nn.ModuleDict(
            {name: nn.Linear(width, task["outputs"]) for name, task in tasks.items()}
        )
        self.heads["emotion"] = nn.Sequential(
            nn.Linear(width, 64), nn.ReLU(), nn.Linear(width, tasks["emotion"]["outputs"])
        )

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}  # bug: 64 into 48


def main():
    torch.manual_seed(0)
    faces = torch.rand(6, 3, 24, 24)
    targets = {
        "age": torch.rand(6, 1) * 80,
        "gender": torch.randint(0, 2, (6,)),
        "emotion": torch.randint(0, 7, (6,)),
    }
    outputs = MultiTask(TASKS)(faces)
    for name, task in TASKS.items():
        print(name, round(task["loss"](outputs[name], targets[name]).item(), 3))


main()
