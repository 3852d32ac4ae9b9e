from hypothesis import given
from hypothesis import strategies as st

from distml.shapes import Dim, Symbol
from distml.solver import search
from distml.solver.decide import (
    Constraint,
    Contradiction,
    Proved,
    Refuted,
    Satisfied,
    Unknown,
    decide,
    prove,
    satisfy,
    simplify,
)
from distml.solver.formula import FALSE, Flag, at_least, divisible, either, equal, evaluate, less, negate, show

from solver.worlds import crowds, formulas, holds, quick, worlds

X, Y, Z, W = (Dim.symbol(Symbol(name, n, 0)) for n, name in enumerate("xyzw"))
sets = st.lists(formulas, min_size=1, max_size=4)


def labeled(some):
    return [Constraint(f, number) for number, f in enumerate(some)]


@quick
@given(sets, st.sampled_from([0, 1]))
def test_satisfy_agrees_with_trying_everything(some, floor):
    answer = satisfy(labeled(some), seconds=2, floor=floor)
    if isinstance(answer, Satisfied):
        assert holds(some, (answer.model, answer.flags))
        assert all(n >= max(floor, s.low) for s, n in answer.model.items())
    elif isinstance(answer, Contradiction):
        assert not any(holds(some, world) for world in worlds(some, floor))
        assert answer == satisfy(labeled(some), seconds=2, floor=floor)
        assert_minimal(answer.core, floor)
    else:
        assert answer.reason


def assert_minimal(core, floor):
    assert isinstance(satisfy(core, 2, floor), Contradiction)
    for left_out in core:
        rest = [c for c in core if c is not left_out]
        assert not isinstance(satisfy(rest, 2, floor), Contradiction)


@quick
@given(crowds)
def test_crowds_are_always_decided(some):
    answer = satisfy(labeled(some), seconds=3)
    if isinstance(answer, Contradiction):
        assert not any(holds(some, world) for world in worlds(some))
        assert_minimal(answer.core, 1)
    else:
        assert holds(some, (answer.model, answer.flags))
    short = simplify(labeled(some), seconds=3)
    for world in worlds(some):
        assert holds(short, world) == holds(some, world), [show(f) for f in short]


@quick
@given(sets)
def test_an_answer_is_found_for_what_a_small_box_satisfies(some):
    """The search may give up, but not on sets this small."""
    if any(holds(some, world) for world in worlds(some)):
        assert isinstance(satisfy(labeled(some), seconds=3), Satisfied)


@quick
@given(sets, formulas)
def test_prove_and_decide_agree_with_trying_everything(some, goal):
    truths = {evaluate(goal, *w) for w in worlds([*some, goal]) if holds(some, w) and defined(goal, w)}
    match prove(labeled(some), goal, seconds=2):
        case Proved(core=core):
            assert False not in truths
            assert isinstance(prove(core, goal, seconds=2), Proved)
        case Refuted(model=model, flags=flags):
            assert holds([*some, negate(goal)], (model, flags))
    decision = decide(labeled(some), goal, seconds=2)
    possible = {"always": {True}, "never": {False}, "unreachable": set(), "depends": {True, False}}
    assert truths <= possible.get(decision.verdict, {True, False})
    if decision.verdict == "depends":
        assert holds([*some, goal], (decision.holds.model, decision.holds.flags))
        assert holds([*some, negate(goal)], (decision.fails.model, decision.fails.flags))


def defined(formula, world):
    return evaluate(formula, *world) or evaluate(negate(formula), *world)


@quick
@given(sets)
def test_simplify_says_the_same(some):
    short = simplify(labeled(some), seconds=2)
    for world in worlds(some):
        assert holds(short, world) == holds(some, world), [show(f) for f in short]


@quick
@given(sets, st.sampled_from([0, 1, 2]))
def test_simplify_without_a_symbol_leaves_out_none_of_the_others(some, hidden):
    """What satisfies everything satisfies the projection; in it no more symbols are left than before."""
    every = {s for w in [next(worlds(some))] for s in w[0]}
    short = simplify(labeled(some), seconds=2, keep=[s for s in every if s.serial != hidden])
    for values, flags in worlds(some):
        if holds(some, (values, flags)):
            assert holds(short, (values, flags))


def test_chain_of_windows_becomes_one_bound():
    size, chain = X, []
    for kernel, stride, padding in [(11, 4, 2), (3, 2, 0), (5, 1, 2), (3, 2, 0), (3, 1, 1), (3, 2, 0)]:
        size = (size + 2 * padding - kernel) // stride + 1
        chain.append(at_least(size, 1))
    assert [show(f) for f in simplify(labeled(chain))] == ["x >= 63"]


def test_hidden_symbols_leave_their_bounds():
    told = labeled([equal(Y, X - 3), at_least(Y, 5)])
    assert [show(f) for f in simplify(told, keep=symbols_of(X))] == ["x >= 8"]
    assert [show(f) for f in simplify(told)] == ["x == y + 3", "x >= 8"]
    assert simplify(labeled([at_least(X, 5), less(X, 5)])) == [FALSE]
    assert simplify(labeled([at_least(X, 1)])) == []


def symbols_of(dim):
    return list(dim.symbols())


def test_core_names_only_what_contradicts():
    told = labeled([at_least(Z, 3), equal(X, Y + 1), at_least(W, 2), equal(Y, Z), equal(X, Z + 2)])
    answer = satisfy(told)
    assert isinstance(answer, Contradiction)
    assert [c.label for c in answer.core] == [1, 3, 4]


def test_core_remembers_bounds_and_cases():
    cores = [
        [at_least(X, Y + 1), at_least(Y, 5), at_least(4, X)],
        [either(equal(X, Y + 1), equal(X, Y + 2)), less(X, Y)],
        [either(equal(X, 1), equal(X, Y)), at_least(X, 4), at_least(3, Y)],
        [equal(X * Y, 6 * Z + 1), at_least(3, X), at_least(3, Y)],
    ]
    for told in cores:
        answer = satisfy(labeled([at_least(W, 3), *told, at_least(W, X)]))
        assert isinstance(answer, Contradiction)
        assert [c.label for c in answer.core] == list(range(1, len(told) + 1))


def test_simplify_drops_what_follows():
    told = [at_least(X, Y + 3), at_least(X, Y + 1), at_least(Y, 2), at_least(X, 4), either(equal(Z, 1), equal(X, 2))]
    assert [show(f) for f in simplify(labeled(told))] == ["z == 1", "y >= 2", "x >= y + 3"]


def test_models_are_small_and_in_order():
    assert satisfy(labeled([at_least(X, 63)])).model == {next(X.symbols()): 63}
    answer = satisfy(labeled([equal(X * Y * Z, 6 * W)]))
    assert [answer.model[s] for s in sorted(answer.model, key=lambda s: s.serial)] == [1, 1, 6, 1]
    unbounded = Symbol("k", 7, None)
    assert satisfy([Constraint(less(Dim.symbol(unbounded), -3))]).model == {unbounded: -4}


def test_broadcast_alternatives():
    told = labeled([either(equal(X, 1), equal(X, Y)), at_least(X, 4), at_least(3, Y)])
    assert isinstance(satisfy(told), Contradiction)
    assert decide(told[:2], equal(X, Y)).verdict == "always"
    assert decide(told[:1], equal(X, Y)).verdict == "depends"
    assert decide(told, equal(X, Y)).verdict == "unreachable"
    assert decide(told[1:2], equal(X, 2)).verdict == "never"


def test_an_empty_batch_is_allowed_by_floor_alone():
    empty = labeled([equal(X, 0)])
    assert isinstance(satisfy(empty), Contradiction)
    assert isinstance(satisfy(empty, floor=0), Satisfied)


def test_flags():
    p, q = Flag("p", 1), Flag("q", 2)
    answer = satisfy(labeled([either(p, q), negate(p), either(negate(q), equal(X, 3))]))
    assert answer == Satisfied({next(X.symbols()): 3}, {p: False, q: True})
    assert isinstance(satisfy(labeled([either(p, q), negate(p), negate(q)])), Contradiction)


def test_products_that_nobody_decides_end_in_time():
    hard = labeled([equal(X * X * X + Y * Y * Y + Z * Z * Z, 114 + 9 * W * W * W * W), at_least(X, 1000)])
    assert isinstance(satisfy(hard, seconds=0.5), Satisfied | Unknown)


def test_a_dynamic_size_contradicts_nothing():
    dyn = Dim.symbol(Symbol("dyn", 5, 0, dynamic=True))
    assert isinstance(satisfy(labeled([equal(dyn, 3), equal(dyn, 4)])), Satisfied)


def test_a_whole_network_never_needs_z3(monkeypatch):
    monkeypatch.setattr(search.residue, "solve", None)
    told, sizes = [], [X, Y]
    for _ in range(5):
        sizes = [(s - 1) // 2 + 1 for s in sizes]
        told += [at_least(s, 1) for s in sizes] * 10 + [equal(s, s + Z - Z) for s in sizes] * 10
    told += [equal(sizes[0], 7), at_least(W, 6), divisible(W * 64, 4)]
    answer = satisfy(labeled(told))
    assert isinstance(answer, Satisfied)
    assert answer.model[next(X.symbols())] == 193
