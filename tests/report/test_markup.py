"""What others wrote stays text in Markdown, judged by GitHub's own parser."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distml.report.context import safe
from distml.report.markup import code, fenced, prose

pytestmark = pytest.mark.requires("cmarkgfm")

HOSTILE = [
    "a`b``c",
    "| x |",
    "\\|",
    "x\\",
    "new\nline\r\n| y |",
    "${{ secrets.TOKEN }}",
    "@owner and #12",
    "<script>alert(1)</script>",
    "<!-- -->",
    "[x](http://example.org)",
    "www.example.org http://example.org",
    "![](//example.org/a.png)",
    "</code></td>",
    "&#96;",
    "\u202eabc\u2066",
    " ",
    "",
    "*a* _b_ ~~c~~ $d$",
]
texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from([*"`|\\*_[]()<>#@&~!\n\r\t :.-", "www.", "http://", "a", "ü"]), max_size=12).map("".join),
)


def rendered(markdown: str) -> str:
    import cmarkgfm
    from cmarkgfm.cmark import Options

    made: str = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    return made


def cell(content: str) -> str:
    page = rendered(f"| a | b |\n|---|---|\n| {content} | end |\n\nafter\n")
    found = re.fullmatch(
        r"<table>.*<tbody>\n<tr>\n<td>(.*)</td>\n<td>end</td>\n</tr>\n</tbody>\n</table>\n<p>after</p>\n",
        page,
        re.DOTALL,
    )
    assert found, page
    assert found[1].count("<td>") == 0
    return found[1]


@settings(max_examples=300)
@given(texts)
@example("a|b")
def test_code_is_one_cell_and_reads_as_written(text: str) -> None:
    inside = re.fullmatch(r"<code>([^<]*)</code>", cell(code(text)))
    assert inside is not None
    assert html.unescape(inside[1]) == safe(text.replace("\t", " "))


@settings(max_examples=300)
@given(texts)
def test_prose_is_words(text: str) -> None:
    inside = cell(prose(text))
    assert re.sub("<br ?/?>", "", inside).count("<") == 0, inside
    lines = [" ".join(safe(line.replace("\t", " ")).split()) for line in text.splitlines()]
    read = [" ".join(html.unescape(line).replace("\u200b", "").split()) for line in re.split("<br ?/?>", inside)]
    assert read == ([line for line in lines if line] or [""])


@settings(max_examples=300)
@given(texts)
def test_a_block_ends_where_it_should(text: str) -> None:
    page = rendered(f"{fenced(text, 'diff')}\nafter\n")
    found = re.fullmatch(r'<pre lang="diff"><code>([^<]*)</code></pre>\n<p>after</p>\n', page)
    assert found, page


@pytest.mark.parametrize("name", ["@owner", "#12"])
def test_nobody_is_called(name: str) -> None:
    assert name not in html.unescape(re.sub("<[^>]*>", "", cell(prose(f"see {name}"))))
