"""A client that talks to `distml server` as an editor does, and waits for what it is told, however long that takes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

COMMAND = [sys.executable, "-P", "-m", "distml.cli", "server", "--stdio"]
PATIENCE = 300  # seconds until a test is given up


class Editor:
    """The client of a server, and what it was told so far."""

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self.client = LanguageClient(configuration={"": {"distml": settings or {}}})
        self.shown: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.logged: list[str] = []
        self.messages: list[str] = []
        self.opened: list[str] = []
        self.registered: list[str] = []
        self.refreshed = 0
        self.applied: list[types.ApplyWorkspaceEditParams] = []
        self.capabilities: types.ServerCapabilities
        self._news = asyncio.Event()
        for name, heed in {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self._publish,
            types.WINDOW_LOG_MESSAGE: lambda params: self.logged.append(params.message),
            types.WINDOW_SHOW_MESSAGE: lambda params: self.messages.append(params.message),
            types.WINDOW_SHOW_DOCUMENT: self._show,
            types.CLIENT_REGISTER_CAPABILITY: self._register,
            types.WORKSPACE_CONFIGURATION: self._configuration,
            types.WORKSPACE_INLAY_HINT_REFRESH: self._refresh,
            types.WORKSPACE_APPLY_EDIT: self._apply,
        }.items():
            self.client.feature(name)(self._heeding(heed))

    def _heeding(self, heed: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def heeding(params: Any) -> Any:
            answer = heed(params)
            self._news.set()
            return answer

        return heeding

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self.shown.setdefault(params.uri, []).append(params)

    def _show(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self.opened.append(params.uri)
        return types.ShowDocumentResult(True)

    def _register(self, params: types.RegistrationParams) -> None:
        self.registered += [each.method for each in params.registrations]

    def _refresh(self, _params: object) -> None:
        self.refreshed += 1

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.applied.append(params)
        return types.ApplyWorkspaceEditResult(True)

    def _configuration(self, params: types.ConfigurationParams) -> list[Any]:
        return [self.client.get_configuration(section=each.section) for each in params.items]

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something is true of what the server said; what it is."""
        while not (found := holds()):
            self._news.clear()
            await self._news.wait()
        return found

    async def start(self, root: Path | None, options: dict[str, Any] | None, **capabilities: Any) -> None:
        await self.client.start_io(*COMMAND)
        answer = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(**capabilities),
                root_uri=None if root is None else root.as_uri(),
                initialization_options=options,
                workspace_folders=None if root is None else [types.WorkspaceFolder(root.as_uri(), root.name)],
            )
        )
        self.capabilities = answer.capabilities

    def open(self, path: Path, text: str, version: int = 1, language: str = "python") -> str:
        uri = path.as_uri()
        self.open_uri(uri, text, version, language)
        return uri

    def open_uri(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        item = types.TextDocumentItem(uri, language, version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, uri: str, version: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, list(changes)))

    def replace(self, uri: str, version: int, text: str) -> None:
        self.edit(uri, version, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def findings(self, uri: str, version: int | None) -> list[types.Diagnostic]:
        """What is shown for a version of a document."""
        said = await self.until(lambda: [each for each in self.shown.get(uri, []) if each.version == version])
        return list(said[-1].diagnostics)


def editing(
    root: Path | None,
    scenario: Callable[[Editor], Awaitable[Any]],
    options: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    **capabilities: Any,
) -> Any:
    """What a scenario gives, with an editor that has a folder open; the server ends well afterwards.

    `options` are the settings that it sends at first, `settings` those that it has when it is asked.
    """

    async def run() -> Any:
        editor = Editor(settings)
        await editor.start(root, options, **capabilities)
        server = editor.client._server
        answer = await scenario(editor)
        await editor.client.shutdown_session()
        assert server is not None and await server.wait() == 0
        return answer

    async def patiently() -> Any:
        return await asyncio.wait_for(run(), PATIENCE)

    return asyncio.run(patiently())


def partial(line: int, character: int, end_line: int, end_character: int, text: str) -> Any:
    """A change of a part of a document."""
    where = types.Range(types.Position(line, character), types.Position(end_line, end_character))
    return types.TextDocumentContentChangePartial(where, text)
