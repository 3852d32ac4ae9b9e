"use strict";
/** The real `distml server`, started as the extension starts it, by the library that the extension talks to it with. */

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { pathToFileURL } = require("node:url");
const protocol = require("vscode-languageserver-protocol/node");

const { DOCUMENTS, SECTION, command } = require("../server");

const PROGRAM = process.env.DISTML ?? "distml";
const MODEL = `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        h = torch.relu(x)
        return self.head(h)


y = Net()(torch.zeros(2, 5))
`;

let folder, server, connection, uri, capabilities;
const published = new Map();
const waiting = [];

/** What is shown for a version of the document. */
function findings(version) {
  return new Promise((resolve) => {
    const look = () => published.has(version) && resolve(published.get(version));
    waiting.push(look);
    look();
  });
}

function send(version, text) {
  return connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version },
    contentChanges: [{ text }],
  });
}

function configure(settings) {
  return connection.sendNotification(protocol.DidChangeConfigurationNotification.type, { settings: { [SECTION]: settings } });
}

async function hints() {
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const found = await connection.sendRequest(protocol.InlayHintRequest.type, { textDocument: { uri }, range });
  return (found ?? []).map((each) => `${each.position.line + 1}${each.label}`);
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "distml-"));
  fs.writeFileSync(path.join(folder, "pyproject.toml"), "");
  uri = pathToFileURL(path.join(folder, "model.py")).href;
  const started = command(PROGRAM, folder);
  server = spawn(started.command, started.args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, ({ version, diagnostics }) => {
    published.set(version, diagnostics);
    waiting.forEach((look) => look());
  });
  connection.listen();
  const root = pathToFileURL(folder).href;
  const answer = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: root,
    capabilities: { workspace: { applyEdit: true }, notebookDocument: { synchronization: {} } },
    workspaceFolders: [{ uri: root, name: "here" }],
  });
  capabilities = answer.capabilities;
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: DOCUMENTS[0].language, version: 1, text: MODEL },
  });
});

after(async () => {
  await connection.sendRequest(protocol.ShutdownRequest.type);
  const ended = new Promise((resolve) => server.on("exit", resolve));
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.equal(await ended, 0);
  fs.rmSync(folder, { recursive: true });
});

test("a finding is shown, and goes with its cause", async () => {
  const [finding] = await findings(1);
  assert.equal(finding.code, "SHP401");
  assert.equal(finding.range.start.line, 11);
  assert.match(finding.message, /head needs 4 features on the last axis, gets 5/);
  assert.ok(finding.relatedInformation.some((each) => each.location.range.start.line === 7));
  await send(2, MODEL.replace("Linear(4", "Linear(5"));
  assert.deepEqual(await findings(2), []);
});

test("hover shows the shape and where its numbers come from", async () => {
  await findings(2);
  const hover = await connection.sendRequest(protocol.HoverRequest.type, {
    textDocument: { uri },
    position: { line: 10, character: 8 },
  });
  assert.match(hover.contents.value, /h: \[2, 5\]/);
  assert.match(hover.contents.value, /model\.py:15/);
});

test("the notebooks of the extension are those of the server", () => {
  const followed = capabilities.notebookDocumentSync.notebookSelector.map((each) => each.notebook);
  assert.deepEqual(DOCUMENTS.flatMap((each) => each.notebook ?? []), followed);
});

test("a lens annotates the inputs of a model, by a command that the extension need not know", async () => {
  const applied = [];
  connection.onRequest(protocol.ApplyWorkspaceEditRequest.type, ({ edit }) => {
    applied.push(...edit.changes[uri]);
    return { applied: true };
  });
  const [lens] = await connection.sendRequest(protocol.CodeLensRequest.type, { textDocument: { uri } });
  assert.equal(lens.range.start.line, 9);
  assert.ok(capabilities.executeCommandProvider.commands.includes(lens.command.command));
  await connection.sendRequest(protocol.ExecuteCommandRequest.type, lens.command);
  const written = applied.map((each) => each.newText).join("");
  assert.match(written, /from jaxtyping import Float\n *def forward\(self, x: Float\[torch\.Tensor, "b 5"\]\):/);
});

test("hints are shown as the settings say, each way that the extension offers", async () => {
  await findings(2);
  const offered = require("../package.json").contributes.configuration.properties["distml.inlayHints"].enum;
  const shown = {};
  for (const inlayHints of offered) {
    await configure({ inlayHints, path: PROGRAM });
    shown[inlayHints] = await hints();
  }
  assert.deepEqual(shown.off, []);
  assert.ok(shown.assignments.includes("11: [2, 5]") && shown.assignments.includes("15: [2, 10]"));
  assert.ok(shown.all.length > shown.assignments.length && shown.all.includes("12: [2, 10]"));
});
