"""`[tool.distml]`: found, read, refused in one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from distml.engine.config import Config, ConfigError, load
from distml.engine.run import run

from engine.fakes import fake

EVERYTHING = """
[tool.distml]
select = ["SHP"]
ignore = ["SHP504"]
exclude = ["vendored"]
src = ["lib"]
time-limit = 2.5
memory-limit = 512
max-file-size = 1000
jobs = 3
respect-gitignore = true
[tool.distml.per-file-ignores]
"tests/*" = ["SHP1"]
"""


def test_everything_is_read(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(EVERYTHING)
    assert load(None, ".") == Config(
        folder=str(folder),
        select=("SHP",),
        ignore=("SHP504",),
        exclude=("vendored",),
        src=("lib",),
        time_limit=2.5,
        memory_limit=512,
        max_file_size=1000,
        jobs=3,
        respect_gitignore=True,
        per_file_ignores=(("tests/*", ("SHP1",)),),
    )


def test_the_nearest_file_with_a_table_counts(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.distml]\njobs = 5\n")
    (folder / "inner").mkdir()
    (folder / "inner/pyproject.toml").write_text("[tool.other]\nname = 'distml'\n")
    assert load(None, "inner").jobs == 5
    (folder / "inner/pyproject.toml").write_text("[tool.distml]\n")
    assert load(None, "inner") == Config(folder=str(folder / "inner"))


def test_a_given_file_counts(folder: Path) -> None:
    (folder / "other.toml").write_text("[tool.distml]\njobs = 7\n")
    assert load("other.toml", ".").jobs == 7


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.distml]\nslect = []", "unknown key 'slect'"),
        (
            "[tool.distml]\nselect = 'SHP'",
            "select in [tool.distml] must be an array of strings without NUL, of at most 1000 characters, not 'SHP'",
        ),
        ("[tool.distml]\nselect = [1]", "must be an array of strings"),
        ("[tool.distml]\ntime-limit = 0", "must be a number of seconds above 0"),
        ("[tool.distml]\ntime-limit = true", "must be a number of seconds above 0"),
        ("[tool.distml]\njobs = -1", "must be a whole number from 0 to 1000"),
        ("[tool.distml]\nmemory-limit = 1.5", "must be a whole number of MiB"),
        ("[tool.distml]\nrespect-gitignore = 1", "must be true or false"),
        ("[tool.distml]\nper-file-ignores = []", "must be a table"),
        ("[tool]\ndistml = 3", "tool.distml must be a table"),
        ("[tool.distml\n", "not valid TOML"),
        ("# distml\n\x00", "not valid TOML"),
    ],
)
def test_mistakes_are_one_clear_line(folder: Path, text: str, says: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load(None, ".")
    assert says in str(error.value)
    assert "pyproject.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: cannot be read"):
        load("absent.toml", ".")


def test_a_file_that_does_not_mention_distml_is_not_parsed(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[not valid")
    assert load(None, ".") == Config()


KEYS = [name.replace("_", "-") for name in Config._fields if name != "folder"]
INTEGERS = [-1, 0, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**18, 10**30, -(10**30), 10**400]
WORDS = [
    "",
    "SHP",
    "all",
    "*",
    ".",
    "..",
    "/",
    "~",
    "-",
    "\\u0000",
    "a\\u0000b",
    "\\ud7ff",
    "\\u001b[31m",
    "a\\nb",
    "[",
]
LONG = [text * 50_000 for text in ("a", "a/", "../", "*", "[", "[a-", "?", "**/")]
LONG += [text[:999] for text in LONG]
FLOATS = "nan inf -inf 1e400 -1e400 1e308 1e-320 0.0 -0.0 0.5".split()
OTHERS = "true false 1979-05-27 07:32:00 1979-05-27T07:32:00Z {} {a={b={}}} [] [[[]]]".split()
_NESTED = [f"{'[' * depth}{']' * depth}" for depth in (50, 500, 50_000)] + ["{a=" * 500 + "1" + "}" * 500]
_STRINGS = st.sampled_from(WORDS + LONG).map(lambda text: f'"{text}"') | st.text(
    st.characters(min_codepoint=32, blacklist_categories=["Cs"], blacklist_characters='"\\\x7f'), max_size=8
).map(lambda text: f'"{text}"')
_SINGLE = st.one_of(
    _STRINGS, st.sampled_from(FLOATS + OTHERS + _NESTED), st.sampled_from(INTEGERS).map(str), st.integers().map(str)
)
VALUES = st.one_of(
    _SINGLE,
    st.lists(_SINGLE, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    st.dictionaries(
        _STRINGS, _SINGLE | st.lists(_STRINGS, max_size=2).map(lambda items: f"[{', '.join(items)}]"), max_size=2
    ).map(lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(KEYS), VALUES)
@example("src", '["\\u0000"]')
@example("memory-limit", str(10**30))
@example("jobs", str(10**9))
@example("time-limit", "1e400")
@example("exclude", "[" * 50_000 + "]" * 50_000)
def test_any_value_of_any_key_is_obeyed_or_refused_in_one_line(folder: Path, key: str, value: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.distml]\n{key} = {value}\n", "utf-8")
    (folder / "a.py").write_text("import torch\n# follow b\nboom\n")
    try:
        report = run(["."], load(None, "."), checker=fake)
    except ConfigError as error:
        assert "\n" not in str(error) and len(str(error)) < 2000
        return
    assert {each.code for each in report.diagnostics} <= {"SHP101", "SRC103", "SRC106"}


def test_a_file_without_end_is_no_configuration() -> None:
    with pytest.raises(ConfigError, match="more than"):
        load("/dev/zero", ".")
