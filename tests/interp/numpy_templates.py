"""Statements of NumPy programs."""

from __future__ import annotations

from interp.torch_templates import asked, defined, reshaped, shared
from interp.writing import Template, Writer


def joined(write: Writer) -> str:
    """`concatenate` or `stack` of arrays that mostly fit."""
    name = write.tensor()
    others = [write.one(write.like(name), write.like(name), write.tensor()) for _ in range(write.number(1, 2))]
    function = write.one("np.concatenate", "np.stack")
    return f"{function}([{', '.join([name, *others])}], axis={write.axis(name)})"


def assigned(write: Writer) -> list[str]:
    """An assignment to a part, or in place."""
    name = write.tensor()
    other = write.one(write.like(name), write.tensor())
    return [write.one(f"{name}[0] = {other}[0]", f"{name} += {other}", f"{name}[..., :2] = {other}[..., :2]")]


def repeated(write: Writer) -> list[str]:
    """A loop whose number of turns is known."""
    x, made = write.tensor(), write.fresh()
    body = write.one(
        f"{made} = np.concatenate([{made}, {x}])",
        f"{made} = {made} + {x}",
        f"{made} = {made}[None]",
        f"{made} = {made}.T",
        f"{made} = {made}[1:]",
        f"{made} = {made}.mean(axis=0)",
    )
    return [f"{made} = {x}", f"for i in range({write.number(1, 3)}):", f"    {body}"]


def chosen(write: Writer) -> list[str]:
    """A branch that may go either way."""
    if len(write.envs) > 2:
        return repeated(write)
    flag = write.flag()
    x, made = write.tensor(), write.fresh()
    ways = ["{x} * 2", "{x}[None]", "{x}.sum(axis=-1)", "{x}.T", "{x}[:1]", "np.concatenate([{x}, {x}])"]
    one, other = (write.random.choice(ways).format(x=x) for _ in range(2))
    return [f"if {flag}:", f"    {made} = {one}", "else:", f"    {made} = {other}"]


def looped(write: Writer) -> list[str]:
    """A loop whose number of turns is not known."""
    if len(write.envs) > 2:
        return repeated(write)
    turns = write.turns()
    statement = repeated(write)
    return [statement[0], f"for i in range({turns}):", *statement[2:]]


def called(write: Writer) -> list[str]:
    """A function and a call of it."""
    return [
        line.replace("torch.cat([x, y], dim)", "np.concatenate([x, y], dim)").replace("x.unsqueeze(dim)", "x[None]")
        for line in defined(write)
    ]


def tested(write: Writer) -> list[str]:
    """A branch on a shape."""
    return [line.replace(".dim()", ".ndim") for line in asked(write)]


BY_DATA: list[Template] = shared("""
    {x}[{x} >= 0]
    np.bincount(abs({x1}).astype(int), minlength={n})
    np.unique({x})
    np.nonzero({x})[0]
    np.polyfit(np.arange({first}), {x1}, 1)
    np.searchsorted({x1}, {y})
""")
"""What they give, or whether they run, depends on numbers and not on shapes alone."""
STRAIGHT: list[Template] = [
    *BY_DATA,
    *shared("""
        {x} + {y}
        {x} * {l}
        {x} - {l}
        {x} ** 2
        {x2} @ {y2}
        {x2}.T @ {y2}
        np.dot({x}, {y})
        np.matmul({x3}, {y2})
        {x}.dot({y1})
        {x}.sum(axis={a})
        {x}.mean(axis={a}, keepdims={keep})
        np.max({x}, axis=({a}, {b}))
        np.linalg.norm({x}, axis={a})
        np.cumsum({x}, axis={a})
        {x}.argmax({a})
        np.expand_dims({x}, {a})
        np.squeeze({x}, axis={a})
        {x}.squeeze()
        {x}.T
        {x}.transpose({order})
        np.swapaxes({x}, {a}, {b})
        np.moveaxis({x}, {a}, {b})
        {x}.ravel()
        {x}.flatten()
        {x}[0]
        {x}[-1]
        {x}[{n}]
        {x}[:, 0]
        {x}[..., -1]
        {x}[1:]
        {x}[:, :{n}]
        {x}[:, None]
        {x}[None]
        {x}[..., np.newaxis]
        {x}[::-1]
        {x}[[0, 1, 0]]
        {x}[np.arange({first}), 0]
        {x}.reshape(-1, {last})
        {x}.reshape({x}.shape[0], -1)
        {x}.reshape({first}, -1)
        np.tile({x}, ({n}, {m}))
        np.repeat({x}, {n}, axis={a})
        np.flip({x}, {a})
        np.roll({x}, 1, axis={a})
        np.split({x}, {n}, axis={a})[0]
        np.array_split({x}, {n}, axis={a})[0]
        np.take({x}, [0, 1], axis={a})
        np.sort({x}, axis={a})
        np.argsort({x})
        np.diff({x}, axis={a})
        np.where({x} > 0, {l}, {z})
        np.outer({x}, {y1})
        np.inner({x}, {y})
        np.kron({x1}, {y1})
        np.maximum({x}, {y})
        np.zeros(({first}, {n}))
        np.ones_like({x})
        np.full({x}.shape, 2.0)
        np.arange({n}, dtype=float)
        np.linspace(0, 1, {n})
        np.eye({n})
        np.broadcast_to({x}, ({n}, *{x}.shape))
        np.einsum("ij,jk->ik", {x2}, {y2})
        np.einsum("bij,bjk->bik", {x3}, {y3})
        np.einsum("...i,i->...", {x}, {y1})
        np.tensordot({x}, {y}, axes=1)
        np.hstack([{x}, {l}])
        np.vstack([{x}, {l}])
        np.column_stack([{x1}, {y1}])
        np.atleast_2d({x})
        np.pad({x}, 1)
        np.pad({x2}, ((0, 1), ({n}, 0)))
        np.linalg.inv({x2} + np.eye({first}))
        np.linalg.solve({x2} @ {x2}.T + np.eye({first}), {y})
        np.trace({x})
        np.diag({x2})
        np.triu({x2})
        np.array([{x}, {l}])
        np.array([[1, 2], [3, 4]]) @ {x2}
        np.median({x}, axis={a})
        np.percentile({x}, 50, axis={a})
        np.std({x}, axis={a}, keepdims=True)
        np.cross({x}, {l})
        np.cov({x2})
        np.corrcoef({x2})
        np.convolve({x1}, {y1}, mode="same")
        np.fft.fft({x}).real
        np.random.rand({n}, {m}) @ {x2}
        np.apply_along_axis(np.sum, {a}, {x})
        np.insert({x}, 0, 1.0, axis={a})
        np.delete({x}, 0, axis={a})
        np.append({x}, {l}, axis={a})
        np.stack(np.meshgrid({x1}, {y1}))
        np.stack(np.unravel_index(np.arange({n}), (3, 4)))
        np.clip({x}, 0, {y})
        np.ix_(range({n}), range({m}))[0]
        np.histogram({x}, bins={n})[0]
    """),
    reshaped,
    reshaped,
    joined,
    joined,
    assigned,
]
STRUCTURED: list[Template] = [*STRAIGHT[::2], *STRAIGHT[-5:], *([called, repeated, chosen, looped, tested] * 5)]
