"""Bilinear resize and a small image pyramid."""
import numpy as np


def resize(image, out_h, out_w):
    height, width = image.shape  # bug: three sizes into two names
    ys = np.linspace(0, height - 1, out_h)
    xs = np.linspace(0, width - 1, out_w)
    y0 = np.floor(ys).astype(int)
    x0 = np.floor(xs).astype(int)
    y1 = np.minimum(y0 + 1, height - 1)
    x1 = np.minimum(x0 + 1, width - 1)
    wy = (ys - y0)[:, None, None]
    wx = (xs - x0)[None, :, None]
    top = image[y0][:, x0] * (1 - wx) + image[y0][:, x1] * wx
    bottom = image[y1][:, x0] * (1 - wx) + image[y1][:, x1] * wx
    return top * (1 - wy) + bottom * wy


def pyramid(image, levels):
    result = [image]
    for _ in range(levels - 1):
        h, w = result[-1].shape[:2]
        result.append(resize(result[-1], h // 2, w // 2))
    return result


if __name__ == "__main__":
    gradient = np.linspace(0, 1, 32)
    picture = np.stack([np.outer(gradient, gradient)] * 3, axis=-1)
    for level, scaled in enumerate(pyramid(picture, 4)):
        print(level, scaled.shape, round(float(scaled.mean()), 3))
