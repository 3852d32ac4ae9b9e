"""A check of sizes is one check, whether it is written as a condition, with `any` or `all`, or as cases of a `match`.

Each form is run for real with sizes that it takes and with sizes that it refuses: the latter are found, the former never.
"""

from __future__ import annotations

import pytest

from interp.programs import errors_of

CHECKS = (
    # any and all, with what decides them being one item or every item
    "if any(s % p for s in sizes):\n    raise ValueError",
    "if any([s % p for s in sizes]):\n    raise ValueError",
    "if any({s % p for s in sizes}):\n    raise ValueError",
    "if not all(s % p == 0 for s in sizes):\n    raise ValueError",
    "if any(s % q for s, q in zip(sizes, (p, p))):\n    raise ValueError",
    "if any(s % p != 0 or s < p for s in sizes):\n    raise ValueError",
    "if any((s[0] % p, s[1] % p) != (0, 0) for s in [sizes]):\n    raise ValueError",
    "if any(not s % p == 0 for t in [sizes] for s in t if s > 1):\n    raise ValueError",
    "if not any(s % p == 0 for s in sizes) or any(s % p for s in sizes):\n    raise ValueError",
    "if any((sizes[0] % p, sizes[1] % p)):\n    raise ValueError",
    "if not all([sizes[0] % p == 0, sizes[1] % p == 0]):\n    raise ValueError",
    "assert all(s % p == 0 for s in sizes)",
    "assert not any(s % p for s in sizes), 'patches'",
    "assert all(not s % p for s in sizes) and p > 0",
    # what stands behind an arm that leaves
    "if all(s % p == 0 for s in sizes):\n    return sizes\nraise ValueError",
    "if sizes[1] % p:\n    pass\nelse:\n    return sizes\nraise ValueError",
    "if p == 1:\n    return 1\nelif sizes[1] % p == 0:\n    return sizes\nraise ValueError",
    # cases
    "match sizes:\n    case h, w if h % p or w % p:\n        raise ValueError",
    "match sizes:\n    case h, w if h % p == 0 and w % p == 0:\n        return h\n    case _:\n        raise ValueError",
    "match sizes:\n    case h, w if h % p == 0 and w % p == 0:\n        return h\nraise ValueError",
    "match sizes[1] % p:\n    case 0:\n        return sizes\n    case _:\n        raise ValueError",
    "match sizes[1] % p:\n    case 0:\n        return sizes\n    case 1 | 2 | 3 | 4:\n        raise ValueError",
    "match sizes[0] % p, sizes[1] % p:\n    case 0, 0:\n        pass\n    case _:\n        raise ValueError",
    "match sizes[0] % p, sizes[1] % p:\n    case (r, 0) | (0, r) if r == 0:\n        return r\nraise ValueError",
    "match sizes[1] % p:\n    case 0:\n        return sizes\n    case rest:\n        raise ValueError(rest)",
    "for s in sizes:\n    match s % p:\n        case 0:\n            continue\n    raise ValueError(s)",
)
SIZES = (((24, 32), 8), ((32, 24), 8), ((24, 28), 8), ((24, 33), 8), ((24, 10), 5), ((10, 10), 5))


def raises(program: str) -> bool:
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except (ValueError, AssertionError):
        return True
    return False


def written(check: str, sizes: tuple[int, int], p: int) -> str:
    body = "".join(f"    {line}\n" for line in check.splitlines())
    return f"import numpy as np\n\n\ndef check(sizes, p):\n{body}    return sizes\n\n\ncheck({sizes}, {p})\n"


@pytest.mark.parametrize("check", CHECKS)
def test_sizes_that_a_check_refuses_are_found(check: str) -> None:
    seen = set()
    for sizes, p in SIZES:
        program = written(check, sizes, p)
        refused = raises(program)
        found = [error.code for error in errors_of(program)]
        assert bool(found) is refused, (found, program)
        assert all(code.startswith("SHP7") for code in found)
        seen.add(refused)
    assert seen == {True, False}


@pytest.mark.parametrize(
    "check",
    [
        "if any(isinstance(s, int) for s in sizes):\n    raise TypeError",
        "if any(mode == 'a' for mode in 'ab'):\n    raise ValueError",
        "match sizes[0]:\n    case int():\n        raise TypeError",
        "match sizes:\n    case {'a': 1}:\n        pass\n    case _:\n        raise TypeError",
        "match 'a':\n    case 'b':\n        pass\n    case _:\n        raise ValueError",
        "match sizes:\n    case _:\n        raise ValueError",
        "if isinstance(sizes, list):\n    return 1\nraise TypeError",
        "if sizes[0] == 2:\n    pass\nraise ValueError",
        "import os\nif any(s % p or os.environ.get('A') for s in sizes) and os.environ.get('B'):\n    raise ValueError",
        "import os\nmatch os.environ.get('A'):\n    case '1':\n        return 1\n    case _ if p != 4:\n        raise ValueError",
    ],
)
def test_what_is_not_about_sizes_or_not_certain_says_nothing(check: str) -> None:
    assert not errors_of(written(check, (24, 28), 8))


def test_a_name_bound_by_a_pattern_stays_where_its_guard_fails() -> None:
    program = "import numpy as np\nmatch 5:\n    case n if n > 5:\n        n = 1\n    case _:\n        np.ones(n) + np.ones(4)\n"
    assert [error.code for error in errors_of(program)] == ["SHP102"]
