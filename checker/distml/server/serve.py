"""The language server: documents come in, findings go out."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from distml.diagnostics.printable import safe
from distml.diagnostics.version import VERSION
from distml.engine.one import FLEETING, describe
from distml.server.buffers import UTF16
from distml.server.documents import Document, path_of, root_of, uri_of
from distml.server.messages import diagnostic, range_of
from distml.server.notebooks import SELECTED
from distml.server.remote import Checks, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Sequence

PAUSE = 0.05  # seconds without a change before a text is checked
TYPING = 0.4  # seconds between two changes by somebody who types: fewer, and the second waits for the pause
SECTION = "distml"  # of a client's settings
WATCHED = ("**/*.py", "**/*.pyi", "**/pyproject.toml", "**/.gitignore")


class Server(LanguageServer):
    """Knows the open documents and what was found in each of them."""

    def __init__(self) -> None:
        super().__init__("distml", VERSION, notebook_document_sync=SELECTED)
        self.checks = Checks()
        self.documents: dict[str, Document] = {}
        self._published: dict[str, dict[str, list[types.Diagnostic]]] = {}
        self._refused: set[str] = set()
        self._watched = False
        self.settings: dict[str, Any] = {}

    # --- what clients are told -----------------------------------------------------------------

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A message that cannot be read or answered is one line in the log."""
        self.log(f"{source.__name__}: {error}", types.MessageType.Error)

    def log(self, message: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Write a line to the client's log."""
        self.window_log_message(types.LogMessageParams(kind, safe(" ".join(message.split()))))

    @property
    def units(self) -> str:
        """How the client counts characters."""
        return str(types.PositionEncodingKind(self.workspace.position_encoding or UTF16).value)

    def root(self, path: str) -> str:
        """The folder that a file is checked from where no configuration says."""
        workspace = self.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri]
        return root_of(path, [each for uri in uris if uri and (each := path_of(uri))])

    def placed(self, place: dict[str, Any]) -> tuple[str, types.Range]:
        """The document and the range that a place stands for."""
        real = os.path.realpath(place["path"])
        open_ = (each for each in self.documents.values() if each.path == place["path"] or each.real == real)
        document, where = next(open_, None), range_of(place["range"])
        if "cell" in place:
            cells = document.cells if document is not None else None
            if cells is not None and place["cell"] <= len(cells):
                return cells[place["cell"] - 1].uri, where
            first, last = place["lines"]  # a notebook as the text that it is stored in
            where = range_of([first - 1, 0, last, 0])
        return document.uri if document is not None else uri_of(place["path"]), where

    def showing(self, uri: str) -> Document | None:
        """The document that a client shows as this one: that itself, or the notebook of a cell."""
        return next((each for each in self.documents.values() if uri in each.shown), None)

    # --- settings and files --------------------------------------------------------------------

    async def read_settings(self, given: object) -> None:
        """Take the settings of the client: those it pushes, else those it has when it is asked."""
        taken, workspace = self.take_settings(given), self.client_capabilities.workspace
        if not taken and workspace is not None and workspace.configuration:
            asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
            answers = await self.workspace_configuration_async(asked)
            self.take_settings(answers[0] if answers else None)
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            await self.workspace_inlay_hint_refresh_async(None)

    def take_settings(self, given: object) -> bool:
        """Take settings as a client sends them; whether there are any."""
        settings = given.get(SECTION, given) if isinstance(given, dict) else None
        if not settings or not isinstance(settings, dict):
            return False
        self.settings = settings
        return True

    async def watch_files(self) -> None:
        """Ask the client, where it can, to tell of files that change on disk."""
        workspace = self.client_capabilities.workspace
        watched = None if workspace is None else workspace.did_change_watched_files
        if watched is not None and watched.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("distml.files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await self.client_register_capability_async(types.RegistrationParams([registration]))
            self._watched = True

    # --- checks --------------------------------------------------------------------------------

    def begin(self, document: Document) -> None:
        """A document was opened."""
        self.documents[document.uri] = document
        document.edited, document.news = True, document.differs()
        self.check(document, 0)

    def change(self, document: Document, text: str, version: int) -> None:
        """A document has another text. It is checked at once, or after a pause while somebody types."""
        last, document.changed = document.changed, time.monotonic()
        document.text, document.version, document.edited, document.news = text, version, True, True
        self.check(document, PAUSE if document.changed - last < TYPING else 0)

    def save(self, uri: str) -> None:
        """A document was saved: data that it reads may have changed; where nobody tells of files, so may what others read."""
        document = self.documents.get(uri)
        if document is not None:
            document.news |= not self._watched
            self.check(document)

    def files_changed(self, events: Sequence[types.FileEvent]) -> None:
        """Files changed on disk: check every document, unless all of these are open, whose buffers count and not the files."""
        open_ = {each.real for each in self.documents.values()}
        changed = types.FileChangeType.Changed
        if not all(each.type == changed and _real(each.uri) in open_ for each in events):
            self.check_all()

    def close(self, uri: str) -> None:
        """A document was closed: the file on disk counts again, and nothing more is said of it."""
        document = self.documents.pop(uri, None)
        if document is None:
            return
        document.stop()
        self.checks.keep(document.real, None)
        self._publish(document, [])
        if document.differs():
            self._check_readers(document)

    def check(self, document: Document, pause: float = PAUSE) -> None:
        """Check a document soon; a check of what it was before is given up."""
        document.stop()
        document.task = asyncio.get_running_loop().create_task(self._check(document, pause))

    async def shapes(self, document: Document) -> list[dict[str, Any]]:
        """The shapes in a document, for all who ask at once; none where they cannot be had."""
        if document.shapes is None:
            await document.settled()  # whoever checks knows the text then
            if document.shapes is None:
                document.shapes = asyncio.get_running_loop().create_task(self._shapes(document))
        shapes = document.shapes
        await asyncio.wait([shapes])
        return [] if shapes.cancelled() else shapes.result()

    async def _shapes(self, document: Document) -> list[dict[str, Any]]:
        try:
            found = await self.checks.ask("shapes", document.path, self.root(document.path), self.units)
        except NoAnswerError as error:
            self.log(f"{document.path}: {error}", types.MessageType.Error)
            return []
        return list(found)

    def check_all(self) -> None:
        """Check every open document."""
        for document in self.documents.values():
            self.check(document)

    async def _check(self, document: Document, pause: float) -> None:
        await asyncio.sleep(pause)
        version = document.version
        edited, document.edited = document.edited, False
        news, document.news = document.news, False
        if edited:
            self.checks.keep(document.real, document.text)
        try:
            answer = await self.checks.ask("findings", document.path, self.root(document.path), self.units)
            document.reads, document.checked = frozenset(answer["reads"]), version
            self._publish(document, answer["findings"])
        except NoAnswerError as error:
            self._failed(document, error)
        except Exception as error:  # one document must not end the server
            self.log(f"{document.path}: {describe(error)}", types.MessageType.Error)
        if news:
            self._check_readers(document)

    def _check_readers(self, document: Document) -> None:
        """Check the documents whose findings depend on this one."""
        for each in self.documents.values():
            if each is not document and document.real in each.reads:
                self.check(each)

    def _failed(self, document: Document, error: NoAnswerError) -> None:
        self.log(f"{document.path}: {error}", types.MessageType.Error)
        if error.refused:
            self._publish(document, [])
            if str(error) not in self._refused:
                self._refused.add(str(error))
                self.window_show_message(
                    types.ShowMessageParams(types.MessageType.Error, f"distml: {safe(str(error))}")
                )

    def _publish(self, document: Document, entries: list[dict[str, Any]]) -> None:
        """Show the findings of a check, those in other files too; what its last check found is gone."""
        document.entries = entries
        own = document.shown
        found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in own}
        for entry in entries:
            uri, _ = self.placed(entry["place"])
            found.setdefault(uri, []).append(diagnostic(entry, self.placed))
            if entry["code"] in FLEETING:
                self.log(f"{document.path}: {entry['code']}: {entry['message']}")
        before = {each for each, by in self._published.items() if document.uri in by}
        for uri in (*sorted({*found, *before} - own.keys()), *own):
            by = self._published.setdefault(uri, {})
            by.pop(document.uri, None)
            if uri in found:
                by[document.uri] = found[uri]
            shown: list[types.Diagnostic] = []
            for each in (each for some in by.values() for each in some):
                if all((each.code, each.range) != (other.code, other.range) for other in shown):
                    shown.append(each)
            about = self.showing(uri)
            version = None if about is None else about.shown[uri]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version))


def _real(uri: str) -> str | None:
    """The file that a URI leads to, None for one that leads to none."""
    path = path_of(uri)
    return None if path is None else os.path.realpath(path)
