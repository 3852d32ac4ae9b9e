"""Numbers in an array are forgotten where it, or what may share its elements, is changed in place."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from interp.programs import judge_running

NUMPY = {
    "made": ("np.array([2, 3])", "np.arange(2, 4)", "np.array(3)", "np.array([[2, 3]])[0]"),
    "shared": """b|b[:1]|b[::-1]|b[0:2]|b[...]|b[None]|b.reshape(-1, 1)|b.T|b.ravel()|b.view()|b.squeeze()|np.asarray(b)
    b[1:][::-1]|np.expand_dims(b, 0)
    np.flip(b)|np.split(b, 2)[0]|np.broadcast_to(b, b.shape)|b.swapaxes(0, -1)|np.atleast_2d(b)|b.copy()
    b + 1|np.array(b)|np.sort(b)|b * 1|list(b)""".replace("\n    ", "|").split("|"),
    "changed": (
        "c += 5",
        "c *= 2",
        "c[...] = 7",
        "c[0] = 4",
        "c.fill(9)",
        "np.add(c, 1, out=c)",
        "c.sort()",
        "c -= c",
        "e = c",
    ),
    "seen": "np.zeros(a)",
}
TORCH = {
    "made": ("torch.tensor([2, 3])", "torch.arange(2, 4)"),
    "shared": """b|b[:1]|b.view(2, 1)|b.reshape(1, 2)|b.t()|b.detach()|b.narrow(0, 0, 1)|b.unsqueeze(0)|b.flatten()|b.numpy()
    b.clone()|b + 1""".replace("\n    ", "|").split("|"),
    "changed": ("c += 5", "c[0] = 4", "c *= 2", "e = c"),
    "seen": "torch.zeros(a.tolist())",
}


@pytest.mark.requires("torch")
@pytest.mark.parametrize("library", [NUMPY, TORCH], ids=["numpy", "torch"])
def test_a_change_reaches_whatever_shares_the_elements(library: dict[str, tuple[str, ...]]) -> None:
    kinds: Counter[str] = Counter()
    for made, shared, changed in product(library["made"], library["shared"], library["changed"]):
        program = (
            f"import numpy as np\nimport torch\na = {made}\nb = a\nc = {shared}\n{changed}\nd = {library['seen']}\n"
        )
        verdict = judge_running(program, ["d"])
        kinds[verdict.kind] += 1
        assert verdict.kind in ("exact", "vague", "other"), verdict
    assert kinds["exact"] + kinds["vague"] > kinds["other"] / 2, kinds
    assert kinds["exact"] >= len(library["made"]) * len(library["shared"]) * 0.5, kinds  # where nothing changes
