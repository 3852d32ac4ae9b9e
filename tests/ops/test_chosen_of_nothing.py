"""What the data of an array choose, as a mask does: of an array of no elements none, so that no loop over them is followed."""

from __future__ import annotations

import pytest

from interp.programs import forms_in, told_otherwise

HEAD = "import numpy as np\nimport torch\n\nn, t = np.array([]), torch.zeros(0, 3)\nm = np.zeros((0, 3))\n"
FORMS = """
n[n > 0]
m[m > 0]
m[np.zeros(0) > 0]
np.unique(n)
np.unique(m)
np.unique(m, axis=0)
np.unique(n, return_counts=True)[1]
np.nonzero(n)[0]
np.where(m > 0)[1]
n.nonzero()[0]
np.flatnonzero(m)
np.argwhere(m)
np.extract(n > 0, n)
np.compress(n > 0, n)
np.intersect1d(n, np.zeros(3))
np.setdiff1d(n, np.zeros(3))
t[t > 0]
torch.unique(t)
torch.nonzero(t)
torch.nonzero(t, as_tuple=True)[0]
torch.where(t > 0)[1]
torch.argwhere(t)
torch.masked_select(t, t > 0)
"""
LOOP = """
def pairs(models=np.array([]), names=np.array([])):
    for model in np.unique(models):
        print(names[np.array([each == model for each in models])])

pairs()
"""


@pytest.mark.requires("torch")
def test_of_nothing_nothing_is_chosen() -> None:
    assert not told_otherwise(HEAD + LOOP, forms_in(FORMS))
