"""The defects of github-action-toolkit end at the adapter: each is shown here, and then to be gone."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.diagnostics.model import Span

from delivery.runner import commands, outputs

pytestmark = pytest.mark.requires("github_action_toolkit")

HOSTILE = [
    "two\nlines",
    "x\n::error::injected",
    "x\r::add-mask::injected",
    "##[error]injected",
    "::error file=a,line=1::injected",
    "100%0A::error::injected",
    "%25%0D%0A",
    "a::b,c=d;e",
    "`${{ secrets.TOKEN }}`",
    "\"quoted\" 'twice' \\",
    "naïve 日本",
    "\udcff",
    "\x1b[31mred",
    "__ENV_DELIMITER__",
    "end\n__ENV_DELIMITER__\ninjected=1",
    "",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.sampled_from("\n\r:#[]%0A3C=,;ab é\udcff\x1b"), max_size=20))
often = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def shown(text: str) -> str:
    from distml.report.context import safe

    return "\n".join(safe(line) for line in text.split("\n"))


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the runner's files are."""
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path


def test_the_toolkit_lets_messages_inject(capsys: pytest.CaptureFixture[str]) -> None:
    import github_action_toolkit

    github_action_toolkit.warning("x\n::error::injected")
    assert [each.name for each in commands(printed(capsys))[0]] == ["warning", "error"]


@often
@given(texts, texts, texts)
def test_a_message_is_one_command(message: str, title: str, path: str) -> None:
    from distml.action import toolkit

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        toolkit.annotate("error", message, title, Span(path, 3, 4, 5, 6))
    ((name, properties, said),), rest = commands(out.getvalue())
    assert (name, said) == ("error", shown(message))
    place = {"line": "3", "endLine": "5", "col": "4", "endColumn": "6"}
    assert properties == {**place, "file": shown(path), **({"title": shown(title)} if shown(title) else {})}
    assert rest == [""]


@often
@given(st.lists(texts))
def test_what_is_echoed_is_no_command(lines: list[str]) -> None:
    from distml.action import toolkit

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        toolkit.echo(lines)
        toolkit.annotate("notice", "after")
    assert [each.name for each in commands(out.getvalue())[0]] == ["notice"]


def test_the_toolkit_leaves_a_group_open(capsys: pytest.CaptureFixture[str]) -> None:
    import github_action_toolkit

    with pytest.raises(KeyError), github_action_toolkit.group("x"):
        raise KeyError
    assert [each.name for each in commands(printed(capsys))[0]] == ["group"]


@pytest.mark.parametrize("title", HOSTILE)
def test_a_group_is_closed(title: str, capsys: pytest.CaptureFixture[str]) -> None:
    from distml.action import toolkit

    with pytest.raises(KeyError), toolkit.group(title):
        raise KeyError
    first, last = commands(printed(capsys))[0]
    assert (first.name, first.message, last.name) == ("group", shown(title), "endgroup")


def test_the_toolkit_changes_outputs(files: Path) -> None:
    import github_action_toolkit

    github_action_toolkit.set_output("x", "two\nlines 100%")
    assert outputs(files / "GITHUB_OUTPUT") == {"x": "two%0Alines 100%25"}
    with pytest.raises(ValueError, match="delimiter"):
        github_action_toolkit.set_output("x", "__ENV_DELIMITER__")


@often
@given(texts, texts)
def test_an_output_is_what_was_set(files: Path, one: str, two: str) -> None:
    from distml.action import toolkit

    (files / "GITHUB_OUTPUT").write_text("")
    toolkit.output("one", one)
    toolkit.output("two", two)
    assert outputs(files / "GITHUB_OUTPUT") == {"one": shown(one), "two": shown(two)}


def test_the_toolkit_takes_false_for_true(monkeypatch: pytest.MonkeyPatch) -> None:
    import github_action_toolkit

    monkeypatch.setenv("INPUT_FIX", "false")
    assert github_action_toolkit.get_user_input_as("fix", bool) is True
    monkeypatch.setenv("INPUT_FIX", "FALSE")
    assert github_action_toolkit.get_user_input_as("fix", bool, True) is True


@pytest.mark.parametrize(
    ("given_as", "means"), [("true", True), (" TRUE\n", True), ("false", False), ("False", False), ("", False)]
)
def test_a_flag(given_as: str, means: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import toolkit

    monkeypatch.setenv("INPUT_CHANGED_ONLY", given_as)
    assert toolkit.flag("changed-only") is means


@pytest.mark.parametrize("wrong", ["yes", "1", "tru", "${{ true }}"])
def test_a_flag_that_is_none(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import toolkit

    monkeypatch.setenv("INPUT_FIX", wrong)
    with pytest.raises(toolkit.InputError, match="must be true or false"):
        toolkit.flag("fix")


def test_lines_of_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import toolkit

    monkeypatch.setenv("INPUT_PATHS", "a b.py\n\n  src \n$(touch x)\n")
    assert toolkit.lines("paths") == ["a b.py", "src", "$(touch x)"]


def test_the_toolkit_makes_lines_in_a_summary(files: Path) -> None:
    import github_action_toolkit

    github_action_toolkit.append_job_summary("| 100%0A# injected |")
    assert (files / "GITHUB_STEP_SUMMARY").read_text() == "| 100\n# injected |\n"


def test_a_summary_is_as_written(files: Path) -> None:
    from distml.action import toolkit

    toolkit.summary("| 100%0A `x` é |\n")
    toolkit.summary("\udcff")
    assert (files / "GITHUB_STEP_SUMMARY").read_text("utf-8") == "| 100%0A `x` é |\n\n\\udcff\n"


def test_a_summary_that_is_too_long_is_cut(files: Path) -> None:
    from distml.action import toolkit

    toolkit.summary("first")
    toolkit.summary("é" * 70 + "\n" + ("é" * 70 + "\n") * 20_000)
    toolkit.summary("not any more")
    text = (files / "GITHUB_STEP_SUMMARY").read_bytes()
    assert len(text) <= toolkit.SUMMARY_LIMIT
    assert text.decode().rstrip().endswith(toolkit.CUT.strip())
    assert "not any more" not in text.decode()


def test_nothing_else_imports_the_toolkit() -> None:
    roots = [Path(__file__).parents[2] / root for root in ("checker", "transforms")]
    users = [path.name for root in roots for path in root.rglob("*.py") if "github_action_toolkit" in path.read_text()]
    assert users == ["toolkit.py"]
