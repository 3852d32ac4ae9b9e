"""Scores every frame of a clip with a 2-d network and averages."""
import torch
from torch import nn
import torch.nn.functional as F


class FrameNet(nn.Module):
    def __init__(self, channels=3, width=8, classes=6):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.fc = nn.Linear(width, classes)

    def forward(self, frame):
        x = self.conv(frame)
        x = F.gelu(self.norm(x))
        return self.fc(x.mean(dim=(2, 3)))


class ClipClassifier(nn.Module):
    def __init__(self, frame_net):
        super().__init__()
        self.frame_net = frame_net

    def forward(self, clip):
        # clip: batch, time, channels, height, width
        scores = []
        for t in range(clip.shape[1]):
            scores.append(self.frame_net(clip[:, t]))
        return torch.stack(scores, dim=1).mean(dim=1)


def sample_clips(batch=2, frames=4, size=10):
    ramp = torch.linspace(0, 1, frames).view(1, frames, 1, 1, 1)
    return torch.rand(batch, 1, 3, size, size) * ramp


if __name__ == "__main__":
    torch.manual_seed(0)
    classifier = ClipClassifier(FrameNet()).eval()
    with torch.inference_mode():
        scores = classifier(sample_clips())
    print(scores.softmax(dim=-1))
