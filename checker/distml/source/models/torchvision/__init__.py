"""torchvision: https://docs.pytorch.org/vision/stable/; two of its modules, the others are followed where they are installed."""
