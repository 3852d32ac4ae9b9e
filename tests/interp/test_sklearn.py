"""scikit-learn's numbers of samples and features, as `source/models/sklearn` says them, against recorded runs of it."""

from __future__ import annotations

import pytest

from distml.source.project import MODELS

from interp.programs import errors_of, fits
from interp.recorded import compare
from interp.sklearn_programs import HEAD, program


def agreement(said: str, real: list[int]) -> str:
    """How well a size is known."""
    return "exact" if said == f"ndarray{real}" else "vague" if fits(said, real) else "wrong"


def test_sizes_are_those_of_recorded_runs() -> None:
    kinds = compare("scikit-learn-1.9.1.jsonl", program, "shapes", agreement)
    assert kinds["exact"] > 350 and kinds["found"] >= 90, kinds


WRONG = {
    "StandardScaler().fit(frame).transform(frame[['a', 'b']])": "SHP701",
    "GaussianNB().fit(frame.drop(columns='y'), np.zeros(5))": "SHP701",
    "make_pipeline(StandardScaler(), PCA(9)).fit(frame)": "SHP701",
    "StandardScaler().fit(np.zeros((5, 3))).transform(np.zeros((5, 4)))": "SHP701",
    "metrics.accuracy_score(np.zeros(5), np.zeros(6))": "SHP701",
    "train_test_split(np.zeros((5, 3)), np.zeros(4))": "SHP701",
}


@pytest.mark.parametrize("made", WRONG)
def test_a_mistake_is_told_at_the_call_of_the_program(made: str) -> None:
    found = errors_of(f"{HEAD}x = {made}\n")
    assert [(each.code, each.span.line) for each in found] == [(WRONG[made], HEAD.count("\n") + 1)]
    assert not found[0].span.path.startswith(MODELS)


SIZES = {
    "OneHotEncoder(categories=[['a', 'b', 'c'], ['x', 'y']]).fit_transform(np.array([['a', 'x']] * 4)).toarray()": [
        4,
        5,
    ],
    "OneHotEncoder(categories=[['a', 'b']], sparse_output=False).fit_transform(np.array([['a']] * 4))": [4, 2],
    "OneHotEncoder(categories=[['a', 'b'], ['x', 'y', 'z']], drop='first').fit_transform(np.array([['a', 'x']] * 4)).toarray()": [
        4,
        3,
    ],
    "OneHotEncoder(categories=[['a', 'b'], list('xyz')], drop='if_binary').fit_transform(np.array([['a', 'x']] * 4)).toarray()": [
        4,
        4,
    ],
    "PolynomialFeatures(2).fit_transform(np.zeros((6, 4)))": [6, 15],
    "PolynomialFeatures(3, interaction_only=True, include_bias=False).fit_transform(np.zeros((6, 4)))": [6, 14],
    "StandardScaler().fit(np.zeros((6, 4))).mean_": [4],
    "MinMaxScaler().fit(np.zeros((6, 4))).data_range_": [4],
    "linear_model.Ridge().fit(np.zeros((6, 4)), np.zeros(6)).coef_": [4],
    "ColumnTransformer([('s', StandardScaler(), [0, 1]), ('p', PCA(1), [1, 2, 3])]).fit_transform(np.eye(6))": [6, 3],
    "ColumnTransformer([('s', StandardScaler(), [0, 1])], remainder='passthrough').fit_transform(np.eye(6))": [6, 6],
    "ColumnTransformer([('s', StandardScaler(), ['a']), ('d', 'drop', ['b'])]).fit_transform(frame)": [60, 1],
    "np.hstack([scale(frame), np.zeros((60, 2))])": [60, 6],
}
"""What these calls give, as scikit-learn 1.9.1 says."""
MORE = "from sklearn.compose import ColumnTransformer\nfrom sklearn.preprocessing import OneHotEncoder, PolynomialFeatures\n"


@pytest.mark.parametrize("made", SIZES)
def test_what_a_call_gives(made: str) -> None:
    given = f"{HEAD}{MORE}x = {made}\n"
    assert not errors_of(f"{given}np.zeros({SIZES[made]}) + x\nx @ np.zeros({[SIZES[made][-1], 2]})\n")
    wrong = [each + 7 for each in SIZES[made]]
    assert [each.code for each in errors_of(f"{given}x + np.zeros({wrong})\n")] == ["SHP102"]


RIGHT = (
    "StandardScaler().set_output(transform='pandas').fit_transform(frame).columns[0].upper()",
    "import sklearn\nsklearn.set_config(transform_output='pandas')\nStandardScaler().fit_transform(frame).columns[0].upper()",
    "make_pipeline(None, PCA(2)).fit(frame).transform(frame)[:, :2] @ np.zeros((2, 4))",
    "train_test_split(frame['a'].tolist(), frame['y'])[0][0] + 1",
    "scale(frame.select_dtypes('number')) @ np.zeros((3, 2))",
    "datasets.load_iris(as_frame=True).frame.groupby('target').mean().values @ np.zeros((4, 2))",
    "from sklearn.feature_extraction.text import *\nmake_pipeline(CountVectorizer(), SVC()).fit(np.array(['a', 'c']), [0, 1])",
    "from sklearn.pipeline import *\nmake_pipeline(PCA(2), SVC()).fit(np.ones((5, 3)), np.ones(5)).predict(np.ones((2, 3)))",
    "StandardScaler().fit([[1, 2], [3, 4]]).transform([[1, 2]])",
    "KMeans(3).fit(np.zeros((9, 2))).cluster_centers_ @ np.zeros((2, 4))",
    "linear_model.LinearRegression().fit(np.zeros((9, 2)), np.zeros(9)).coef_ @ np.zeros(2)",
    "PCA(0.95).fit_transform(np.zeros((9, 4))) + np.zeros((9, 2))",
    "PCA('mle').fit_transform(np.zeros((9, 4))) + np.zeros((9, 2))",
    "LabelEncoder().fit(['a', 'b']).transform(['a']) + np.zeros(1)",
    "train_test_split(['a', 'b', 'c'], test_size=0.5)[0][0].upper()",
    "metrics.confusion_matrix(np.zeros(5), np.zeros(5)) @ np.zeros((7, 2))",
    "linear_model.Lasso().fit(np.zeros((9, 2)), np.zeros(9)).score(np.zeros((3, 2)), np.zeros(3))",
)
"""Calls that work, or whose sizes only the numbers in the data decide."""


@pytest.mark.parametrize("made", RIGHT)
def test_what_the_model_does_not_know_is_no_mistake(made: str) -> None:
    assert not errors_of(f"{HEAD}{made}\n")


def test_numbers_of_the_library_are_told_as_the_calls_of_the_program() -> None:
    lines = "X, y = datasets.load_iris(return_X_y=True)\nZ, z = datasets.load_wine(return_X_y=True)\n"
    found = errors_of(f"{HEAD}{lines}PCA(9).fit(X)\n")
    assert found[0].message == "PCA(9).fit wants `n_components <= features`: n_components is 9, features is 4"
    places = [(each.span.path, each.span.line - HEAD.count("\n"), each.message) for each in found[0].related]
    assert places == [("program.py", 3, "9 comes from here"), ("program.py", 1, places[1][2])]
