"""Notebooks whose cells are documents of their own: they are checked as the file that the editor would save."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from lsprotocol import types

from distml.server.buffers import edited
from distml.server.documents import Cell, Document, path_of
from distml.server.messages import plain_range

SELECTED = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook(notebook="jupyter-notebook")], save=True
)


def notebook(params: types.DidOpenNotebookDocumentParams) -> Document | None:
    """A notebook that was opened; None where it is no file."""
    given = params.notebook_document
    path = path_of(given.uri)
    if path is None:
        return None
    opened = Document(given.uri, path, os.path.realpath(path), "", given.version)
    opened.cells = _cells(given.cells, params.cell_text_documents, [])
    opened.text = text_of(opened.cells)
    return opened


def changed(document: Document, change: types.NotebookDocumentChangeEvent, units: str) -> str:
    """The text of a notebook after a change of its cells: of which there are, then of their texts."""
    cells = document.cells or []
    if change.cells is not None and change.cells.structure is not None:
        moved = change.cells.structure
        start, gone = moved.array.start, moved.array.delete_count
        cells[start : start + gone] = _cells(moved.array.cells or [], moved.did_open or [], cells)
    for each in (change.cells.text_content or []) if change.cells is not None else []:
        for cell in (cell for cell in cells if cell.uri == each.document.uri):
            for one in each.changes:
                cell.text = edited(cell.text, plain_range(one), one.text, units)
            cell.version = each.document.version
    document.cells = cells
    return text_of(cells)


def text_of(cells: Iterable[Cell]) -> str:
    """A notebook with these cells, in Jupyter's format 4."""
    written = [{"cell_type": each.kind, "metadata": {}, "source": each.text, "outputs": []} for each in cells]
    kernel = {"language_info": {"name": "python"}}
    return json.dumps({"cells": written, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _cells(
    wanted: Iterable[types.NotebookCell], texts: Iterable[types.TextDocumentItem], known: list[Cell]
) -> list[Cell]:
    """Cells with their texts: those that come with them, else those they had; none for others."""
    have = {each.uri: each for each in known}
    for each in texts:
        kind = "code" if each.language_id == "python" else "raw"
        have[each.uri] = Cell(each.uri, kind, each.text, each.version)
    found = []
    for cell in wanted:
        one = have.get(cell.document, Cell(cell.document, "raw", "", 0))
        found.append(
            one if cell.kind == types.NotebookCellKind.Code else Cell(one.uri, "markdown", one.text, one.version)
        )
    return found
