"""docs/shapes.md: its commands print what is shown there."""

from __future__ import annotations

from pathlib import Path

from delivery.pages import blocks, shell


def test_the_commands_print_what_is_shown(folder: Path) -> None:
    (program,) = blocks("shapes.md", "py attention.py")
    (folder / "attention.py").write_text(program, "utf-8")
    for command, shown in [
        (blocks("shapes.md", "sh forward"), blocks("shapes.md", "text forward")),
        (blocks("shapes.md", "sh input"), blocks("shapes.md", "text input")),
    ]:
        done = shell(command[0], folder)
        assert done.returncode == 0, done.stderr
        assert shown[0] in done.stdout
