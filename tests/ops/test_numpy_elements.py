"""What elements of NumPy's arrays are: records with fields, and different places in a row. Sizes are NumPy's own."""

from __future__ import annotations

from typing import Any

import pytest

from interp.programs import errors_of

pytest.importorskip("numpy")

RECORDS = """import numpy as np
body = np.dtype([("pos", float, (3,)), ("vel", "f8", 3), ("mass", float), ("name", "U8"), ("grid", np.int32, (2, 2))])
p = np.zeros(50, dtype=body)
q = np.array([(1, 2.0), (3, 4.0), (5, 6.0)], dtype=[("a", int), ("b", float)])
n = np.zeros((2, 5), dtype=[("inner", body), ("weight", "<f4")])
"""
FIELDS = (
    *("p[0][0]", "p[3][-1]", "n[0, 1][0]['pos']"),
    *(
        "p",
        "p['pos']",
        "p['mass']",
        "p['name']",
        "p[3:]['grid']",
        "p['grid'][3:]",
        "p[0]['pos']",
        "p['pos'][0]",
        "p['vel'].T",
    ),
    *("p[['pos', 'mass']]['pos']", "p[p['mass'] < 1]['vel']", "p.copy()['vel']", "np.concatenate([p, p])['vel']"),
    *(
        "np.sort(p, order='mass')['pos']",
        "p[np.argsort(p['mass'])]['pos']",
        "p.reshape(5, 10)['pos']",
        "p[None]['mass']",
    ),
    *(
        "q",
        "q['a']",
        "q[1:]['b']",
        "n['inner']",
        "n['inner']['pos']",
        "n['weight']",
        "n[0]['inner']['grid']",
        "n.T['inner']['vel']",
    ),
    *("np.zeros_like(p)['pos']", "np.empty((4, 2), [('x', 'i4'), ('y', 'i4')])['x']", "np.repeat(p, 2)['vel']"),
    *(
        "p['pos'] * p['mass'][:, None]",
        "np.cross(p['pos'], p['vel'])",
        "np.average(p['pos'], axis=0, weights=p['mass'] + 1)",
    ),
)
PLACES = """import numpy as np
rng, old, X = np.random.default_rng(0), np.random.RandomState(0), np.zeros((30, 4))
row, order, some = np.arange(30), rng.permutation(30), rng.choice(30, size=7, replace=False)
"""
LEFT = (
    *(
        "np.setdiff1d(row, some)",
        "np.setdiff1d(np.arange(len(X)), old.permutation(30)[:11])",
        "np.setdiff1d(order, some[:2])",
    ),
    *(
        "np.setdiff1d(row, np.setdiff1d(row, some))",
        "X[np.setdiff1d(row, np.sort(some))]",
        "np.delete(X, some, axis=0)",
    ),
    *(
        "np.setdiff1d(row, np.random.choice(row, 6, replace=False))",
        "np.delete(X, order[5:9], 0)",
        "np.delete(row, some)",
    ),
    "np.setdiff1d(row, rng.permutation(some))",
)


def real(head: str, expression: str) -> list[int]:
    """The size that NumPy gives."""
    names: dict[str, Any] = {}
    exec(head, names)
    return list(eval(expression, names).shape)


@pytest.mark.parametrize(("head", "expressions"), [(RECORDS, FIELDS), (PLACES, LEFT)], ids=["records", "places"])
def test_sizes_are_those_of_numpy(head: str, expressions: tuple[str, ...]) -> None:
    sizes = {each: real(head, each) for each in expressions}
    # How many records are chosen is for the data to say; records and texts are not added.
    unfit = ("p", "q", "n['inner']", "p['name']", "p[p['mass'] < 1]['vel']")
    compared = {each: size for each, size in sizes.items() if each not in unfit}
    wrong = "".join(f"({each}) + np.zeros({[axis + 7 for axis in size]})\n" for each, size in compared.items())
    wrong_lines = {each.span.line - head.count("\n") for each in errors_of(head + wrong)}
    assert not [each for line, each in enumerate(compared, 1) if line not in wrong_lines]
    fit = "".join(f"({each}) + np.zeros({size})\n" for each, size in compared.items())
    assert not errors_of(head + fit)


WRITTEN = (
    "p['pos'] = np.zeros((50, 4))",
    "p['mass'] = np.zeros((50, 3))",
    "p['pos'][:, :2] = np.zeros((50, 3))",
    "p[:5]['grid'] = np.zeros((5, 2, 3))",
    "p['vel'] += p['mass']",
)


def test_what_does_not_fit_into_a_field() -> None:
    found = errors_of(RECORDS + "".join(f"{each}\n" for each in WRITTEN))
    assert [each.span.line - RECORDS.count("\n") for each in found] == list(range(1, len(WRITTEN) + 1))
    for each in WRITTEN:
        with pytest.raises(ValueError, match="broadcast"):
            exec(f"{RECORDS}{each}\n", {})


RIGHT = (
    (RECORDS, "q[0] = (7, 8.0)\nq[1:] = [(1, 2.0), (3, 4.0)]\np['name'] = 'x'\np['pos'] = 1\np['pos'] = np.arange(3)"),
    (RECORDS, "for each in p:\n    each['pos'] @ each['vel']\n    each['name'] + 'x'"),
    (
        RECORDS,
        "for each in q:\n    each[0] + each[-1]\n    for i in range(2):\n        each[i]\nq[1][0] = 5\nnp.sort(q)[0][1] + 1",
    ),
    (RECORDS, "p.dtype.names, p['pos'].sum(axis=1) / p['mass']\nnp.zeros(3, dtype='i4, f8')['f0'] + np.zeros(3)"),
    (RECORDS, "kinds = [('a', int), ('b', float, 2)]\nnp.zeros(4, dtype=kinds)['b'] @ np.zeros((2, 5))"),
    (RECORDS, "np.array((1, 2.0), dtype=q.dtype)['a'] + np.zeros(3)\nnp.array([q[0], q[1]])['a'] + np.zeros(2)"),
    (PLACES, "some[0] = some[1]\nnp.setdiff1d(row, some) + np.zeros(24)"),
    (PLACES, "few = order[:5]\norder[2] = order[3]\nnp.setdiff1d(row, few) + np.zeros(26)"),
    (PLACES, "order += 1\nnp.setdiff1d(row, order[:1]).reshape(-1, 29 + (order[0] == 30))"),
    (PLACES, "np.setdiff1d(row, some + 100) + np.zeros(30)\nnp.setdiff1d(row, some * 0) + np.zeros(29)"),
    (
        PLACES,
        "np.setdiff1d(np.arange(1, 31), np.arange(5)) + np.zeros(26)\nnp.setdiff1d(row, np.arange(40)) + np.zeros(0)",
    ),
    (
        PLACES,
        "np.setdiff1d(row[:20], np.arange(15, 25)) + np.zeros(15)\nnp.delete(X, [1, 1, 2], axis=0) + np.zeros((28, 4))",
    ),
    (
        PLACES,
        "drawn = rng.choice(30, 40)\nnp.setdiff1d(row, drawn).reshape(-1, 1)[:, :1] + np.zeros((30 - len(set(drawn)), 1))",
    ),
)


@pytest.mark.parametrize(("head", "lines"), RIGHT)
def test_what_numpy_takes_is_no_mistake(head: str, lines: str) -> None:
    exec(f"{head}{lines}\n", {})
    assert not errors_of(f"{head}{lines}\n")
