"""The rules themselves, one module for each hundred codes of a family; found by `distml.diagnostics.registry`."""
