"""DenseNet block: each layer sees all the features before it."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class DenseLayer(nn.Module):
    def __init__(self, in_channels, growth, norm_channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(norm_channels)
        self.conv = nn.Conv2d(in_channels, growth, 3, padding=1, bias=False)

    def forward(self, features):
        x = torch.cat(features, dim=1)
        return self.conv(F.relu(self.bn(x)))


class DenseBlock(nn.Module):
    def __init__(self, in_channels, growth, depth):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(depth):
            channels = in_channels + i * growth
            self.layers.append(DenseLayer(channels, growth, norm_channels=channels))
        self.out_channels = in_channels + depth * growth

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(features))
        return torch.cat(features, 1)


class TinyDenseNet(nn.Module):
    def __init__(self, growth=6, depths=(3, 2), classes=5):
        super().__init__()
        channels = 2 * growth
        modules = [nn.Conv2d(3, channels, 3, padding=1)]
        for index, depth in enumerate(depths):
            block = DenseBlock(channels, growth, depth)
            modules.append(block)
            channels = block.out_channels
            if index + 1 < len(depths):
                modules.append(nn.Conv2d(channels, channels // 2, 1))
                modules.append(nn.AvgPool2d(2))
                channels //= 2
        self.body = nn.Sequential(*modules)
        self.head = nn.Linear(channels, classes)

    def forward(self, image):
        x = self.body(image)
        return self.head(F.adaptive_avg_pool2d(x, 1).squeeze(-1).squeeze(-1))


if __name__ == "__main__":
    out = TinyDenseNet()(torch.randn(2, 3, 16, 16))
    print(out.shape)
