"""An augmentation pipeline made of callables, feeding a classifier through a DataLoader."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


def center_crop(size):
    def crop(image):
        _, height, width = image.shape
        top, left = (height - size) // 2, (width - size) // 2
        return image[:, top : top + size, left : left + size]

    return crop


def flip(image):
    return image.flip(-1)


class Views(Dataset):
    """Gives both augmented views of an image, stacked."""

    def __init__(self, images, first, second):
        self.images = images
        self.first = first
        self.second = second

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        return torch.stack([self.first(image), self.second(image)])  # bug: 24 x 24 beside 32 x 32


def main():
    torch.manual_seed(0)
    images = torch.rand(10, 3, 32, 32)
    first = Compose(center_crop(24), lambda x: x - 0.5)
    second = Compose(flip)
    loader = DataLoader(Views(images, first, second), batch_size=5)
    encoder = nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 49, 16)
    )
    for views in loader:
        a, b = (encoder(view) for view in views.unbind(dim=1))
        print("agreement", nn.functional.cosine_similarity(a, b).mean().item())


if __name__ == "__main__":
    main()
