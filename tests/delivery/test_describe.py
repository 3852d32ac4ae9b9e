"""The description of a pull request: what is ours stands between its marks, whatever the names and messages in it hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from distml.autofix import describe
from distml.autofix.proposal import Change, Left, Proposal, Reason, Smoked

MARKS = ["<!-- distml-autofix end -->", "<!-- distml-autofix key=0 -->", "<!--", "-->", "`", "\n", "|", "a", " ", "\\1"]
texts = st.lists(st.sampled_from(MARKS), max_size=4).map("".join)
reasons = st.builds(Reason, st.just(1), texts, texts, texts)
changes = st.builds(Change, texts.map("{}.py".format), st.just("0" * 40), st.just(b""), st.tuples(reasons))
proposals = st.builds(
    Proposal,
    st.just("1" * 40),
    st.tuples(changes),
    st.tuples(st.builds(Left, texts, st.just(1), texts, texts)),
    st.tuples(st.builds(Smoked, texts, texts, texts)),
)


@given(proposals, proposals, texts)
def test_what_is_ours_is_replaced_whole_and_nothing_else(first: Proposal, second: Proposal, branch: str) -> None:
    around = "Before.\n\n{}\n\nBehind, by a person."
    shown = around.format(describe.body(first, branch))
    assert describe.key(shown) == first.key
    assert describe.body(second, branch, shown) == around.format(describe.body(second, branch))
    assert describe.withdrawn(shown) == around.format(describe.withdrawn(""))
