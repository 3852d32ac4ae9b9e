"""What changes in one place is seen in others: edits, other buffers, files on disk, settings; the last text counts."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

GOOD = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(3, 2)\n"
CALL = "import torch\nfrom b import size\n\nx = torch.zeros(2, 3) @ torch.zeros(size, 2)\n"


@pytest.fixture(autouse=True)
def _marked(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()


def test_each_edit_is_followed(tmp_path: Path) -> None:
    from server.editor import Editor, editing, partial

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", GOOD.replace("x =", "s = '😀'; x ="))
        assert await editor.findings(uri, 1) == []
        editor.edit(uri, 2, partial(2, 46, 2, 47, "4"))
        (found,) = await editor.findings(uri, 2)
        assert (found.code, found.range.start.character) == ("SHP101", 14)
        editor.edit(uri, 3, partial(0, 0, 0, 0, "\n\n"), partial(4, 14, 4, 14, "("), partial(4, 52, 4, 52, ")"))
        (found,) = await editor.findings(uri, 3)
        assert (found.range.start.line, found.range.start.character) == (4, 15)
        editor.replace(uri, 4, GOOD)
        assert await editor.findings(uri, 4) == []

    editing(tmp_path, scenario)


def test_of_many_edits_the_last_one_counts(tmp_path: Path) -> None:
    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", GOOD)
        for version in range(2, 200):
            editor.replace(uri, version, GOOD.replace("(3, 2)", f"({version}, 2)"))
        (found,) = await editor.findings(uri, 199)
        assert "199 rows" in found.message
        versions = [each.version for each in editor.shown[uri]]
        assert versions == sorted(versions)

    editing(tmp_path, scenario)


def test_what_another_buffer_says_counts_before_it_is_saved(tmp_path: Path) -> None:
    from server.editor import Editor, editing

    (tmp_path / "b.py").write_text("size = 3\n")

    async def scenario(editor: Editor) -> None:
        importing = editor.open(tmp_path / "a.py", CALL)
        assert await editor.findings(importing, 1) == []
        other = editor.open(tmp_path / "b.py", "size = 4\n")
        (found,) = await editor.until(lambda: editor.shown[importing][-1].diagnostics)
        assert found.code == "SHP101"
        assert [each.location.uri for each in found.related_information] == [importing, other]
        editor.close(other)
        await editor.until(lambda: not editor.shown[importing][-1].diagnostics)

    editing(tmp_path, scenario)


def test_a_file_that_was_saved_is_read_again(tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    (tmp_path / "b.py").write_text("size = 3\n")

    async def scenario(editor: Editor) -> None:
        importing, other = editor.open(tmp_path / "a.py", CALL), editor.open(tmp_path / "c.py", "import torch\n")
        assert await editor.findings(importing, 1) == []
        await editor.findings(other, 1)
        (tmp_path / "b.py").write_text("size = 4\n")
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(importing)))
        await editor.until(lambda: editor.shown[importing][-1].diagnostics)

    editing(tmp_path, scenario)


def test_a_document_that_is_closed_shows_nothing(tmp_path: Path) -> None:
    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", GOOD.replace("(3, 2)", "(4, 2)"))
        assert await editor.findings(uri, 1)
        editor.close(uri)
        assert await editor.findings(uri, None) == []

    editing(tmp_path, scenario)


def test_a_configuration_that_is_wrong_is_said_once(tmp_path: Path) -> None:
    from server.editor import Editor, editing

    (tmp_path / "pyproject.toml").write_text("[tool.distml]\nnonsense = 1\n")

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", GOOD.replace("(3, 2)", "(4, 2)"))
        assert await editor.findings(uri, 1) == []
        editor.replace(uri, 2, GOOD)
        assert await editor.findings(uri, 2) == []
        assert len(editor.messages) == 1 and "unknown key 'nonsense'" in editor.messages[0]
        (tmp_path / "pyproject.toml").write_text("[tool.distml]\n")
        editor.replace(uri, 3, GOOD.replace("(3, 2)", "(4, 2)"))
        assert len(await editor.findings(uri, 3)) == 1

    editing(tmp_path, scenario)


def test_an_edit_by_itself_is_checked_at_once_and_typing_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.server import serve
    from distml.server.documents import document

    server, pauses = serve.Server(), list[float]()
    monkeypatch.setattr(server, "check", lambda _, pause: pauses.append(pause))
    edited = document("file:///a.py", "python", 1, GOOD)
    assert edited is not None
    for version, now in enumerate([5.0, 5.1, 5.2, 5.7, 9.0, 9.3]):
        monkeypatch.setattr(serve.time, "monotonic", lambda now=now: now)
        server.change(edited, GOOD, version)
    assert pauses == [0, serve.PAUSE, serve.PAUSE, 0, 0, serve.PAUSE]
