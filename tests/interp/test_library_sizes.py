"""What calls of SciPy, scikit-learn and pandas give, as the programs that stand for them say and as the libraries do."""

from __future__ import annotations

import pytest

from interp.library_sizes import PANDAS, SCIPY, SKLEARN, TABLES
from interp.programs import errors_of


@pytest.mark.parametrize("library", TABLES)
def test_sizes_are_those_that_the_library_gives(library: str) -> None:
    head, sizes = TABLES[library]
    right = "".join(f"np.zeros({size}) + ({call})\n" for call, size in sizes.items())
    assert not errors_of(head + right)
    wrong = "".join(f"np.zeros({[each + 7 for each in size]}) + ({call})\n" for call, size in sizes.items())
    found = {each.span.line for each in errors_of(head + wrong)}
    first = head.count("\n") + 1
    assert not [call for line, call in enumerate(sizes, first) if line not in found]


WRONG = (
    (SCIPY, "sp.linalg.spsolve(m, np.ones(4))"),
    (SCIPY, "spla.spsolve(s, np.ones(6))"),
    (SCIPY, "spla.splu(s).solve(np.ones(4))"),
    (SKLEARN, "decomposition.PCA(2).fit(X).inverse_transform(np.ones((9, 3)))"),
    (SKLEARN, "cluster.KMeans(2).fit(X).predict(np.ones((9, 5)))"),
    (SKLEARN, "pairwise.cosine_similarity(X, np.ones((9, 5)))"),
    (SKLEARN, "metrics.log_loss(y, np.ones((59, 3)))"),
    (SKLEARN, "model_selection.KFold(3).split(X, y[:50])"),
    (PANDAS, "pd.Series(np.ones(29), index=days)"),
    (PANDAS, "pd.DataFrame({'a': np.ones(31)}, index=days)"),
    (PANDAS, "pd.DataFrame(np.ones((29, 2)), index=days)"),
)


def test_a_mistake_is_told_at_the_call_of_the_program() -> None:
    for head in (SCIPY, SKLEARN, PANDAS):
        calls = [call for its, call in WRONG if its == head]
        found = errors_of(head + "".join(f"{call}\n" for call in calls))
        assert {each.span.line - head.count("\n") for each in found} == set(range(1, len(calls) + 1))


ASKED = (
    (PANDAS, "total = df['a'] * df['b'] + df.sum()\ndf * df\ndf.a.corr(df.b)", "df.values", [30, 2]),
    (SCIPY, "m.max(), m.T > 1, m.multiply(m), m @ m.T, abs(m)", "m.toarray()", [4, 6]),
    (SKLEARN, "p = decomposition.PCA(2).fit(X)\np.noise_variance_, p.n_samples_", "p.components_", [2, 6]),
    (
        SKLEARN,
        "t = tree.DecisionTreeClassifier().fit(X, y)\nt.predict_proba(X)",
        "t.predict_proba(new)[:, 0]",
        [11],
    ),
)
"""An answer of which nothing is known leaves the object that was asked as it was."""


@pytest.mark.parametrize(("head", "asked", "then", "size"), ASKED)
def test_asking_changes_nothing(head: str, asked: str, then: str, size: list[int]) -> None:
    wrong = [each + 7 for each in size]
    found = errors_of(f"{head}{asked}\nnp.zeros({size}) + {then}\nnp.zeros({wrong}) + {then}\n")
    assert [each.code for each in found] == ["SHP102"]


EMPTY = """signal.periodogram(np.empty(0)), signal.welch(np.empty((3, 0)))
signal.stft(np.empty((2, 0)), nperseg=8)
h = signal.freqz(np.ones((3, 5, 1)), worN=16)[1]
h[2, :] + signal.freqz(np.ones(3), worN=16)[1]
"""


def test_no_samples_and_several_filters_are_no_mistake() -> None:
    assert not errors_of(SCIPY + EMPTY)


RIGHT = (
    "folds = model_selection.KFold(3)\nfor a, b in list(folds.split(X)):\n    X[a] @ np.ones((6, 2))",
    "for a, b in model_selection.GroupKFold(2).split(X, y, groups=y):\n    X[b] + np.zeros((7, 6))",
    "model_selection.cross_val_predict(linear_model.Ridge(), X, y, method='decision_function') @ np.ones(2)",
    "decomposition.PCA(0.9).fit(X).components_ @ np.ones((6, 4))",
    "decomposition.PCA().fit_transform(X)[:, :3] @ np.ones((3, 4))",
    "mixture.GaussianMixture(2, covariance_type='tied').fit(X).covariances_ + np.ones((6, 6))",
    "pairwise.cosine_similarity([[1, 2]], [[1, 3]])",
)


def test_what_data_decide_is_no_mistake() -> None:
    assert not errors_of(SKLEARN + "".join(f"{each}\n" for each in RIGHT))
