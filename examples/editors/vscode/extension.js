// Starts `pdacon server` for grammars in Lark's language, and starts it again when its settings change.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** Starts the server, or says why it does not start and how to install it. */
async function start() {
  const settings = vscode.workspace.getConfiguration("pdacon");
  const [command, ...args] = settings.get("command");
  client = new LanguageClient(
    "pdacon",
    "pdacon",
    { command, args },
    {
      documentSelector: ["lark", "gbnf", "ebnf"].map((language) => ({ language })),
      initializationOptions: settings.get("options"),
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const wayOut = "Install it with: pip install 'pdacon[editor]', or name it in the setting pdacon.command.";
    vscode.window.showErrorMessage(`pdacon: ${command} does not start: ${error.message ?? error}. ${wayOut}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.dispose();
}

let last = Promise.resolve();

/** One start after another, so that two changes of settings do not leave two servers. */
function restart() {
  last = last.then(stop).then(start);
  return last;
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("pdacon.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("pdacon") && restart()),
  );
  return restart();
};

exports.deactivate = () => last.then(stop);
