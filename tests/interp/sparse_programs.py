"""Programs over SciPy's sparse matrices, and what they give.

`PYTHONPATH=tests python -m interp.sparse_programs` writes them down. It needs SciPy, which the tests do without:
https://docs.scipy.org/doc/scipy/reference/sparse.html.
"""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

from interp.recording import stopped

HEAD = """import numpy as np
import scipy.sparse as sp
from scipy.sparse import {0}_{1} as make
rng = np.random.default_rng(0)
a = make(rng.random({2}))
b = make(rng.random({3}))
x = rng.random({4})
"""
STEPS = (
    "r = (a @ b).toarray()",
    "r = a @ x",
    "r = a.dot(x)",
    "r = x @ b",
    "r = (a * b).toarray()",
    "r = a * x[0]",
    "r = (2.0 * a / 3).toarray()",
    "r = (a + b).toarray()",
    "r = (a - b.T).toarray()",
    "r = a.multiply(b).toarray()",
    "r = a.multiply(x).toarray()",
    "r = a.multiply(x[:, None]).toarray()",
    "r = a.T.tocsr().toarray()",
    "r = np.asarray(a.sum(0)).ravel() + x",
    "r = np.asarray(a.sum(axis=1)).ravel() + x",
    "r = np.array(a.mean(1)).flatten() * x",
    "r = (a.tocsr()[:2] @ x)",
    "r = a.tocsr()[[0, 2]].toarray()",
    "r = a.tocsc()[:, np.arange(2)].toarray()",
    "r = a.tocsr()[a.tocsr().sum(1).argmax()].shape",
    "r = sp.diags(x).toarray()",
    "r = (sp.diags(1 / np.sqrt(x)) @ a).tocoo().toarray()",
    "r = (sp.diags(x, format='csr') @ a @ sp.diags(x)).toarray()",
    "r = sp.diags([x, x[1:]], [0, 1]).toarray()",
    "r = (a + sp.eye(a.shape[0])).toarray()",
    "r = (sp.identity(len(x)) - a).toarray()",
    "r = sp.eye(len(x), a.shape[1], format='csr').toarray()",
    "r = sp.vstack([a, b]).toarray()",
    "r = sp.hstack([a, b], format='csr').toarray()",
    "r = sp.hstack((a, x[:, None])).toarray()",
    "r = sp.random(len(x), a.shape[1], density=0.5, format='csr').toarray()",
    "r = sp.csr_matrix((x, (np.arange(len(x)), np.arange(len(x)))), shape=a.shape).toarray()",
    "r = sp.coo_matrix((x, (np.arange(len(x)), np.zeros(len(x), int)))).toarray()",
    "r = sp.csr_matrix(a.shape).toarray() + b.toarray()",
    "r = np.vstack([a.tocoo().row, a.tocoo().col])[:, :1]",
    "r = a.diagonal() + x",
    "r = sum([a, b]).toarray()",
    "r = (abs(-a).power(2)).astype('float32').copy().toarray()",
    "r = a.maximum(b).toarray()",
    "r = sp.kron(a, b).toarray()",
    "r = sp.block_diag([a, b]).toarray()",
    "r = np.ones(2 if sp.issparse(a) else 3)",
    "r = np.ones(2 if isinstance(a.T, sp.csr_matrix) or isinstance(a @ a.T, sp.csc_matrix) else 3)",
    "r = np.ones(2 if isinstance(a + a, sp.coo_matrix) or isinstance(a, np.ndarray) else 3)",
    "r = np.ones(2 if sp.isspmatrix(a) else 3)",
    "r = np.ones(2 if isinstance(sp.vstack([a, a]), type(a)) else 3)",
)


def program(seed: int) -> str:
    """One step with matrices that fit or do not."""
    random = Random(seed)
    n, k = random.choice((3, 4, 6)), random.choice((3, 4, 6))
    sizes = [(n, n), (n, n), (n, k), (k, n)]
    head = HEAD.format(
        random.choice(("csr", "csr", "csc", "coo")),
        random.choice(("matrix", "matrix", "array")),
        random.choice(sizes),
        random.choice(sizes),
        random.choice((n, n, k)),
    )
    return f"{head}{STEPS[seed % len(STEPS)]}\n"


def record(seed: int) -> dict[str, Any]:
    """The shape that a program leaves, or the line in which it stops."""
    names: dict[str, Any] = {}
    if end := stopped(program(seed), names):
        return {"seed": seed, **end}
    return {
        "seed": seed,
        "shapes": {"r": list(names["r"].shape)} if isinstance(names["r"], names["np"].ndarray) else {},
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for number in range(690):
        print(json.dumps(record(number)))
