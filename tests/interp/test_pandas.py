"""Rows and columns of pandas, as `source/models/pandas` says them, against recorded runs of it."""

from __future__ import annotations

import re

import pytest

from distml.source.project import MODELS

from interp.pandas_programs import HEAD, program
from interp.programs import errors_of, fits
from interp.recorded import compare

_CALL = re.compile(r"[\w.]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
"""A size that is named by the call which gave it."""


def agreement(said: str, real: object) -> str:
    """How well a size is known."""
    if not isinstance(real, list) or not all(isinstance(each, int) for each in real):
        return "exact" if said == str(real) else "wrong" if said.isdigit() else "vague"
    plain = _CALL.sub("n", said).replace("(", "[").replace(")", "]")
    known = "[" in plain and "list" not in plain
    return "exact" if plain.endswith(str(real)) else "vague" if not known or fits(plain, real) else "wrong"


def test_sizes_are_those_of_recorded_runs() -> None:
    kinds = compare("pandas-3.1.1.jsonl", program, "sizes", agreement)
    assert kinds["exact"] > 360 and kinds["found"] >= 50, kinds


WRONG = (
    "pd.DataFrame({'a': np.zeros(5), 'b': [1, 2]})",
    "pd.DataFrame(np.zeros((5, 3)), columns=['a', 'b'])",
    "pd.DataFrame({'a': [1, 2]}, index=[1, 2, 3]).values",
)


@pytest.mark.parametrize("made", WRONG)
def test_a_table_that_cannot_be_is_told_at_the_line_of_the_program(made: str) -> None:
    found = errors_of(f"{HEAD}x = {made}\n")
    assert [(each.code, each.span.line) for each in found] == [("SHP701", HEAD.count("\n") + 1)]
    assert not found[0].span.path.startswith(MODELS)


COLUMNS = (
    "df = pd.DataFrame({'a': [1, 2, 3]})\ndf['b'] = [1, 2]",
    "df = pd.DataFrame({'a': [1, 2, 3]})\ndf['b'] = np.zeros(4)",
    "df = pd.DataFrame(np.zeros((3, 2)), columns=['a', 'b'])\ndf.columns = ['a', 'b', 'c']",
)


@pytest.mark.parametrize("program", COLUMNS)
def test_a_column_of_another_length_is_told(program: str) -> None:
    found = errors_of(f"{HEAD}{program}\n")
    assert [(each.code, each.span.line) for each in found] == [("SHP701", HEAD.count("\n") + 2)]


RIGHT = (
    "df = pd.DataFrame()\ndf['a'] = [1, 2]\ndf['b'] = (1, 2)",
    "df = pd.DataFrame(columns=['a', 'b'])\ndf['a'] = [1, 2]",
    "df = pd.read_csv('a.csv')\ndf['a'] = [1, 2]\ndf.columns = ['a', 'b', 'c']\ndf.columns = df.columns.str.lower()",
    "df = pd.DataFrame(np.zeros((3, 2)))\ndf['x'] = np.zeros((3, 1))\ndf['y'] = 'abcd'\ndf['z'] = df[0] + 1\ndf['w'] = range(3)",
    "df = pd.DataFrame({'a': [1, 2, 3]})\ndf['b'] = pd.Series([1, 2])\ndf = df[df['a'] > 1]\ndf['c'] = [1, 2]",
    "df = pd.DataFrame({'sum': [1, 2], 'b': [1, 2]})\ndf['rank'] = 1\ndf.values @ np.zeros(3) + df.sum().values.shape[0]",
    "df = pd.DataFrame({'a': [1, 2], 'b': [1, 2]})\ndf.apply(lambda row: np.zeros(3) if row is None else row, axis=1).values + 1",
    "df = pd.DataFrame()\nfor name in 'abc':\n    df[name] = np.zeros(4)\ndf.values @ np.zeros(3)",
    "pd.concat([pd.DataFrame({'a': [1]}), None]).values @ np.zeros(1)",
    "pd.concat([pd.DataFrame({'a': [1, 2]}), pd.DataFrame({'b': [1, 2]}, index=[5, 6])], axis=1).values + np.zeros((4, 2))",
    "pd.read_csv('a.csv').drop(columns=['a', 'b'], errors='ignore').values @ np.zeros(3)",
    "frames = [pd.read_csv(each) for each in 'ab']\npd.concat(frames).values @ np.zeros(3)",
    "pd.read_csv('a.csv', chunksize=4).get_chunk().values @ np.zeros(3)",
    "pd.read_csv('a.csv', header=None)[0].values @ np.zeros(3)",
    "pd.read_csv('a.csv').a.str.split(',', expand=True).values @ np.zeros(3)",
    "pd.DataFrame({'a': pd.Series([1, 2]), 'b': pd.Series([1, 2, 3])}).values @ np.zeros(2)",
    "pd.DataFrame({'a': 1, 'b': np.zeros(())}, index=[0])",
    "pd.DataFrame({'a': 'xyz', 'b': [1, 2]}).values @ np.zeros(2)",
    "pd.concat([pd.DataFrame({'a': [1]})] * 2, axis=1)[['a']].values @ np.zeros(2)",
    "pd.DataFrame(np.zeros((2, 3))).columns.str.upper()",
    "pd.DataFrame(np.zeros((2, 3)), columns=list('abc')).columns.astype(str).str.upper().tolist()[0]",
    "pd.DataFrame({'a': [1, 2]}).nothing.of_this.kind()",
    "pd.nothing_of_this_kind(3).at_all",
    "[row.a for row in pd.DataFrame({'a': [1, 2]}).itertuples()][0] + 1",
    "pd.Series({'a': 1, 'b': 2}).values + np.zeros(2)",
    "pd.Series(3, index=range(4)).values + np.zeros(4)",
    "df = pd.DataFrame({'a': [1, 2], 'y': [1, 2]})\ndf.set_index('a', inplace=True)\ndf.values @ np.zeros(1)",
    "df = pd.DataFrame({'a': [1, 2, 2]})\ndf.loc[9] = 3\ndf.values + np.zeros((4, 1))",
    "df = pd.DataFrame({'a': [1, 2, 2]})\ndf[df > 1] = 3\ndf.values + np.zeros((3, 1))",
    "df = pd.DataFrame({'a': [1, 2, 2]})\ndf[['b', 'c']] = 0\ndf.values + np.zeros((3, 3))",
    "df = pd.DataFrame({'a': [1, 2, 2]})\ndf['b'] = 0\ndel df['a']\ndf.values + np.zeros((3, 1))",
    "def change(d):\n    d.loc[7] = 1\ndf = pd.DataFrame({'a': [1, 2, 2]})\nchange(df)\ndf.values + np.zeros((4, 1))",
    "s = pd.Series([1, 2, 3])\ns[7] = 4\ns.values + np.zeros(4)",
    "if pd.DataFrame({'a': [1, 2]})['a'].eq(3).any():\n    np.zeros(2) + np.zeros(3)",
    "def show(df: pd.DataFrame):\n    return df.values @ np.zeros(3) + df.age.values.reshape(-1, 2)",
)
"""Programs that work, or of which only the data say whether they do."""


@pytest.mark.parametrize("made", RIGHT)
def test_what_the_model_does_not_know_is_no_mistake(made: str) -> None:
    assert not errors_of(f"{HEAD}{made}\n")
