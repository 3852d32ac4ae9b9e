"""Video network with factorised (2+1)-d convolutions and temporal attention."""
import torch
import torch.nn as nn


class SpaceTime(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.space = nn.Conv3d(inp, out, kernel_size=(1, 3, 3), padding=(0, 1, 1))
        self.time = nn.Conv3d(out, out, kernel_size=(3, 1, 1), padding=(1, 0, 0))
        self.norm = nn.GroupNorm(4, out)

    def forward(self, x):
        return torch.relu(self.norm(self.time(torch.relu(self.space(x)))))


class TemporalAttention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.score = nn.Linear(channels, 1)

    def forward(self, x):
        b, c, t, h, w = x.shape
        frames = x.reshape(b, c, t, -1).mean(-1).transpose(1, 2)
        weights = self.score(frames).softmax(dim=1)
        return (weights * frames).sum(dim=1)


class VideoNet(nn.Module):
    def __init__(self, widths=(8, 16), classes=6):
        super().__init__()
        self.stem = SpaceTime(3, widths[0])
        self.pool = nn.MaxPool3d((1, 2, 2))
        self.body = SpaceTime(*widths)
        self.attend = TemporalAttention(widths[-1])
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, clip):
        x = self.pool(self.stem(clip))
        x = self.body(x)
        return self.head(self.attend(x))


if __name__ == "__main__":
    torch.manual_seed(0)
    clips = torch.rand(2, 3, 5, 12, 12)
    logits = VideoNet()(clips)
    top = logits.topk(2, dim=-1)
    print(top.indices.tolist())
