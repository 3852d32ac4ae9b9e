"""Policy network on stacked frames; the flat size is measured with a dummy frame."""
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    try:
        yield model
    finally:
        model.train(was_training)


class LambdaLayer(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x)


class AtariPolicy(nn.Module):
    def __init__(self, frame_shape, n_actions):
        super().__init__()
        self.features = nn.Sequential(
            LambdaLayer(lambda x: x / 255.0),
            nn.Conv2d(frame_shape[0], 8, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(8, 16, 4, stride=2),
            nn.ReLU(),
        )
        with torch.no_grad():
            flat = self.features(torch.zeros(1, *frame_shape)).numel()
        self.policy = nn.Sequential(nn.Linear(flat, 32), nn.ReLU(), nn.Linear(32, n_actions))

    def forward(self, frames):
        features = self.features(frames).reshape(frames.shape[0], -1)
        return self.policy(features)


def act(model, frames):
    with evaluating(model), torch.no_grad():
        logits = model(frames)
    return torch.distributions.Categorical(logits=logits).sample()


def main():
    torch.manual_seed(0)
    policy = AtariPolicy((4, 64, 64), n_actions=6)
    frames = torch.randint(0, 256, (3, 4, 64, 64)).float()
    print("actions", act(policy, frames).tolist(), "training", policy.training)


if __name__ == "__main__":
    main()
