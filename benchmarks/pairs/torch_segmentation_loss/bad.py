"""Semantic segmentation: a fully convolutional network and its training loop."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """Squares on noise; the mask names the class of every pixel."""

    def __init__(self, count, size):
        self.count = count
        self.size = size

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        image = torch.rand(3, self.size, self.size, generator=generator)
        mask = torch.zeros(1, self.size, self.size, dtype=torch.long)
        mask[:, 4:12, 4:12] = 1 + index % 2
        return image, mask


class FCN(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.classify = nn.Conv2d(16, classes, 1)
        self.up = nn.Upsample(scale_factor=4, mode="bilinear", align_corners=False)

    def forward(self, x):
        return self.up(self.classify(self.encode(x)))


def train(classes=3, epochs=1):
    torch.manual_seed(0)
    loader = DataLoader(Shapes(8, 16), batch_size=4)
    model, criterion = FCN(classes), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for images, masks in loader:
            logits = model(images)
            loss = criterion(logits, masks)  # bug: masks are (4, 1, 16, 16)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


if __name__ == "__main__":
    print("loss", train())
