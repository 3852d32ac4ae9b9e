"""SciPy: https://docs.scipy.org/doc/scipy/reference/; sizes of arrays, and what it calls with them.

Sparse matrices are not looked into.
"""
