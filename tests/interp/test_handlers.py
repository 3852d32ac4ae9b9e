"""What an `except` does with values for which nothing raises is no mistake: it never runs with them."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

WRONG = "np.zeros((2, 1, 3)) + x"
RAISES = {"x.reshape(7)": "ValueError", "x[9]": "IndexError", "np.stack([x, x[:1]])": "ValueError"}
"""On five numbers."""
PASSES = {
    "x.reshape(5, 1)": "ValueError",
    "x[3]": "IndexError",
    "list(enumerate(x))": "TypeError",
    "max(3, 4)": "KeyError",
}
PERHAPS = {"some(x)": "ValueError"}
"""What raises where a test that is not decided says so."""
UNKNOWN = {"load(x)": "ValueError", "open('x').read()": "OSError"}
SOME = (
    "import numpy as np\nimport os\ndef some(x):\n    if os.environ.get('A'):\n        raise ValueError\n    return x\n"
)
FORMS = {
    "called": SOME + "def f(x):\n{code}\nf(np.zeros(5))\n",
    "method": SOME + "class A:\n    def __init__(self):\n        self.x = np.zeros(5)\n    def f(self):\n"
    "        x = self.x\n{code}\nA().f()\n",
}


def _code(body: str, error: str, handled: str, depth: int) -> str:
    lines = ["try:", f"    y = {body}", f"except {error}:", f"    y = {handled}", "return y"]
    return "\n".join("    " * depth + line for line in lines)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("body", [*RAISES, *PASSES, *PERHAPS, *UNKNOWN])
def test_a_handler_is_judged_where_something_raises(body: str, form: str) -> None:
    error = {**RAISES, **PASSES, **PERHAPS, **UNKNOWN}[body]
    depth = 2 if form == "method" else 1
    found = [each.code for each in errors_of(FORMS[form].format(code=_code(body, error, WRONG, depth)))]
    assert found == (["SHP102"] if body in RAISES else [])


@pytest.mark.parametrize("body", UNKNOWN)
def test_a_handler_in_code_with_unknown_arguments_is_judged(body: str) -> None:
    program = f"import numpy as np\ndef f(x):\n{_code(body, UNKNOWN[body], 'np.zeros(3) + np.zeros(4)', 1)}\n"
    assert [each.code for each in errors_of(program)] == ["SHP102"]


def test_what_a_handler_raises_reaches_the_one_around_it() -> None:
    program = """
import numpy as np
def f(x):
    try:
        try:
            y = list(x)
        except TypeError:
            x = np.zeros(4)
            raise ValueError
    except ValueError:
        return x
    return np.zeros(4)
f(np.zeros(5)) + np.zeros(4)
"""
    assert not errors_of(program)
