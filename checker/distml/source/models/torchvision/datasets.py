"""torchvision.datasets: https://docs.pytorch.org/vision/stable/datasets.html

The data sets whose images have one size, and folders of images of any. The others are unknown.
"""

import torch
from _elsewhere import resolved
from torch.utils.data import Dataset
from torchvision.pictures import Picture, unknown_size


def _label():
    label = resolved()
    return int(label)


class VisionDataset(Dataset):
    """VisionDataset(root=None, transforms=None, transform=None, target_transform=None)"""

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = root
        self.transform = transform
        self.target_transform = target_transform

    def __getattr__(self, name):
        return resolved(name)


class _Images(VisionDataset):
    """Images of one size, each with a label."""

    sizes = (1, 28, 28)

    def _transformed(self, image, target):
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __getitem__(self, index):
        channels, height, width = self.sizes
        return self._transformed(Picture(height, width, channels), _label())


class MNIST(_Images):
    """MNIST(root, train=True, transform=None, target_transform=None, download=False)"""

    lengths = (60000, 10000)

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        count = self.lengths[0] if train else self.lengths[1]
        self.data = torch.zeros(count, 28, 28, dtype=torch.uint8)
        self.targets = torch.zeros(count, dtype=torch.int64)

    def __len__(self):
        return len(self.data)


class FashionMNIST(MNIST): ...


class KMNIST(MNIST): ...


class QMNIST(MNIST):
    """QMNIST(root, what=None, compat=True, train=True, **kwargs)"""

    def __init__(self, root, what=None, compat=True, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, train, transform, target_transform, download)
        self.data = torch.zeros(unknown_size(), 28, 28, dtype=torch.uint8)


class EMNIST(MNIST):
    """EMNIST(root, split, train=True, transform=None, target_transform=None, download=False)"""

    def __init__(self, root, split, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, train, transform, target_transform, download)
        count = unknown_size()
        self.data = torch.zeros(count, 28, 28, dtype=torch.uint8)
        self.targets = torch.zeros(count, dtype=torch.int64)


class USPS(_Images):
    """USPS(root, train=True, transform=None, target_transform=None, download=False)"""

    sizes = (1, 16, 16)

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.count = 7291 if train else 2007

    def __len__(self):
        return self.count


class CIFAR10(_Images):
    """CIFAR10(root, train=True, transform=None, target_transform=None, download=False)"""

    sizes = (3, 32, 32)

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        import numpy as np

        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        self.data = np.zeros((50000 if train else 10000, 32, 32, 3), dtype=np.uint8)

    def __len__(self):
        return len(self.data)


class CIFAR100(CIFAR10): ...


class SVHN(_Images):
    """SVHN(root, split="train", transform=None, target_transform=None, download=False)"""

    sizes = (3, 32, 32)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.count = {"train": 73257, "test": 26032, "extra": 531131}.get(split)

    def __len__(self):
        return self.count


class STL10(_Images):
    """STL10(root, split="train", folds=None, transform=None, target_transform=None, download=False)"""

    sizes = (3, 96, 96)

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)

    def __len__(self):
        return unknown_size()


class FakeData(_Images):
    """FakeData(size=1000, image_size=(3, 224, 224), num_classes=10, ...)"""

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
        loader=None,
    ):
        super().__init__(None, transform=transform, target_transform=target_transform)
        self.size = size
        self.sizes = image_size

    def __len__(self):
        return self.size


class _Photos(_Images):
    """Photographs of any size in red, green and blue."""

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False, loader=None):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader = loader

    def __getitem__(self, index):
        if self.loader is not None:
            image = self.loader(resolved())
        else:
            image = Picture(unknown_size(), unknown_size(), 3)
        return self._transformed(image, _label())

    def __len__(self):
        return unknown_size()


class ImageFolder(_Photos):
    """ImageFolder(root, transform=None, target_transform=None, loader=default_loader, ...)"""

    def __init__(self, root, transform=None, target_transform=None, loader=None, is_valid_file=None, allow_empty=False):
        super().__init__(root, "", transform, target_transform, False, loader)


class Country211(_Photos): ...


class Flowers102(_Photos): ...


class Food101(_Photos): ...


class GTSRB(_Photos): ...


class StanfordCars(_Photos): ...


class SUN397(_Photos):
    """SUN397(root, transform=None, target_transform=None, download=False, loader=default_loader)"""

    def __init__(self, root, transform=None, target_transform=None, download=False, loader=None):
        super().__init__(root, "", transform, target_transform, download, loader)


class DTD(_Photos):
    """DTD(root, split="train", partition=1, transform=None, ...)"""

    def __init__(
        self, root, split="train", partition=1, transform=None, target_transform=None, download=False, loader=None
    ):
        super().__init__(root, split, transform, target_transform, download, loader)


class FGVCAircraft(_Photos):
    """FGVCAircraft(root, split="trainval", annotation_level="variant", transform=None, ...)"""

    def __init__(
        self,
        root,
        split="trainval",
        annotation_level="variant",
        transform=None,
        target_transform=None,
        download=False,
        loader=None,
    ):
        super().__init__(root, split, transform, target_transform, download, loader)


class EuroSAT(_Images):
    """EuroSAT(root, transform=None, target_transform=None, download=False, ...)"""

    sizes = (3, 64, 64)

    def __init__(self, root, transform=None, target_transform=None, download=False, loader=None):
        super().__init__(root, transform=transform, target_transform=target_transform)

    def __len__(self):
        return 27000


class PCAM(_Images):
    """PCAM(root, split="train", transform=None, target_transform=None, download=False)"""

    sizes = (3, 96, 96)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)

    def __len__(self):
        return unknown_size()
