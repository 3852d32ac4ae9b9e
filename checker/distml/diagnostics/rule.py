"""What a rule is: a class whose docstring documents it.

The docstring is the one source of `distml explain`, of `docs/rules/` and of the help in SARIF reports. It begins with
one sentence and has the sections `What it finds`, `Why it matters`, `Example` and `Instead`; the last two each hold one
complete program in a ```py block, and a test runs `distml check` over both.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import ClassVar

SECTIONS = ("What it finds", "Why it matters", "Example", "Instead")


class Severity(Enum):
    """`ERROR`: the program, reaching that line, must fail. `WARNING`: it may silently do the wrong thing."""

    ERROR = "error"
    WARNING = "warning"


class Rule:
    """A kind of finding: subclasses set `code` and `name`, and document themselves."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR

    @property
    def documentation(self) -> str:
        """The whole docstring, without its indentation: Markdown."""
        from inspect import cleandoc  # not at start-up: it brings ast, dis and tokenize along

        return cleandoc(type(self).__doc__ or "")

    @property
    def summary(self) -> str:
        """The first paragraph, on one line."""
        return " ".join(self.documentation.partition("\n\n")[0].split())

    def section(self, title: str) -> str:
        """The Markdown below `## title`, empty where the section is absent."""
        found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.documentation, re.MULTILINE | re.DOTALL)
        return found[1].strip() if found else ""

    def program(self, title: str) -> str:
        """The program in the ```py block of a section, empty where there is none."""
        found = re.search(r"^```py\n(.*?)^```", self.section(title) + "\n", re.MULTILINE | re.DOTALL)
        return found[1] if found else ""
