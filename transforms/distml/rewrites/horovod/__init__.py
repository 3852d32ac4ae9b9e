"""Single-process training programs made distributed: Horovod, and torch.distributed or accelerate for PyTorch."""
