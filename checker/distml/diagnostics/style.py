"""Colors, if wanted."""

from __future__ import annotations

from collections.abc import Callable

from distml.diagnostics.printable import safe
from distml.diagnostics.rule import Severity


class Style:
    """Wraps text in escape sequences, or leaves it alone."""

    Paint = Callable[[str], str]

    def __init__(self, color: bool) -> None:
        self._color = color

    def bold(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def red(self, text: str) -> str:
        return self._wrap("1;31", text)

    def green(self, text: str) -> str:
        return self._wrap("1;32", text)

    def yellow(self, text: str) -> str:
        return self._wrap("1;33", text)

    def blue(self, text: str) -> str:
        return self._wrap("1;34", text)

    def place(self, text: str) -> str:
        """`path:line`, made safe to print."""
        return self.bold(safe(text))

    def severity(self, severity: Severity, text: str) -> str:
        """Red for errors, yellow for warnings."""
        return self.red(text) if severity is Severity.ERROR else self.yellow(text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._color else text


PLAIN = Style(False)
