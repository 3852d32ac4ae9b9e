"""Programs over scikit-learn, and what they give: `python tests/interp/sklearn_programs.py` writes them down.

It needs scikit-learn, which the tests do without: https://scikit-learn.org/stable/api/.
"""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

HEAD = """import numpy as np
import pandas as pd
from sklearn import datasets, linear_model, metrics
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelEncoder, MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler, scale
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
frame = pd.DataFrame(np.arange(240.0).reshape(60, 4) % 17, columns=['a', 'b', 'c', 'y']).astype({'y': int})
"""
DATA = (
    "datasets.load_iris(return_X_y=True)",
    "datasets.load_wine(return_X_y=True)",
    "datasets.load_breast_cancer(return_X_y=True)",
    "datasets.load_diabetes(return_X_y=True)",
    "datasets.load_digits(return_X_y=True)",
    "datasets.make_classification(60, 7, random_state=0)",
    "datasets.make_classification(n_samples=45, n_features=6, n_informative=3, n_classes=3, random_state=0)",
    "datasets.make_regression(n_samples=50, n_features=5)",
    "datasets.make_regression(40, 3, n_informative=2, n_targets=2)",
    "datasets.make_blobs(80, 3, centers=4)",
    "datasets.make_moons(50)",
    "datasets.make_circles(n_samples=31, noise=0.1)",
    "datasets.make_swiss_roll(40)",
    "datasets.make_s_curve(n_samples=33)",
)
TABLES = (
    "frame[['a', 'b', 'c']], frame['y']",
    "frame.drop(columns='y'), frame.y",
    "frame.drop('y', axis=1), frame['y'].values",
    "frame[['a', 'b']].to_numpy(), frame['y']",
    "frame.iloc[:, :-1], frame.iloc[:, -1]",
    "datasets.load_iris(return_X_y=True, as_frame=True)",
    "(lambda found: (found.frame.drop(columns='target'), found.target))(datasets.load_wine(as_frame=True))",
    "(lambda found: (found.data, found.frame['target']))(datasets.load_breast_cancer(as_frame=True))",
)
SPLITS = (
    "",
    ", test_size=0.2",
    ", test_size=0.33, random_state=1",
    ", test_size=10",
    ", train_size=0.7",
    ", train_size=20, test_size=0.1",
    ", test_size=0.25, shuffle=False",
)
STEPS = (
    "a, b, c, d = train_test_split(X, y{split})",
    "a, b = train_test_split(X{split})",
    "a, b, c, d = train_test_split(a, y{split})",
    "s = {scaler}()\na = s.fit_transform(a)\nb = s.transform(b)",
    "s = {scaler}().fit(X)\nb = s.transform(b)",
    "a = s.transform(a)",
    "b = s.transform(b[0])",
    "b = s.transform(b[:1])",
    "a = scale(a)",
    "p = PCA(n_components={n})\na = p.fit_transform(a)",
    "b = p.transform(b)",
    "p = PCA({n}).fit(X)\nb = p.transform(b)",
    "m = {model}().fit(a, c)",
    "m = {model}()\nm.fit(X, y)",
    "q = m.predict(b)",
    "q = m.predict(a)",
    "q = m.predict(b[0])",
    "m.score(b, d)",
    "metrics.{metric}(d, q)",
    "metrics.{metric}(y, q)",
    "c = LabelEncoder().fit_transform(c)",
    "q = KMeans(n_clusters=3, n_init=1).fit_predict(X)",
    "a = a[:, :2]",
    "X = X.reshape(-1)",
    "p = make_pipeline({scaler}(), {model}())\np.fit(a, c)\nq = p.predict(b)",
    "p = Pipeline([('scale', {scaler}()), ('parts', PCA({n}))])\na = p.fit_transform(a)\nb = p.transform(b)",
    "p = Pipeline([('nothing', 'passthrough'), ('model', {model}())]).fit(X, y)\nq = p.predict(b)\np.score(b, d)",
    "p = make_pipeline({scaler}(), PCA(2)).fit(X)\nq = p[:-1].transform(X)",
    "q = cross_val_score({model}(), X, y, cv=3)",
    "q = GridSearchCV(GaussianNB(), {{'var_smoothing': [1e-9]}}, cv=2).fit(a, c).predict(b)",
    "X = X[:20]",
    "c, d = np.asarray(c), np.asarray(d)",
    "a, c = a[:20], c[:20]",
)
SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer")
MODELS = (
    *(
        "linear_model.LinearRegression",
        "linear_model.Ridge",
        "RandomForestRegressor",
        "DecisionTreeRegressor",
        "GaussianNB",
    ),
    *(
        "RandomForestClassifier",
        "KNeighborsClassifier",
        "SVC",
        "DecisionTreeClassifier",
        "linear_model.LogisticRegression",
    ),
)
METRICS = ("accuracy_score", "mean_squared_error", "r2_score", "mean_absolute_error", "confusion_matrix")
NAMES = "Xyabcdq"


def program(seed: int) -> str:
    """Samples and labels that are split, scaled and learned from, some of them as they should not be."""
    random = Random(seed)
    made = random.choice(TABLES if random.random() < 0.4 else DATA)
    lines = [f"X, y = {made}", f"a, b, c, d = train_test_split(X, y{random.choice(SPLITS)})", "q = d"]
    for _ in range(random.randrange(2, 7)):
        step = random.choice(STEPS)
        lines.append(
            step.format(
                split=random.choice(SPLITS),
                scaler=random.choice(SCALERS),
                n=random.choice((1, 2, 2, 5, 40)),
                model=random.choice(MODELS),
                metric=random.choice(METRICS),
            )
        )
    return HEAD + "\n".join(lines) + "\n"


def record(seed: int) -> dict[str, Any]:
    """The shapes that a program leaves, or the line in which it stops."""
    names: dict[str, Any] = {}
    text = program(seed)
    done = 0
    for number, line in enumerate(text.splitlines(), 1):
        try:
            exec(line, names)
        except NameError:
            return {"seed": seed, "unfit": True}
        except Exception as error:
            return {"seed": seed, "line": number, "error": str(error).splitlines()[0][:100]}
        done = number
    return {"seed": seed, "lines": done, "shapes": {f"np.asarray({name})": list(names[name].shape) for name in NAMES}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for number in range(400):
        found = record(number)
        if "unfit" not in found:
            print(json.dumps(found))
