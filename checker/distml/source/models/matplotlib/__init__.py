"""Matplotlib: https://matplotlib.org/stable/api/; how many numbers the arrays have that are drawn together."""
