"""Programs that draw, and how they end: `PYTHONPATH=tests MPLBACKEND=Agg python -m interp.matplotlib_programs` writes it down.

It needs Matplotlib, which the tests do without: https://matplotlib.org/stable/api/.
"""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

from interp.recording import stopped

HEAD = """import numpy as np
import matplotlib.pyplot as plt
rng = np.random.default_rng(0)
fig, ax = plt.subplots()
grid = plt.figure()
"""
STEPS = (
    "plt.plot({v})",
    "plt.plot({v}, {w})",
    "plt.plot({v}, {m})",
    "plt.plot({m}, {m})",
    "plt.plot(range({n}), {v}, 'r--', label='a')",
    "plt.plot({v}, {v}, 'k', {v}, {w}, 'b.')",
    "plt.plot({v}, {w}, {v}, {w})",
    "plt.plot({v}, 'g-')",
    "plt.plot([1, 2, 3], {v})",
    "plt.plot(0.5, {v})",
    "plt.plot(rng.random((2, 3, 4)))",
    "plt.plot([{v}, {v}])",
    "plt.semilogy({v}, {w})",
    "ax.loglog({v}, {w})",
    "ax.plot({v}, {w}, lw=2)",
    "ax.plot({v}[1:], np.diff({v}))",
    "ax.plot({v}, np.diff({v}))",
    "ax.step({v}, {w}, where='mid')",
    "plt.scatter({v}, {w})",
    "plt.scatter({m}[:, 0], {m}[:, 1])",
    "ax.scatter({m}, {m})",
    "ax.scatter({v}, {m})",
    "plt.bar(range({n}), {v})",
    "plt.bar({v}, {w}, width=0.5)",
    "plt.bar(['a', 'b', 'c'], {v})",
    "ax.barh(np.arange({n}), {v})",
    "plt.bar({v}, 1)",
    "plt.errorbar({v}, {w}, yerr=0.1)",
    "plt.errorbar({v}, {v}, yerr={w}, fmt='o')",
    "ax.errorbar({v}, {v}, {w}, {v})",
    "plt.fill_between({v}, {w})",
    "ax.fill_between({v}, {v} - 1, {w} + 1, alpha=0.2)",
    "ax.fill_between({v}, 0, 1)",
    "plt.pie({v}, labels=['a', 'b', 'c'])",
    "plt.hist({v}, bins=4)",
    "plt.hist({m})",
    "plt.hist({v}, weights={w})",
    "plt.imshow({m})",
    "plt.imshow({v})",
    "plt.imshow(rng.random((6, 5, {c})))",
    "ax.imshow(rng.random(({c}, 6, 5)), cmap='gray')",
    "ax.imshow(rng.random((2, {c}, 6, 5)))",
    "plt.contour({m})",
    "plt.contourf({v}, {w}, {m})",
    "ax.contour({v}, {w}, {m}, 3)",
    "ax.contourf(*np.meshgrid({v}, {w}), {m})",
    "plt.contour({v})",
    "plt.pcolormesh({m})",
    "plt.pcolormesh({v}, {w}, {m})",
    "ax.pcolormesh(rng.random({n} + 1), {w}, {m}, shading='auto')",
    "plt.xticks([0, 1, 2], ['a', 'b', 'c'])",
    "plt.xticks(range({n}), ['a', 'b', 'c'])",
    "ax.set_xticks({v}, ['a', 'b', 'c', 'd'])",
    "plt.subplots({k}, {k})[1][0, 1].plot([1], [2])",
    "plt.subplots({k})[1][0].plot([1], [2])",
    "plt.subplots(1, {k})[1][0, 1].plot([1], [2])",
    "plt.subplots({k}, 2, squeeze=False)[1][0, 1].plot([1], [2])",
    "grid.subplots({k}, 2)[0, 0].plot([1], [2])",
    "a, b = plt.subplots(1, {k})[1]",
    "(a, b), (c, d) = plt.subplots({k}, 2)[1]",
    "grid.add_subplot({k}, 1, 1).plot({v}, {w})",
    "grid.add_subplot(projection='3d').plot({v}, {v}, {v})",
    "plt.subplot(projection='polar').plot({v}, {v})",
)


def program(seed: int) -> str:
    """One picture of numbers that fit or do not."""
    random = Random(seed)
    n, other = random.choice((3, 4, 20)), random.choice((3, 4, 20))
    columns = random.choice((n, n, n, other))
    call = STEPS[seed % len(STEPS)].format(
        n=n,
        k=random.choice((1, 2, 3)),
        c=random.choice((1, 2, 3, 4)),
        v=f"rng.random({columns})",
        w=f"rng.random({random.choice((n, n, n, other))})",
        m=f"rng.random(({random.choice((n, n, n, other))}, {random.choice((n, n, n, other))}))",
    )
    return f"{HEAD}{call}\n"


def record(seed: int) -> dict[str, Any]:
    """Nothing, or the line in which a program stops."""
    names: dict[str, Any] = {}
    end = stopped(program(seed), names)
    names["plt"].close("all")
    return {"seed": seed, **(end or {"shapes": {}})}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for number in range(500):
        print(json.dumps(record(number)))
