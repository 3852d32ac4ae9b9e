"""PyTorch: functions, tensor methods, layers, data utilities."""
