"""The texts of files with the fixes of findings, each file with what was changed in it and why.

What is shown, written or proposed comes from here, so that a patch is what `--fix` does.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping

from distml.diagnostics.model import Diagnostic
from distml.engine.fixes import fitting, mended
from distml.rewrites.model import BOM, Edit, Refusal, Rewritten
from distml.source.notebook import Notebook, is_notebook


def rewritten(findings: Iterable[Diagnostic], texts: Mapping[str, str]) -> dict[str, Rewritten]:
    """Those of the files with these `texts`, byte order marks included, that the fixes of `findings` change, by path.

    A file that would not parse any more stays as it is, and is there with a refusal.
    """
    findings = list(findings)
    notebooks = {path: Notebook(text, path) for path, text in texts.items() if is_notebook(path)}
    # The places of findings do not count a byte order mark.
    plain = {
        path: notebooks[path].program if path in notebooks else text.removeprefix(BOM) for path, text in texts.items()
    }
    edits: dict[str, list[Edit]] = {}
    for finding in fitting(findings, plain):
        assert finding.fix is not None
        span = finding.span if finding.span.path in texts else finding.fix.edits[0].span
        cell = notebooks[span.path].place(span) if span.path in notebooks else None
        told = finding.fix.description, finding.message, finding.code
        edit = Edit(span.line, span.column, *told) if cell is None else Edit(cell.line, cell.column, *told, cell.cell)
        edits.setdefault(span.path, []).append(edit)
    found: dict[str, Rewritten] = {}
    for path, text in mended(findings, plain).items():
        made, problem = tuple(edits.get(path, ())), _problem(text)
        if problem:
            line = min((each.line for each in made), default=1)
            found[path] = Rewritten(texts[path], texts[path], (), (Refusal("syntax", line, 1, "the fix", problem),))
        elif path in notebooks:
            found[path] = Rewritten(texts[path], notebooks[path].written(text), made)
        else:
            mark = BOM if texts[path].startswith(BOM) else ""
            found[path] = Rewritten(texts[path], mark + text, made)
    return found


def _problem(text: str) -> str:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"the file would not parse any more: {error}"
    return ""
