"""Programs over a library that the tests do without, against what was recorded of their real runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interp.programs import errors_and_revealed, errors_of

DATA = Path(__file__).parents[1] / "data"


def compare(name: str, program: Callable[[int], str], sizes: str, agreement: Callable[[str, Any], str]) -> Counter[str]:
    """How many programs of `tests/data/NAME` end in a mistake that is found or missed, and how well `sizes` of the others are
    known: `agreement` says exact, vague or wrong. Nothing may be found where a program runs, and nothing may be wrong.
    """
    kinds: Counter[str] = Counter()
    for line in (DATA / name).read_text("utf-8").splitlines():
        real = json.loads(line)
        text = program(real["seed"])
        if "error" in real:
            found = [each.span.line for each in errors_of(text)]
            assert min(found, default=real["line"]) >= real["line"], f"{text}\n{errors_of(text)[0].message}\n{real}"
            kinds["found" if real["line"] in found else "missed"] += 1
            continue
        errors, said = errors_and_revealed(text + "".join(f"reveal_shape({each})\n" for each in real[sizes]))
        assert not errors, f"{text}\n{errors[0].message}"
        for each, size in zip(said, real[sizes].values(), strict=True):
            kinds[agreement(each, size)] += 1
            assert agreement(each, size) != "wrong", f"{text}\n{said} {real}"
    return kinds
