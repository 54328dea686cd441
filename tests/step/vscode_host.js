// A host of the VS Code extension: as much of the editor's interface as the extension uses. It unpacks drywell.vsix, activates it, starts the
// adapter that it names, and runs its commands with the real `drywell`.
//   node vscode_host.js VSIX DRYWELL
const { execFileSync, spawn } = require("child_process");
const fs = require("fs"), os = require("os"), path = require("path"), Module = require("module"), assert = require("assert");

const [vsix, drywell] = process.argv.slice(2).map((file) => path.resolve(file));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "drywell-host-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
execFileSync("cmake", ["-E", "tar", "xf", vsix], { cwd: folder });
const manifest = JSON.parse(fs.readFileSync(path.join(folder, "extension/package.json"), "utf8"));
assert(fs.readFileSync(path.join(folder, "extension.vsixmanifest"), "utf8").includes(`Version="${manifest.version}"`));
assert(fs.existsSync(path.join(folder, "[Content_Types].xml")));

const registered = { commands: {}, panels: [], errors: [] };
const configuration = { type: "drywell", request: "launch", program: "gemm-bf16", args: ["--m=128", "--n=128", "--k=128", "--verify"] };
const vscode = {
  ViewColumn: { Beside: 2 },
  DebugAdapterExecutable: class { constructor(command, args) { this.command = command; this.args = args; } },
  workspace: { workspaceFolders: [{ uri: { fsPath: folder } }], getConfiguration: (name) => ({ get: (key) => ({ "drywell.path": drywell })[`${name}.${key}`] }) },
  window: {
    showErrorMessage: (text) => registered.errors.push(text),
    createWebviewPanel: (type, title) => { const panel = { title, webview: { html: "" } }; registered.panels.push(panel); return panel; },
  },
  debug: {
    activeDebugSession: { type: "drywell", configuration },
    registerDebugAdapterDescriptorFactory: (type, factory) => { registered.factory = factory; return {}; },
    registerDebugConfigurationProvider: (type, provider) => { registered.provider = provider; return {}; },
  },
  commands: { registerCommand: (name, run) => { registered.commands[name] = run; return {}; } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const debuggerOf = manifest.contributes.debuggers[0];
// Each snippet is a launch configuration: its attributes are those that the manifest declares.
for (const snippet of debuggerOf.configurationSnippets)
  for (const key of Object.keys(snippet.body)) assert(["type", "request", "name"].includes(key) || debuggerOf.configurationAttributes.launch.properties[key], key);

/** The answer of the adapter to `initialize` and `launch`. */
function talk(adapter, launch) {
  return new Promise((done) => {
    const child = spawn(adapter.command, adapter.args);
    let text = "";
    const send = (seq, command, args) => { const body = JSON.stringify({ seq, type: "request", command, arguments: args }); child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`); };
    child.stdout.on("data", (data) => { text += data; if (text.includes('"event":"initialized"')) child.kill(); });
    child.on("close", () => done(text));
    send(1, "initialize", { adapterID: "drywell" });
    send(2, "launch", launch);
  });
}

async function main() {
  const context = { subscriptions: [] };
  require(path.join(folder, manifest.main.replace("./", "extension/"))).activate(context);
  assert.deepStrictEqual(Object.keys(registered.commands).sort(), manifest.contributes.commands.map((c) => c.command).sort());
  const resolved = registered.provider.resolveDebugConfiguration(undefined, configuration);
  assert.strictEqual(resolved.program, "gemm-bf16");
  assert.strictEqual(registered.provider.resolveDebugConfiguration(undefined, {}).program, "${file}");
  const said = await talk(registered.factory.createDebugAdapterDescriptor(), { ...configuration, sourceRoot: folder });
  assert(said.includes('"supportsStepBack":true') && said.includes('"event":"initialized"'), said.slice(0, 400));
  for (const [command, words] of [["drywell.showTensorMemory", "Tensor memory"], ["drywell.showSharedMemory", "Shared memory"], ["drywell.showTimeline", "What binds"]]) {
    await registered.commands[command]();
    assert.deepStrictEqual(registered.errors, []);
    assert(registered.panels.at(-1).webview.html.includes(words), command);
  }
  configuration.program = "no-such-kernel";
  await registered.commands["drywell.showSharedMemory"]();
  assert(registered.errors[0].includes("no kernel 'no-such-kernel'"), registered.errors[0]);
  console.log(`${Object.keys(registered.commands).length} commands, ${registered.panels.length} pages, ${debuggerOf.configurationSnippets.length} snippets: passed`);
}
main();
