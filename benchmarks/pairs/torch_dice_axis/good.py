"""Validation metrics for segmentation: accuracy, intersection over union, Dice."""
from functools import wraps

import torch
from torch import nn

METRICS = {}


def metric(fn):
    @wraps(fn)
    def wrapper(logits, target):
        with torch.no_grad():
            return fn(logits, target)

    METRICS[fn.__name__] = wrapper
    return wrapper


@metric
def accuracy(logits, target):
    return (logits.argmax(dim=1) == target).float().mean()


@metric
def iou(logits, target):
    predicted = logits.argmax(dim=1)
    scores = []
    for klass in range(logits.shape[1]):
        p, t = predicted == klass, target == klass
        union = (p | t).sum()
        if union > 0:
            scores.append((p & t).sum() / union)
    return torch.stack(scores).mean()


@metric
def dice(logits, target):
    predicted = (logits.argmax(dim=1) == 1).float()
    reference = (target == 1).float()
    overlap = (predicted * reference).sum(dim=(1, 2))
    total = predicted.sum(dim=(-2, -1)) + reference.sum(dim=(-2, -1))
    return ((2 * overlap + 1) / (total + 1)).mean()


def main():
    torch.manual_seed(0)
    model = nn.Conv2d(3, 4, kernel_size=3, padding="same")
    images = torch.rand(2, 3, 16, 16)
    target = torch.randint(0, 4, (2, 16, 16))
    logits = model(images)
    for name, fn in METRICS.items():
        print(f"{name}: {fn(logits, target):.3f}")


if __name__ == "__main__":
    main()
