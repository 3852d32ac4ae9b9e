"""Expectations of a case: read from comments, compared with what distml says, written back."""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMENT = re.compile(
    r"[ \t]*#\s*(?:(?P<level>error|warning):\s*\[(?P<code>\w+)\](?:\s*\"(?P<text>(?:[^\"\\]|\\.)*)\")?"
    r"|revealed:\s*(?P<revealed>[^#\n]*?))[ \t]*(?=#|$)"
)


@dataclass(frozen=True, order=True)
class Said:
    """Something said, or expected to be said, about a line."""

    line: int
    level: str
    code: str
    text: str

    def meets(self, expected: Said) -> bool:
        same = (self.line, self.level, self.code) == (expected.line, expected.level, expected.code)
        return same and (self.text == expected.text if self.level == "revealed" else expected.text in self.text)

    def __str__(self) -> str:
        return f"line {self.line}: {self.comment()}"

    def comment(self) -> str:
        if self.level == "revealed":
            return f"# revealed: {self.text}"
        quoted = self.text.replace("\\", "\\\\").replace('"', '\\"')
        return f"# {self.level}: [{self.code}]" + (f' "{quoted}"' if quoted else "")


def expectations(program: str) -> list[Said]:
    """What the comments of a program expect."""
    found = []
    for number, line in enumerate(program.splitlines(), 1):
        for each in COMMENT.finditer(line):
            text = re.sub(r"\\(.)", r"\1", each["text"] or "")
            if each["revealed"] is not None:
                found.append(Said(number, "revealed", "", each["revealed"]))
            else:
                found.append(Said(number, each["level"], each["code"], text))
    return found


def compare(expected: list[Said], said: list[Said]) -> list[str]:
    """One line for each expectation that is not met and for each thing said that was not expected."""
    left = list(said)
    problems = []
    for each in expected:
        met = next((other for other in left if other.meets(each)), None)
        if met is None:
            problems.append(f"not said:     {each}")
        else:
            left.remove(met)
    return problems + [f"not expected: {each}" for each in left]


def annotate(program: str, said: list[Said]) -> str:
    """The program with the comments that `said` deserves."""
    lines = []
    for number, line in enumerate(program.splitlines(), 1):
        comments = [each.comment() for each in said if each.line == number]
        lines.append("  ".join([COMMENT.sub("", line).rstrip(), *comments]))
    return "".join(f"{line}\n" for line in lines)
