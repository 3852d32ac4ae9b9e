"""VGG built from a string of letters: numbers are convolutions, M is a pooling."""
import torch
from torch import nn

PLANS = {
    "small": [8, "M", 16, "M"],
    "deep": [8, "M", 16, "M", 16, "M", 32, "M", 32, "M"],
}


def make_features(plan, in_channels):
    layers = []
    for item in plan:
        if item == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        else:
            layers += [nn.Conv2d(in_channels, item, 3, padding=1), nn.ReLU(inplace=True)]
            in_channels = item
    return nn.Sequential(*layers), in_channels


class VGG(nn.Module):
    def __init__(self, plan, in_channels=1, classes=10):
        super().__init__()
        self.features, width = make_features(plan, in_channels)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(width, classes)

    def forward(self, x):
        x = self.features(x)  # bug: 28, 14, 7, 3, 1, and then nothing
        x = self.pool(x)
        return self.classifier(x.view(x.size(0), -1))


def main():
    image = torch.rand(2, 1, 28, 28)
    for name, plan in PLANS.items():
        model = VGG(plan)
        parameters = sum(p.numel() for p in model.parameters())
        print(f"{name}: {parameters} parameters, output {tuple(model(image).shape)}")


if __name__ == "__main__":
    main()
