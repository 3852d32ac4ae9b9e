"""The pages for newcomers: followed literally, and their figures measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from delivery.pages import ROOT, blocks, shell
from delivery.repositories import git
from delivery.test_inventory import checkout, installs


@pytest.mark.requires("git", "make")
def test_the_first_five_minutes(tmp_path: Path) -> None:
    """In a fresh clone of what is here, one shell for all commands; only the address leads to this machine."""
    source = checkout(tmp_path / "source")
    git(source, "init", "-q", "-b", "main")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "first")
    install, check, shapes = blocks("start.md", "sh")
    (program,) = blocks("start.md", "py net.py")
    written = f"cat > net.py <<'END'\n{program}END\n"
    address = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": "https://github.com/OWNER/distml"}
    instead = {**address, "GIT_CONFIG_KEY_0": f"url.{source.as_uri()}.insteadOf"}
    asked = "".join(f"{each.strip()} || test $? = 1\n" for each in (check, shapes))
    done = installs(shell(f"unset DISTML_VENV MAKEFLAGS MAKEOVERRIDES\n{install}{written}{asked}", tmp_path, **instead))
    assert "warning[SHP503]" in done.stdout
    finding, shown = blocks("start.md", "text")
    assert f"{finding}\nFound 1 error" in done.stdout
    assert shown in done.stdout
    fixed = program.replace("3, 16, 3)", "3, 16, 3, padding=1)")
    assert "padding=1" in fixed
    (tmp_path / "distml" / "net.py").write_text(fixed, "utf-8")
    assert shell(f". .venv/bin/activate\n{check}", tmp_path / "distml").returncode == 0


def test_questions_about_unknown_shapes(folder: Path) -> None:
    for name in ("features.py", "told.py", "lost.py"):
        (folder / name).write_text(blocks("faq.md", f"py {name}")[0], "utf-8")
    for command, shown, code in [
        (blocks("faq.md", "sh shapes"), blocks("faq.md", "text shapes"), 0),
        (blocks("faq.md", "sh told"), blocks("faq.md", "text told"), 1),
        (blocks("faq.md", "sh verbose"), blocks("faq.md", "text verbose"), 0),
        (["distml check --statistics lost.py"], blocks("faq.md", "text sums"), 0),
    ]:
        done = shell(command[0], folder)
        assert done.returncode == code, done.stderr
        assert shown[0] in done.stdout
    (count,) = blocks("faq.md", "sh statistics")
    assert shell(count, folder).stdout.startswith("1  error[SHP401] feature-mismatch\n")


def test_every_figure_of_the_comparison_is_measured() -> None:
    page, measured = (ROOT / each for each in ("docs/compare.md", "benchmarks/README.md"))
    text = re.sub(r"\]\([^)]*\)", "", page.read_text("utf-8"))
    known = set(re.findall(r"\d[\d.,/]*\d|\d", measured.read_text("utf-8")))
    assert [each for each in re.findall(r"\d[\d.,/]*\d|\d", text) if each not in known] == []
