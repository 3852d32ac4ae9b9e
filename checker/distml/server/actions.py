"""What an editor offers to do about a finding: mend it, hide it by a comment, explain its rule."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from distml.diagnostics.registry import UnknownRuleError, rule
from distml.server.documents import Document
from distml.server.messages import diagnostic
from distml.server.pages import link
from distml.server.remote import NoAnswerError
from distml.server.serve import Server

EXPLAIN = "distml.explain"
QUICK = types.CodeActionKind.QuickFix


async def actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """What can be done about the findings in a range."""
    document = ls.showing(params.text_document.uri)
    only = params.context.only
    if document is None or (only is not None and not any(QUICK.value.startswith(each) for each in only)):
        return None
    await document.settled()
    if document.checked != document.version:
        return None
    found: list[types.CodeAction] = []
    for entry in document.entries:
        uri, where = ls.placed(entry["place"])
        if uri == params.text_document.uri and where.start <= params.range.end and params.range.start <= where.end:
            found += await _about(ls, document, entry)
    return found


async def _about(ls: Server, document: Document, entry: dict[str, Any]) -> list[types.CodeAction]:
    about, code = [diagnostic(entry, ls.placed)], entry["code"]
    found = []
    if "fix" in entry:
        edit = edit_of(ls, entry["fix"]["edits"])
        title = f"{entry['fix']['title']} ({code})"
        found.append(types.CodeAction(title, kind=QUICK, diagnostics=about, is_preferred=True, edit=edit))
    try:
        hiding = await ls.checks.ask("suppression", document.path, ls.root(document.path), ls.units, entry["finding"])
    except NoAnswerError as error:
        ls.log(f"{document.path}: {error}", types.MessageType.Error)
        hiding = []
    if hiding:
        title = f"Suppress {code} with a comment"
        found.append(types.CodeAction(title, kind=QUICK, diagnostics=about, edit=edit_of(ls, hiding)))
    command = types.Command(f"Explain {code}", EXPLAIN, arguments=[code])
    found.append(types.CodeAction(f"Explain {code}", kind=QUICK, diagnostics=about, command=command))
    return found


def edit_of(ls: Server, edits: list[dict[str, Any]]) -> types.WorkspaceEdit:
    """Edits of documents, of the versions that they were made for where the client can tell."""
    changes: dict[str, list[types.TextEdit]] = {}
    for each in edits:
        uri, where = ls.placed(each["place"])
        changes.setdefault(uri, []).append(types.TextEdit(where, each["text"]))
    workspace = ls.client_capabilities.workspace
    if workspace is None or workspace.workspace_edit is None or not workspace.workspace_edit.document_changes:
        return types.WorkspaceEdit(changes=changes)
    versions = {uri: version for each in ls.documents.values() for uri, version in each.shown.items()}
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), list(made))
            for uri, made in changes.items()
        ]
    )


async def explain(ls: Server, code: str) -> None:
    """Open the page of a rule; where the client cannot, say what the rule is."""
    try:
        asked = rule(str(code))
    except UnknownRuleError:
        ls.log(f"{EXPLAIN}: no rule {code!r}")
        return
    page, window = link(asked.code), ls.client_capabilities.window
    if page is not None and window is not None and window.show_document is not None and window.show_document.support:
        await ls.window_show_document_async(types.ShowDocumentParams(page, take_focus=True))
    else:
        said = f"{asked.code} {asked.name}: {asked.summary}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, said))
