"""Programs over pandas, and what they give: `python tests/interp/pandas_programs.py` writes them down.

It needs pandas, which the tests do without: https://pandas.pydata.org/docs/reference/.
"""

from __future__ import annotations

import io
import json
import warnings
from random import Random
from typing import Any

HEAD = """import io
import numpy as np
import pandas as pd
"""
FILE = "a,b,c,y\n" + "".join(f"{n},{n % 3},{n * 2},{n % 2}\n" for n in range(17))
DATA = (
    "pd.DataFrame({'a': np.arange(20.0), 'b': list(range(20)), 'c': np.zeros(20), 'y': np.arange(20) % 2})",
    "pd.DataFrame({'a': [1, 2, 3], 'b': 4, 'c': [5.0, 6.0, 7.0], 'y': [0, 1, 1]})",
    "pd.DataFrame(np.arange(60.0).reshape(15, 4), columns=['a', 'b', 'c', 'y'])",
    "pd.DataFrame(data=np.arange(60.0).reshape(15, 4), columns=list('abcy'))",
    "pd.DataFrame([[1, 2, 3, 4], [5, 6, 7, 8]], columns=['a', 'b', 'c', 'y'])",
    "pd.DataFrame([{'a': 1, 'b': 2, 'c': 3, 'y': 0}] * 6)",
    f"pd.read_csv(io.StringIO({FILE!r}))",
)
WRONG = (
    "df = pd.DataFrame({'a': np.zeros(5), 'b': np.zeros(6)})",
    "df = pd.DataFrame({'a': np.zeros(5), 'b': [1, 2]})",
    "df = pd.DataFrame(np.zeros((5, 3)), columns=['a', 'b'])",
    "df = pd.DataFrame(np.zeros((5, 1)), columns=['a', 'b', 'c'])",
    "q = df.values @ np.zeros(99)",
    "q = df[['a', 'b']].values @ np.zeros(3)",
    "q = df.drop(columns=['c', 'y']).to_numpy() @ np.zeros((4, 2))",
    "q = df['a'].values + np.zeros(99)",
    "q = df[:2].values @ np.zeros((9, 9))",
)
STEPS = (
    "df = df[['a', 'b', 'y']]",
    "df = df[list(df.columns[:-1]) + ['y']]",
    "df = df[[c for c in df.columns if c != 'b']]",
    "df = df.drop(columns=['c'])",
    "df = df.drop('b', axis=1)",
    "df = df.drop(columns='a', errors='ignore')",
    "df.drop(columns=['c'], inplace=True)",
    "df = df.drop(index=[0])",
    "df = df.drop([0, 1])",
    "df['n'] = df['a'] * 2",
    "df['a'] = np.zeros(len(df))",
    "df.insert(0, 'front', 1)",
    "df = df.assign(m=1, n=lambda d: d['a'])",
    "s = df.pop('c')",
    "del df['b']",
    "df = df[df['a'] > 1]",
    "df = df[(df['a'] > 1) & (df['y'] == 1)]",
    "df = df[~df['a'].isin([1, 2])]",
    "df = df.loc[df['a'] > 2, ['a', 'y']]",
    "df = df.loc[:, ['a', 'y']]",
    "df = df.loc[:2]",
    "s = df.loc[df.a > 0, 'y']",
    "df = df.iloc[:2]",
    "df = df.iloc[1:, :3]",
    "df = df.iloc[:, :-1]",
    "df = df.iloc[::2]",
    "df = df.iloc[[0, 1]]",
    "s = df.iloc[:, -1]",
    "s = df.iloc[0]",
    "s = df['a']",
    "s = df.a",
    "s = s[:2]",
    "s = s.astype(float).fillna(0)",
    "s = s.map(lambda v: v + 1)",
    "s = s + 1",
    "s = s - s.mean()",
    "s = s.reset_index(drop=True)",
    "df = df.dropna()",
    "df.dropna(inplace=True)",
    "df = df.fillna(0)",
    "df.fillna(0, inplace=True)",
    "df = df.astype('float32')",
    "df = df.copy()",
    "df = df.sample(frac=1)",
    "df = df.sample(n=2)",
    "df = df.sample(frac=1).reset_index(drop=True)",
    "df = df.sort_values('a')",
    "df = df.sort_values('a', ignore_index=True)",
    "df = df.reset_index()",
    "df = df.set_index('a')",
    "df.set_index('a', inplace=True)",
    "df = df.rename(columns={'a': 'z'})",
    "df.columns = [c + 'x' for c in df.columns]",
    "df = pd.get_dummies(df, columns=['y'])",
    "df = pd.get_dummies(df.astype(str))",
    "df = pd.concat([df, df])",
    "df = pd.concat([df, df], axis=1)",
    "df = pd.concat([df[['a', 'y']], df.head(1)], ignore_index=True)",
    "df = pd.concat([df[['a', 'y']], df], join='inner')",
    "df = pd.concat({'front': df, 'back': df.tail(2)})",
    "df = pd.concat([df, s.rename('extra')], axis='columns')",
    "s = pd.concat([df['a'], df['y']])",
    "df = pd.concat([df for _ in range(3)])",
    "df[['a', 'y']] = df[['a', 'y']] / 2",
    "df[['a', 'later']] = 3",
    "df.loc[df['a'] > 1, 'marked'] = 1",
    "df.loc[df['a'] > 1, ['a', 'y']] = 1",
    "df.iloc[:, 0] = 1",
    "df = df.rename(columns={'c': 'w', 'b': 'v'})",
    "df = df.rename(columns=str.upper)",
    "df.rename(columns={'a': 'y'}, inplace=True)",
    "df.reset_index(inplace=True)",
    "df = df[df.columns.difference(['c'])]",
    "df = df[df.columns.drop('y')]",
    "df['total'] = df[['a', 'y']].sum(axis=1)",
    "df['kind'] = df['a'].apply(str)",
    "df['spread'] = (df['a'] - df['a'].mean()) / df['a'].std()",
    "df['parts'] = df.groupby('y')['a'].transform('mean')",
    "s = df.mean(axis='columns')",
    "df = df.set_index(['a', 'y'])",
    "df = df.set_index('a', drop=False)",
    "df = df.set_index(np.arange(len(df)))",
    "df = pd.DataFrame(df.values)",
    "df = pd.DataFrame(df.values)\ndf['a'] = 1\ndf['y'] = 2",
    "df = pd.DataFrame()\ndf['a'] = [1, 2]\ndf['y'] = [3, 4]",
    "df = pd.DataFrame(columns=['a', 'y'])\ndf['a'] = [1, 2]",
    "df = df.head(2)",
    "df = df.tail(1)",
    "df = df.drop_duplicates()",
    "df = df.query('a > 1')",
    "df = df.select_dtypes('number')",
    "df = (df - df.mean()) / df.std()",
    "df = df * 2",
    "df = -df",
    "df = df.groupby('y').mean()",
    "df = df.merge(df, on='a')",
    "df = df.isna()",
    "df = df.T",
    "df = df.shift(1)",
    "df.loc[len(df)] = 0",
    "df.loc[:, 'new'] = 3",
    "df.loc[0, 'a'] = 3",
    "df.iloc[0, 0] = 3",
    "df = df.apply(lambda row: row.a, axis=1).to_frame()",
    "q = df.shape",
    "q = df.values",
    "q = df.to_numpy()[:, 0]",
    "q = df['y'].values",
    "q = df[['a', 'b']].to_numpy()",
    "q = s.to_numpy()",
    "q = np.zeros(len(df))",
    "q = np.zeros((len(s), df.shape[1], len(df.columns)))",
    "q = np.asarray(df)",
    "q = df.columns.tolist()",
)
NAMES = ("df.values", "s.values", "df.shape", "len(df)", "len(df.columns)", "q")


def program(seed: int) -> str:
    """A table that is changed, chosen from and read, now and then as it cannot be."""
    random = Random(seed)
    lines = [f"df = {random.choice(DATA)}", "s = df['y']", "q = np.zeros(2)"]
    steps = range(random.randrange(2, 8))
    lines += [random.choice(WRONG) if random.random() < 0.08 else random.choice(STEPS) for _ in steps]
    return HEAD + "\n".join(lines) + "\n"


def told(value: Any) -> Any:
    """A size as it is written down."""
    shape = getattr(value, "shape", None)
    return list(shape) if shape is not None else value


def record(seed: int) -> dict[str, Any]:
    """The sizes that a program leaves, or the line in which it stops."""
    names: dict[str, Any] = {}
    for number, line in enumerate(program(seed).splitlines(), 1):
        try:
            exec(line, names)
        except Exception as error:
            return {"seed": seed, "line": number, "error": (str(error).splitlines() or [""])[0][:100]}
    try:
        return {"seed": seed, "sizes": {name: told(eval(name, names)) for name in NAMES}}
    except Exception:
        return {"seed": seed, "unfit": True}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    assert io
    for number in range(300):
        found = record(number)
        if "unfit" not in found:
            print(json.dumps(found))
