"""A size that nothing is known of may be any that fits: a reshape is wrong only where no size makes it right.

Every reshape of a few elements to one, two or three axes, one of them of an unknown size, is tried for real with every
size that could fit, and with -1.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from interp.programs import errors_of

torch = pytest.importorskip("torch", reason="not run: needs torch")

SIZES = [sizes for count in (1, 2) for sizes in product(range(4), repeat=count)]
COUNTS = (0, 1, 2, 3, 4, 6, 9)
LIBRARIES = {"np": np.zeros, "torch": torch.zeros}


def fits(library: str, count: int, sizes: tuple[int, ...], place: int) -> bool:
    """Whether some size makes a reshape right."""
    for size in range(-1, 10):
        try:
            LIBRARIES[library](count).reshape((*sizes[:place], size, *sizes[place:]))
        except (ValueError, RuntimeError):
            continue
        return True
    return False


@pytest.mark.parametrize("library", list(LIBRARIES))
@pytest.mark.parametrize("count", COUNTS)
def test_a_reshape_to_an_unknown_size(library: str, count: int) -> None:
    forms = [(sizes, place) for sizes in SIZES for place in range(len(sizes) + 1)]
    text = "import numpy as np\nimport torch\n"
    for index, (sizes, place) in enumerate(forms):
        shown = ", ".join(map(str, [*sizes[:place], "k", *sizes[place:]]))
        text += f"def f{index}(k):\n    return {library}.zeros({count}).reshape(({shown}))\n"
    wrong = {(finding.span.line - 4) // 2 for finding in errors_of(text)}
    said = [forms[index] for index in sorted(wrong)]
    assert [form for form in said if fits(library, count, *form)] == []
    assert not said or len(said) > len(forms) // 8


def test_nothing_is_no_multiple_of_nothing() -> None:
    assert [finding.code for finding in errors_of("import numpy as np\nnp.zeros(0).reshape(0, -1)\n")] == ["SHP201"]
