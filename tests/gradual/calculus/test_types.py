"""Relations and operations on types: against the figures, and their lemmas."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracles.calculus.types import (
    Dyn,
    apply_broadcasting,
    calc_conv,
    can_reshape,
    consistent,
    lub,
    lub_star,
    match,
    precision,
    tensor,
)

from gradual.calculus import figures
from gradual.calculus.generated import blurred, plain, targets, types

exact = settings(max_examples=150)
pairs = st.tuples(types(), types()) | types().flatmap(lambda t: st.tuples(blurred(t), blurred(t)))
refined = types().flatmap(lambda t: st.tuples(blurred(t), st.just(t)))


def below(pair):
    """Two pairs of types, the first less precise in both parts."""
    return st.tuples(*(st.tuples(blurred(t), st.just(t)) for t in pair)).map(lambda two: tuple(zip(*two)))


@exact
@given(pairs)
def test_relations_are_those_of_the_figures(pair):
    one, other = pair
    assert precision(one, other) == figures.precise(plain(one), plain(other))
    assert consistent(one, other) == figures.consistent(plain(one), plain(other))
    assert tuple(map(plain, apply_broadcasting(one, other))) == figures.broadcast(plain(one), plain(other))
    expected = figures.star(plain(one), plain(other))
    found = lub_star(one, other)
    assert (figures.ILL if found is None else plain(found)) == expected


@exact
@given(types(), targets())
@example(tensor(Dyn, 0), tensor(0, 3))
@example(tensor(0), tensor(0, Dyn))
@example(tensor(Dyn, 4, 3), tensor(6))
@example(tensor(2), tensor(4, Dyn))
def test_reshape_asks_whether_some_filling_fits(given_type, target):
    assert can_reshape(given_type, target) == figures.reshapes(plain(given_type), plain(target))


@exact
@given(refined, refined)
def test_precision_is_a_partial_order(one, other):
    (less, more), (_, unrelated) = one, other
    assert precision(less, more)
    assert precision(less, less)
    assert precision(Dyn, more)
    assert not (precision(less, more) and precision(more, less)) or less == more
    assert not precision(more, unrelated) or precision(less, unrelated)


@exact
@given(pairs)
def test_types_are_consistent_where_something_is_more_precise_than_both(pair):
    one, other = pair
    assert consistent(one, other) == consistent(other, one)
    assert consistent(one, other) == (lub(one, other) is not None)
    assert consistent(one, one)


def test_consistency_is_not_transitive():
    assert consistent(tensor(3), Dyn)
    assert consistent(Dyn, tensor(4))
    assert not consistent(tensor(3), tensor(4))


@exact
@given(pairs, types())
def test_the_least_upper_bound_is_one(pair, bound):
    one, other = pair
    least = lub(one, other)
    if least is None:
        assert not (precision(one, bound) and precision(other, bound))
        return
    assert precision(one, least)
    assert precision(other, least)
    for above in (bound, one, other):
        if precision(one, above) and precision(other, above):
            assert precision(least, above)


@exact
@given(pairs)
def test_the_starred_bound_exists_for_consistent_types_and_never_claims_more(pair):
    """Theorem 11."""
    starred, least = lub_star(*pair), lub(*pair)
    assert (starred is not None) == consistent(*pair)
    if starred is not None:
        assert precision(starred, least)
        assert starred == least or Dyn in pair


@exact
@given(types().flatmap(lambda t: st.tuples(st.just(t), types())).flatmap(below))
def test_broadcasting_tensor_types_is_monotone(two):
    """Lemma 8, among tensor types or where `Dyn` stays `Dyn`."""
    less, more = two
    assume((Dyn in less) == (Dyn in more))
    for one, other in zip(apply_broadcasting(*less), apply_broadcasting(*more)):
        assert precision(one, other)


def test_broadcasting_is_not_monotone_from_dyn_to_a_tensor_type():
    """Lemma 8 as printed: the first operand is stretched only once the second is known."""
    loose, _ = apply_broadcasting(tensor(1), Dyn)
    tight, _ = apply_broadcasting(tensor(1), tensor(5))
    assert (loose, tight) == (tensor(1), tensor(5))
    assert not precision(loose, tight)


@exact
@given(pairs.flatmap(below))
def test_the_type_of_a_sum_is_monotone(two):
    """What Theorem 3.1 needs of Lemma 8."""
    less, more = two
    tight = lub_star(*apply_broadcasting(*more))
    assume(tight is not None)
    loose = lub_star(*apply_broadcasting(*less))
    assert loose is not None
    assert precision(loose, tight)


@exact
@given(refined, targets())
def test_reshape_is_monotone(two, target):
    less, more = two
    assert not can_reshape(more, target) or can_reshape(less, target)


def test_reshape_with_multiples_in_either_direction_would_not_be_monotone():
    """The printed rule admits the first, since 12 is a multiple of 6, and not the second."""
    assert not can_reshape(tensor(Dyn, 4, 3), tensor(6))
    assert not can_reshape(tensor(Dyn, 4, Dyn), tensor(6))
    assert can_reshape(tensor(Dyn, 2, 3), tensor(6))


@exact
@given(refined, st.integers(0, 3), st.tuples(st.integers(1, 3), st.integers(1, 3)))
def test_matching_and_convolution_are_monotone(two, c_out, kernel):
    """Lemmas 9 and 10, the latter from the more precise type to the less precise one."""
    less, more = two
    image = match(more, 4)
    assume(image is not None)
    blurry = match(less, 4)
    assert blurry is not None
    assert precision(blurry, image)
    result = calc_conv(image, c_out, kernel)
    if result is not None:
        assert precision(calc_conv(blurry, c_out, kernel), result)


def test_matching_does_not_go_from_less_to_more_precise():
    """Lemma 10 as printed: `Dyn` matches rank 4, a rank-1 type does not."""
    assert match(Dyn, 4) == tensor(Dyn, Dyn, Dyn, Dyn)
    assert match(tensor(3), 4) is None


def test_broadcasting_with_unknown_sizes():
    one, other = apply_broadcasting(tensor(Dyn, 2, Dyn), tensor(1, 2, 2))
    assert (one, other) == (tensor(Dyn, 2, Dyn), tensor(Dyn, 2, 2))
    assert lub_star(one, other) == tensor(Dyn, 2, 2)


def test_a_sum_with_an_operand_of_unknown_rank_is_unknown():
    assert lub_star(*apply_broadcasting(Dyn, tensor(1, 2))) is Dyn


@exact
@given(types(most_rank=7), types(most_rank=7), targets(most_rank=7))
def test_any_rank_is_allowed(one, other, target):
    assert tuple(map(plain, apply_broadcasting(one, other))) == figures.broadcast(plain(one), plain(other))
    assert can_reshape(one, target) == figures.reshapes(plain(one), plain(target))
