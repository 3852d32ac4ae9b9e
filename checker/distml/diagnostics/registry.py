"""Rules by code and by name.

A family and a hundred are one module of `distml.diagnostics.rules` (`SHP101` lives in `rules/shp100.py`), and where that
grows too long, further tens are one of their own (`HVD312` in `rules/hvd310.py`), so that looking up one code imports one
module, or two. Codes are never used again for something else, also not after a rule is gone.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from distml.diagnostics import rules
from distml.diagnostics.rule import Rule

_CODE = re.compile(r"([A-Z]{3})(\d)(\d)\d")


class UnknownRuleError(LookupError):
    """No rule has this code or name."""


def rule(code: str) -> Rule:
    """The rule with this code, such as `SHP101`. Raises `UnknownRuleError`."""
    parts = _CODE.fullmatch(code)
    places = (f"{parts[1]}{parts[2]}00", f"{parts[1]}{parts[2]}{parts[3]}0") if parts else ()
    for module in places:
        if (found := _rules(module.lower()).get(code)) is not None:
            return found
    raise UnknownRuleError(code)


def all_rules() -> tuple[Rule, ...]:
    """Every rule, ordered by code."""
    from pkgutil import iter_modules

    modules = sorted(module.name for module in iter_modules(rules.__path__))
    return tuple(found for module in modules for _, found in sorted(_rules(module).items()))


def find(code_or_name: str) -> Rule:
    """The rule with this code (in any case) or kebab-case name. Raises `UnknownRuleError`."""
    for candidate in all_rules():
        if code_or_name.upper() == candidate.code or code_or_name.lower() == candidate.name:
            return candidate
    raise UnknownRuleError(code_or_name)


@cache
def _rules(module: str) -> dict[str, Rule]:
    path = f"{rules.__name__}.{module}"
    try:
        loaded = import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return {}
    classes = [value for value in vars(loaded).values() if isinstance(value, type) and issubclass(value, Rule)]
    return {cls.code: cls() for cls in classes if cls is not Rule}
