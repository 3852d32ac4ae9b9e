"""The one comment that the Action keeps on a pull request: written anew in place, never twice, never another's."""

from __future__ import annotations

from distml.github.pulls import Repository

MARK = "<!-- distml-action -->"
LIMIT = 60_000


def keep(host: Repository, number: int, markdown: str, findings: int) -> None:
    """Bring the comment up to date; where nothing was found and none was written, none is. Raises `ApiError`.

    Anybody can write a comment with the mark: GitHub says which of them are by whom the token belongs to. How long the
    check took is left out, so that the same findings are the same text.
    """
    heading, _, rest = markdown.partition("\n")
    markdown = f"{heading.rpartition(' (')[0] or heading}\n{rest}"
    if len(markdown) > LIMIT:
        markdown = markdown[:LIMIT].rpartition("\n")[0] + "\n\nThe rest is in the summary of the run.\n"
    text = f"{MARK}\n{markdown}"
    mine = next(host.own(each for each in host.comments(number) if each.body.startswith(MARK)), None)
    if mine is None:
        if findings:
            host.comment(number, text)
    elif mine.body.strip().splitlines() != text.strip().splitlines():  # GitHub may change the ends of lines
        host.edit_comment(mine.id, text)
