"""A document is checked again only where something that it reads may have changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from server.editor import Editor

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

TEXTS = {
    "main.py": "import torch\nfrom lib import size\n\nx = torch.zeros(2, size)\n",
    "lib.py": "size = 3\n",
    "other.py": "import torch\n\ny = torch.zeros(4)\n",
}


def _saved(name: str) -> Callable[[Editor, Path], None]:
    def tell(editor: Editor, folder: Path) -> None:
        from lsprotocol import types

        document = types.TextDocumentIdentifier((folder / name).as_uri())
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    return tell


def _changed(kind: str, *names: str) -> Callable[[Editor, Path], None]:
    def tell(editor: Editor, folder: Path) -> None:
        from lsprotocol import types

        events = [types.FileEvent((folder / name).as_uri(), types.FileChangeType[kind]) for name in names]
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    return tell


def _configured(editor: Editor, _folder: Path) -> None:
    from lsprotocol import types

    settings = {"distml": {"inlayHints": "all"}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))


def _edited(name: str, text: str) -> Callable[[Editor, Path], None]:
    return lambda editor, folder: editor.replace((folder / name).as_uri(), 2, text)


def _closed(name: str) -> Callable[[Editor, Path], None]:
    return lambda editor, folder: editor.close((folder / name).as_uri())


EVERY = {"main.py", "lib.py", "other.py"}
EVENTS: dict[str, tuple[Callable[[Editor, Path], None], set[str]]] = {
    "settings": (_configured, set()),
    "saved": (_saved("lib.py"), {"lib.py"}),
    "an open file on disk": (_changed("Changed", "lib.py"), set()),
    "open files on disk": (_changed("Changed", "lib.py", "main.py"), set()),
    "another file on disk": (_changed("Changed", "lib.py", "closed.py"), EVERY),
    "a file that is gone": (_changed("Deleted", "lib.py"), EVERY),
    "a new file": (_changed("Created", "new.py"), EVERY),
    "the configuration": (_changed("Changed", "pyproject.toml"), EVERY),
    "an edit of what is read": (_edited("lib.py", "size = 4\n"), {"lib.py", "main.py"}),
    "an edit of what reads": (_edited("main.py", "import torch\n"), {"main.py"}),
    "closed as it is on disk": (_closed("lib.py"), set()),
}


def _checks(editor: Editor, folder: Path) -> dict[str, int]:
    """How often findings of each file were shown: once for each check."""
    return {name: len(editor.shown.get((folder / name).as_uri(), [])) for name in TEXTS}


async def _quiet(editor: Editor, folder: Path, names: set[str]) -> None:
    """Wait until nothing is left to check: whoever asks for a shape waits for the check of its text."""
    from lsprotocol import types

    for _ in range(2):  # a check may start those of readers
        for name in sorted(names):
            place = types.TextDocumentIdentifier((folder / name).as_uri()), types.Position(0, 0)
            await editor.client.text_document_hover_async(types.HoverParams(*place))


@pytest.mark.parametrize("event", EVENTS)
def test_what_is_checked_after(event: str, tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import editing

    (tmp_path / "pyproject.toml").touch()
    for name, text in {**TEXTS, "closed.py": "size = 5\n"}.items():
        (tmp_path / name).write_text(text)
    tell, expected = EVENTS[event]

    async def scenario(editor: Editor) -> dict[str, int]:
        await editor.until(lambda: editor.registered)
        for name in ("main.py", "lib.py", "other.py"):
            await editor.findings(editor.open(tmp_path / name, TEXTS[name]), 1)
        await _quiet(editor, tmp_path, EVERY)
        assert _checks(editor, tmp_path) == dict.fromkeys(TEXTS, 1)  # `lib.py` was opened as `main.py` had read it
        tell(editor, tmp_path)
        left = EVERY - ({"lib.py"} if event.startswith("closed") else set())
        await _quiet(editor, tmp_path, left)
        return _checks(editor, tmp_path)

    watching = types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    )
    found: dict[str, Any] = editing(tmp_path, scenario, workspace=watching)
    again = {
        name for name, count in found.items() if count > 1 and (name, event) != ("lib.py", "closed as it is on disk")
    }
    assert again == expected
