"""What the server does with each message of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types

from distml.server.actions import EXPLAIN, QUICK, actions, explain
from distml.server.buffers import edited
from distml.server.documents import document as read
from distml.server.lenses import MIGRATE, lenses, migrate
from distml.server.looking import hints, hover, origins
from distml.server.messages import plain_range
from distml.server.notebooks import changed, notebook
from distml.server.serve import Server


def register(server: Server) -> None:
    """Let a server heed the messages that this module knows."""
    for name, handler in _HANDLERS.items():
        server.feature(name)(handler)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([QUICK]))(actions)
    server.command(EXPLAIN)(explain)
    server.command(MIGRATE)(migrate)


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """Check a document that was opened."""
    given = params.text_document
    opened = read(given.uri, given.language_id, given.version, given.text)
    if opened is not None:
        ls.begin(opened)


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """Check a document that was edited."""
    document = ls.documents.get(params.text_document.uri)
    if document is None:
        return
    text = document.text
    for change in params.content_changes:
        text = edited(text, plain_range(change), change.text, ls.units)
    ls.change(document, text, params.text_document.version)


def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    """Check a document that was saved, and what reads it: on disk there may be more than one change."""
    ls.save(params.text_document.uri)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a document."""
    ls.close(params.text_document.uri)


def did_open_notebook(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    """Check a notebook that was opened."""
    opened = notebook(params)
    if opened is not None:
        ls.begin(opened)


def did_change_notebook(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    """Check a notebook whose cells were edited, moved, added or removed."""
    document = ls.documents.get(params.notebook_document.uri)
    if document is not None:
        ls.change(document, changed(document, params.change, ls.units), params.notebook_document.version)


def did_save_notebook(ls: Server, params: types.DidSaveNotebookDocumentParams) -> None:
    """Check a notebook that was saved."""
    ls.save(params.notebook_document.uri)


def did_close_notebook(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    """Forget a notebook."""
    ls.close(params.notebook_document.uri)


def initialize(ls: Server, params: types.InitializeParams) -> None:
    """Take the settings that come with the first message."""
    ls.take_settings(params.initialization_options)


async def initialized(ls: Server, _params: types.InitializedParams) -> None:
    """Ask for the settings, and to be told of files that change on disk."""
    await ls.read_settings(None)
    await ls.watch_files()


async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    """Read the settings again; no finding depends on them."""
    await ls.read_settings(params.settings)


def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Check again what files that changed on disk may change."""
    ls.files_changed(params.changes)


def folders_changed(ls: Server, _params: object) -> None:
    """Check everything again: the folders of the workspace are other ones."""
    ls.check_all()


_HANDLERS: dict[str, Callable[..., Any]] = {
    types.INITIALIZE: initialize,
    types.INITIALIZED: initialized,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: files_changed,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: folders_changed,
    types.TEXT_DOCUMENT_HOVER: hover,
    types.TEXT_DOCUMENT_TYPE_DEFINITION: origins,
    types.TEXT_DOCUMENT_INLAY_HINT: hints,
    types.TEXT_DOCUMENT_CODE_LENS: lenses,
    types.TEXT_DOCUMENT_DID_OPEN: did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: did_change,
    types.TEXT_DOCUMENT_DID_SAVE: did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: did_close,
    types.NOTEBOOK_DOCUMENT_DID_OPEN: did_open_notebook,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: did_change_notebook,
    types.NOTEBOOK_DOCUMENT_DID_SAVE: did_save_notebook,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: did_close_notebook,
}
