"""A case of a `match` that may or may not be the one is an arm of an `if` that may or may not be taken: both find the same."""

from __future__ import annotations

import itertools

import pytest

from interp.programs import errors_of

HEAD = "import numpy as np\nfrom elsewhere import layout\n\ndef use(x, spec):\n    out = x\n"
WRONG, RIGHT = "out = x @ np.ones((4, 2))", "out = x @ np.ones((3, 2))"
SUBJECTS = ("len(spec)", "spec", "spec.kind", "layout()", "x.shape[0]", "int(x.sum())")
ARMS = (
    (WRONG, RIGHT, "raise ValueError"),
    (RIGHT, WRONG, "raise ValueError"),
    (RIGHT, "return x", WRONG),
    (WRONG, WRONG, WRONG),
    ("return x", "return " + WRONG.removeprefix("out = "), "pass"),
    (WRONG, "pass", "return x"),
)
CALLS = ("use(np.ones((5, 3)), layout())", "")
SHOWN = "\n    return out @ np.ones((2, 2))\n"


def written(subject: str, arms: tuple[str, str, str], call: str, *, cases: bool) -> str:
    """The same three arms, as cases of a `match` or as an `if`."""
    first, second, last = arms
    if cases:
        heads = [f"match {subject}:", "case 0:", "case 1:", "case _:"]
        body = f"    {heads[0]}\n" + "".join(
            f"        {head}\n            {arm}\n" for head, arm in zip(heads[1:], arms, strict=True)
        )
    else:
        body = f"    asked = {subject}\n    if asked == 0:\n        {first}\n    elif asked == 1:\n        {second}\n"
        body += f"    else:\n        {last}\n"
    return f"{HEAD}{body}{SHOWN}{call}\n"


def _found(source: str) -> list[str]:
    """What is found; a message of what the program itself raises shows how that was asked."""
    return [error.code if error.code.startswith("SHP7") else error.message for error in errors_of(source)]


@pytest.mark.parametrize(("subject", "call"), list(itertools.product(SUBJECTS, CALLS)))
def test_a_match_finds_what_an_if_finds(subject: str, call: str) -> None:
    for arms in ARMS:
        as_match, as_if = (_found(written(subject, arms, call, cases=cases)) for cases in (True, False))
        assert as_match == as_if, written(subject, arms, call, cases=True)


def test_a_case_that_is_the_one_is_judged() -> None:
    source = written("x.shape[0]", (RIGHT, RIGHT, WRONG), CALLS[0], cases=True)
    assert len(errors_of(source)) == 1
