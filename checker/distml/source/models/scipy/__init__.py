"""SciPy: https://docs.scipy.org/doc/scipy/reference/; sizes of arrays, and what it calls with them.

Of sparse matrices it is the size that counts (`scipy.sparse`).
"""
