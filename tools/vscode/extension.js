// Drywell in VS Code: starts `drywell dap`, and shows the pages of tensor memory, shared memory and the timeline in the editor.
const vscode = require("vscode");
const { execFile } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const program = () => vscode.workspace.getConfiguration("drywell").get("path") || "drywell";

// What each command of the palette runs: words before and after those of the launch configuration.
const PAGES = {
  "drywell.showTensorMemory": { title: "Tensor memory", before: ["tmem", "show"], out: (file) => ["-o", file] },
  "drywell.showSharedMemory": { title: "Shared memory", before: ["smem", "show"], out: (file) => ["-o", file] },
  "drywell.showTimeline": { title: "Report", before: ["run"], out: (file) => ["--driver=timed", `--report=${file}`] },
};
// Options of a debug session that a page's run has no use for.
const ONLY_OF_A_SESSION = /^--(verify|driver|check|seed|launch)(=|$)/;

/** The words of a page's run for a launch configuration. */
function wordsOf(page, configuration, file) {
  const args = (configuration.args || []).filter((word) => !ONLY_OF_A_SESSION.test(word));
  const arch = configuration.arch ? [`--arch=${configuration.arch}`] : [];
  return [...page.before, configuration.program, ...args, ...arch, ...page.out(file)];
}

/** The configuration of the session that runs, or of the first of the workspace's launch configurations. */
function currentConfiguration() {
  const session = vscode.debug.activeDebugSession;
  if (session && session.type === "drywell") return session.configuration;
  const all = vscode.workspace.getConfiguration("launch").get("configurations") || [];
  return all.find((c) => c.type === "drywell");
}

function show(page) {
  const configuration = currentConfiguration();
  if (!configuration) return vscode.window.showErrorMessage("Drywell: no launch configuration of type drywell");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "drywell-"));
  const file = path.join(folder, "page.html");
  const root = vscode.workspace.workspaceFolders && vscode.workspace.workspaceFolders[0].uri.fsPath;
  const fill = (text) => text.replaceAll("${workspaceFolder}", root || ".");
  const words = wordsOf(page, configuration, file).map(fill);
  return new Promise((done) => {
    execFile(program(), words, { cwd: configuration.cwd ? fill(configuration.cwd) : root }, (error, out, err) => {
      if (!fs.existsSync(file)) vscode.window.showErrorMessage(`Drywell: ${err || error}`);
      else {
        const panel = vscode.window.createWebviewPanel("drywell", `${page.title}: ${configuration.program}`, vscode.ViewColumn.Beside, { enableScripts: true, retainContextWhenHidden: true });
        panel.webview.html = fs.readFileSync(file, "utf8");
      }
      fs.rmSync(folder, { recursive: true, force: true });
      done();
    });
  });
}

function activate(context) {
  const adapter = { createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(program(), ["dap"]) };
  const configurations = {
    resolveDebugConfiguration: (folder, c) => ({ type: "drywell", request: "launch", name: "Drywell", cwd: "${workspaceFolder}", sourceRoot: "${workspaceFolder}", ...c, program: c.program || "${file}" }),
  };
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("drywell", adapter),
    vscode.debug.registerDebugConfigurationProvider("drywell", configurations),
    ...Object.entries(PAGES).map(([command, page]) => vscode.commands.registerCommand(command, () => show(page))),
  );
}

module.exports = { activate, deactivate() {} };
