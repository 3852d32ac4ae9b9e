"use strict";
/** Starts `distml server` and stops it. All that is shown comes from the server. */

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { DOCUMENTS, SECTION, command } = require("./server");

let client;

async function start() {
  const program = vscode.workspace.getConfiguration(SECTION).get("path");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient("distml", "distml", command(program, folder), {
    documentSelector: DOCUMENTS,
    synchronize: { configurationSection: SECTION },
  });
  try {
    await client.start();
  } catch (error) {
    const answer = await vscode.window.showErrorMessage(`distml: \`${program} server\` does not start: ${error}`, "Settings");
    if (answer) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "distml.path");
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("distml.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("distml.path") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
