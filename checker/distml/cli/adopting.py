"""What `distml init` adds to a project's files: text in, text out; nothing is read or written here."""

from __future__ import annotations

import re

HOOKS = ("distml-shapes", "distml-choreography", "distml-ranks")
"""The hooks that only report."""

WORKFLOW = """\
name: shapes
on:
  pull_request:
  push:
    branches: [main]
permissions: {}
concurrency:
  group: shapes-${{ github.ref }}
  cancel-in-progress: true
jobs:
  shapes:
    name: shapes
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    permissions:
      contents: read # checkout
      security-events: write # code scanning
    steps:
      - name: check out
        uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 2
          persist-credentials: false
      - name: shapes
        id: distml
        uses: OWNER/distml@COMMIT
      - name: code scanning
        if: always() && steps.distml.outputs.sarif-file != ''
        uses: github/codeql-action/upload-sarif@8aad20d150bbac5944a9f9d289da16a4b0d87c1e # v4.36.2
        with:
          sarif_file: ${{ steps.distml.outputs.sarif-file }}
          category: distml
"""


class CannotAddError(Exception):
    """A file is written in a way that cannot be added to; the message says why and what to add by hand."""


def workflow(action: str, revision: str, branch: str) -> str:
    """The workflow that runs the Action of `action` (OWNER/NAME on GitHub) at a revision, for pushes to `branch` too."""
    return WORKFLOW.replace("OWNER/distml@COMMIT", f"{action}@{revision}").replace("[main]", f"[{branch}]")


def with_hooks(text: str, address: str, revision: str) -> str:
    """A pre-commit configuration with distml's hooks at the end of its list of repositories; the same text if they are there.

    Raises `CannotAddError` where the list is not written in block style.
    """
    if any(hook in text for hook in HOOKS):
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    block = ["- repo: " + address, "  rev: " + revision, "  hooks:", *(f"    - id: {hook}" for hook in HOOKS)]
    start = next((at for at, line in enumerate(lines) if re.fullmatch(r"repos:\s*(\[\s*\]\s*)?(#.*)?", line)), None)
    if start is None:
        if lines and any(re.match(r"[^\s#]", line) for line in lines if line != "---"):
            raise CannotAddError(f"it has no `repos:` with a list in block style; add by hand: {', '.join(HOOKS)}")
        return end.join([*lines, "repos:", *("  " + line for line in block), ""])
    lines[start] = re.sub(r"\[\s*\]\s*", "", lines[start]).rstrip()
    inside = start + 1
    indent, last = "  ", start
    while inside < len(lines) and re.match(r"\s|-\s|#|$", lines[inside]):
        if found := re.match(r"( *)- ", lines[inside]):
            indent = found[1] if last == start else indent
        if lines[inside].strip() and not lines[inside].startswith("#"):
            last = inside
        inside += 1
    lines[last + 1 : last + 1] = [indent + line for line in block]
    return end.join(lines) + end


def with_table(text: str) -> str:
    """A pyproject.toml with a table for distml at its end; the same text if it has one.

    Raises `CannotAddError` for text that is no TOML, and where `tool` is written in a way that no table can follow.
    """
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool", {})
        if isinstance(tool, dict) and "distml" in tool:
            return text
        end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else end if text.endswith("\n") else end * 2
        added = f"{text}{gap}[tool.distml]{end}exclude = []{end}"
        tomllib.loads(added)
    except (ValueError, RecursionError) as error:
        raise CannotAddError(f"no table can be added to it: {error}") from None
    return added
