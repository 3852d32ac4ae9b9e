from hypothesis import given
from hypothesis import strategies as st

from distml.shapes import Dim, Symbol
from distml.solver.formula import (
    FALSE,
    TRUE,
    Flag,
    at_least,
    both,
    different,
    divisible,
    either,
    equal,
    evaluate,
    implies,
    less,
    negate,
    show,
    substitute,
    symbols,
)

from solver.worlds import BOX, SYMBOLS, dims, formulas, quick, worlds

X, Y, Z = (Dim.symbol(s) for s in SYMBOLS)
MAKERS = {
    "equal": (equal, lambda a, b: a == b),
    "different": (different, lambda a, b: a != b),
    "at_least": (at_least, lambda a, b: a >= b),
    "less": (less, lambda a, b: a < b),
}


def number(dim, values):
    """A dimension's value by Python's own arithmetic on its text, None for a division by zero."""
    try:
        return eval(repr(dim), {}, {s.name: n for s, n in values.items()})
    except ZeroDivisionError:
        return None


@quick
@given(st.sampled_from(sorted(MAKERS)), dims, dims)
def test_what_is_decided_at_once_is_true(maker, a, b):
    make, truth = MAKERS[maker]
    formula = make(a, b)
    for values, _ in worlds([equal(a, a + X + Y + Z)], floor=0):
        values = {s: values.get(s, 1) for s in SYMBOLS}
        left, right = number(a, values), number(b, values)
        if left is not None and right is not None:
            assert evaluate(formula, values) == truth(left, right)


@quick
@given(formulas)
def test_shown_text_means_the_same_in_python(formula):
    text = show(formula)
    for values, truths in worlds([formula], floor=0):
        names = {**{s.name: n for s, n in values.items()}, **{f.name: t for f, t in truths.items()}}
        try:
            expected = bool(eval(text, {}, names))
        except ZeroDivisionError:
            continue
        assert evaluate(formula, values, truths) == expected, text


@quick
@given(formulas)
def test_negation_is_the_opposite_wherever_nothing_divides_by_zero(formula):
    opposite = negate(formula)
    for values, truths in worlds([formula, opposite], floor=1):
        assert evaluate(opposite, values, truths) != evaluate(formula, values, truths)


@quick
@given(formulas, st.sampled_from(SYMBOLS), st.sampled_from([*SYMBOLS, 2, 3]))
def test_substitution_is_evaluation_elsewhere(formula, old, new):
    target = Dim.symbol(new) if isinstance(new, Symbol) else Dim.of(new)
    replaced = substitute(formula, {old: target})
    assert old not in symbols(replaced) or old is new
    for values, truths in worlds([formula, replaced], floor=1):
        values = {**dict.fromkeys(SYMBOLS, 2), **values}
        moved = {**values, old: values[new] if isinstance(new, Symbol) else new}
        assert evaluate(replaced, values, truths) == evaluate(formula, moved, truths)


@quick
@given(formulas, formulas)
def test_connectives(a, b):
    for values, truths in worlds([a, b]):
        left, right = evaluate(a, values, truths), evaluate(b, values, truths)
        assert evaluate(both(a, b), values, truths) == (left and right)
        assert evaluate(either(a, b), values, truths) == (left or right)
        assert evaluate(implies(a, b), values, truths) == (not left or right)


def test_text_as_people_write_it():
    h, b = (Dim.symbol(Symbol(name, n, 1)) for n, name in enumerate("hb"))
    p = Flag("p", 1)
    written = {
        "h >= 63": less(-h, -62),
        "h <= 10": at_least(10, h),
        "h >= 6": less(5, h),
        "h >= b + 1": less(b, h),
        "h % 4 == 0": divisible(h, 4),
        "h*b % 8 == 0": divisible(b * h, 8),
        "h % b != 0": negate(divisible(h, b)),
        "(h + 1) % 4 == 1": equal((h + 5) % 4, 1),
        "h == 1 or h == b": either(equal(h, 1), equal(h, b)),
        "b == h + 2": equal(h + 2, b),
        "p and (not p or h != 3)": both(p, either(negate(p), different(h, 3))),
        "h//2 >= 3": at_least(h // 2, 3),
        "n0 >= 2": at_least(h, 2),
    }
    for text, formula in written.items():
        assert show(formula, (lambda s: f"n{s.serial}") if "n0" in text else None) == text


def test_decided_at_once():
    assert equal(X + 1, X + 1) == TRUE
    assert equal(2 * X, 2 * Y + 1) == FALSE
    assert at_least(X + Y, 1) == TRUE
    assert less(X, 0) == FALSE
    assert at_least(4 * X, 9) == at_least(X, 3)
    assert equal(3 * X, 12) == equal(X, 4)
    assert equal(Y * X, Y * Z) == equal(X, Z)
    assert both(at_least(X, 3), less(X, 3)) == FALSE
    assert either(equal(X, 3), different(X, 3)) == TRUE
    assert both() == TRUE
    assert either() == FALSE


def test_a_comparison_that_divides_by_zero_holds_for_no_values():
    assert [v for v in BOX if evaluate(equal(Y % X, 0), {SYMBOLS[0]: v, SYMBOLS[1]: 6})] == [1, 2, 3, 6]
    assert not evaluate(negate(equal(Y % X, 0)), {SYMBOLS[0]: 0, SYMBOLS[1]: 6})


def test_dynamic_sizes_decide_nothing():
    dyn = Dim.symbol(Symbol("dyn", 9, 0, dynamic=True))
    assert equal(dyn, -1) not in (TRUE, FALSE)
    assert at_least(dyn, -1) not in (TRUE, FALSE)
