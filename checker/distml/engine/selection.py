"""Which findings a run reports: `select`, `ignore` and `per-file-ignores`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from distml.diagnostics.model import Diagnostic
from distml.engine.config import Config, ConfigError
from distml.engine.patterns import matches

ALWAYS = frozenset({"SRC201"})  # a failure of ours is never hidden

SHAPES, CHOREOGRAPHIES, RANKS = "shapes", "choreographies", "ranks"
PARTS = {SHAPES: ("SHP", "GRD"), CHOREOGRAPHIES: ("CHO",), RANKS: ("SPM",)}
"""The parts of a check, and the families of rules that each answers for."""
WHOLE = frozenset(PARTS)


def parts(config: Config) -> frozenset[str]:
    """The parts of a check that may find what a run reports. Raises `ConfigError` for a code or name that does not exist."""
    return _parts(config.select, config.ignore)


@lru_cache(maxsize=8)
def _parts(select: tuple[str, ...], ignore: tuple[str, ...]) -> frozenset[str]:
    if not select and not ignore:
        return WHOLE
    wanted = _codes(select or ("ALL",)) - _codes(ignore)
    if select and "SRC301" in wanted:  # whether a comment hides something only the whole check can say
        return WHOLE
    return frozenset(part for part, families in PARTS.items() if any(code.startswith(families) for code in wanted))


def selector(config: Config) -> Callable[[Diagnostic], bool]:
    """A test for the findings to report. Raises `ConfigError` for a code or name that does not exist."""
    select, ignore = _codes(config.select), _codes(config.ignore)
    in_files = [(pattern, _codes(codes)) for pattern, codes in config.per_file_ignores]

    def wanted(finding: Diagnostic) -> bool:
        code = finding.code
        if code in ALWAYS:
            return True
        if (config.select and code not in select) or code in ignore:
            return False
        return not any(
            code in codes and matches(finding.span.path, pattern, config.folder) for pattern, codes in in_files
        )

    return wanted


def _codes(given: Iterable[str]) -> frozenset[str]:
    """Codes, prefixes and names -> codes."""
    if not given:
        return frozenset()
    from distml.diagnostics.registry import all_rules

    rules = all_rules()
    found: set[str] = set()
    for item in given:
        fitting = {rule.code for rule in rules if rule.code.startswith(item.upper()) or rule.name == item.lower()}
        if item.upper() == "ALL":
            fitting = {rule.code for rule in rules}
        if not item or not fitting:
            raise ConfigError(f"no rule has the code, prefix or name {item!r}; `distml rules` lists them")
        found |= fitting
    return frozenset(found)
