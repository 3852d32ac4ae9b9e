"""`distml completion`: the shells themselves are asked what they would complete."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from distml.cli.completion import described
from distml.cli.main import main
from distml.cli.shells import Described

COMMANDS = described()


@pytest.fixture
def script(tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", request.param]) == 0
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out)
    return path


def expected(line: str) -> set[str]:
    """What begins like the last word, by the parsers."""
    *before, last = line.split(" ")
    if len(before) == 1:
        return {each for each in (*(c.name for c in COMMANDS), "--help", "--version") if each.startswith(last)}
    command = next(each for each in COMMANDS if each.name == before[1])
    for option in command.options:
        if before[-1] in option.names and option.takes:
            return {each for each in option.choices if each.startswith(last)}
    names = {name for option in command.options for name in option.names}
    return {each for each in (names if last.startswith("-") else command.words) if each.startswith(last)}


def lines() -> list[str]:
    found = ["distml ", "distml c", "distml me", "distml --"]
    for command in COMMANDS:
        found += [f"distml {command.name} {start}" for start in ("", "-", "--", "--f", "--no-", "z")]
        found += [
            f"distml {command.name} {name} " for option in command.options if option.takes for name in option.names
        ]
        found.append(f"distml {command.name} a.py --exit")
    return [*found, "distml check --format s", "distml check a.py --color ne", "distml completion b"]


BASH = """
source "$1"
while IFS= read -r line; do
  IFS=' ' read -r -a COMP_WORDS <<< "$line"
  case "$line" in *' ') COMP_WORDS+=("") ;; esac
  COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
  _distml
  echo "${COMPREPLY[*]}"
done
"""


@pytest.mark.requires("bash")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_what_the_parsers_know(script: Path) -> None:
    asked = lines()
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", str(script)],
        input="\n".join(asked) + "\n",
        text=True,
        capture_output=True,
    )
    assert done.stderr == ""
    answers = [set(each.split()) for each in done.stdout.split("\n")[:-1]]
    assert dict(zip(asked, answers, strict=True)) == {line: expected(line) for line in asked}


@pytest.mark.requires("bash")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_values_after_an_equals_sign(script: Path) -> None:
    asked = 'COMP_WORDS=(distml check --format "=" sa); COMP_CWORD=4; _distml; echo "${COMPREPLY[*]}"'
    done = subprocess.run(["bash", "-c", f'source "$1"; {asked}', "bash", str(script)], text=True, capture_output=True)
    assert (done.stdout, done.stderr) == ("sarif\n", "")


@pytest.mark.requires("fish")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes_what_the_parsers_know(script: Path, tmp_path: Path) -> None:
    asked = [line for line in lines() if not line.endswith((" ", " -", " z"))]
    ask = f"source {script}; while read -l line; complete -C $line | string split -f 1 \\t | string join ' '; echo; end"
    done = subprocess.run(
        ["fish", "--no-config", "-c", ask], input="\n".join(asked) + "\n", text=True, capture_output=True, cwd=tmp_path
    )
    assert done.stderr == ""
    answers = [set(each.split()) for each in done.stdout.splitlines()]
    wanted = [expected(line) for line in asked]
    assert [each for each in answers if each] == [each for each in wanted if each]


ZSH = """
compdef() { print -r -- "compdef $*" }
_describe() { print -rl -- "${(@)${(P)2}%%:*}" }
_arguments() { print -rl -- "$@" }
source "$1"
words=(distml ''); CURRENT=2; _distml
for command in "${@:2}"; do print "@@ $command"; words=(distml $command ''); CURRENT=3; _distml; done
"""


@pytest.mark.requires("zsh")
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_is_told_what_the_parsers_know(script: Path) -> None:
    names = [command.name for command in COMMANDS]
    done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", str(script), *names], text=True, capture_output=True)
    assert done.stderr == ""
    top, *told = done.stdout.split("@@ ")
    assert top.split("\n")[:-1] == ["compdef _distml distml", *names]
    for command, each in zip(COMMANDS, told, strict=True):
        name, *specs = each.split("\n")[:-1]
        assert name == command.name
        assert [spec.partition("[")[0] for spec in specs[2:-1]] == [
            f"*{flag}" for option in command.options for flag in option.names
        ]


def test_what_a_command_says_of_itself_cannot_leave_its_quotes() -> None:
    from distml.cli.shells import SHELLS, Option

    odd = "it's $(touch owned) `touch owned` [x]:y \\"
    command = Described("odd", odd, (Option(("--odd",), True, (), odd),), ())
    for shell, made in SHELLS.items():
        if shutil.which(shell):
            text = f"compdef() {{ :; }}\n{made([command])}" if shell == "zsh" else made([command])
            done = subprocess.run([shell, "-c", text], text=True, capture_output=True)
            assert (done.returncode, done.stderr) == (0, ""), shell
            assert not Path("owned").exists()
