"""Rewriting of source that leaves every byte alone which is not meant."""
