"""`[tool.distml]`: found, read, refused in one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.engine.config import Config, ConfigError, load

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
        ("[tool.distml]\nselect = 'SHP'", "select in [tool.distml] must be an array of strings, not 'SHP'"),
        ("[tool.distml]\nselect = [1]", "must be an array of strings"),
        ("[tool.distml]\ntime-limit = 0", "must be a number of seconds above 0"),
        ("[tool.distml]\ntime-limit = true", "must be a number of seconds above 0"),
        ("[tool.distml]\njobs = -1", "must be a whole number, 0 or more"),
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
