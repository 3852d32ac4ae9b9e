"""Code lenses: above each method that a model is called by, and what they write is what `distml migrate --write` writes."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from distml.cli.main import main

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)
        self.head = nn.Linear(width, 10)

    def forward(self, x{more}):
        '😀'
        return self.head(self.conv(x).mean((2, 3))){last}


def free(x):
    return x @ torch.zeros(3, 4)
"""
TWO = """import torch


class Pair:
    def __call__(self, a: torch.Tensor, b: torch.Tensor):
        return torch.cat([a, b], dim=1) @ torch.zeros(8, 2)


class Other:
    def call(self, a: torch.Tensor):
        return a @ torch.zeros(8, 2)

    def helper(self, a):
        return a
"""
KERAS = """import keras


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, inputs):
        return self.dense(inputs) + keras.ops.zeros((4,))
"""
FAILS = """import torch


class No:
    def forward(self, x: torch.Tensor):
        return torch.zeros(2, 3) @ torch.zeros(4, 5) @ x
"""
PROGRAMS = {
    "a model": NET.format(more="", last=""),
    "another input": NET.format(more=", y", last=" + y.sum(1)"),
    "annotated": NET.format(more="", last="").replace("self, x)", 'self, x: "torch.Tensor")'),
    "windows ends": NET.format(more="", last="").replace("\n", "\r\n"),
    "no end of line": TWO.rstrip("\n"),
    "two classes": TWO,
    "keras": KERAS,
    "what fails": FAILS,
    "no tensor": "class Job:\n    def __call__(self, n):\n        return n\n",
}
EXAMPLES = ["attention", "classifier", "unet"]


def methods(text: str) -> list[tuple[int, str]]:
    """The line, from 0, and the name of each method that a lens stands above."""
    return [
        (each.lineno - 1, f"{cls.name}.{each.name}")
        for cls in ast.parse(text).body
        if isinstance(cls, ast.ClassDef)
        for each in cls.body
        if isinstance(each, ast.FunctionDef) and each.name in ("forward", "call", "__call__")
    ]


def written(path: Path, text: str, method: str) -> str:
    """The file after `distml migrate --write`."""
    path.write_bytes(text.encode())
    main(["migrate", "--write", f"{path.name}::{method}"])
    made = path.read_bytes().decode()
    path.unlink()
    return made


def edited(text: str, edits: list[Any]) -> str:
    """A text with edits that stand at beginnings of lines, as LSP counts them."""
    lines = text.splitlines(keepends=True)
    for each in sorted(edits, key=lambda each: each.range.start.line, reverse=True):
        assert (each.range.start.character, each.range.end.character) == (0, 0)
        lines[each.range.start.line : each.range.end.line] = [each.new_text]
    return "".join(lines)


@pytest.mark.parametrize("name", [*PROGRAMS, *EXAMPLES])
def test_a_lens_writes_what_the_command_writes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    examples = Path(__file__).parents[2] / "examples"
    text = PROGRAMS.get(name) or (examples / f"{name}.py").read_text("utf-8")
    path = tmp_path / "a.py"
    wanted = {method: written(path, text, method) for _, method in methods(text)}
    capsys.readouterr()

    async def scenario(editor: Editor) -> None:
        uri = editor.open(path, text)
        asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        lenses = await editor.client.text_document_code_lens_async(asked)
        assert [(each.range.start.line, list(each.command.arguments)) for each in lenses] == [
            (line, [uri, method]) for line, method in methods(text)
        ]
        for each in lenses:
            editor.applied.clear()
            editor.messages.clear()
            command = types.ExecuteCommandParams(each.command.command, arguments=each.command.arguments)
            await editor.client.workspace_execute_command_async(command)
            made = [edit for params in editor.applied for edit in params.edit.changes[uri]]
            assert edited(text, made) == wanted[each.command.arguments[1]]
            assert bool(made) is not bool(editor.messages)

    editing(tmp_path, scenario, workspace=types.WorkspaceClientCapabilities(apply_edit=True))


@pytest.mark.parametrize("text", ["class Broken(\n", "x = 1\n", "class A:\n    def forward(self, x\n"])
def test_where_there_is_no_model_there_is_no_lens(text: str, tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", text)
        asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        assert not await editor.client.text_document_code_lens_async(asked)
        closed = types.CodeLensParams(types.TextDocumentIdentifier("file:///nowhere.py"))
        assert await editor.client.text_document_code_lens_async(closed) is None

    editing(tmp_path, scenario)


def test_a_client_that_takes_no_edits_is_told_what_was_found(tmp_path: Path) -> None:
    from lsprotocol import types

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", PROGRAMS["a model"])
        command = types.ExecuteCommandParams("distml.migrate", arguments=[uri, "Net.forward"])
        await editor.client.workspace_execute_command_async(command)
        (said,) = editor.messages
        assert 'x: Float[Tensor, "b 3 h w"]' in said
        for arguments in ([uri, "Net.nothing"], [uri, "../x::y"]):
            editor.messages.clear()
            command = types.ExecuteCommandParams("distml.migrate", arguments=arguments)
            await editor.client.workspace_execute_command_async(command)
            assert len(editor.messages) == 1

    editing(tmp_path, scenario)
