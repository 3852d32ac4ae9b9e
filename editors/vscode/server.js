"use strict";
/** What is started, and what it is told: everything that needs no editor, so that the tests use it too. */

const os = require("node:os");
const path = require("node:path");

/** The settings of the extension are those of the server, and the path. */
const SECTION = "distml";

/** Files on disk, and cells of notebooks; the server follows no others. */
const DOCUMENTS = [
  { scheme: "file", language: "python" },
  { notebook: "jupyter-notebook", language: "python" },
];

/** The command that starts the server. A path may begin with `~` or `${workspaceFolder}`. */
function command(program, folder) {
  const home = program.replace(/^~(?=\/)/, os.homedir());
  const here = home.replace(/^\$\{workspaceFolder\}(?=\/)/, () => folder ?? ".");
  return { command: here.includes("/") ? path.resolve(folder ?? ".", here) : here, args: ["server", "--stdio"] };
}

module.exports = { DOCUMENTS, SECTION, command };
