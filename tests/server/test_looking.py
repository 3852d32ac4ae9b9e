"""Hover, hints and origins say what `distml shapes` says; actions change what `distml check` changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distml.cli.main import main

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

MODEL = """import torch
from torch import nn

WIDTH = 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, WIDTH)

    def forward(self, x):
        '😀'; h = self.body(x)
        return h.flatten(1)


y = Net()(torch.randn(2, 5, 3))
z = (y, y)
"""
ALL = {"inlayHints": "all"}


@pytest.fixture(autouse=True)
def _marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)


def seen(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What the command shows of a file."""
    path.write_text(text)
    capsys.readouterr()
    main(["shapes", "--format", "json", path.name])
    path.unlink()
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["shapes"]
    return found


def at(text: str, line: int, column: int) -> tuple[int, int]:
    return line - 1, len(text.split("\n")[line - 1][: column - 1].encode("utf-16-le")) // 2


def texts(entry: dict[str, Any]) -> str:
    return " | ".join(each["text"] for each in entry["values"])


async def hints(editor: Any, uri: str) -> dict[tuple[int, int], str]:
    from lsprotocol import types

    everything = types.Range(types.Position(0, 0), types.Position(999, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
    found = await editor.client.text_document_inlay_hint_async(params)
    return {(each.position.line, each.position.character): each.label for each in found or ()}


@pytest.mark.parametrize("name", ["a model", "attention", "unet", "classifier", "nothing", "broken"])
def test_hints_and_hover_are_what_shapes_shows(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    examples = Path(__file__).parents[2] / "examples"
    own = {"a model": MODEL, "nothing": "import os\n", "broken": "import torch\nx = (\n"}
    text = own.get(name) or (examples / f"{name}.py").read_text("utf-8")
    path = tmp_path / "a.py"
    entries = [] if name == "broken" else seen(path, text, capsys)

    async def scenario(editor: Editor) -> None:
        uri = editor.open(path, text)
        wanted: dict[tuple[int, int], str] = {}
        for each in entries:
            wanted.setdefault(at(text, each["end_line"], each["end_column"]), f": {texts(each)}")
        assert await hints(editor, uri) == wanted
        for each in entries:
            line, character = at(text, each["line"], each["column"])
            asked = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
            hover = await editor.client.text_document_hover_async(asked)
            start, end = hover.range.start, hover.range.end
            (same,) = {
                texts(one)
                for one in entries
                if at(text, one["line"], one["column"]) == (start.line, start.character)
                and at(text, one["end_line"], one["end_column"]) == (end.line, end.character)
            }
            assert f": {same}" in hover.contents.value

    editing(tmp_path, scenario, ALL)
    assert bool(entries) is (name not in ("nothing", "broken"))


def test_numbers_lead_to_where_they_were_born(tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", MODEL)
        place = {"text_document": types.TextDocumentIdentifier(uri), "position": types.Position(12, 14)}
        hover = await editor.client.text_document_hover_async(types.HoverParams(**place))
        assert "8 comes from" in hover.contents.value and f"({uri}#L4)" in hover.contents.value
        born = await editor.client.text_document_type_definition_async(types.TypeDefinitionParams(**place))
        assert (uri, 3) in [(each.uri, each.range.start.line) for each in born]
        place["position"] = types.Position(0, 0)
        assert await editor.client.text_document_hover_async(types.HoverParams(**place)) is None
        place["text_document"] = types.TextDocumentIdentifier("file:///not/open.py")
        assert await editor.client.text_document_hover_async(types.HoverParams(**place)) is None

    editing(tmp_path, scenario)


def test_hints_are_as_many_as_the_settings_say(tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", MODEL)
        assert await hints(editor, uri) == {}
        found = {}
        for wanted in ("assignments", "all", "off", "nonsense"):
            settings = {"distml": {"inlayHints": wanted}}
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
            found[wanted] = await hints(editor, uri)
        assert {(12, 15), (16, 1)} <= found["assignments"].keys()
        assert found["assignments"].items() < found["all"].items()
        assert found["off"] == found["nonsense"] == {}

    editing(tmp_path, scenario)


def test_settings_are_asked_for(tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", MODEL)
        await editor.until(lambda: editor.refreshed)
        assert await hints(editor, uri)

    refreshing = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    asking = types.WorkspaceClientCapabilities(configuration=True, inlay_hint=refreshing)
    editing(tmp_path, scenario, None, ALL, workspace=asking)


def test_what_is_shown_follows_edits(tmp_path: Path) -> None:
    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", "import torch\nx = torch.zeros(2)\n")
        assert (await hints(editor, uri))[1, 1] == ": [2]"
        editor.replace(uri, 2, "import torch\nx = torch.zeros(4)\n")
        assert (await hints(editor, uri))[1, 1] == ": [4]"

    editing(tmp_path, scenario, ALL)


FIXED = {
    "SRC301": "import torch\ns = '😀'; x = torch.zeros(2)  # distml: ignore[SHP101]\n",
    "SHP603": "import torch\nx = torch.zeros(8 / 2, 3)\n",
}
HIDDEN = {
    "a line": "import torch\ns = '😀'; x = torch.zeros(2, 3) @ torch.zeros(2, 3)\n",
    "several lines": 'import torch\nx = torch.zeros(2, 3) @ torch.zeros(2, 3), """\n"""\n',
    "a comment": "import torch\nx = torch.zeros(2, 3) @ torch.zeros(2, 3)  # distml: ignore[SHP504]\n",
}


def applied(text: str, edits: list[Any]) -> str:
    """A text with edits in units of UTF-16."""
    data = [line.encode("utf-16-le") for line in text.split("\n")]
    starts = [sum(len(each) + 2 for each in data[:number]) for number in range(len(data))]
    whole = text.encode("utf-16-le")
    for each in sorted(edits, key=lambda each: each.range.start, reverse=True):
        start = starts[each.range.start.line] + 2 * each.range.start.character
        end = starts[each.range.end.line] + 2 * each.range.end.character
        whole = whole[:start] + each.new_text.encode("utf-16-le") + whole[end:]
    return whole.decode("utf-16-le")


async def offered(editor: Any, uri: str, found: Any) -> dict[str, Any]:
    """What the server offers to do about a finding, by title."""
    from lsprotocol import types

    asked = types.CodeActionParams(types.TextDocumentIdentifier(uri), found.range, types.CodeActionContext([found]))
    return {each.title: each for each in await editor.client.text_document_code_action_async(asked) or ()}


@pytest.mark.parametrize(
    ("text", "code", "title", "option"),
    [
        (FIXED["SRC301"], "SRC301", "remove the comment (SRC301)", "--fix"),
        (FIXED["SHP603"], "SHP603", "divide with // (SHP603)", "--fix"),
        *((text, "SHP101", "Suppress SHP101 with a comment", "--add-ignore") for text in HIDDEN.values()),
    ],
    ids=[*FIXED, *HIDDEN],
)
def test_an_action_changes_what_the_command_changes(
    tmp_path: Path, text: str, code: str, title: str, option: str
) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    path = tmp_path / "a.py"
    path.write_text(text)
    main(["check", option, "--select", code, "a.py"])
    expected = path.read_text()
    assert expected != text

    async def scenario(editor: Editor) -> str:
        uri = editor.open(path, text, 7)
        (found,) = [each for each in await editor.findings(uri, 7) if each.code == code]
        (change,) = (await offered(editor, uri, found))[title].edit.document_changes
        assert (change.text_document.uri, change.text_document.version) == (uri, 7)
        return applied(text, change.edits)

    edits = types.WorkspaceEditClientCapabilities(document_changes=True)
    made = editing(tmp_path, scenario, workspace=types.WorkspaceClientCapabilities(workspace_edit=edits))
    assert made == expected


def test_a_rule_is_explained(tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", HIDDEN["a line"])
        (found,) = await editor.findings(uri, 1)
        assert "Explain SHP101" in await offered(editor, uri, found)
        for arguments in (["SHP101"], ["SHP999"], ["../../etc/passwd"]):
            asked = types.ExecuteCommandParams("distml.explain", arguments)
            await editor.client.workspace_execute_command_async(asked)
        (page,) = editor.opened
        assert page.endswith("/rules/SHP101.md")
        found.range = types.Range(types.Position(0, 0), types.Position(0, 0))
        assert await offered(editor, uri, found) == {}

    shows = types.ShowDocumentClientCapabilities(support=True)
    editing(tmp_path, scenario, window=types.WindowClientCapabilities(show_document=shows))
