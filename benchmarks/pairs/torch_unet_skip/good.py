"""A small U-Net for binary segmentation."""
import torch
from torch import nn


class DoubleConv(nn.Sequential):
    def __init__(self, inp, out):
        super().__init__(
            nn.Conv2d(inp, out, 3, padding=1),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, padding=1),
            nn.ReLU(inplace=True),
        )


class Up(nn.Module):
    def __init__(self, inp, skip, out):
        super().__init__()
        self.up = nn.ConvTranspose2d(inp, out, kernel_size=2, stride=2)
        self.conv = DoubleConv(out + skip, out)

    def forward(self, x, skip):
        x = self.up(x)
        x = torch.cat([skip, x], dim=1)
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, in_channels=3, base=8):
        super().__init__()
        self.enc1 = DoubleConv(in_channels, base)
        self.enc2 = DoubleConv(base, base * 2)
        self.enc3 = DoubleConv(base * 2, base * 4)
        self.down = nn.MaxPool2d(2)
        self.up2 = Up(base * 4, base * 2, base * 2)
        self.up1 = Up(base * 2, base, base)
        self.head = nn.Conv2d(base, 1, kernel_size=1)

    def forward(self, image):
        s1 = self.enc1(image)
        s2 = self.enc2(self.down(s1))
        bottom = self.enc3(self.down(s2))
        x = self.up2(bottom, s2)
        x = self.up1(x, s1)
        return self.head(x)


def main():
    model = UNet()
    image = torch.randn(2, 3, 32, 32)
    mask = torch.randint(0, 2, (2, 1, 32, 32)).float()
    loss = nn.BCEWithLogitsLoss()(model(image), mask)
    loss.backward()
    print("loss", loss.item())


main()
