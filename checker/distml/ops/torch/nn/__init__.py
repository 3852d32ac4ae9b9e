"""torch.nn: layers, torch.nn.functional, containers and their utilities."""
