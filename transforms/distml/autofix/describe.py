"""The text of a pull request: what was changed, line by line, why, how it went, and how to be left in peace.

The text stands between two marks, so that what people write around it stays. The first mark carries the key of the
proposal, by which a proposal that somebody closed is recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from distml.autofix.proposal import Change, Left, Proposal, Reason, Smoked
from distml.report.markup import code, prose
from distml.report.summary import count

TITLE = "distml: fixes"
LIMIT = 60_000  # characters; GitHub takes 65536, and people may have written something too
END = "<!-- distml-autofix end -->"
_BEGIN = re.compile(r"<!-- distml-autofix key=([0-9a-z]*) -->")
_OWN = re.compile(rf"{_BEGIN.pattern}.*?{re.escape(END)}", re.DOTALL)
WITHDRAWN = "withdrawn"


def body(proposal: Proposal, branch: str, around: str = "") -> str:
    """The description of the pull request; `around` is the one it has, of which other people's text is kept."""
    text = _fitted(proposal, branch).replace("<!--", "<! --")  # no name or message begins or ends what is ours
    return _placed(f"<!-- distml-autofix key={proposal.key} -->\n{text}\n{END}", around)


def withdrawn(around: str) -> str:
    """The description of a pull request of which nothing is left to do."""
    said = "Nothing is left to fix: distml closed this pull request and removed its branch."
    return _placed(f"<!-- distml-autofix key={WITHDRAWN} -->\n{said}\n{END}", around)


def key(text: str) -> str:
    """The key of the proposal that a description is about; empty where there is none."""
    found = _BEGIN.search(text)
    return found[1] if found else ""


def message(proposal: Proposal) -> str:
    """The message of the commit."""
    rules = sorted({reason.rule for change in proposal.changes for reason in change.reasons if reason.rule})
    listed = f"\n\nRules: {', '.join(rules)}" if rules and all(rule.isalnum() for rule in rules) else ""
    return f"{TITLE} in {count(len(proposal.changes), 'file')}{listed}"


def _placed(own: str, around: str) -> str:
    # A function, because `\1` in the replacement would mean something.
    return _OWN.sub(lambda _: own, around, count=1) if _OWN.search(around) else "\n\n".join(filter(None, [own, around]))


def _fitted(proposal: Proposal, branch: str) -> str:
    """The text, cut at a line where there is no more room."""
    tail = list(_how_to_stop(proposal, branch))
    room = LIMIT - sum(len(line) + 1 for line in tail) - 200
    kept: list[str] = []
    for line in _head(proposal):
        room -= len(line) + 1
        if room < 0:
            kept += ["", "There is more than fits here; the commit has all of it.", ""]
            break
        kept.append(line)
    return "\n".join(kept + tail)


def _head(proposal: Proposal) -> Iterator[str]:
    edits = sum(len(change.reasons) for change in proposal.changes)
    yield f"{count(edits, 'edit')} in {count(len(proposal.changes), 'file')}, made by distml on {code(proposal.base[:12])}."
    for change in proposal.changes:
        yield from _change(change, [each for each in proposal.smoked if each.path == change.path])
    if proposal.left:
        yield from ("", "### Left as it is, or to look at", "")
        yield from map(_left, proposal.left)


def _change(change: Change, smoked: list[Smoked]) -> Iterator[str]:
    yield from ("", f"### {code(change.path)}", "")
    yield from map(_reason, change.reasons)
    for each in smoked:
        yield f"- smoke run: **{prose(each.verdict)}**{f'. {prose(each.said)}' if each.said else ''}"
    if not smoked and any(reason.rule.startswith("HVD") for reason in change.reasons):
        yield "- smoke run: none was made"


def _reason(reason: Reason) -> str:
    rule = f" ({code(reason.rule)})" if reason.rule else ""
    return f"- line {reason.line}: {prose(reason.what)}{rule}{f'<br>{prose(reason.why)}' if reason.why else ''}"


def _left(left: Left) -> str:
    rule = f" {code(left.rule)}" if left.rule else ""
    return f"- {code(f'{left.path}:{left.line}')}{rule}: {prose(left.why)}"


def _how_to_stop(proposal: Proposal, branch: str) -> Iterator[str]:
    rules = sorted({r.rule for c in proposal.changes for r in c.reasons if re.fullmatch("[A-Z]{3}[0-9]{3}", r.rule)})
    example = rules[0] if rules else "SHP101"
    yield from ("", "### If you do not want this", "")
    yield f"- one line: write `# distml: ignore[{example}]` behind it"
    yield f'- a rule: put `ignore = ["{example}"]` under `[tool.distml]` in pyproject.toml'
    yield "- these edits: close this pull request; the same edits are not proposed again"
    yield f"- all of it: remove the workflow that runs `distml autofix`, and the branch {code(branch)}"
    yield ""
    yield "Commits of yours on this branch are kept: distml then leaves the branch alone."
