"""Rules that several libraries share: what an operation does to shapes, whoever calls it."""
