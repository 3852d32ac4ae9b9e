"""Which findings a run reports: `select`, `ignore` and `per-file-ignores`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from distml.diagnostics.model import Diagnostic
from distml.engine.config import Config, ConfigError
from distml.engine.patterns import matches

ALWAYS = frozenset({"SRC201"})  # a failure of ours is never hidden


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
