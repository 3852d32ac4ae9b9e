"""A notebook whose cells are open shows in each what `distml check` says of the cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distml.cli.main import main

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

CELLS = [
    ("code", "%matplotlib inline\nimport torch\nx = torch.zeros(2, 3)\n"),
    ("markdown", "# Title\n"),
    ("code", "s = '😀'; y = x @ torch.zeros(2, 3)"),
    ("code", "!ls\nz = torch.zeros(4)\nz + x"),
]


def cell_uri(path: Path, name: object) -> str:
    return path.as_uri().replace("file:", "vscode-notebook-cell:") + f"#{name}"


def items(path: Path, cells: list[tuple[str, str]]) -> tuple[list[Any], list[Any]]:
    """Cells and their texts as a client sends them."""
    from lsprotocol import types

    kinds = {"code": types.NotebookCellKind.Code, "markdown": types.NotebookCellKind.Markup}
    languages = {"code": "python", "markdown": "markdown"}
    return (
        [types.NotebookCell(kinds[kind], cell_uri(path, number)) for number, (kind, _) in enumerate(cells)],
        [
            types.TextDocumentItem(cell_uri(path, number), languages[kind], 1, text)
            for number, (kind, text) in enumerate(cells)
        ],
    )


def expected(path: Path, cells: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """What the command says: the number of the cell from 0, code and place in UTF-16."""
    written = [{"cell_type": kind, "metadata": {}, "source": text, "outputs": []} for kind, text in cells]
    path.write_text(json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    capsys.readouterr()
    main(["check", "--no-cache", "--format", "json", path.name])
    path.unlink()

    def units(cell: int, line: int, column: int) -> tuple[int, int]:
        text = cells[cell - 1][1].split("\n")[line - 1]
        return line - 1, len(text[: column - 1].encode("utf-16-le")) // 2

    return sorted(
        (each["cell"] - 1, each["code"], units(each["cell"], each["line"], each["column"]))
        for each in json.loads(capsys.readouterr().out)
    )


def shown(editor: Any, path: Path, count: int) -> list[Any]:
    return sorted(
        (number, each.code, (each.range.start.line, each.range.start.character))
        for number in range(count)
        for each in editor.shown[cell_uri(path, number)][-1].diagnostics
    )


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "n.ipynb"


def test_cells_show_what_the_command_says_of_them(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    wanted = expected(path, CELLS, capsys)
    mended = [*CELLS[:2], ("code", CELLS[2][1].replace("(2, 3)", "(3, 2)")), CELLS[3]]
    wanted_then = expected(path, mended, capsys)
    assert len(wanted) == 2 and len(wanted_then) == 1

    async def scenario(editor: Editor) -> None:
        cells, texts = items(path, CELLS)
        opened = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(opened, texts))
        await editor.until(lambda: cell_uri(path, 3) in editor.shown)
        assert shown(editor, path, 4) == wanted
        about = types.VersionedNotebookDocumentIdentifier(2, path.as_uri())
        cell = types.VersionedTextDocumentIdentifier(2, cell_uri(path, 2))
        text = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 30), types.Position(0, 34)), "3, 2")
        content = types.NotebookDocumentCellContentChanges(cell, [text])
        change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content]))
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(about, change))
        await editor.until(lambda: editor.shown[cell_uri(path, 2)][-1].version == 2)
        await editor.until(lambda: shown(editor, path, 4) == wanted_then)
        asked = types.HoverParams(types.TextDocumentIdentifier(cell_uri(path, 2)), types.Position(0, 10))
        hover = await editor.client.text_document_hover_async(asked)
        assert "y: [2, 2]" in hover.contents.value

    editing(path.parent, scenario)


def test_cells_come_and_go(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        cells, texts = items(path, CELLS)
        opened = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells[:3])
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(opened, texts[:3]))
        await editor.until(lambda: cell_uri(path, 2) in editor.shown)
        about = types.VersionedNotebookDocumentIdentifier(2, path.as_uri())
        array = types.NotebookCellArrayChange(2, 1, [cells[3]])
        closed = [types.TextDocumentIdentifier(cell_uri(path, 2))]
        structure = types.NotebookDocumentCellChangeStructure(array, did_open=[texts[3]], did_close=closed)
        change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure))
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(about, change))
        await editor.until(lambda: cell_uri(path, 3) in editor.shown)
        (found,) = editor.shown[cell_uri(path, 3)][-1].diagnostics
        assert found.range.start.line == 2
        assert not editor.shown[cell_uri(path, 2)][-1].diagnostics
        gone = [types.TextDocumentIdentifier(cell_uri(path, number)) for number in (0, 1, 3)]
        identifier = types.NotebookDocumentIdentifier(path.as_uri())
        editor.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(identifier, gone))
        await editor.until(lambda: not editor.shown[cell_uri(path, 3)][-1].diagnostics)

    editing(path.parent, scenario)
