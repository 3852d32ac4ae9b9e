"""docs/shapes.md: its commands print what is shown there."""

from __future__ import annotations

from pathlib import Path

from delivery.pages import blocks, shell


def test_the_commands_print_what_is_shown(folder: Path) -> None:
    for name in ("attention.py", "lenet.py"):
        (program,) = blocks("shapes.md", f"py {name}")
        (folder / name).write_text(program, "utf-8")
    for command, shown in [
        (blocks("shapes.md", "sh forward"), blocks("shapes.md", "text forward")),
        (blocks("shapes.md", "sh input"), blocks("shapes.md", "text input")),
        (blocks("shapes.md", "sh layers"), blocks("shapes.md", "text layers")),
    ]:
        done = shell(command[0], folder)
        assert done.returncode == 0, done.stderr
        assert shown[0] in done.stdout
    (command,) = blocks("shapes.md", "sh page")
    assert shell(command, folder).returncode == 0
    assert "[B, N, 3, 8, 8]" in (folder / "attention.html").read_text("utf-8")
