"""Pillow: https://pillow.readthedocs.io/en/stable/; sizes and channels of pictures, where the project has no such module."""
