"""Programs over torchvision's transforms, and what they give: `python tests/interp/torchvision_programs.py` writes them down.

It needs torchvision, which the tests do without: https://docs.pytorch.org/vision/stable/transforms.html.
"""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

SECOND = "from torchvision.transforms import v2 as T\n"
HEAD = "import torch\nfrom torch.utils.data import DataLoader\nfrom torchvision import datasets, transforms as T\n"
ANY = """T.Resize(20)|T.Resize((24, 30))|T.Resize([16])|T.Resize(20, max_size=40)|T.Resize(size=(6, 7))|T.CenterCrop(10)
T.CenterCrop((12, 14))|T.RandomCrop(8)|T.RandomCrop(30, padding=4)|T.RandomCrop((8, 9), padding=2, pad_if_needed=True)
T.RandomResizedCrop(17)|T.RandomResizedCrop((8, 6), scale=(0.5, 1.0))|T.RandomHorizontalFlip()|T.RandomVerticalFlip(p=0.3)
T.ColorJitter(0.1, 0.1)
T.Grayscale()|T.Grayscale(num_output_channels=3)|T.Pad(2)|T.Pad((1, 3))|T.Pad((1, 2, 3, 4))|T.RandomRotation(10)
T.RandomRotation(10, expand=True)|T.RandomAffine(5)|T.GaussianBlur(3)|T.RandomGrayscale()|T.RandomPerspective()|T.RandomInvert()
T.RandomApply([T.RandomHorizontalFlip()], p=0.5)|T.RandomChoice([T.CenterCrop(8), T.Resize((8, 8))])|T.RandomAutocontrast()
T.RandomOrder([T.RandomHorizontalFlip(), T.RandomVerticalFlip()])|T.Lambda(lambda img: img)|T.RandomAdjustSharpness(2)
T.RandomSolarize(100)|T.RandomApply([T.CenterCrop(9)])"""
PICTURES = "T.AutoAugment()|T.RandAugment()|T.TrivialAugmentWide()|T.RandomPosterize(4)|T.RandomEqualize()|T.AugMix()"
TENSORS = """T.Normalize((0.5,), (0.5,))|T.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))|T.Normalize(mean=[0.5] * 3, std=[0.5] * 3)
T.RandomErasing()|T.ConvertImageDtype(torch.float64)|T.Lambda(lambda t: t.flatten())|T.Lambda(lambda t: t.view(-1, 4))
T.Lambda(lambda t: t.repeat(3, 1, 1))|T.Normalize(0.5, 0.5)"""
CROPS = "T.FiveCrop(8)|T.TenCrop(6)"
SIZES = ((32, 32), (28, 28), (40, 50), (50, 40))


def _one_of(random: Random, listed: str) -> str:
    return random.choice(listed.replace("\n", "|").split("|"))


def program(seed: int) -> str:
    """A data set whose images go through some transforms, by turns of version 1 and 2; `x` is one, `b` a batch."""
    random = Random(seed)
    steps = [_one_of(random, ANY if random.random() < 0.85 else PICTURES) for _ in range(random.randrange(3))]
    second = bool(seed % 2)
    if second and random.random() < 0.7:
        steps += ["T.ToImage()", f"T.ToDtype(torch.float32{random.choice((', scale=True', ''))})"]
        steps += [_one_of(random, TENSORS if random.random() < 0.6 else ANY) for _ in range(random.randrange(3))]
    elif random.random() < 0.08:
        steps += [_one_of(random, CROPS), "T.Lambda(lambda crops: torch.stack([T.ToTensor()(crop) for crop in crops]))"]
    else:
        steps.append("T.ToTensor()" if random.random() < 0.9 else "T.PILToTensor()")
        steps += [_one_of(random, TENSORS if random.random() < 0.6 else ANY) for _ in range(random.randrange(3))]
    height, width = random.choice(SIZES)
    size = (random.choice((1, 3, 3)), height, width)
    made = f"datasets.FakeData(size=6, image_size={size}, transform=T.Compose([{', '.join(steps)}]))"
    return (
        f"{HEAD}{SECOND if second else ''}ds = {made}\nx, y = ds[0]\nb, t = next(iter(DataLoader(ds, batch_size=2)))\n"
    )


def record(seed: int) -> dict[str, Any]:
    """What a program gives where it runs three times in a row: shapes, those alone that stay."""
    seen: list[dict[str, list[int]]] = []
    for _ in range(3):
        names: dict[str, Any] = {}
        try:
            exec(program(seed), names)
        except Exception as error:
            return {"seed": seed, "error": str(error).splitlines()[0]}
        seen.append({name: list(names[name].shape) for name in "xb"})
    return {"seed": seed, **(seen[0] if seen[0] == seen[1] == seen[2] else {"other": [each["x"] for each in seen]})}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for number in range(140):
        print(json.dumps(record(number)))
