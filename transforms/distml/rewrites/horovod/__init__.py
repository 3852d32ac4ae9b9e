"""Single-process training programs made distributed: Horovod, and torch.distributed for PyTorch."""
