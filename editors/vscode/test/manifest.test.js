"use strict";
/** The manifest and the sources speak of the same things. */

const assert = require("node:assert/strict");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");

const manifest = require("../package.json");
const { SECTION, command } = require("../server");

const SOURCE = fs.readFileSync(path.join(__dirname, "..", manifest.main), "utf8");

test("a path begins at home, in the workspace, or is looked up", () => {
  const started = (program, folder) => command(program, folder).command;
  assert.equal(started("distml", "/work"), "distml");
  assert.equal(started("~/env/bin/distml", "/work"), path.join(os.homedir(), "env/bin/distml"));
  assert.equal(started("${workspaceFolder}/.venv/bin/distml", "/work"), "/work/.venv/bin/distml");
  assert.equal(started(".venv/bin/distml", "/work"), "/work/.venv/bin/distml");
  assert.equal(started("/opt/distml", undefined), "/opt/distml");
  assert.equal(started("a$&b/distml", "/$&"), "/$&/a$&b/distml");
  assert.equal(started("${workspaceFolder}/distml", "/a$&b"), "/a$&b/distml");
});

test("every setting is of the server's section, every command is registered", () => {
  const settings = Object.keys(manifest.contributes.configuration.properties);
  assert.deepEqual(settings.filter((each) => !each.startsWith(`${SECTION}.`)), []);
  for (const each of manifest.contributes.commands) {
    assert.ok(SOURCE.includes(`registerCommand("${each.command}"`));
  }
  assert.deepEqual(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations, ["distml.path"]);
});

test("everything that the extension imports is there", () => {
  // Nothing here runs the editor: a name of its API is a class and a function, and is never used.
  const any = new Proxy(class {}, { get: (own, name) => (name in own ? own[name] : any) });
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? any : load(name, ...rest));
  try {
    assert.deepEqual(Object.keys(require("../extension")).sort(), ["activate", "deactivate"]);
  } finally {
    Module._load = load;
  }
});
