"""The version of distml: the one place that says it."""

VERSION = "0.1.0"
__version__ = VERSION
