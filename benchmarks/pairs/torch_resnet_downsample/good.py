"""A ResNet for 32 x 32 images, with stages built in a loop."""
import torch
import torch.nn as nn


def conv3x3(inp, out, stride=1):
    return nn.Conv2d(inp, out, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = conv3x3(in_planes, planes, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, plan, num_classes=10):
        super().__init__()
        self.in_planes = 8
        self.stem = nn.Sequential(conv3x3(3, 8), nn.BatchNorm2d(8), nn.ReLU())
        self.stages = nn.Sequential(
            *[self._make_stage(block, planes, count, stride) for planes, count, stride in plan]
        )
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(self.in_planes, num_classes)

    def _make_stage(self, block, planes, count, stride):
        downsample = None
        out_planes = planes * block.expansion
        if stride != 1 or self.in_planes != out_planes:
            downsample = nn.Sequential(
                nn.Conv2d(self.in_planes, out_planes, 1, stride=stride, bias=False),
                nn.BatchNorm2d(out_planes),
            )
        layers = [block(self.in_planes, planes, stride, downsample)]
        self.in_planes = out_planes
        for _ in range(1, count):
            layers.append(block(self.in_planes, planes))
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.stages(self.stem(x))
        x = self.pool(x).flatten(1)
        return self.fc(x)


if __name__ == "__main__":
    model = ResNet(BasicBlock, plan=[(8, 1, 1), (12, 2, 1), (24, 1, 2)])
    print(model(torch.randn(2, 3, 32, 32)).shape)
