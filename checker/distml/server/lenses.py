"""What an editor offers above the methods that models are called by: annotations, as `distml migrate` finds them."""

from __future__ import annotations

from lsprotocol import types

from distml.diagnostics.printable import safe
from distml.server.actions import edit_of
from distml.server.remote import NoAnswerError
from distml.server.serve import Server

MIGRATE = "distml.migrate"
TITLE = "Annotate the shapes of the inputs"


async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """A lens above each method that a model of the document may be called by."""
    document = ls.showing(params.text_document.uri)
    if document is None:
        return None
    await document.settled()  # whoever answers knows the text then
    try:
        models = await ls.checks.ask("models", document.path, ls.root(document.path), ls.units)
    except NoAnswerError as error:
        ls.log(f"{document.path}: {error}", types.MessageType.Error)
        return None
    found = []
    for each in models:
        uri, where = ls.placed(each["place"])
        found.append(types.CodeLens(where, types.Command(TITLE, MIGRATE, arguments=[uri, each["name"]])))
    return found


async def migrate(ls: Server, uri: str, method: str) -> None:
    """Annotate the inputs of a method in its document; where there is nothing to write, say what was found."""
    document = ls.showing(str(uri))
    if document is None:
        ls.log(f"{MIGRATE}: {uri} is not open")
        return
    await document.settled()
    version = document.version
    try:
        answer = await ls.checks.ask("migration", document.path, ls.root(document.path), ls.units, str(method))
    except NoAnswerError as error:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"distml: {safe(str(error))}"))
        return
    workspace = ls.client_capabilities.workspace
    if answer["edits"] and document.version == version and workspace is not None and workspace.apply_edit:
        edit = edit_of(ls, answer["edits"])
        await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, f"Annotate {method}"))
        return
    said = "\n".join(safe(each) for each in answer["said"])
    ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, said))
