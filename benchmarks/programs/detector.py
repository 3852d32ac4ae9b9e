"""A small anchor-free detector with a feature pyramid: backbone, neck, heads, targets, losses, training, evaluation."""

import argparse
import math
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    """Sizes of the model and of the training."""

    image_size: int = 128
    in_channels: int = 3
    stem_channels: int = 16
    stage_channels: list = field(default_factory=lambda: [32, 64, 128])
    stage_depths: list = field(default_factory=lambda: [2, 2, 1])
    pyramid_channels: int = 48
    heads: int = 4
    classes: int = 5
    head_depth: int = 2
    dropout: float = 0.1
    batch_size: int = 8
    epochs: int = 1
    samples: int = 32
    learning_rate: float = 3e-4

    @property
    def strides(self):
        return [4 * 2**level for level in range(len(self.stage_channels))]


class ConvNorm(nn.Sequential):
    """Convolution, batch norm and, unless it is the last of a block, a SiLU."""

    def __init__(self, inside, outside, kernel=3, stride=1, groups=1, active=True):
        layers = [
            nn.Conv2d(inside, outside, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outside),
        ]
        if active:
            layers.append(nn.SiLU(inplace=True))
        super().__init__(*layers)


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduction=4):
        super().__init__()
        hidden = max(channels // reduction, 8)
        self.reduce = nn.Conv2d(channels, hidden, 1)
        self.expand = nn.Conv2d(hidden, channels, 1)

    def forward(self, x):
        weights = x.mean(dim=(2, 3), keepdim=True)
        weights = torch.sigmoid(self.expand(F.silu(self.reduce(weights))))
        return x * weights


class InvertedResidual(nn.Module):
    def __init__(self, inside, outside, stride=1, expansion=3):
        super().__init__()
        hidden = inside * expansion
        self.expand = ConvNorm(inside, hidden, kernel=1)
        self.depthwise = ConvNorm(hidden, hidden, stride=stride, groups=hidden)
        self.excite = SqueezeExcite(hidden)
        self.project = ConvNorm(hidden, outside, kernel=1, active=False)
        self.residual = stride == 1 and inside == outside

    def forward(self, x):
        out = self.project(self.excite(self.depthwise(self.expand(x))))
        return out + x if self.residual else out


class SelfAttention(nn.Module):
    """Attention over the cells of a feature map."""

    def __init__(self, channels, heads, dropout):
        super().__init__()
        assert channels % heads == 0
        self.heads = heads
        self.norm = nn.LayerNorm(channels)
        self.qkv = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, channels, height, width = x.shape
        cells = x.flatten(2).transpose(1, 2)
        qkv = self.qkv(self.norm(cells))
        qkv = qkv.view(batch, height * width, 3, self.heads, channels // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        mixed = scores.softmax(dim=-1) @ value
        mixed = mixed.transpose(1, 2).reshape(batch, height * width, channels)
        cells = cells + self.drop(self.out(mixed))
        return cells.transpose(1, 2).reshape(batch, channels, height, width)


class Backbone(nn.Module):
    """A stem of stride 4 and stages, each half the size of the one before."""

    def __init__(self, config):
        super().__init__()
        self.stem = nn.Sequential(
            ConvNorm(config.in_channels, config.stem_channels, stride=2),
            ConvNorm(config.stem_channels, config.stem_channels, stride=2),
        )
        self.stages = nn.ModuleList()
        channels = config.stem_channels
        for level, (width, depth) in enumerate(zip(config.stage_channels, config.stage_depths)):
            blocks = [InvertedResidual(channels, width, stride=1 if level == 0 else 2)]
            blocks += [InvertedResidual(width, width) for _ in range(depth - 1)]
            self.stages.append(nn.Sequential(*blocks))
            channels = width
        self.attention = SelfAttention(channels, config.heads, config.dropout)

    def forward(self, x):
        x = self.stem(x)
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        features[-1] = self.attention(features[-1])
        return features


class Pyramid(nn.Module):
    """Carries what the deep levels know up to the fine ones."""

    def __init__(self, inside, channels):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(width, channels, 1) for width in inside)
        self.smooth = nn.ModuleList(ConvNorm(channels, channels) for _ in inside)

    def forward(self, features):
        laterals = [lateral(feature) for lateral, feature in zip(self.lateral, features)]
        for level in range(len(laterals) - 1, 0, -1):
            upper = F.interpolate(laterals[level], scale_factor=2, mode="nearest")
            laterals[level - 1] = laterals[level - 1] + upper
        return [smooth(lateral) for smooth, lateral in zip(self.smooth, laterals)]


class Head(nn.Module):
    """Scores, distances to the four sides and centerness, at each cell."""

    def __init__(self, channels, classes, depth):
        super().__init__()
        self.tower = nn.Sequential(*[ConvNorm(channels, channels) for _ in range(depth)])
        self.scores = nn.Conv2d(channels, classes, 3, padding=1)
        self.sides = nn.Conv2d(channels, 4, 3, padding=1)
        self.center = nn.Conv2d(channels, 1, 3, padding=1)
        nn.init.constant_(self.scores.bias, -math.log(99))

    def forward(self, x):
        x = self.tower(x)
        return self.scores(x), F.relu(self.sides(x)), self.center(x)


class Detector(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.backbone = Backbone(config)
        self.pyramid = Pyramid(config.stage_channels, config.pyramid_channels)
        self.head = Head(config.pyramid_channels, config.classes, config.head_depth)
        self.scales = nn.Parameter(torch.ones(len(config.stage_channels)))

    def forward(self, images):
        levels = self.pyramid(self.backbone(images))
        scores, sides, centers = [], [], []
        for level, feature in enumerate(levels):
            level_scores, level_sides, level_center = self.head(feature)
            scores.append(flat(level_scores))
            sides.append(flat(level_sides) * self.scales[level] * self.config.strides[level])
            centers.append(flat(level_center).squeeze(-1))
        return torch.cat(scores, dim=1), torch.cat(sides, dim=1), torch.cat(centers, dim=1)


def flat(feature):
    """(batch, channels, height, width) -> (batch, height * width, channels)"""
    return feature.permute(0, 2, 3, 1).flatten(1, 2)


def locations(config):
    """The centers of all cells of all levels, in pixels."""
    points = []
    for stride in config.strides:
        cells = config.image_size // stride
        steps = (torch.arange(cells) + 0.5) * stride
        rows, columns = torch.meshgrid(steps, steps, indexing="ij")
        points.append(torch.stack([columns.reshape(-1), rows.reshape(-1)], dim=1))
    return torch.cat(points, dim=0)


def targets(points, boxes):
    """For each image and cell: whether it lies in the box, the distances to its sides, the centerness."""
    x, y = points[:, 0], points[:, 1]
    left = x[None, :] - boxes[:, 0:1]
    top = y[None, :] - boxes[:, 1:2]
    right = boxes[:, 2:3] - x[None, :]
    bottom = boxes[:, 3:4] - y[None, :]
    sides = torch.stack([left, top, right, bottom], dim=-1)
    inside = sides.min(dim=-1).values > 0
    sides = sides.clamp(min=1e-3)
    across = torch.minimum(sides[..., 0], sides[..., 2]) / torch.maximum(sides[..., 0], sides[..., 2])
    along = torch.minimum(sides[..., 1], sides[..., 3]) / torch.maximum(sides[..., 1], sides[..., 3])
    return inside, sides, torch.sqrt(across * along)


def focal_loss(scores, wanted, alpha=0.25, gamma=2.0):
    chances = torch.sigmoid(scores)
    entropy = F.binary_cross_entropy_with_logits(scores, wanted, reduction="none")
    agreed = chances * wanted + (1 - chances) * (1 - wanted)
    weights = alpha * wanted + (1 - alpha) * (1 - wanted)
    return (weights * (1 - agreed) ** gamma * entropy).sum()


def iou_loss(sides, wanted):
    """1 - intersection over union of boxes around the same cells, given by distances to their sides."""
    nearer = torch.minimum(sides, wanted)
    overlap = (nearer[:, 0] + nearer[:, 2]) * (nearer[:, 1] + nearer[:, 3])
    area = (sides[:, 0] + sides[:, 2]) * (sides[:, 1] + sides[:, 3])
    wanted_area = (wanted[:, 0] + wanted[:, 2]) * (wanted[:, 1] + wanted[:, 3])
    return (1 - (overlap + 1) / (area + wanted_area - overlap + 1)).sum()


class DetectionLoss(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.classes = config.classes
        self.register_buffer("points", locations(config))

    def forward(self, predictions, boxes, labels):
        scores, sides, centers = predictions
        inside, wanted_sides, wanted_centers = targets(self.points, boxes)
        classes = F.one_hot(labels, self.classes).float()
        wanted_scores = inside.unsqueeze(-1).float() * classes.unsqueeze(1)
        count = inside.sum().clamp(min=1)
        classification = focal_loss(scores, wanted_scores) / count
        regression = iou_loss(sides[inside], wanted_sides[inside]) / count
        centerness = (
            F.binary_cross_entropy_with_logits(centers[inside], wanted_centers[inside], reduction="sum") / count
        )
        return classification + regression + centerness


def make_data(config):
    """Noise with one bright rectangle an image; its class is its brightness."""
    images = torch.rand(config.samples, config.in_channels, config.image_size, config.image_size) * 0.2
    corners = torch.randint(0, config.image_size // 2, (config.samples, 2))
    sizes = torch.randint(24, config.image_size // 2, (config.samples, 2))
    boxes = torch.cat([corners, corners + sizes], dim=1)
    labels = torch.randint(0, config.classes, (config.samples,))
    for index in range(config.samples):
        x1, y1, x2, y2 = boxes[index].tolist()
        images[index, :, y1:y2, x1:x2] += 0.2 + 0.6 * labels[index] / config.classes
    return TensorDataset(images, boxes.float(), labels)


@torch.no_grad()
def decode(model, points, images, limit=10):
    """The best boxes of each image: scores (batch, limit), classes (batch, limit), boxes (batch, limit, 4)."""
    scores, sides, centers = model(images)
    confidence = torch.sigmoid(scores) * torch.sigmoid(centers).unsqueeze(-1)
    best, classes = confidence.max(dim=-1)
    top, cells = best.topk(limit, dim=1)
    boxes = torch.cat([points - sides[..., :2], points + sides[..., 2:]], dim=-1)
    chosen = boxes.gather(1, cells.unsqueeze(-1).expand(-1, -1, 4))
    return top, classes.gather(1, cells), chosen


def train(config):
    model, loss = Detector(config), DetectionLoss(config)
    held = config.samples // 4
    training, validation = random_split(make_data(config), [config.samples - held, held])
    loader = DataLoader(training, batch_size=config.batch_size, shuffle=True, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
    for epoch in range(config.epochs):
        model.train()
        for images, boxes, labels in loader:
            optimizer.zero_grad()
            value = loss(model(images), boxes, labels)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        for images, _, labels in DataLoader(validation, batch_size=config.batch_size):
            top, classes, found = decode(model, loss.points, images)
            right = (classes[:, 0] == labels).float().mean()
            print(f"epoch {epoch}: score {top.mean():.3f}, accuracy {right:.2f}, boxes {tuple(found.shape)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--image-size", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=1)
    arguments = parser.parse_args()
    config = Config(image_size=arguments.image_size, batch_size=arguments.batch_size, epochs=arguments.epochs)
    train(config)


if __name__ == "__main__":
    main()
